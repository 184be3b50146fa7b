//! The tag keys by which failures are grouped, and new words for `group_by`, with parents before tags.
//!
//! The default policy of an organisation grouped by any common tag. Where nobody has edited it, it groups by parent only
//! from now on.

use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::text;

#[derive(DeriveMigrationName)]
pub(crate) struct Step;

const TABLE: &str = "incident_policy";
const COLUMN: &str = "group_by_tag_keys";
/// The old and the new words of `group_by`.
const WORDS: [(&str, &str); 2] = [("tag", "tags"), ("tag_or_parent", "parent_or_tags")];

#[async_trait::async_trait]
impl MigrationTrait for Step {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let keys = text(COLUMN).default("[]").to_owned();
        manager.alter_table(Table::alter().table(TABLE).add_column(keys).to_owned()).await?;
        manager.execute(group_unedited_by_parent()).await?;
        for (before, after) in WORDS {
            manager.execute(replace_word(before, after)).await?;
        }
        Ok(())
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        for (before, after) in WORDS {
            manager.execute(replace_word(after, before)).await?;
        }
        manager.alter_table(Table::alter().table(TABLE).drop_column(COLUMN).to_owned()).await
    }
}

/// Changes default policies that still have all their initial values.
fn group_unedited_by_parent() -> UpdateStatement {
    Query::update()
        .table(TABLE)
        .value("group_by", "parent")
        .and_where(Expr::col("name").eq("Default"))
        .and_where(Expr::col("tag_id").is_null())
        .and_where(Expr::col("open_after_seconds").eq(0))
        .and_where(Expr::col("resolve_after_seconds").eq(60))
        .and_where(Expr::col("down_severity").eq("major"))
        .and_where(Expr::col("degraded_severity").is_null())
        .and_where(Expr::col("unstable_severity").eq("minor"))
        .and_where(Expr::col("publish").eq(false))
        .and_where(Expr::col("group_by").eq("tag_or_parent"))
        .and_where(Expr::col("group_window_seconds").eq(60))
        .and_where(Expr::col("updated_at").eq(Expr::col("created_at")))
        .to_owned()
}

fn replace_word(before: &str, after: &str) -> UpdateStatement {
    Query::update()
        .table(TABLE)
        .value("group_by", after)
        .and_where(Expr::col("group_by").eq(before))
        .to_owned()
}
