//! The connection over which functions of the store send their statements: one type for pools and transactions. Each
//! function, and the query builder below it, is thus compiled once instead of once per kind of connection.

use std::pin::Pin;

use sea_orm::{ConnectionTrait, DbBackend, DbErr, ExecResult, QueryResult, Statement};

/// The future answer to a statement.
type PendingAnswer<'a, T> = Pin<Box<dyn Future<Output = Result<T, DbErr>> + Send + 'a>>;

/// Anything that accepts statements: a pool of connections, or an open transaction.
///
/// Functions take a `&dyn StoreConnection`. Queries of sea-orm need a sized type; pass `&connection` to them.
pub trait StoreConnection: Sync {
    /// The database system: PostgreSQL or SQLite.
    fn backend(&self) -> DbBackend;

    /// Executes a statement that returns no rows.
    fn send_statement<'a>(&'a self, statement: Statement) -> PendingAnswer<'a, ExecResult>;

    /// Executes SQL text, possibly of several statements, without preparing it.
    fn send_text<'a>(&'a self, sql: &'a str) -> PendingAnswer<'a, ExecResult>;

    /// Reads at most one row.
    fn read_row<'a>(&'a self, statement: Statement) -> PendingAnswer<'a, Option<QueryResult>>;

    /// Reads all rows.
    fn read_rows<'a>(&'a self, statement: Statement) -> PendingAnswer<'a, Vec<QueryResult>>;
}

impl<C: ConnectionTrait> StoreConnection for C {
    fn backend(&self) -> DbBackend {
        self.get_database_backend()
    }

    fn send_statement<'a>(&'a self, statement: Statement) -> PendingAnswer<'a, ExecResult> {
        self.execute_raw(statement)
    }

    fn send_text<'a>(&'a self, sql: &'a str) -> PendingAnswer<'a, ExecResult> {
        self.execute_unprepared(sql)
    }

    fn read_row<'a>(&'a self, statement: Statement) -> PendingAnswer<'a, Option<QueryResult>> {
        self.query_one_raw(statement)
    }

    fn read_rows<'a>(&'a self, statement: Statement) -> PendingAnswer<'a, Vec<QueryResult>> {
        self.query_all_raw(statement)
    }
}

// The methods of `StoreConnection` return boxed futures, which are passed on unchanged.
impl ConnectionTrait for &dyn StoreConnection {
    fn get_database_backend(&self) -> DbBackend {
        (**self).backend()
    }

    fn execute_raw<'c, 'a>(&'c self, statement: Statement) -> PendingAnswer<'a, ExecResult>
    where
        'c: 'a,
        Self: 'a,
    {
        (**self).send_statement(statement)
    }

    fn execute_unprepared<'c, 's, 'a>(&'c self, sql: &'s str) -> PendingAnswer<'a, ExecResult>
    where
        'c: 'a,
        's: 'a,
        Self: 'a,
    {
        (**self).send_text(sql)
    }

    fn query_one_raw<'c, 'a>(&'c self, statement: Statement) -> PendingAnswer<'a, Option<QueryResult>>
    where
        'c: 'a,
        Self: 'a,
    {
        (**self).read_row(statement)
    }

    fn query_all_raw<'c, 'a>(&'c self, statement: Statement) -> PendingAnswer<'a, Vec<QueryResult>>
    where
        'c: 'a,
        Self: 'a,
    {
        (**self).read_rows(statement)
    }
}
