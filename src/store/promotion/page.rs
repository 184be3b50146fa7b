//! Pages: ranges of a table in key order. A page is the unit of a commit and of a comparison.
//!
//! The same query reads a page on both sides. Texts are ordered by their bytes, as SQLite does.

use std::fmt;

use sea_orm::sqlx;
use sea_orm::sqlx::postgres::{PgArguments, Postgres};
use sea_orm::sqlx::sqlite::{Sqlite, SqliteArguments};
use sea_orm::sqlx::{Arguments as _, AssertSqlSafe};

use super::cell::{CellRow, CellValue, UnfitValue};
use super::tables::{ColumnKind, TableColumn, TableLayout};

/// The value of one key column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum KeyPart {
    Number(i64),
    Text(String),
}

/// A position in a table: the values of its key columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct KeyPosition(pub(super) Vec<KeyPart>);

/// The rows after one position, up to and including another.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct TablePage {
    /// Position before the first row; `None` = from the start of the table.
    pub(super) after: Option<KeyPosition>,
    /// Position of the last row; `None` = to the end of the table.
    pub(super) upto: Option<KeyPosition>,
}

/// A query for the rows of a table.
pub(super) struct RowQuery<'t> {
    /// Name of the table, or of the table partition with the rows of a segment.
    pub(super) from: &'t str,
    pub(super) table: &'t TableLayout,
    /// SQL condition that rows must meet; `None` = all rows.
    pub(super) filter: Option<&'t str>,
}

impl KeyPosition {
    /// The position of a row that consists of the key columns only.
    pub(super) fn of_key(table: &TableLayout, row: &impl CellRow) -> Result<Self, UnfitValue> {
        let parts = table.key_columns().enumerate().map(|(index, column)| {
            Ok(match row.cell(index, column.kind)? {
                CellValue::Number(number) => KeyPart::Number(number),
                CellValue::Text(text) => KeyPart::Text(text.to_owned()),
                CellValue::Null | CellValue::Bytes(_) => {
                    return Err(UnfitValue::NotAllowed("is not a key".into()));
                }
            })
        });
        parts.collect::<Result<_, _>>().map(Self)
    }

    /// Encodes the position as JSON, in which form it is stored.
    pub(super) fn to_json(&self) -> String {
        let parts = self.0.iter().map(|part| match part {
            KeyPart::Number(number) => serde_json::Value::from(*number),
            KeyPart::Text(text) => serde_json::Value::from(text.as_str()),
        });
        serde_json::Value::Array(parts.collect()).to_string()
    }

    /// Parses the output of [`Self::to_json`]; `None` for any other text.
    pub(super) fn from_json(text: &str) -> Option<Self> {
        let serde_json::Value::Array(parts) = serde_json::from_str(text).ok()? else { return None };
        let parts = parts.into_iter().map(|part| match part {
            serde_json::Value::String(text) => Some(KeyPart::Text(text)),
            other => other.as_i64().map(KeyPart::Number),
        });
        parts.collect::<Option<_>>().map(Self)
    }
}

impl fmt::Display for KeyPosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_json())
    }
}

impl fmt::Display for TablePage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.after, &self.upto) {
            (None, None) => write!(f, "the whole table"),
            (None, Some(upto)) => write!(f, "keys up to {upto}"),
            (Some(after), None) => write!(f, "keys after {after}"),
            (Some(after), Some(upto)) => write!(f, "keys after {after} up to {upto}"),
        }
    }
}

