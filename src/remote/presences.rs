//! Reports of the locations about themselves, every few seconds, and the differences of their clocks.

use std::collections::HashMap;
use std::sync::Arc;

use crate::bus::connection::BusConnection;
use crate::bus::messages::presence::LocationPresence;
use crate::bus::reports::{self, PresenceReport, PresenceSubscription};
use crate::clock::{Clock, Timestamp};
use crate::engine::registry::LocationRegistry;
use crate::model::check::LocalFault;
use crate::model::location::{LocationCode, LocationReport};
use crate::remote::clocks::{ClockOffset, LocationClocks};

/// Receives the reports of locations. Cheap to clone.
#[derive(Clone, Debug)]
pub struct PresenceListener {
    /// Connection to the bus.
    pub connection: BusConnection,
    /// The registry that stores the reports.
    pub roster: Arc<LocationRegistry>,
    /// Receives the differences of the locations' clocks.
    pub clocks: LocationClocks,
    /// Source of the wall time.
    pub clock: Clock,
}

impl PresenceListener {
    /// Receives until the connection is closed. Starts with the stored last reports.
    pub async fn run(self) {
        let Ok(mut reports) = PresenceSubscription::listen(&self.connection).await else { return };
        let mut warned = HashMap::new();
        match reports::newest(&self.connection).await {
            Ok(newest) => {
                for (location, (presence, at)) in newest {
                    self.note(&location, &presence, at);
                }
            }
            Err(error) => tracing::warn!(error, "cannot read the last reports of remote locations"),
        }
        while let Some(PresenceReport { location, presence }) = reports.next().await {
            let Some(presence) = presence else {
                tracing::debug!(%location, "unreadable report of a location ignored");
                continue;
            };
            let now = self.clock.now();
            let clock = self.note(&location, &presence, now);
            log_clock_change(&mut warned, &location, clock);
        }
    }

    fn note(&self, location: &LocationCode, presence: &LocationPresence, at: Timestamp) -> ClockOffset {
        let clock = self.clocks.note(location, presence.sent_at_ms - at.ms());
        let Some(known) = self.roster.find(location.as_str()).filter(|known| known.is_remote()) else {
            return clock;
        };
        known.note_seen(LocationReport {
            at,
            version: presence.version.clone(),
            clock_ahead_ms: clock.ahead_ms,
            services: presence.services,
            lateness_p99_us: presence.lateness_p99_us,
            missed: presence.missed,
            waiting: presence.waiting,
            spool_bytes: presence.spool_bytes,
            shed: presence.shed,
            is_impaired: presence.impaired,
            blind_by: presence.blind_by.as_deref().and_then(reason),
        });
        clock
    }
}

/// Parses the name of a reason; an unknown one, of a newer version, becomes `LocationImpaired`.
fn reason(word: &str) -> Option<LocalFault> {
    Some(
        LocalFault::ALL
            .into_iter()
            .find(|trouble| trouble.as_str() == word)
            .unwrap_or(LocalFault::LocationImpaired),
    )
}

/// Logs when the clock of a location becomes wrong, and when it is right again.
fn log_clock_change(warned: &mut HashMap<LocationCode, bool>, location: &LocationCode, clock: ClockOffset) {
    let is_wrong = clock.correction_ms != 0;
    if warned.insert(location.clone(), is_wrong).unwrap_or(false) == is_wrong {
        return;
    }
    if is_wrong {
        let ahead_ms = clock.ahead_ms;
        tracing::warn!(%location, ahead_ms, "clock of the location is wrong; correcting its times");
    } else {
        tracing::info!(%location, "clock of the location is right again");
    }
}
