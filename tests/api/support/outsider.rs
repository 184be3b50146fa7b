//! Another process with the server's embedded database open: it can read, and block all writes.

use sea_orm::{ConnectOptions, ConnectionTrait as _, Database, DatabaseConnection, DbBackend, Statement};
use tokio::runtime::{Builder, Runtime};

use crate::support::server::Server;

/// A connection of one's own to the main database.
pub(crate) struct Outsider {
    runtime: Runtime,
    database: DatabaseConnection,
}

impl Outsider {
    pub(crate) fn of(server: &Server) -> Self {
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        let file = server.data().join("main.db");
        let mut options = ConnectOptions::new(format!("sqlite://{}", file.display()));
        options.max_connections(1);
        let database = runtime.block_on(Database::connect(options)).unwrap();
        Self { runtime, database }
    }

    /// Runs a statement.
    pub(crate) fn run(&self, statement: &str) {
        self.runtime.block_on(self.database.execute_unprepared(statement)).unwrap();
    }

    /// Number of rows that the query finds.
    #[allow(dead_code, reason = "the tests of reliability ask")]
    pub(crate) fn rows(&self, question: &str) -> usize {
        let question = Statement::from_string(DbBackend::Sqlite, question);
        self.runtime.block_on(self.database.query_all_raw(question)).unwrap().len()
    }

    /// Blocks all writes until [`Self::release`].
    pub(crate) fn hold(&self) {
        self.run("BEGIN IMMEDIATE");
    }

    pub(crate) fn release(&self) {
        self.run("ROLLBACK");
    }
}
