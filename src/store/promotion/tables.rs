//! The tables of an installation as the promotion needs them: columns with their types, keys, and the order in which they
//! are copied.
//!
//! Columns and keys are taken from the entities. The order follows foreign keys: a table comes after the tables that it
//! refers to. A test compares these lists with the schemas of the migrations, so that no table can be missing.

use sea_orm::{
    ColumnTrait as _, ColumnType, EntityTrait, IdenStatic as _, Iterable as _, PrimaryKeyToColumn as _,
    PrimaryKeyTrait as _,
};
use watchkeeper_entities as entities;

/// Rows per page, and thus per commit, of a table with small rows.
const SMALL_ROWS: u64 = 10_000;
/// Rows per page of a table whose rows may have some kilobytes, such as answers, style sheets and blocks.
const LARGE_ROWS: u64 = 256;
/// Rows per page of a table whose rows may have megabytes.
const HUGE_ROWS: u64 = 8;

/// The layout of a table to copy.
#[derive(Clone, Debug)]
pub struct TableLayout {
    /// Name of the table.
    pub name: &'static str,
    /// Columns of the table, in the order of the entity.
    pub columns: Vec<TableColumn>,
    /// Indexes of the columns by which pages are bounded.
    pub(super) key: Vec<usize>,
    /// Indexes of the columns by which rows are ordered. The key comes first; together, the columns are unique.
    pub(super) order: Vec<usize>,
    /// True if the database assigns the key.
    pub has_drawn_key: bool,
    /// Number of rows per page; a page is longer if several rows share its last key. `None`: one page for the whole table,
    /// because its rows refer to each other.
    pub(super) page_rows: Option<u64>,
}

/// A column of a table to copy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableColumn {
    /// Name of the column.
    pub name: &'static str,
    /// Type of the column.
    pub kind: ColumnKind,
}

/// Types of columns, common to both databases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnKind {
    /// Integer of 16 bits.
    SmallInteger,
    /// Integer of 32 bits.
    Integer,
    /// Integer of 64 bits.
    BigInteger,
    /// Boolean; 0 or 1 on SQLite.
    Boolean,
    /// UTF-8 text without the character 0, which PostgreSQL does not accept.
    Text,
    /// Byte string.
    Bytes,
}

/// The tables of the main database.
#[must_use]
pub fn main() -> Vec<TableLayout> {
    let mut tables = vec![
        TableLayout::of::<entities::organisation::Entity>(SMALL_ROWS),
        TableLayout::of::<entities::installation::Entity>(SMALL_ROWS),
        TableLayout::of::<entities::clock_mark::Entity>(SMALL_ROWS),
        TableLayout::of::<entities::listening_span::Entity>(SMALL_ROWS),
        TableLayout::of::<entities::feed_position::Entity>(SMALL_ROWS),
        TableLayout::of::<entities::event::Entity>(SMALL_ROWS),
        TableLayout::of::<entities::token::Entity>(SMALL_ROWS),
    ];
    tables.extend(people());
    tables.extend(monitoring());
    tables
}

/// The tables of users of the console, in an order that satisfies their references.
fn people() -> Vec<TableLayout> {
    vec![
        TableLayout::of::<entities::console_user::Entity>(SMALL_ROWS),
        TableLayout::of::<entities::console_session::Entity>(SMALL_ROWS),
        TableLayout::of::<entities::console_link::Entity>(SMALL_ROWS),
        TableLayout::of::<entities::passkey::Entity>(SMALL_ROWS),
        TableLayout::of::<entities::passkey_challenge::Entity>(SMALL_ROWS),
        TableLayout::of::<entities::wall_key::Entity>(SMALL_ROWS),
        TableLayout::of::<entities::audit_entry::Entity>(LARGE_ROWS),
    ]
}

