//! Limits that hardly any operator needs to change, each with its unit and its default. The code that applies a limit
//! documents what happens beyond it. Limits that can be set in a file have a rule.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::config::rule;

/// Limits, by layer, that cannot be set in a file.
#[derive(Clone, Debug, Default)]
pub struct InternalLimits {
    /// Limits of the engine's actors.
    pub engine: EngineLimits,
    /// Limits of the API.
    pub http: HttpLimits,
    /// Messages between processes.
    pub bus: BusLimits,
    /// Conversations with mail servers.
    pub mail: MailLimits,
}

/// `[database]`: limits of the databases.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default, expecting = "a table such as [database]")]
pub struct StoreLimits {
    /// Number of reading connections per SQLite database.
    #[serde(skip)]
    pub sqlite_readers: u32,
    /// Connections per PostgreSQL database. While there is work that takes long by design, as many more are opened for it.
    #[serde(skip)]
    pub postgres_connections: u32,
    /// The time that a statement may wait for a connection, and on SQLite for the writer, in seconds.
    #[serde(deserialize_with = "rule::amount")]
    pub acquire_timeout_seconds: u64,
    /// The time that a statement may wait for a lock of PostgreSQL, in seconds; then PostgreSQL cancels it, and its
    /// transaction is rolled back.
    #[serde(deserialize_with = "rule::amount")]
    pub lock_timeout_seconds: u64,
    /// The time that a statement on PostgreSQL may take, including waits, in seconds; statements of compaction and
    /// migrations are not limited.
    #[serde(deserialize_with = "rule::amount")]
    pub statement_timeout_seconds: u64,
    /// The time that a transaction may stay open on PostgreSQL without a further statement, in seconds. It limits for how
    /// long a process that was stopped delays others. The compaction lock, which is such a transaction, is not limited.
    #[serde(skip)]
    pub forgotten_transaction_seconds: u64,
}

impl Default for StoreLimits {
    fn default() -> Self {
        Self {
            sqlite_readers: 4,
            postgres_connections: 8,
            acquire_timeout_seconds: 3,
            lock_timeout_seconds: 5,
            statement_timeout_seconds: 30,
            forgotten_transaction_seconds: 60,
        }
    }
}

/// Limits of the engine. Refused work is counted by reason; see `engine`.
#[derive(Clone, Debug)]
pub struct EngineLimits {
    /// Threads that services are spread over; 0 = one per core.
    pub shards: usize,
    /// Checks that run at the same time, per location and shard.
    pub checks_in_flight: usize,
    /// Checks that wait for a slot, per location and shard; further ones are shed.
    pub checks_waiting: usize,
    /// Checks that run at the same time towards one host, per location and shard.
    pub checks_per_host: usize,
    /// Messages in a mailbox before `try_send` is refused.
    pub mailbox: usize,
    /// Wait before the first retry, in milliseconds; doubles up to `retry_backoff_max_ms`.
    pub retry_backoff_ms: u64,
    /// Longest wait before a retry, in milliseconds.
    pub retry_backoff_max_ms: u64,
    /// Time between two checks of a location while the state is uncertain, in milliseconds.
    pub uncertain_interval_ms: i64,
    /// Recheck budget: early checks per second while the state is uncertain, per location and shard; beyond it, checks
    /// come five times as often as usual.
    pub hasty_checks_per_second: u32,
    /// Recheck budget towards one host: early checks per second.
    pub hasty_checks_per_host_and_second: u32,
    /// Results that an aggregator collects before it hands them to the recorder.
    pub batch_results: usize,
    /// Longest time that a result waits in an aggregator, in milliseconds.
    pub batch_ms: u64,
    /// True if failed results are handed over at once, because a remote node waits for them.
    pub failures_at_once: bool,
}

impl Default for EngineLimits {
    fn default() -> Self {
        Self {
            shards: 0,
            checks_in_flight: 4_096,
            checks_waiting: 65_536,
            checks_per_host: 256,
            mailbox: 65_536,
            retry_backoff_ms: 200,
            retry_backoff_max_ms: 1_000,
            uncertain_interval_ms: 1_000,
            hasty_checks_per_second: 200,
            hasty_checks_per_host_and_second: 20,
            batch_results: 1_024,
            batch_ms: 100,
            failures_at_once: false,
        }
    }
}

