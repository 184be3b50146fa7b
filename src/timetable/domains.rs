//! Checks custom domains when they are due (contract 4.15), and stores the results.
//!
//! A domain may be deleted or changed during its check: the result is applied to the row as it is by then. A check whose
//! result cannot be stored is repeated.

use std::sync::Arc;
use std::time::Duration;

use actix::{Actor, ActorContext as _, AsyncContext as _, Context, Handler, Message, ResponseFuture};
use futures_util::{StreamExt as _, stream};

use crate::announcer::host_changes::HostChanges;
use crate::announcer::ownership::Ownership;
use crate::clock::guard::ClockGuard;
use crate::lifecycle::custom_domains::record_look;
use crate::model::domain::Domain;
use crate::model::domain::claims::{DomainLook, LookOutcome, LookReason};
use crate::model::domain_names::DomainNames;
use crate::probe::domain_look::look;
use crate::probe::toolbox::Toolbox;
use crate::store::{Databases, MainError, custom_domains};
use crate::supervise::{Beat, Kind, Stop, Supervised};

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
    /// Wall time.
    pub guard: Arc<ClockGuard>,
    /// The host names that domains must point to.
    pub names: Arc<DomainNames>,
    /// The tools for DNS questions.
    pub toolbox: Arc<Toolbox>,
    /// Among several nodes only the leading one checks.
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
struct Tick;

impl DomainClock {
    /// Creates the actor.
    #[must_use]
    pub const fn new(watch: DomainWatch) -> Self {
        Self { watch }
    }
}

impl Supervised for DomainClock {
    const KIND: Kind = Kind::restarting("domain_clock");
}

impl Handler<Beat> for DomainClock {
    type Result = ();

    fn handle(&mut self, beat: Beat, ctx: &mut Context<Self>) {
        beat.answer(ctx);
    }
}

impl Actor for DomainClock {
    type Context = Context<Self>;

    fn started(&mut self, ctx: &mut Context<Self>) {
        ctx.notify(Tick);
    }
}

impl Handler<Tick> for DomainClock {
    type Result = ();

    fn handle(&mut self, _: Tick, ctx: &mut Context<Self>) {
        let watch = self.watch.clone();
        let round = async move {
            if watch.ownership.leads()
                && let Err(error) = watch.round().await
            {
                tracing::warn!(%error, "looking at custom domains is put off");
            }
        };
        let round = actix::fut::wrap_future::<_, Self>(round);
        // The next round is scheduled when this one is over: rounds never overlap.
        ctx.spawn(actix::ActorFutureExt::map(round, |(), _, ctx: &mut Context<Self>| {
            ctx.notify_later(Tick, EVERY);
        }));
    }
}

/// Drops a running check.
impl Handler<Stop> for DomainClock {
    type Result = ResponseFuture<()>;

    fn handle(&mut self, _: Stop, ctx: &mut Context<Self>) -> ResponseFuture<()> {
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
        let looks = due.into_iter().map(|domain| self.look_at(domain));
        let results: Vec<_> = stream::iter(looks).buffer_unordered(AT_A_TIME).collect().await;
        results.into_iter().collect()
    }

    async fn look_at(&self, domain: Domain) -> Result<(), MainError> {
        let sight = look(&self.names.records(&domain), &self.toolbox).await;
        let reason = LookReason::Due(domain.next_look_at);
        let write = self.databases.main.begin().await?;
        let made = DomainLook { reason, sight, at: self.guard.judged_now() };
        // It may have been deleted, or checked by a client's request first.
        let Some(outcome) = record_look(&write, &domain, made).await? else { return Ok(()) };
        write.commit().await?;
        note(&domain, &outcome);
        self.host_changes.note();
        Ok(())
    }
}

fn note(before: &Domain, outcome: &LookOutcome) {
    let after = &outcome.domain;
    if before.status != after.status {
        let (from, to) = (before.status.as_str(), after.status.as_str());
        let ended_claims = outcome.ended.len();
        tracing::info!(hostname = after.hostname, from, to, ended_claims, "a custom domain has changed");
    }
}
