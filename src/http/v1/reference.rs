//! Reference data and the calling token (contract 4.1, 4.2, 4.17).

use serde_json::json;

use crate::http::gate::route::Verb;
use crate::http::openapi::operation::{Chapter, Operation, enveloped, example};
use crate::http::openapi::shape::{
    Shape, always_true, anything, boolean, id, integer, list_of, map_of, named, object, one_of, string, text,
    timestamp,
};
use crate::http::v1::services::openapi::check_type;
use crate::model::access::Permission;

const PROBE: &str = include_str!("probes/example.json");
const CHECK_TYPES: &str = include_str!("check_types/example.json");
const ME: &str = include_str!("me/example.json");

pub(in crate::http::v1) fn chapter() -> Chapter {
    let schemas = vec![
        ("Me", me()),
        ("Probe", probe()),
        ("CheckType", entry()),
        ("ConfigField", config_field()),
        ("ConditionField", condition_field()),
    ];
    Chapter {
        name: "Reference",
        about: "Who asks, from where and how can be checked.",
        schemas,
        operations: operations(),
    }
}

fn operations() -> Vec<Operation> {
    let types = map_of(named("CheckType")).says("By slug.");
    vec![
        Operation::new(Verb::Get, "/v1/me", "show_me", "Show the calling token")
            .says("Works on every plan.")
            .answers(200, "Who asks: the bare object, without `data`.", named("Me"), Some(example(ME))),
        Operation::new(Verb::Get, "/v1/probes", "list_probes", "List the locations that check")
            .paged_on_demand()
            .lists("Every location, by code.", "Probe", &example(PROBE)),
        Operation::new(Verb::Get, "/v1/meta/check-types", "show_check_types", "Show the check types")
            .answers(
                200,
                "What can be checked and configured.",
                enveloped(types),
                Some(example(CHECK_TYPES)),
            ),
    ]
}

fn me() -> Shape {
    let permissions: Vec<&str> = Permission::ALL.iter().map(|permission| permission.as_str()).collect();
    let count = || integer().at_least(0).nullable();
    let limit = object()
        .has("limit", count().says("Null: without limit."))
        .has("usage", count().says("Null: counted per status page."));
    let organisation = object()
        .has("public_id", id())
        .has("name", string())
        .has("plan", one_of(&["free", "solo", "team", "business"]))
        .has("locales", list_of(string()))
        .has("default_locale", string());
    object()
        .has("type", one_of(&["user"]))
        .has("permissions", list_of(one_of(&permissions)))
        .has("organization", organisation)
        .has("rate_limit", object().has("requests_per_minute", integer().at_least(1)))
        .may_have("expires_at", timestamp().says("Only of a token that expires."))
        .has("token", object().has("id", id()).has("name", string()))
        .has("limits", map_of(limit).says("By quota."))
}

fn probe() -> Shape {
    object()
        .has("code", string().pattern("^[a-z0-9][a-z0-9._-]{0,31}$"))
        .has("name", text(1, 255))
        .has("location", string().says("Country or region in words."))
        .has("country_code", string().pattern("^[A-Z]{2}$").says("ISO 3166-1 alpha-2; `ZZ` when unknown."))
        .has("kind", one_of(&["public", "private"]))
        .has("status", one_of(&["online", "offline"]))
        .has("last_seen_at", timestamp().nullable())
}

fn entry() -> Shape {
    let by_subtype = object()
        .has("field", string())
        .has("map", map_of(list_of(string())))
        .has("defaults", map_of(list_of(named("Condition"))));
    let conditions = object()
        .has("fields", list_of(named("ConditionField")))
        .has("defaults", list_of(named("Condition")))
        .may_have("by_subtype", by_subtype);
    let seconds = || integer().at_least(1);
    object()
        .has("key", check_type())
        .has("label", string())
        .has("description", string())
        .has("target_required", boolean())
        .has("fields", list_of(named("ConfigField")))
        .has("conditions", conditions)
        .may_have("interval", object().has("default", seconds()).has("min", seconds()).has("max", seconds()))
}

fn config_field() -> Shape {
    object()
        .has("name", string())
        .has("type", one_of(&["select", "key_value_array", "auth", "textarea", "boolean", "number"]))
        .has("label", string())
        .has("required", boolean())
        .has("secret", boolean())
        .may_have("options", list_of(string()))
        .may_have("default", anything())
        .may_have("help", string())
}

fn condition_field() -> Shape {
    object()
        .has("field", string())
        .has("label", string())
        .has("type", one_of(&["number", "string", "array", "json", "header"]))
        .may_have("unit", string())
        .has("operators", list_of(string()))
        .may_have("parametric", always_true())
        .may_have_all(&["prefix", "key_label", "key_placeholder", "key_help"], &string())
}

/// What the operator's programs ask (no token), and the document itself.
pub(in crate::http::v1) fn operations_without_token() -> Chapter {
    let database = || one_of(&["ok", "away"]);
    let databases = object().has("main", database()).has("history", database());
    let ready = object().has("status", one_of(&["ready", "not ready"])).has("databases", databases);
    let get = |path, id, summary| Operation::new(Verb::Get, path, id, summary);
    let alive = object().has("status", one_of(&["ok"]));
    let operations = vec![
        get("/healthz", "healthz", "Is the process alive?").answers(
            200,
            "It is.",
            alive,
            Some(json!({"status": "ok"})),
        ),
        get("/readyz", "readyz", "Can it serve?")
            .answers(200, "Both databases answer.", ready.clone(), None)
            .answers(503, "A database does not answer.", ready, None),
        get("/metrics", "metrics", "The process's numbers").answers_with(
            "text/plain",
            "Prometheus text format.",
            string(),
        ),
        get("/openapi.json", "openapi", "This document").answers(200, "OpenAPI 3.1.", object(), None),
        get("/docs", "docs", "This document as a page").answers_with("text/html", "For people.", string()),
    ];
    Chapter {
        name: "Operation",
        about: "For operators; no token is needed.",
        schemas: Vec::new(),
        operations,
    }
}