impl RowQuery<'_> {
    /// The query for the rows of a page in SQLite, in order.
    pub(super) fn sqlite(&self, page: &TablePage) -> sqlx::query::Query<'static, Sqlite, SqliteArguments> {
        let mut placeholder = |_: &TableColumn| "?".to_owned();
        let text = self.text(page, &|column| quoted(column), &mut placeholder);
        sqlx::query_with(AssertSqlSafe(text), sqlite_values(page.bounds()))
    }

    /// The query for the rows of a page in PostgreSQL, in order.
    pub(super) fn postgres(&self, page: &TablePage) -> sqlx::query::Query<'static, Postgres, PgArguments> {
        let mut bound = 0;
        let mut placeholder = |column: &TableColumn| {
            bound += 1;
            if column.kind == ColumnKind::Text {
                format!("${bound}::text")
            } else {
                format!("${bound}::bigint")
            }
        };
        let text = self.text(page, &by_bytes, &mut placeholder);
        let mut values = PgArguments::default();
        for part in page.bounds() {
            // Numbers and texts can always be bound.
            let _ = match part {
                KeyPart::Number(number) => values.add(*number),
                KeyPart::Text(text) => values.add(text.clone()),
            };
        }
        sqlx::query_with(AssertSqlSafe(text), values)
    }

    /// The query for the key of the last row of a page of `rows` rows after `after`; finds no row if there are fewer.
    pub(super) fn page_end(
        &self,
        after: Option<&KeyPosition>,
        rows: u64,
    ) -> sqlx::query::Query<'static, Sqlite, SqliteArguments> {
        let page = TablePage { after: after.cloned(), upto: None };
        let key = list(self.table.key_columns(), quoted);
        let conditions =
            self.conditions(&page, &|column| quoted(column), &mut |_: &TableColumn| "?".to_owned());
        let text = format!(
            "SELECT {key} FROM {}{conditions} ORDER BY {key} LIMIT 1 OFFSET {}",
            self.from,
            rows.saturating_sub(1)
        );
        sqlx::query_with(AssertSqlSafe(text), sqlite_values(page.bounds()))
    }

    pub(super) fn count(&self) -> String {
        let filter = self.filter.map(|filter| format!(" WHERE {filter}")).unwrap_or_default();
        format!("SELECT COUNT(*) FROM {}{filter}", self.from)
    }

    fn text(
        &self,
        page: &TablePage,
        ordered: &dyn Fn(&TableColumn) -> String,
        placeholder: &mut dyn FnMut(&TableColumn) -> String,
    ) -> String {
        let columns = list(self.table.columns.iter(), quoted);
        let order = list(self.table.order.iter().map(|index| &self.table.columns[*index]), ordered);
        let conditions = self.conditions(page, ordered, placeholder);
        format!("SELECT {columns} FROM {}{conditions} ORDER BY {order}", self.from)
    }

    fn conditions(
        &self,
        page: &TablePage,
        ordered: &dyn Fn(&TableColumn) -> String,
        placeholder: &mut dyn FnMut(&TableColumn) -> String,
    ) -> String {
        let key = list(self.table.key_columns(), ordered);
        let mut conditions: Vec<String> = self.filter.map(str::to_owned).into_iter().collect();
        for (bound, sign) in [(&page.after, ">"), (&page.upto, "<=")] {
            if bound.is_some() {
                let placeholders = list(self.table.key_columns(), &mut *placeholder);
                conditions.push(format!("({key}) {sign} ({placeholders})"));
            }
        }
        if conditions.is_empty() { String::new() } else { format!(" WHERE {}", conditions.join(" AND ")) }
    }
}

impl TablePage {
    fn bounds(&self) -> impl Iterator<Item = &KeyPart> {
        self.after.iter().chain(&self.upto).flat_map(|position| &position.0)
    }
}

fn sqlite_values<'p>(parts: impl Iterator<Item = &'p KeyPart>) -> SqliteArguments {
    let mut values = SqliteArguments::default();
    for part in parts {
        // Numbers and texts can always be bound.
        let _ = match part {
            KeyPart::Number(number) => values.add(*number),
            KeyPart::Text(text) => values.add(text.clone()),
        };
    }
    values
}

pub(super) fn list<'c>(
    columns: impl Iterator<Item = &'c TableColumn>,
    text: impl FnMut(&TableColumn) -> String,
) -> String {
    columns.map(text).collect::<Vec<_>>().join(", ")
}

pub(super) fn quoted(column: &TableColumn) -> String {
    format!("\"{}\"", column.name)
}

/// The column with byte order: PostgreSQL orders texts by language unless a collation is given.
fn by_bytes(column: &TableColumn) -> String {
    let collation = if column.kind == ColumnKind::Text { " COLLATE \"C\"" } else { "" };
    quoted(column) + collation
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::promotion::tables;

    #[test]
    fn positions_round_trip_through_json() {
        let position = KeyPosition(vec![KeyPart::Number(i64::MIN), KeyPart::Text("a \"b\" [é".into())]);
        assert_eq!(KeyPosition::from_json(&position.to_json()), Some(position));
        assert_eq!(KeyPosition::from_json("{}"), None);
        assert_eq!(KeyPosition::from_json("[1.5]"), None);
    }

    #[test]
    fn a_page_is_bounded_by_two_keys() {
        let tables = tables::main();
        let table = tables.iter().find(|table| table.name == "idempotency_key").unwrap();
        let rows = RowQuery { from: table.name, table, filter: Some("1 = 1") };
        let at = |n, text: &str| Some(KeyPosition(vec![KeyPart::Number(n), KeyPart::Text(text.into())]));
        let page = TablePage { after: at(1, "a"), upto: at(2, "b") };
        let mut bound = 0;
        let text = rows.conditions(&page, &by_bytes, &mut |_| {
            bound += 1;
            format!("${bound}")
        });
        assert_eq!(
            text,
            r#" WHERE 1 = 1 AND ("token_id", "key" COLLATE "C") > ($1, $2) AND ("token_id", "key" COLLATE "C") <= ($3, $4)"#
        );
        assert_eq!(page.to_string(), r#"keys after [1,"a"] up to [2,"b"]"#);
    }
}
