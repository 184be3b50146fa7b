//! The settings of each table, as flags and variables.

// No doc comments on these structs: clap would show them instead of what a command does.

use clap::Args;
use serde::Serialize;

// `[probe]`.
#[derive(Args, Serialize)]
pub(super) struct ProbeFlags {
    /// Name servers of every resolution and of DNS checks [default: the system's]
    #[arg(
        id = "probe.dns_servers",
        long = "probe-dns-servers",
        env = "WATCHKEEPER_PROBE__DNS_SERVERS",
        value_name = "HOST:PORT,…"
    )]
    dns_servers: Option<String>,
    /// Extra certificate authorities (PEM) that checks trust [default: none]
    #[arg(
        id = "probe.ca_file",
        long = "probe-ca-file",
        env = "WATCHKEEPER_PROBE__CA_FILE",
        value_name = "FILE"
    )]
    ca_file: Option<String>,
    /// Hosts that are pinged, or with a port connected to: when none of those that have answered before answers any more, the
    /// location is impaired, and its failing checks are no data; `none` switches that off [default: the name servers and
    /// gateways of the system, without those on this machine]
    #[arg(
        id = "probe.reference_targets",
        long = "probe-reference-targets",
        env = "WATCHKEEPER_PROBE__REFERENCE_TARGETS",
        value_name = "HOST[:PORT],…"
    )]
    reference_targets: Option<String>,
}

// `[database]`.
#[derive(Args, Serialize)]
pub(super) struct DatabaseFlags {
    /// Seconds that a statement may wait for a connection, and on SQLite for its turn to write; then a request is answered 503
    #[arg(
        id = "database.acquire_timeout_seconds",
        long = "database-acquire-timeout-seconds",
        env = "WATCHKEEPER_DATABASE__ACQUIRE_TIMEOUT_SECONDS",
        value_name = "N"
    )]
    acquire_timeout_seconds: Option<String>,
    /// Seconds that a statement may wait for a lock of PostgreSQL; then it ends, and a request is answered 503
    #[arg(
        id = "database.lock_timeout_seconds",
        long = "database-lock-timeout-seconds",
        env = "WATCHKEEPER_DATABASE__LOCK_TIMEOUT_SECONDS",
        value_name = "N"
    )]
    lock_timeout_seconds: Option<String>,
    /// Seconds that a statement on PostgreSQL may take, its waiting included; those of compaction and migrations may take
    /// longer
    #[arg(
        id = "database.statement_timeout_seconds",
        long = "database-statement-timeout-seconds",
        env = "WATCHKEEPER_DATABASE__STATEMENT_TIMEOUT_SECONDS",
        value_name = "N"
    )]
    statement_timeout_seconds: Option<String>,
}

// `[record]`.
#[derive(Args, Serialize)]
pub(super) struct RecordFlags {
    /// Results in memory (about 100 bytes each) while the history database is away; then they go to the spool
    #[arg(
        id = "record.waiting_results",
        long = "record-waiting-results",
        env = "WATCHKEEPER_RECORD__WAITING_RESULTS",
        value_name = "N"
    )]
    waiting_results: Option<String>,
    /// Bytes of the spool in the data folder; then results are shed and counted
    #[arg(
        id = "record.spool_max_bytes",
        long = "record-spool-max-bytes",
        env = "WATCHKEEPER_RECORD__SPOOL_MAX_BYTES",
        value_name = "BYTES"
    )]
    spool_max_bytes: Option<String>,
}

// `[events]`.
#[derive(Args, Serialize)]
pub(super) struct EventFlags {
    /// Streams of events that one organisation may have open at a time
    #[arg(
        id = "events.listeners_per_organisation",
        long = "events-listeners-per-organisation",
        env = "WATCHKEEPER_EVENTS__LISTENERS_PER_ORGANISATION",
        value_name = "N"
    )]
    listeners_per_organisation: Option<String>,
    /// Streams of events that all organisations together may have open at a time
    #[arg(
        id = "events.listeners",
        long = "events-listeners",
        env = "WATCHKEEPER_EVENTS__LISTENERS",
        value_name = "N"
    )]
    listeners: Option<String>,
    /// Different filters, sights and languages that the streams of one organisation may have at a time
    #[arg(
        id = "events.audiences_per_organisation",
        long = "events-audiences-per-organisation",
        env = "WATCHKEEPER_EVENTS__AUDIENCES_PER_ORGANISATION",
        value_name = "N"
    )]
    audiences_per_organisation: Option<String>,
}