/// The tables of everything that an organisation monitors and tells.
fn monitoring() -> Vec<TableLayout> {
    vec![
        TableLayout::of::<entities::probe_location::Entity>(SMALL_ROWS),
        TableLayout::of::<entities::idempotency_key::Entity>(LARGE_ROWS),
        TableLayout::of::<entities::service::Entity>(LARGE_ROWS),
        TableLayout::of::<entities::heartbeat::Entity>(SMALL_ROWS),
        TableLayout::of::<entities::history_erasure::Entity>(SMALL_ROWS),
        TableLayout::of::<entities::tag::Entity>(SMALL_ROWS),
        TableLayout::of::<entities::service_tag::Entity>(SMALL_ROWS),
        TableLayout::of::<entities::incident_policy::Entity>(SMALL_ROWS),
        TableLayout::of::<entities::sla_target::Entity>(SMALL_ROWS),
        TableLayout::of::<entities::escalation_policy::Entity>(LARGE_ROWS),
        TableLayout::of::<entities::service_dependency::Entity>(SMALL_ROWS),
        TableLayout::of::<entities::access_scope::Entity>(SMALL_ROWS),
        TableLayout::of::<entities::access_scope_tag::Entity>(SMALL_ROWS),
        TableLayout::of::<entities::service_window::Entity>(SMALL_ROWS),
        TableLayout::of::<entities::statuspage::Entity>(LARGE_ROWS),
        TableLayout::of::<entities::asset::Entity>(HUGE_ROWS),
        TableLayout::of::<entities::custom_domain::Entity>(SMALL_ROWS),
        TableLayout::of::<entities::acme_account::Entity>(SMALL_ROWS),
        TableLayout::of::<entities::domain_certificate::Entity>(LARGE_ROWS),
        TableLayout::of::<entities::acme_challenge::Entity>(SMALL_ROWS),
        TableLayout::of::<entities::page_access_link::Entity>(SMALL_ROWS),
        TableLayout::of::<entities::slug_hold::Entity>(SMALL_ROWS),
        // A component may be older than the group that contains it. One statement copies all rows, and PostgreSQL checks
        // their references when it ends.
        TableLayout { page_rows: None, ..TableLayout::of::<entities::component::Entity>(0) },
        TableLayout::of::<entities::subscriber::Entity>(SMALL_ROWS),
        TableLayout::of::<entities::subscriber_component::Entity>(SMALL_ROWS),
        TableLayout::of::<entities::incident::Entity>(LARGE_ROWS),
        TableLayout::of::<entities::incident_update::Entity>(LARGE_ROWS),
        TableLayout::of::<entities::incident_automation::Entity>(SMALL_ROWS),
        TableLayout::of::<entities::incident_group_key::Entity>(SMALL_ROWS),
        TableLayout::of::<entities::escalation::Entity>(SMALL_ROWS),
        TableLayout::of::<entities::outage::Entity>(SMALL_ROWS),
        TableLayout::of::<entities::incident_service::Entity>(SMALL_ROWS),
        TableLayout::of::<entities::incident_statuspage::Entity>(SMALL_ROWS),
        TableLayout::of::<entities::maintenance_series::Entity>(LARGE_ROWS),
        TableLayout::of::<entities::maintenance_series_service::Entity>(SMALL_ROWS),
        TableLayout::of::<entities::maintenance_series_statuspage::Entity>(SMALL_ROWS),
        TableLayout::of::<entities::maintenance_skip::Entity>(SMALL_ROWS),
        TableLayout::of::<entities::maintenance::Entity>(LARGE_ROWS),
        TableLayout::of::<entities::maintenance_update::Entity>(LARGE_ROWS),
        TableLayout::of::<entities::maintenance_service::Entity>(SMALL_ROWS),
        TableLayout::of::<entities::maintenance_statuspage::Entity>(SMALL_ROWS),
        TableLayout::of::<entities::maintenance_reminder::Entity>(SMALL_ROWS),
        TableLayout::of::<entities::subscriber_fact::Entity>(LARGE_ROWS),
        TableLayout::of::<entities::subscriber_fact_page::Entity>(SMALL_ROWS),
        TableLayout::of::<entities::subscriber_delivery::Entity>(SMALL_ROWS),
        TableLayout::of::<entities::notification_channel::Entity>(LARGE_ROWS),
        TableLayout::of::<entities::contact::Entity>(SMALL_ROWS),
        TableLayout::of::<entities::contact_calendar::Entity>(SMALL_ROWS),
        TableLayout::of::<entities::oncall_schedule::Entity>(LARGE_ROWS),
        TableLayout::of::<entities::oncall_override::Entity>(SMALL_ROWS),
        TableLayout::of::<entities::oncall_absence::Entity>(SMALL_ROWS),
        TableLayout::of::<entities::oncall_cover_request::Entity>(SMALL_ROWS),
        TableLayout::of::<entities::notification_delivery::Entity>(LARGE_ROWS),
        TableLayout::of::<entities::notification_try::Entity>(SMALL_ROWS),
        TableLayout::of::<entities::notice::Entity>(LARGE_ROWS),
    ]
}

