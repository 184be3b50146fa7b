//! Health of the process: its databases and its engine answer, and no part has died for good.

use std::fmt::Display;

use crate::engine::Engine;
use crate::store::Databases;
use crate::supervise::Supervisor;

/// Header of `/readyz` with the fingerprint of the node's id, by which a command with access to the data folder recognises
/// its server.
pub const NODE_HEADER: &str = "watchkeeper-node";

/// The parts that monitoring needs.
#[derive(Clone)]
pub struct Readiness {
    /// Main and history database, which must answer.
    pub databases: Databases,
    /// The engine, which must be running.
    pub engine: Engine,
    /// The supervisor, which knows parts that cannot be restarted.
    pub supervisor: Supervisor,
}

/// The result of a health check, by part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadinessReport {
    /// True if the main database answers.
    pub main: bool,
    /// True if the history database answers.
    pub history: bool,
    /// True if the engine and the parts that it needs answer.
    pub engine: bool,
}

impl ReadinessReport {
    /// Returns true if both databases and the engine answer.
    #[must_use]
    pub const fn all(self) -> bool {
        self.main && self.history && self.engine
    }
}

impl Readiness {
    /// Checks all parts concurrently. Errors of a database are logged.
    pub async fn check_all(&self) -> ReadinessReport {
        let (main, history) = (self.databases.main.ping(), self.databases.history.ping());
        let (main, history, engine) =
            futures_util::future::join3(main, history, self.engine.is_alive()).await;
        ReadinessReport {
            main: answers("main", &main),
            history: answers("history", &history),
            engine: engine && self.supervisor.failure().is_none(),
        }
    }
}

fn answers<E: Display>(database: &str, answer: &Result<(), E>) -> bool {
    if let Err(error) = answer {
        tracing::error!(database, %error, "database does not answer");
    }
    answer.is_ok()
}
