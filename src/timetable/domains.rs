//! Looks at custom domains when they are due (contract 4.15), and stores what came of it.
//!
//! A domain that is deleted or changed while it is looked at keeps what the others made of it: the result of the look
//! is applied to the row as it is by then. A look that cannot be stored is made again.

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

/// The interval between two looks for due domains.
const EVERY: Duration = Duration::from_secs(10);
/// Domains that are looked at in one round.
const ROUND: u64 = 200;
/// Domains that are looked at at the same time.
const AT_A_TIME: usize = 16;

/// The means of looking at domains.
#[derive(Clone, Debug)]
pub struct DomainWatch {
    /// The domains.
    pub databases: Databases,
    /// Wall time.
    pub guard: Arc<ClockGuard>,
    /// The host names that domains must lead to.
    pub names: Arc<DomainNames>,
    /// The way to the name servers.
    pub toolbox: Arc<Toolbox>,
    /// Among several nodes one looks.
    pub ownership: Ownership,
    /// Told of domains that have become active, or are not any more.
    pub host_changes: HostChanges,
}

/// The actor.
#[derive(Debug)]
pub struct DomainClock {
    watch: DomainWatch,
}

/// Look for due domains.
#[derive(Debug, Message)]
#[rtype(result = "()")]
struct Tick;

impl DomainClock {
    /// A clock for these domains.
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
        // The next round is arranged when this one is over: rounds never overlap.
        ctx.spawn(actix::ActorFutureExt::map(round, |(), _, ctx: &mut Context<Self>| {
            ctx.notify_later(Tick, EVERY);
        }));
    }
}

/// A look under way is dropped.
impl Handler<Stop> for DomainClock {
    type Result = ResponseFuture<()>;

    fn handle(&mut self, _: Stop, ctx: &mut Context<Self>) -> ResponseFuture<()> {
        ctx.stop();
        Box::pin(std::future::ready(()))
    }
}

impl DomainWatch {
    /// Looks at every domain that is due, as many as one round takes.
    ///
    /// # Errors
    /// When the database fails; what was stored stays stored.
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
        // It may be deleted by now, or a client's look came first.
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
