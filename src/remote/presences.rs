//! Reports of the locations about themselves, every few seconds, and the differences of their clocks.

use std::collections::HashMap;
use std::sync::Arc;

use crate::bus::connection::Connection;
use crate::bus::messages::presence::Presence;
use crate::bus::reports::{self, Report, Reports};
use crate::clock::{Clock, Timestamp};
use crate::engine::roster::Roster;
use crate::model::check::Trouble;
use crate::model::location::{LastSeen, LocationCode};
use crate::remote::clocks::{ClockState, Clocks};

/// Receives the reports of locations. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Presences {
    /// The bus.
    pub connection: Connection,
    /// Stores the reports.
    pub roster: Arc<Roster>,
    /// Receives the differences of their clocks.
    pub clocks: Clocks,
    /// Wall time.
    pub clock: Clock,
}

impl Presences {
    /// Receives until the connection is closed. Starts with the stored last reports.
    pub async fn run(self) {
        let Ok(mut reports) = Reports::listen(&self.connection).await else { return };
        let mut warned = HashMap::new();
        match reports::newest(&self.connection).await {
            Ok(newest) => {
                for (location, (presence, at)) in newest {
                    self.note(&location, &presence, at);
                }
            }
            Err(error) => tracing::warn!(error, "what locations have said before cannot be read"),
        }
        while let Some(Report { location, presence }) = reports.next().await {
            let Some(presence) = presence else {
                tracing::debug!(%location, "a report of a location cannot be read");
                continue;
            };
            let now = self.clock.now();
            let clock = self.note(&location, &presence, now);
            tell_of_clock(&mut warned, &location, clock);
        }
    }

    fn note(&self, location: &LocationCode, presence: &Presence, at: Timestamp) -> ClockState {
        let clock = self.clocks.note(location, presence.sent_at_ms - at.ms());
        let Some(known) = self.roster.find(location.as_str()).filter(|known| known.is_elsewhere()) else {
            return clock;
        };
        known.note_seen(LastSeen {
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

/// Parses a reason; one that only a newer version knows becomes the nearest known one.
fn reason(word: &str) -> Option<Trouble> {
    Some(
        Trouble::ALL
            .into_iter()
            .find(|trouble| trouble.as_str() == word)
            .unwrap_or(Trouble::LocationImpaired),
    )
}

/// Logs when a clock becomes wrong, and when it is right again.
fn tell_of_clock(warned: &mut HashMap<LocationCode, bool>, location: &LocationCode, clock: ClockState) {
    let is_wrong = clock.corrected_ms != 0;
    if warned.insert(location.clone(), is_wrong).unwrap_or(false) == is_wrong {
        return;
    }
    if is_wrong {
        let ahead_ms = clock.ahead_ms;
        tracing::warn!(%location, ahead_ms, "the clock of this location is wrong; its times are corrected");
    } else {
        tracing::info!(%location, "the clock of this location is right again");
    }
}