// `[backup]`.
#[derive(Args, Serialize)]
pub(super) struct BackupFlags {
    /// Folder for backups by a running server, each in its own folder; embedded databases only [default: no backups]
    #[arg(
        id = "backup.folder",
        long = "backup-folder",
        env = "WATCHKEEPER_BACKUP__FOLDER",
        value_name = "FOLDER"
    )]
    folder: Option<String>,
    /// Time from one backup to the next, such as 30m, 24h or 7d
    #[arg(
        id = "backup.every",
        long = "backup-every",
        env = "WATCHKEEPER_BACKUP__EVERY",
        value_name = "SPAN"
    )]
    every: Option<String>,
    /// How many of these backups are kept; older ones are removed when a new one is whole
    #[arg(id = "backup.keep", long = "backup-keep", env = "WATCHKEEPER_BACKUP__KEEP", value_name = "N")]
    keep: Option<String>,
}

// `[watchdog]`.
#[derive(Args, Serialize)]
pub(super) struct WatchdogFlags {
    /// Address that is requested (GET) while everything works, so that another system notices a failure; it may contain a
    /// secret and is not shown [default: none]
    #[arg(
        id = "watchdog.ping_url",
        long = "watchdog-ping-url",
        env = "WATCHKEEPER_WATCHDOG__PING_URL",
        value_name = "URL"
    )]
    ping_url: Option<String>,
    /// Seconds between two of these pings
    #[arg(
        id = "watchdog.ping_interval_seconds",
        long = "watchdog-ping-interval-seconds",
        env = "WATCHKEEPER_WATCHDOG__PING_INTERVAL_SECONDS",
        value_name = "N"
    )]
    ping_interval_seconds: Option<String>,
    /// Seconds for which a location or this process must be in trouble before a notice tells it, and well before another one
    /// says so
    #[arg(
        id = "watchdog.notice_after_seconds",
        long = "watchdog-notice-after-seconds",
        env = "WATCHKEEPER_WATCHDOG__NOTICE_AFTER_SECONDS",
        value_name = "N"
    )]
    notice_after_seconds: Option<String>,
}

// `[compaction]`.
#[derive(Args, Serialize)]
pub(super) struct CompactionFlags {
    /// Milliseconds between two looks for results to seal, merge or drop
    #[arg(
        id = "compaction.pass_ms",
        long = "compaction-pass-ms",
        env = "WATCHKEEPER_COMPACTION__PASS_MS",
        value_name = "MS"
    )]
    pass_ms: Option<String>,
    /// Results of 1/1024 of all services that are sealed before their hour is over
    #[arg(
        id = "compaction.rows_per_bucket",
        long = "compaction-rows-per-bucket",
        env = "WATCHKEEPER_COMPACTION__ROWS_PER_BUCKET",
        value_name = "N"
    )]
    rows_per_bucket: Option<String>,
    /// Milliseconds that a result is old at least when it is sealed
    #[arg(
        id = "compaction.result_settle_ms",
        long = "compaction-result-settle-ms",
        env = "WATCHKEEPER_COMPACTION__RESULT_SETTLE_MS",
        value_name = "MS"
    )]
    result_settle_ms: Option<String>,
}

// `[compat]`.
#[derive(Args, Serialize)]
pub(super) struct CompatFlags {
    /// Text that stands for a stored secret in answers and requests
    #[arg(
        id = "compat.secret_placeholder",
        long = "compat-secret-placeholder",
        env = "WATCHKEEPER_COMPAT__SECRET_PLACEHOLDER",
        value_name = "TEXT"
    )]
    secret_placeholder: Option<String>,
    /// Prefix of API tokens
    #[arg(
        id = "compat.token_prefix",
        long = "compat-token-prefix",
        env = "WATCHKEEPER_COMPAT__TOKEN_PREFIX",
        value_name = "TEXT"
    )]
    token_prefix: Option<String>,
    /// First label of the verification records of custom domains
    #[arg(
        id = "compat.domain_txt_label",
        long = "compat-domain-txt-label",
        env = "WATCHKEEPER_COMPAT__DOMAIN_TXT_LABEL",
        value_name = "LABEL"
    )]
    domain_txt_label: Option<String>,
}
