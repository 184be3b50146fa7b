//! The rules of the house that no compiler checks, each as a test; they read the sources as text.
//!
//! The tables come first: a new module is given a floor in [`FLOORS`], a new crate that belongs to one place is added
//! to [`HOMES`]. This file rules which module may use which; `circles` that no two use each other; `habits` rules names,
//! module comments and words; `promises` that the documents name tests that exist. Every rule finds violations, and has
//! a test beside it that shows it bad code.

#[path = "tidy/arrows.rs"]
mod arrows;
#[path = "tidy/circles.rs"]
mod circles;
#[path = "tidy/habits.rs"]
mod habits;
#[path = "tidy/names.rs"]
mod names;
#[path = "tidy/promises.rs"]
mod promises;
#[path = "tidy/source.rs"]
mod source;

use source::Source;

/// The floors from the ground up. A module uses only floors below its own.
const FLOORS: [&[&str]; 8] = [
    &["clock", "id", "config", "telemetry", "representation"],
    &["model", "supervise"],
    &["egress", "probe", "stats", "store", "texts"],
    &["engine", "lifecycle", "service_router", "readiness"],
    &[
        "feed",
        "notify",
        "sla_reports",
        "history_figures",
        "timetable",
        "bus",
        "certificates",
        "verdict_texts",
    ],
    &["events", "fleet_view", "incidents", "notices", "record", "backup", "subscribers"],
    &["http", "pages", "remote", "agent", "cluster"],
    &["console", "app", "bench", "doctor", "cli", "lib", "main"],
];

/// Dependencies on one floor that are permitted.
const SIDEWAYS: [(&str, &str, &str); 10] = [
    ("probe", "egress", "every connection of a check passes the one gate"),
    ("service_router", "engine", "it gives the engine what is stored"),
    ("readiness", "engine", "it asks whether the engine answers"),
    ("subscribers", "incidents", "it writes generated titles with the names that a page shows"),
    ("app", "console", "it opens the console with the server"),
    ("bench", "app", "it starts the parts that it measures"),
    ("doctor", "app", "it opens an installation as the server would"),
    ("cli", "app", "a command builds what it needs"),
    ("cli", "bench", "a command starts it"),
    ("cli", "doctor", "a command starts it"),
];

/// Arrows that go down and are forbidden nevertheless.
const FORBIDDEN: [(&str, &str, &str); 2] = [
    ("engine", "store", "the engine reports facts; its tests run without a database"),
    ("engine", "lifecycle", "the engine reports facts; what follows from them is decided elsewhere"),
];

/// Crates that belong to one module; a trailing `*` matches any ending.
const HOMES: [(&[&str], &[&str]); 7] = [
    (&["actix_web"], &["http", "pages", "console", "representation"]),
    (&["actix"], &["supervise", "engine", "record", "notify", "timetable", "bus", "remote", "agent", "app"]),
    (&["sea_orm", "sea_orm_*"], &["store", "entities", "migration"]),
    (&["async_nats", "nkeys"], &["bus"]),
    (&["rcgen"], &["bus", "certificates"]),
    (&["instant_acme"], &["certificates"]),
    (
        &[
            "aws_lc_rs",
            "hickory_*",
            "hyper",
            "hyper_*",
            "rustls",
            "rustls_*",
            "socket2",
            "surge_ping",
            "tokio_rustls",
            "x509_parser",
        ],
        &["probe", "egress"],
    ),
];

/// Crates away from home: (module, or folder of a module; crates; why).
const GUESTS: [(&str, &[&str], &str); 7] = [
    ("model/passkey", &["aws_lc_rs"], "it checks the signatures of passkeys, which needs no IO"),
    (
        "bench",
        &[
            "actix",
            "actix_web",
            "aws_lc_rs",
            "hyper",
            "hyper_util",
            "rustls",
            "sea_orm",
            "socket2",
            "tokio_rustls",
        ],
        "it measures the floors from outside: as a client, a target and a reader of the database",
    ),
    ("http", &["socket2"], "it sets an option of its own listener; it opens no connection"),
    (
        "certificates",
        &["rustls", "x509_parser"],
        "it ends the TLS of visitors and reads its own certificates; its connections are those of egress",
    ),
    ("bus", &["x509_parser"], "its tests read the certificates that it makes"),
    (
        "cli",
        &["actix", "hyper", "hyper_util"],
        "each command starts the actor system it needs; one asks the API of nodes",
    ),
    ("main", &["actix"], "it starts the actor system of the process"),
];

#[test]
fn module_dependencies_point_downwards() {
    assert_clean(&Source::rust(), upward_arrows);
}

#[test]
fn an_upward_or_sideways_dependency_is_found() {
    assert_tells_apart(
        upward_arrows,
        &[
            ("src/model/check.rs", "use crate::clock::Timestamp;", true),
            ("src/model/check.rs", "use crate::model::verdict::Verdict;", true),
            ("src/probe/tcp.rs", "use crate::egress::Gate;", true),
            ("src/http/services.rs", "use crate::{engine::Engine, store, probe, stats};", true),
            ("src/egress.rs", "use crate::probe::run;", false),
            ("src/clock.rs", "use crate::id::Id;", false),
            ("src/record/mod.rs", "use crate::{store, http::page};", false),
            ("src/engine/mod.rs", "fn f() { crate::store::services::all() }", false),
            ("src/engine/mod.rs", "use super::http;", false),
            ("src/engine/mod.rs", "use crate::*;", false),
            ("src/engine/mod.rs", "use crate::novelty::X;", false),
            ("src/novelty.rs", "", false),
            ("tests/api/main.rs", "use crate::support::Server;", true),
        ],
    );
}

