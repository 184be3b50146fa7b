//! What a period of an SLA target comes to, before it is shown in one form or another.

use crate::clock::Timestamp;
use crate::model::service::Service;
use crate::model::sla::SlaTarget;
use crate::model::sla::burn::Reading;
use crate::stats::sla::account::Judged;
use crate::stats::sla::{Run, Sums};
use crate::store::incidents::downtime::Counted;

/// What a period comes to.
pub(super) struct Report {
    /// The target.
    pub(super) target: SlaTarget,
    /// The period, and how far it has come.
    pub(super) judged: Judged,
    /// Now.
    pub(super) made_at: Timestamp,
    /// Its services, oldest first.
    pub(super) services: Vec<ServiceReport>,
    /// The sums of all services.
    pub(super) sums: Sums,
    /// The rules for alerts; `None` for a period that is over.
    pub(super) burn: Option<[Reading; 3]>,
}

/// What the period comes to for one service.
pub(super) struct ServiceReport {
    /// The service.
    pub(super) service: Service,
    /// Its sums.
    pub(super) sums: Sums,
    /// Its promised time in runs, oldest first.
    pub(super) runs: Vec<Run>,
    /// The incidents that count as downtime of it.
    pub(super) incidents: Vec<Counted>,
}
