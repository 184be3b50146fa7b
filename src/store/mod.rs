//! Reads and writes all stored data: functions on sea-orm, one module per resource, on any connection or transaction.
//!
//! There are two databases, so that one can fail without the other: the main database (organisations, tokens, services and
//! more) and the history (measurements). Both are SQLite files by default, or on PostgreSQL if their URLs say so. Finders
//! of the main database are scoped by organisation unless said otherwise. No rules are decided here.
//!
//! Functions fail with [`MainError`], [`HistoryError`] or [`StoreError`] when the database fails, or when the contents of
//! a row cannot be read by this version. Sections `# Errors` describe only additional causes.

pub mod access_links;
pub mod access_scopes;
pub mod acme_accounts;
pub mod acme_challenges;
mod advisory_lock;
pub mod announcements;
pub mod assets;
pub mod audit_entries;
mod binary_rows;
mod bounded_handle;
pub mod certificates;
pub mod changes;
pub mod clock_mark;
pub mod commit_log;
pub mod component_inputs;
pub mod components;
mod connection;
pub mod console_sessions;
pub mod console_users;
pub mod contact_calendars;
pub mod contact_users;
pub mod contacts;
pub mod custom_domains;
pub mod database;
mod databases;
pub mod dependencies;
mod disk_record;
mod error;
pub mod escalation_policies;
pub mod escalations;
pub mod events;
pub mod feed_positions;
pub mod file_contents;
pub mod file_copy;
mod file_identity;
pub mod file_trouble;
pub mod heartbeats;
pub mod history;
pub mod id_lookup;
pub mod idempotency_keys;
pub mod incident_policies;
pub mod incidents;
pub mod installation;
pub mod listening_spans;
pub mod maintenances;
pub mod named_services;
pub mod notices;
pub mod notification_channels;
pub mod notifications;
pub mod oncall;
pub mod open_error;
mod open_transaction;
pub mod organisations;
pub mod outages;
mod owner_filter;
mod page_window;
pub mod passkeys;
mod pool;
mod postgres_transaction;
pub mod probe_locations;
pub mod promotion;
mod quiet_hours;
mod scope_filter;
mod selected_services;
pub mod server_facts;
pub mod service_selection;
pub mod services;
pub mod sla_targets;
pub mod statuspages;
pub mod subscriber_deliveries;
pub mod subscriber_facts;
pub mod subscriber_news;
pub mod subscribers;
pub mod synced_groups;
pub mod tags;
pub mod tokens;
mod transaction;
mod unfinished;
pub mod unreachable_services;
mod upgrade_copy;
pub mod usage;
pub mod wall_keys;
pub mod windows;

pub use advisory_lock::AdvisoryLock;
pub use bounded_handle::Reader;
pub use connection::StoreConnection;
pub use database::Database;
pub use databases::Databases;
pub use disk_record::FullDisk;
pub use error::{CorruptRow, DatabaseRole, HistoryError, MainError, StoreError, find_file_trouble};
pub use open_transaction::OpenTransaction;
pub use page_window::PageWindow;
pub use transaction::Transaction;