#[test]
fn crates_are_used_only_in_their_modules() {
    assert_clean(&Source::rust(), crates_away_from_home);
}

#[test]
fn a_crate_outside_its_module_is_found() {
    assert_tells_apart(
        crates_away_from_home,
        &[
            ("src/http/error.rs", "use actix_web::HttpResponse;", true),
            ("src/engine/mod.rs", "use actix::Actor;", true),
            ("entities/src/lib.rs", "use sea_orm::entity::prelude::X;", true),
            ("migration/src/lib.rs", "use sea_orm_migration::MigratorTrait;", true),
            ("src/probe/ssl.rs", "use tokio_rustls::TlsConnector;", true),
            ("src/bench/api.rs", "use hyper::Request;", true),
            ("tests/probe/main.rs", "use rustls::ServerConfig;", true),
            ("src/engine/mod.rs", "use actix_web::web;", false),
            ("src/http/mod.rs", "use actix::Addr;", false),
            ("src/record/mod.rs", "fn f(db: &sea_orm::DatabaseConnection) {}", false),
            ("src/model/passkey/cose_key.rs", "use aws_lc_rs::signature::ED25519;", true),
            ("src/model/token.rs", "use aws_lc_rs::digest::digest;", false),
            ("src/model/passkeys.rs", "use aws_lc_rs::digest::digest;", false),
            ("src/bus/streams.rs", "use async_nats::jetstream;", true),
            ("src/engine/mod.rs", "use async_nats::jetstream;", false),
            ("src/record/mod.rs", "use nkeys::KeyPair;", false),
            ("src/cli/nats_config.rs", "use rcgen::KeyPair;", false),
            ("src/notify/webhook.rs", "use hyper_util::rt::TokioIo;", false),
            ("src/stats/mod.rs", "use hickory_resolver::Resolver;", false),
            ("src/cli.rs", "use rustls::ClientConfig;", false),
            ("entities/src/lib.rs", "use socket2::Socket;", false),
        ],
    );
}

/// Fails with every violation of `rule` in `sources`, one a line.
pub(crate) fn assert_clean(sources: &[Source], rule: fn(&Source) -> Vec<String>) {
    assert!(!sources.is_empty(), "the walk found no file at all");
    let found: Vec<_> = sources.iter().flat_map(rule).collect();
    assert!(found.is_empty(), "\n{}\n", found.join("\n"));
}

/// Shows `rule` snippets that it must accept (`true`) or refuse.
pub(crate) fn assert_tells_apart(rule: fn(&Source) -> Vec<String>, rows: &[(&str, &str, bool)]) {
    for (path, text, clean) in rows {
        let found = rule(&Source::new(path, text));
        assert_eq!(found.is_empty(), *clean, "{path}: {text}: {found:?}");
    }
}

fn floor(module: &str) -> Option<usize> {
    FLOORS.iter().position(|modules| modules.contains(&module))
}

fn upward_arrows(source: &Source) -> Vec<String> {
    let Some(from) = source.place().filter(|_| source.path.starts_with("src/")) else {
        return Vec::new();
    };
    if floor(from).is_none() {
        return vec![source.at(1, &format!("`{from}` has no floor: give it one in tests/tidy.rs"))];
    }
    let arrows = arrows::modules(source);
    let refused = arrows.iter().filter(|arrow| !is_allowed(from, &arrow.to));
    refused.map(|arrow| source.at(arrow.line, &format!("`{from}` must not use `{}`", arrow.to))).collect()
}

fn is_allowed(from: &str, to: &str) -> bool {
    let listed = |table: &[(&str, &str, &str)]| table.iter().any(|(a, b, _)| (*a, *b) == (from, to));
    let goes_down = floor(to).is_some_and(|below| Some(below) < floor(from));
    from == to || listed(&SIDEWAYS) || (goes_down && !listed(&FORBIDDEN))
}

fn crates_away_from_home(source: &Source) -> Vec<String> {
    let Some(place) = source.place() else {
        return Vec::new();
    };
    let arrows = arrows::crates(source);
    let away = arrows.iter().filter(|arrow| !may_use(source, place, &arrow.to));
    away.map(|arrow| source.at(arrow.line, &format!("`{place}` must not use crate `{}`", arrow.to))).collect()
}

fn may_use(source: &Source, place: &str, name: &str) -> bool {
    let matches = |pattern: &&str| match pattern.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => name == *pattern,
    };
    let home = HOMES.iter().find(|(crates, _)| crates.iter().any(matches));
    let is_in = |folder: &str| {
        let rest = source.path.strip_prefix("src/").and_then(|path| path.strip_prefix(folder));
        rest.is_some_and(|rest| rest.starts_with('/'))
    };
    let is_guest =
        |(at, crates, _): &(&str, &[&str], &str)| (*at == place || is_in(at)) && crates.contains(&name);
    home.is_none_or(|(_, places)| places.contains(&place)) || GUESTS.iter().any(is_guest)
}
