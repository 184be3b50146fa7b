//! Checks custom domains when they are due (contract 4.15), and stores the results.
//!
//! A domain may be deleted or changed during its check, so the result is applied to the current row. A check whose result
//! cannot be stored is repeated.

use std::sync::Arc;
use std::time::Duration;

use actix::{Actor, ActorContext as _, AsyncContext as _, Context, Handler, Message, ResponseFuture};
use futures_util::{StreamExt as _, stream};

use crate::clock::guard::ClockGuard;
use crate::lifecycle::custom_domains::record_check;
use crate::model::domain::CustomDomain;
use crate::model::domain::claims::{DomainCheckOutcome, DomainCheckReason, DomainRecordsCheck};
use crate::model::domain_names::DomainNames;
use crate::probe::domain_check::check_domain;
use crate::probe::toolbox::Toolbox;
use crate::service_router::host_changes::HostChanges;
use crate::service_router::ownership::Ownership;
use crate::store::{Databases, MainError, custom_domains};
use crate::supervise::{ActorKind, LivenessQuery, StopActor, SupervisedActor};

/// The time between two polls for due domains.
const EVERY: Duration = Duration::from_secs(10);
/// Maximum number of domains checked in one round.
const ROUND: u64 = 200;
/// Maximum number of domains checked at the same time.
const AT_A_TIME: usize = 16;

/// The dependencies for checking domains.
#[derive(Clone, Debug)]
pub struct DomainWatch {
    /// The databases with the domains.
    pub databases: Databases,
    /// The guard of the wall clock, which gives the time with its judgement.
    pub guard: Arc<ClockGuard>,
    /// The host names that domains must point to.
    pub names: Arc<DomainNames>,
    /// The tools for DNS questions.
    pub toolbox: Arc<Toolbox>,
    /// The ownership of this node: of several nodes only the leading one checks.
    pub ownership: Ownership,
    /// Counts domains that have become active, or inactive.
    pub host_changes: HostChanges,
}

/// The actor that checks domains.
#[derive(Debug)]
pub struct DomainClock {
    watch: DomainWatch,
}

#[derive(Debug, Message)]
#[rtype(result = "()")]
struct DomainTick;

impl DomainClock {
    /// Creates the actor.
    #[must_use]
    pub const fn new(watch: DomainWatch) -> Self {
        Self { watch }
    }
}

impl SupervisedActor for DomainClock {
    const KIND: ActorKind = ActorKind::restarting("domain_clock");
}

impl Handler<LivenessQuery> for DomainClock {
    type Result = ();

    fn handle(&mut self, beat: LivenessQuery, ctx: &mut Context<Self>) {
        beat.answer(ctx);
    }
}

impl Actor for DomainClock {
    type Context = Context<Self>;

    fn started(&mut self, ctx: &mut Context<Self>) {
        ctx.notify(DomainTick);
    }
}

impl Handler<DomainTick> for DomainClock {
    type Result = ();

    fn handle(&mut self, _: DomainTick, ctx: &mut Context<Self>) {
        let watch = self.watch.clone();
        let round = async move {
            if watch.ownership.leads()
                && let Err(error) = watch.round().await
            {
                tracing::warn!(%error, "cannot check custom domains; retrying");
            }
        };
        let round = actix::fut::wrap_future::<_, Self>(round);
        // The next round is scheduled when this one is over: rounds never overlap.
        ctx.spawn(actix::ActorFutureExt::map(round, |(), _, ctx: &mut Context<Self>| {
            ctx.notify_later(DomainTick, EVERY);
        }));
    }
}

/// Stops the actor; a running check is dropped.
impl Handler<StopActor> for DomainClock {
    type Result = ResponseFuture<()>;

    fn handle(&mut self, _: StopActor, ctx: &mut Context<Self>) -> ResponseFuture<()> {
        ctx.stop();
        Box::pin(std::future::ready(()))
    }
}

impl DomainWatch {
    /// Checks every due domain, up to the limit of one round.
    ///
    /// # Errors
    /// When the database fails; stored results are kept.
    pub async fn round(&self) -> Result<(), MainError> {
        let due = custom_domains::due(self.databases.main.reader(), self.guard.now(), ROUND).await?;
        let checks = due.into_iter().map(|domain| self.check_domain(domain));
        let results: Vec<_> = stream::iter(checks).buffer_unordered(AT_A_TIME).collect().await;
        results.into_iter().collect()
    }

    async fn check_domain(&self, domain: CustomDomain) -> Result<(), MainError> {
        let records_state = check_domain(&self.names.records(&domain), &self.toolbox).await;
        let reason = DomainCheckReason::Due(domain.next_check_at);
        let write = self.databases.main.begin().await?;
        let made = DomainRecordsCheck { reason, records_state, at: self.guard.judged_now() };
        // The domain may have been deleted, or checked by a client's request first.
        let Some(outcome) = record_check(&write, &domain, made).await? else { return Ok(()) };
        write.commit().await?;
        note(&domain, &outcome);
        self.host_changes.note();
        Ok(())
    }
}

fn note(before: &CustomDomain, outcome: &DomainCheckOutcome) {
    let after = &outcome.domain;
    if before.status != after.status {
        let (from, to) = (before.status.as_str(), after.status.as_str());
        let ended_claims = outcome.ended.len();
        tracing::info!(hostname = after.hostname, from, to, ended_claims, "custom domain status changed");
    }
}
