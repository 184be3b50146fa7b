//! The settings of each table, as flags and variables.

// No doc comments on these structs: clap would show them instead of what a command does.

use clap::Args;
use serde::Serialize;

// `[probe]`.
#[derive(Args, Serialize)]
pub(super) struct ProbeFlags {
    /// Name servers for all look-ups and for DNS checks [default: the system's]
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
    /// Hosts that are pinged, or connected to if a port is given: when none of those that answered before answers any more,
    /// the location is impaired, and its failing checks are no data; `none` disables this [default: the name servers and
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
    /// Seconds that a statement waits for a connection, on SQLite also for the writer; then the request fails with 503
    #[arg(
        id = "database.acquire_timeout_seconds",
        long = "database-acquire-timeout-seconds",
        env = "WATCHKEEPER_DATABASE__ACQUIRE_TIMEOUT_SECONDS",
        value_name = "N"
    )]
    acquire_timeout_seconds: Option<String>,
    /// Seconds that a statement waits for a lock of PostgreSQL; then the request fails with 503
    #[arg(
        id = "database.lock_timeout_seconds",
        long = "database-lock-timeout-seconds",
        env = "WATCHKEEPER_DATABASE__LOCK_TIMEOUT_SECONDS",
        value_name = "N"
    )]
    lock_timeout_seconds: Option<String>,
    /// Seconds that a statement on PostgreSQL may take, including waits; compaction and migrations may take longer
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
    /// Results held in memory (about 100 bytes each) while the history database is unavailable; further ones go to the spool
    #[arg(
        id = "record.waiting_results",
        long = "record-waiting-results",
        env = "WATCHKEEPER_RECORD__WAITING_RESULTS",
        value_name = "N"
    )]
    waiting_results: Option<String>,
    /// Maximum bytes of the spool in the data folder; further results are dropped and counted
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
    /// Event streams that one organisation may have open at a time
    #[arg(
        id = "events.listeners_per_organisation",
        long = "events-listeners-per-organisation",
        env = "WATCHKEEPER_EVENTS__LISTENERS_PER_ORGANISATION",
        value_name = "N"
    )]
    listeners_per_organisation: Option<String>,
    /// Event streams that all organisations together may have open at a time
    #[arg(
        id = "events.listeners",
        long = "events-listeners",
        env = "WATCHKEEPER_EVENTS__LISTENERS",
        value_name = "N"
    )]
    listeners: Option<String>,
    /// Open status pages that follow the present state over a stream; further ones ask for changes every half minute
    #[arg(
        id = "events.page_listeners",
        long = "events-page-listeners",
        env = "WATCHKEEPER_EVENTS__PAGE_LISTENERS",
        value_name = "N"
    )]
    page_listeners: Option<String>,
    /// Different combinations of filter, visibility and language that the streams of one organisation may have
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
    /// Folder for scheduled backups of a running server, a subfolder for each; embedded databases only [default: no backups]
    #[arg(
        id = "backup.folder",
        long = "backup-folder",
        env = "WATCHKEEPER_BACKUP__FOLDER",
        value_name = "FOLDER"
    )]
    folder: Option<String>,
    /// Time between backups, such as 30m, 24h or 7d
    #[arg(
        id = "backup.every",
        long = "backup-every",
        env = "WATCHKEEPER_BACKUP__EVERY",
        value_name = "SPAN"
    )]
    every: Option<String>,
    /// Number of these backups that are kept; older ones are deleted when a new one is complete
    #[arg(id = "backup.keep", long = "backup-keep", env = "WATCHKEEPER_BACKUP__KEEP", value_name = "N")]
    keep: Option<String>,
}

// `[mail]`.
#[derive(Args, Serialize)]
pub(super) struct MailFlags {
    /// Mail server for subscribers of status pages [default: none]
    #[arg(
        id = "mail.smtp_host",
        long = "mail-smtp-host",
        env = "WATCHKEEPER_MAIL__SMTP_HOST",
        value_name = "HOST"
    )]
    smtp_host: Option<String>,
    /// Port of this mail server
    #[arg(id = "mail.port", long = "mail-port", env = "WATCHKEEPER_MAIL__PORT", value_name = "PORT")]
    port: Option<String>,
    /// Encryption of the connection to it: starttls, tls or none
    #[arg(
        id = "mail.encryption",
        long = "mail-encryption",
        env = "WATCHKEEPER_MAIL__ENCRYPTION",
        value_name = "WORD"
    )]
    encryption: Option<String>,
    /// User of this mail server [default: none]
    #[arg(
        id = "mail.username",
        long = "mail-username",
        env = "WATCHKEEPER_MAIL__USERNAME",
        value_name = "NAME"
    )]
    username: Option<String>,
    /// Password of the user; it is not shown [default: none]
    #[arg(
        id = "mail.password",
        long = "mail-password",
        env = "WATCHKEEPER_MAIL__PASSWORD",
        value_name = "TEXT"
    )]
    password: Option<String>,
    /// Sender of mails to subscribers [default: none]
    #[arg(id = "mail.from", long = "mail-from", env = "WATCHKEEPER_MAIL__FROM", value_name = "ADDRESS")]
    from: Option<String>,
    /// Address for complaints, which mails to subscribers name as a second way to unsubscribe [default: none]
    #[arg(
        id = "mail.complaints",
        long = "mail-complaints",
        env = "WATCHKEEPER_MAIL__COMPLAINTS",
        value_name = "ADDRESS"
    )]
    complaints: Option<String>,
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
    /// Seconds between these pings
    #[arg(
        id = "watchdog.ping_interval_seconds",
        long = "watchdog-ping-interval-seconds",
        env = "WATCHKEEPER_WATCHDOG__PING_INTERVAL_SECONDS",
        value_name = "N"
    )]
    ping_interval_seconds: Option<String>,
    /// Seconds for which a location or this process must have problems before a notice is sent, and must work again before
    /// the notice ends
    #[arg(
        id = "watchdog.notice_after_seconds",
        long = "watchdog-notice-after-seconds",
        env = "WATCHKEEPER_WATCHDOG__NOTICE_AFTER_SECONDS",
        value_name = "N"
    )]
    notice_after_seconds: Option<String>,
}

