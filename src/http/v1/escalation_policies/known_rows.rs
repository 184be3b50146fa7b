//! Finds the rows that an escalation policy may reference.

use std::collections::HashMap;

use serde_json::{Map, Value};

use crate::http::gate::auth::Caller;
use crate::http::gate::write::WriteTransaction;
use crate::http::kit::error::ApiError;
use crate::http::v1::routed_services::RoutingLinks;
use crate::id::Id;
use crate::store::oncall::schedules;
use crate::store::{contacts, incident_policies, notification_channels};

/// Rows that an escalation policy may reference; maps give database keys by id.
pub(super) struct KnownRows {
    /// Tags and services named in the body.
    pub(super) services: RoutingLinks,
    /// Database keys of all incident policies, by id.
    pub(super) incident_policies: HashMap<Id, i64>,
    pub(super) channels: HashMap<Id, i64>,
    pub(super) contacts: HashMap<Id, i64>,
    pub(super) schedules: HashMap<Id, i64>,
}

impl KnownRows {
    /// Finds the rows in the caller's organisation.
    pub(super) async fn find(
        body: &Map<String, Value>,
        write: &WriteTransaction,
        caller: &Caller,
    ) -> Result<Self, ApiError> {
        let organisation = caller.organisation.key;
        let policies = incident_policies::list(&**write, organisation).await?;
        let contacts = contacts::by_id(&**write, organisation).await?;
        let schedules = schedules::by_key(&**write, organisation).await?;
        Ok(Self {
            services: RoutingLinks::find(body, write, caller).await?,
            incident_policies: policies.into_iter().map(|policy| (policy.id, policy.key)).collect(),
            channels: notification_channels::keys(&**write, organisation).await?,
            contacts: contacts.into_values().map(|contact| (contact.id, contact.key)).collect(),
            schedules: schedules.into_values().map(|schedule| (schedule.id, schedule.key)).collect(),
        })
    }
}
