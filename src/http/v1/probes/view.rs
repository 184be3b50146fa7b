//! Monitoring locations as clients see them (contract 4.1).

use serde::Serialize;
use utoipa::ToSchema;

use crate::clock::Timestamp;
use crate::engine::roster::KnownLocation;
use crate::http::openapi::shape::{Shape, one_of, string, text, timestamp_or_null};

/// A location that checks.
#[derive(Serialize, ToSchema)]
#[schema(as = Probe)]
pub(super) struct ProbeView<'a> {
    #[schema(schema_with = code)]
    code: &'a str,
    #[schema(schema_with = name)]
    name: &'a str,
    /// Country or region in words.
    location: &'a str,
    #[schema(schema_with = country_code)]
    country_code: &'a str,
    #[schema(schema_with = kind)]
    kind: &'static str,
    #[schema(schema_with = status)]
    status: &'static str,
    #[schema(schema_with = timestamp_or_null, required)]
    last_seen_at: Option<Timestamp>,
}

/// A location that has said nothing for longer is offline, in milliseconds.
const OFFLINE_MS: i64 = 60_000;

impl<'a> ProbeView<'a> {
    /// The view of a location: one of this process is as alive as the process that answers at `now`, one in another place as
    /// what it has last said of itself.
    pub(super) fn of(known: &'a KnownLocation, now: Timestamp) -> Self {
        let location = &known.location;
        let last_seen_at =
            if known.is_elsewhere() { known.last_seen().map(|seen| seen.at) } else { Some(now) };
        let is_online = last_seen_at.is_some_and(|at| now.ms_since(at) <= OFFLINE_MS);
        Self {
            code: location.code.as_str(),
            name: &location.name,
            location: &location.place,
            country_code: &location.country_code,
            kind: "public",
            status: if is_online { "online" } else { "offline" },
            last_seen_at,
        }
    }
}

fn code() -> Shape {
    string().pattern("^[a-z0-9][a-z0-9._-]{0,31}$")
}

fn name() -> Shape {
    text(1, 255)
}

fn country_code() -> Shape {
    string().pattern("^[A-Z]{2}$").says("ISO 3166-1 alpha-2; `ZZ` when unknown.")
}

fn kind() -> Shape {
    one_of(&["public", "private"])
}

fn status() -> Shape {
    one_of(&["online", "offline"])
}
