//! The start of each kind of trouble in an outage, and the time since when a flapping service is down.

use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::big_integer_null;

#[derive(DeriveMigrationName)]
pub(crate) struct Step;

const TABLE: &str = "outage";
/// The column for each kind of outage.
const FIRST_EDGES: [(&str, &str); 3] =
    [("unstable", "first_unstable_at"), ("degraded", "first_degraded_at"), ("down", "first_down_at")];
const DOWN_SINCE: &str = "down_since";

#[async_trait::async_trait]
impl MigrationTrait for Step {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let columns = FIRST_EDGES.iter().map(|(_, column)| *column).chain([DOWN_SINCE]);
        for column in columns {
            let column = big_integer_null(column);
            manager.alter_table(Table::alter().table(TABLE).add_column(column).to_owned()).await?;
        }
        // For existing outages only the start of the present kind is known.
        for (kind, column) in FIRST_EDGES {
            let fill = Query::update()
                .table(TABLE)
                .value(column, Expr::col("began_at"))
                .and_where(Expr::col("kind").eq(kind))
                .to_owned();
            manager.execute(fill).await?;
        }
        Ok(())
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let columns = FIRST_EDGES.iter().map(|(_, column)| *column).chain([DOWN_SINCE]);
        for column in columns {
            manager.alter_table(Table::alter().table(TABLE).drop_column(column).to_owned()).await?;
        }
        Ok(())
    }
}