/// `[record]`: limits of the recorder.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default, expecting = "a table such as [record]")]
pub struct RecordLimits {
    /// Maximum number of results that wait in memory for the database; beyond it all of them go to the spool. A result
    /// takes about 100 bytes, and a failed one its text of at most 500 characters as well: 20 MB in all, 120 MB if all
    /// have failed with long texts.
    #[serde(deserialize_with = "rule::amount")]
    pub waiting_results: usize,
    /// True if results wait on the disk, not in memory, as soon as they cannot be stored, because a remote location may be
    /// cut off for long and then be killed.
    #[serde(skip)]
    pub spools_while_failing: bool,
    /// Maximum bytes of the spool; beyond it results are dropped and counted. A result takes about 45 bytes.
    #[serde(deserialize_with = "rule::amount")]
    pub spool_max_bytes: u64,
    /// Rows written in one transaction.
    #[serde(skip)]
    pub rows_per_commit: usize,
    /// The wait after a failed write, in milliseconds.
    #[serde(skip)]
    pub retry_ms: u64,
    /// The time for storing results in the database when the process stops, in milliseconds; the results that remain go to
    /// the spool.
    #[serde(skip)]
    pub stop_ms: u64,
    /// The interval at which finished hours are searched for and deleted services are erased, in milliseconds.
    #[serde(skip)]
    pub upkeep_ms: u64,
}

impl Default for RecordLimits {
    fn default() -> Self {
        Self {
            waiting_results: 200_000,
            spools_while_failing: false,
            spool_max_bytes: 1024 * 1024 * 1024,
            rows_per_commit: 8_192,
            retry_ms: 500,
            stop_ms: 2_000,
            upkeep_ms: 60_000,
        }
    }
}

/// `[events]`: limits of event streams: those of `GET /v1/events`, and those of open status pages.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default, expecting = "a table such as [events]")]
pub struct EventLimits {
    /// Maximum number of streams of one organisation in this process; a further one is refused with 429.
    #[serde(deserialize_with = "rule::amount")]
    pub listeners_per_organisation: usize,
    /// Maximum number of streams in this process; a further one is refused with 503.
    #[serde(deserialize_with = "rule::amount")]
    pub listeners: usize,
    /// Maximum number of open status pages that follow the present state over a stream of this process; a further one asks
    /// for changes every half minute.
    #[serde(deserialize_with = "rule::amount")]
    pub page_listeners: usize,
    /// Different combinations of filter, visibility and language among the streams of one organisation; a further one is
    /// refused with 429.
    #[serde(deserialize_with = "rule::amount")]
    pub audiences_per_organisation: usize,
    /// Maximum number of event rounds (ten a second at most) that wait for a client; a client that is further behind is
    /// disconnected.
    #[serde(skip)]
    pub rounds_waiting: usize,
    /// Clients that may receive missed events at the same time.
    #[serde(skip)]
    pub replays: usize,
}

impl Default for EventLimits {
    fn default() -> Self {
        Self {
            listeners_per_organisation: 2_000,
            listeners: 5_000,
            page_listeners: 10_000,
            audiences_per_organisation: 100,
            rounds_waiting: 64,
            replays: 4,
        }
    }
}

/// `[compaction]`: limits of the compaction.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default, expecting = "a table such as [compaction]")]
pub struct CompactionLimits {
    /// The interval between two polls for work, in milliseconds.
    #[serde(deserialize_with = "rule::amount")]
    pub pass_ms: u64,
    /// Number of unsealed results of one bucket (1/1,024 of all services) at which they are sealed before the end of their
    /// hour.
    #[serde(deserialize_with = "rule::amount")]
    pub rows_per_bucket: u64,
    /// The minimum age of a result when it is sealed, in milliseconds; by then the slowest check has been recorded.
    #[serde(deserialize_with = "rule::amount")]
    pub result_settle_ms: u64,
    /// Approximate number of results sealed with one commit.
    #[serde(skip)]
    pub rows_per_seal: u64,
    /// Maximum bytes of the whole history; beyond it the oldest segments are deleted before their retention ends. `None` =
    /// retention alone decides.
    #[serde(skip)]
    pub max_history_bytes: Option<u64>,
}

impl Default for CompactionLimits {
    fn default() -> Self {
        Self {
            pass_ms: 10_000,
            rows_per_bucket: 8_192,
            result_settle_ms: 120_000,
            rows_per_seal: 32_768,
            max_history_bytes: None,
        }
    }
}