// `[console]`.
#[derive(Args, Serialize)]
pub(super) struct ConsoleFlags {
    /// Header in which a proxy in trusted_proxies names the user whom it has signed in to the console, by the e-mail
    /// address, such as X-Forwarded-Email; the proxy must remove this header from requests of clients [default: none]
    #[arg(
        id = "console.proxy_user_header",
        long = "console-proxy-user-header",
        env = "WATCHKEEPER_CONSOLE__PROXY_USER_HEADER",
        value_name = "NAME"
    )]
    proxy_user_header: Option<String>,
    /// Role of users whom this proxy names and nobody has invited: owner, editor, responder or viewer
    /// [default: none; they are refused]
    #[arg(
        id = "console.proxy_user_role",
        long = "console-proxy-user-role",
        env = "WATCHKEEPER_CONSOLE__PROXY_USER_ROLE",
        value_name = "ROLE"
    )]
    proxy_user_role: Option<String>,
}

// `[acme]`.
#[derive(Args, Serialize)]
pub(super) struct AcmeFlags {
    /// Directory of a certificate authority (ACME), from which certificates for custom domains are obtained, such as
    /// https://acme-v02.api.letsencrypt.org/directory [default: none; no certificates]
    #[arg(
        id = "acme.directory_url",
        long = "acme-directory-url",
        env = "WATCHKEEPER_ACME__DIRECTORY_URL",
        value_name = "URL"
    )]
    directory_url: Option<String>,
    /// true: you have read and accept the terms of service of this authority
    #[arg(
        id = "acme.terms_accepted",
        long = "acme-terms-accepted",
        env = "WATCHKEEPER_ACME__TERMS_ACCEPTED",
        value_name = "BOOL"
    )]
    terms_accepted: Option<String>,
    /// E-mail address that the authority may write to [default: none]
    #[arg(
        id = "acme.contact",
        long = "acme-contact",
        env = "WATCHKEEPER_ACME__CONTACT",
        value_name = "ADDRESS"
    )]
    contact: Option<String>,
    /// Further authorities (PEM) that may have signed the certificate of the directory's own server, for an authority in your
    /// network [default: the system's alone]
    #[arg(
        id = "acme.ca_file",
        long = "acme-ca-file",
        env = "WATCHKEEPER_ACME__CA_FILE",
        value_name = "FILE"
    )]
    ca_file: Option<String>,
    /// Address for HTTPS, in the forms of listen; port 443 of every custom domain must lead here [default: none]
    #[arg(
        id = "acme.https_listen",
        long = "acme-https-listen",
        env = "WATCHKEEPER_ACME__HTTPS_LISTEN",
        value_name = "ADDRESS:PORT"
    )]
    https_listen: Option<String>,
    /// Address for HTTP, in the forms of listen; port 80 of every custom domain should lead here [default: none]
    #[arg(
        id = "acme.http_listen",
        long = "acme-http-listen",
        env = "WATCHKEEPER_ACME__HTTP_LISTEN",
        value_name = "ADDRESS:PORT"
    )]
    http_listen: Option<String>,
}

// `[compaction]`.
#[derive(Args, Serialize)]
pub(super) struct CompactionFlags {
    /// Milliseconds between passes that seal, merge or drop results
    #[arg(
        id = "compaction.pass_ms",
        long = "compaction-pass-ms",
        env = "WATCHKEEPER_COMPACTION__PASS_MS",
        value_name = "MS"
    )]
    pass_ms: Option<String>,
    /// Number of results of 1/1024 of all services that are sealed before the end of their hour
    #[arg(
        id = "compaction.rows_per_bucket",
        long = "compaction-rows-per-bucket",
        env = "WATCHKEEPER_COMPACTION__ROWS_PER_BUCKET",
        value_name = "N"
    )]
    rows_per_bucket: Option<String>,
    /// Minimum age in milliseconds of a result when it is sealed
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
    /// Text that replaces a stored secret in answers and requests
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