/// The tables of the history database, except those of segments.
#[must_use]
pub fn history() -> Vec<TableLayout> {
    vec![
        TableLayout::of::<entities::location::Entity>(SMALL_ROWS),
        TableLayout::of::<entities::history_progress::Entity>(SMALL_ROWS),
        TableLayout::of::<entities::partition_hold::Entity>(SMALL_ROWS),
        TableLayout::of::<entities::history_segment::Entity>(SMALL_ROWS),
        TableLayout::of::<entities::status_change::Entity>(SMALL_ROWS),
        TableLayout::of::<entities::fresh_check::Entity>(SMALL_ROWS),
    ]
}

/// The tables of a segment, ordered by service, for which both databases have an index.
#[must_use]
pub fn segment() -> Vec<TableLayout> {
    vec![
        TableLayout::of::<entities::check_block::Entity>(LARGE_ROWS).by("service_id"),
        TableLayout::of::<entities::check_rollup::Entity>(LARGE_ROWS).by("service_id"),
    ]
}

impl TableLayout {
    fn of<E: EntityTrait>(page_rows: u64) -> Self {
        let columns: Vec<TableColumn> = E::Column::iter()
            .map(|column| TableColumn { name: column.as_str(), kind: kind(column.def().get_column_type()) })
            .collect();
        let index_of = |name: &str| columns.iter().position(|column| column.name == name).unwrap_or_default();
        let key: Vec<usize> =
            E::PrimaryKey::iter().map(|part| index_of(part.into_column().as_str())).collect();
        Self {
            name: E::default().table_name(),
            has_drawn_key: E::PrimaryKey::auto_increment(),
            order: key.clone(),
            key,
            columns,
            page_rows: Some(page_rows),
        }
    }

    /// Returns the layout with pages that never split the rows of one value of this key column.
    fn by(self, name: &str) -> Self {
        let (first, rest): (Vec<usize>, Vec<usize>) =
            self.order.iter().copied().partition(|index| self.columns[*index].name == name);
        Self { order: first.iter().chain(&rest).copied().collect(), key: first, ..self }
    }

    pub(super) fn key_columns(&self) -> impl Iterator<Item = &TableColumn> {
        self.key.iter().map(|index| &self.columns[*index])
    }
}

fn kind(of: &ColumnType) -> ColumnKind {
    match of {
        ColumnType::SmallInteger => ColumnKind::SmallInteger,
        ColumnType::Integer => ColumnKind::Integer,
        ColumnType::BigInteger => ColumnKind::BigInteger,
        ColumnType::Boolean => ColumnKind::Boolean,
        ColumnType::Binary(_) | ColumnType::VarBinary(_) | ColumnType::Blob => ColumnKind::Bytes,
        // No entity has another type; a test compares the types of all columns with those of PostgreSQL.
        _ => ColumnKind::Text,
    }
}
