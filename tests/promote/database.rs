//! Databases of a private PostgreSQL: empty ones to move to, and what is in them.

use std::process::Output;

use crate::support::postgres::Postgres;
use crate::support::server::Server;

/// A database of a private PostgreSQL.
#[derive(Clone, Copy)]
pub(crate) struct Database<'p> {
    server: &'p Postgres,
    name: &'static str,
}

impl<'p> Database<'p> {
    /// A new and empty one.
    pub(crate) fn empty(server: &'p Postgres, name: &'static str) -> Self {
        server.ask(&format!("CREATE DATABASE {name} ENCODING 'UTF8' LOCALE 'C' TEMPLATE template0"));
        Self { server, name }
    }

    /// URL of the database.
    pub(crate) fn url(self) -> String {
        self.server.url_of(self.name)
    }

    /// The answer to a question with one value.
    pub(crate) fn ask(self, question: &str) -> String {
        self.server.answer(self.name, &[question])
    }

    /// The number of tables in it.
    pub(crate) fn tables(self) -> String {
        self.ask(
            "SELECT count(*) FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')",
        )
    }

    /// Moves an installation to it.
    pub(crate) fn promote(self, server: &Server, arguments: &[&str]) -> Output {
        server.command(&[&["promote", "--to", &self.url()], arguments].concat())
    }
}

/// Output of a command that is expected to fail with this exit code.
#[track_caller]
pub(crate) fn refusal(output: &Output, code: i32) -> String {
    assert_eq!(output.status.code(), Some(code), "{}", text(output));
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Everything that a command said.
pub(crate) fn text(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}
