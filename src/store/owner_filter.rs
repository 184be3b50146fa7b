//! The condition that rows belong to an organisation, where other conditions select them.

use sea_orm::sea_query::{Expr, ExprTrait as _, IntoColumnRef, SimpleExpr};

/// Condition that a row belongs to this organisation (database key), for statements that also name the keys or ids of their
/// rows. The sum keeps the database from using an index by organisation: SQLite takes that for narrower than a list of ten keys,
/// and reads all rows of the organisation.
pub(super) fn is_owned_by(column: impl IntoColumnRef, organisation: i64) -> SimpleExpr {
    Expr::col(column).add(0).eq(organisation)
}

#[cfg(test)]
mod tests {
    use sea_orm::{
        ColumnTrait as _, ConnectionTrait as _, DbBackend, EntityTrait as _, QueryFilter as _,
        QuerySelect as _, QueryTrait as _,
    };
    use sea_orm_migration::MigratorTrait as _;
    use watchkeeper_entities::{incident, service};
    use watchkeeper_migration::MainMigrator;

    use super::*;

    #[tokio::test]
    async fn rows_with_these_keys_are_looked_up() {
        let database = sea_orm::Database::connect("sqlite::memory:").await.unwrap();
        MainMigrator::up(&database, None).await.unwrap();
        let plan = async |statement: sea_orm::Statement| {
            let rows = database.query_all_raw(sea_orm::Statement::from_string(
                DbBackend::Sqlite,
                format!("EXPLAIN QUERY PLAN {statement}"),
            ));
            let steps =
                rows.await.unwrap().into_iter().map(|row| row.try_get::<String>("", "detail").unwrap());
            steps.collect::<Vec<_>>().join("; ")
        };
        let keys = service::Entity::find().select_only().column(service::Column::Name);
        let keys = keys.filter(service::Column::Id.is_in(1..=100));
        let ids = incident::Entity::find().filter(incident::Column::PublicId.is_in(["a"; 100]));
        let services = keys.filter(is_owned_by(service::Column::OrganisationId, 1)).build(DbBackend::Sqlite);
        let incidents = ids.filter(is_owned_by(incident::Column::OrganisationId, 1)).build(DbBackend::Sqlite);
        assert_eq!(plan(services).await, "SEARCH service USING INTEGER PRIMARY KEY (rowid=?)");
        assert!(plan(incidents).await.ends_with("(public_id=?)"));
    }
}
