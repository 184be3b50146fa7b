//! Whether the process can do its work: its databases and its engine answer, and none of its parts has died for good.

use std::fmt::Display;

use crate::engine::Engine;
use crate::store::Databases;
use crate::supervise::Supervisor;

/// The parts without which nothing is watched.
#[derive(Clone)]
pub struct Readiness {
    /// Both databases.
    pub databases: Databases,
    /// The engine.
    pub engine: Engine,
    /// Knows what cannot be started again.
    pub supervisor: Supervisor,
}

/// The parts that answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answering {
    /// The main database.
    pub main: bool,
    /// The history database.
    pub history: bool,
    /// The engine and everything that it cannot go on without.
    pub engine: bool,
}

impl Answering {
    /// Returns true if all of them answer.
    #[must_use]
    pub const fn all(self) -> bool {
        self.main && self.history && self.engine
    }
}

impl Readiness {
    /// Asks all of them at once. What a database answers instead is in the log.
    pub async fn look(&self) -> Answering {
        let (main, history) = (self.databases.main.ping(), self.databases.history.ping());
        let (main, history, engine) =
            futures_util::future::join3(main, history, self.engine.is_alive()).await;
        Answering {
            main: answers("main", &main),
            history: answers("history", &history),
            engine: engine && self.supervisor.failure().is_none(),
        }
    }
}

fn answers<E: Display>(database: &str, answer: &Result<(), E>) -> bool {
    if let Err(error) = answer {
        tracing::error!(database, %error, "a database does not answer");
    }
    answer.is_ok()
}