/// Limits of the API.
#[derive(Clone, Debug)]
pub struct HttpLimits {
    /// Threads that answer requests; 0 = one per core.
    pub workers: usize,
    /// Connections per thread.
    pub connections: usize,
    /// Maximum size of a JSON body, in bytes.
    pub body_bytes: usize,
    /// The time that a client may take to send the request head, in seconds.
    pub head_timeout_seconds: u64,
    /// The time that a client may take to send the request body, in seconds.
    pub body_timeout_seconds: u64,
    /// The time for which a client may leave response data unread, in seconds (`TCP_USER_TIMEOUT`); then its connection
    /// is closed.
    pub write_timeout_seconds: u64,
    /// Keep-alive of an idle connection, in seconds.
    pub keep_alive_seconds: u64,
    /// Time for running requests when the process stops, in seconds.
    pub shutdown_seconds: u64,
    /// IP addresses tracked at a time for requests without a valid token.
    pub rate_limit_addresses: usize,
}

impl Default for HttpLimits {
    fn default() -> Self {
        Self {
            workers: 0,
            connections: 10_000,
            body_bytes: 1024 * 1024,
            head_timeout_seconds: 5,
            body_timeout_seconds: 10,
            write_timeout_seconds: 10,
            keep_alive_seconds: 15,
            shutdown_seconds: 5,
            rate_limit_addresses: 100_000,
        }
    }
}

/// Limits of messages between processes, over NATS. The sizes of streams count towards the storage of the NATS server.
#[derive(Clone, Debug)]
pub struct BusLimits {
    /// Timeout of connecting, in milliseconds.
    pub connect_timeout_ms: u64,
    /// Timeout of a reply or an acknowledgement, in milliseconds.
    pub request_timeout_ms: u64,
    /// Interval of pings to the server, in milliseconds; after two unanswered pings the client reconnects.
    pub ping_interval_ms: u64,
    /// Messages queued for sending; beyond it the sender waits.
    pub waiting_commands: usize,
    /// Messages queued in a subscription; beyond it the newest are dropped and counted.
    pub waiting_messages: usize,
    /// Maximum size of all results in transit, in bytes; beyond it batches of locations are refused and stay in their
    /// spool.
    pub results_bytes: i64,
    /// Batches of results in transit per location and partition; beyond it batches of this location are refused and stay
    /// in its spool.
    pub results_per_subject: i64,
    /// Maximum size of all definitions, in bytes.
    pub definitions_bytes: i64,
    /// Maximum size of one definition, in bytes; settings of the largest size fit when they are sealed and written as
    /// base64.
    pub definition_bytes: i32,
    /// Maximum size of all reports of locations, in bytes.
    pub presence_bytes: i64,
    /// Maximum size of one report of a location, in bytes.
    pub presence_value_bytes: i32,
    /// Maximum size of all leases, in bytes.
    pub leases_bytes: i64,
    /// Maximum size of one lease, in bytes.
    pub lease_value_bytes: i32,
}

impl Default for BusLimits {
    fn default() -> Self {
        const MIB: i64 = 1_024 * 1_024;
        Self {
            connect_timeout_ms: 5_000,
            request_timeout_ms: 5_000,
            ping_interval_ms: 5_000,
            waiting_commands: 2_048,
            waiting_messages: 65_536,
            results_bytes: 4_096 * MIB,
            results_per_subject: 4_096,
            definitions_bytes: 2_048 * MIB,
            definition_bytes: 384 * 1_024,
            presence_bytes: 16 * MIB,
            presence_value_bytes: 8 * 1_024,
            leases_bytes: 16 * MIB,
            lease_value_bytes: 4 * 1_024,
        }
    }
}

/// Timeouts of the steps of an SMTP session (RFC 5321, 4.5.3.2).
#[derive(Clone, Debug)]
pub struct MailLimits {
    /// Connecting, including the TLS handshake.
    pub connect: Duration,
    /// The greeting.
    pub greeting: Duration,
    /// The reply to a command: `EHLO`, `AUTH`, `MAIL`, `RCPT`.
    pub command: Duration,
    /// The reply to `DATA`.
    pub data_command: Duration,
    /// Sending one block of the mail.
    pub data_block: Duration,
    /// The reply to the final dot: servers inspect the mail before they accept it.
    pub final_dot: Duration,
}

impl Default for MailLimits {
    fn default() -> Self {
        const MINUTE: Duration = Duration::from_secs(60);
        Self {
            connect: MINUTE / 2,
            greeting: MINUTE * 5,
            command: MINUTE * 5,
            data_command: MINUTE * 2,
            data_block: MINUTE * 3,
            final_dot: MINUTE * 10,
        }
    }
}
