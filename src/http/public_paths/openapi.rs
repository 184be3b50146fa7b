//! Describes the paths outside of `/v1`, for operators and their programs.

use serde_json::json;

use crate::http::gate::route::HttpVerb;
use crate::http::openapi::operation::{ApiChapter, ApiOperation};
use crate::http::openapi::shape::{always_true, enum_of, list_of, object, string};

/// Describes the operational endpoints, which need no token, and the API description itself.
pub(in crate::http) fn chapter() -> ApiChapter {
    let database = || enum_of(&["ok", "away"]);
    let databases = object().has("main", database()).has("history", database());
    let ready = object().has("status", enum_of(&["ready", "not ready"])).has("databases", databases);
    let ready = ready.may_have("engine", enum_of(&["away"]).says("Only when it does not answer.")).may_have(
        "warnings",
        list_of(string()).says("Only when there are problems that do not prevent the server from answering."),
    );
    let get = |path, id, summary| ApiOperation::new(HttpVerb::Get, path, id, summary);
    let alive = object().has("status", enum_of(&["ok"]));
    let operations = vec![
        get("/healthz", "healthz", "Liveness check").answers(
            200,
            "The process is alive.",
            alive,
            Some(json!({"status": "ok"})),
        ),
        get("/readyz", "readyz", "Readiness check")
            .says("The header `Watchkeeper-Node` has the fingerprint of the node's id, by which `watchkeeper doctor` recognises the server of a data folder.")
            .answers(200, "Databases and engine answer.", ready.clone(), None)
            .answers(503, "A database or the engine does not answer.", ready, None),
        get("/metrics", "metrics", "Metrics of the process").answers_with(
            "text/plain",
            "Prometheus text format.",
            string(),
        ),
        get("/tls/ask", "tls_ask", "Ask whether a host name is an active custom domain")
            .says("For a proxy in front that obtains certificates on demand, such as Caddy (`on_demand_tls { ask … }`). Answered only to this machine and to `trusted_proxies`; others get 404.")
            .asks("domain", string(), "The host name.")
            .answers_with("text/plain", "The host name is an active custom domain.", string())
            .refuses(&[404, 503]),
        get("/openapi.json", "openapi", "This document").answers(200, "OpenAPI 3.1.", object(), None),
        get("/", "front", "Front page with links").answers_with("text/html", "An HTML page.", string()),
        get("/docs", "docs", "This document as a page").answers_with("text/html", "An HTML page.", string()),
    ];
    ApiChapter {
        name: "Operation",
        about: "For operators; no token is needed.",
        schemas: Vec::new(),
        operations,
    }
}

/// Describes the URLs of contacts' calendars.
pub(in crate::http) fn calendars() -> ApiChapter {
    let words = "No token: the secret is in the address. At most 10 per second and secret. The shifts of the last 30 and the next 180 days.";
    let show =
        ApiOperation::new(HttpVerb::Get, "/calendars/{calendar}", "calendar", "Show the shifts of a contact");
    let show = show.says(words).answers_with("text/calendar", "iCalendar (RFC 5545).", string());
    let operations = vec![show.refuses(&[404, 429, 500, 503])];
    ApiChapter {
        name: "Calendars",
        about: "iCalendar feeds for calendar programs.",
        schemas: Vec::new(),
        operations,
    }
}

/// Describes the URLs that monitored jobs ping (contract 4.3.11).
pub(in crate::http) fn pings() -> ApiChapter {
    let answer = || object().has("ok", always_true());
    let ping = |verb, path, id, summary| {
        let words = "No token: the secret is in the address. At most 10 per second and secret.";
        let operation = ApiOperation::new(verb, path, id, summary).says(words);
        operation.answers(200, "Heard.", answer(), Some(json!({"ok": true}))).refuses(&[404, 429, 500, 503])
    };
    let operations = vec![
        ping(HttpVerb::Get, "/ping/{secret}", "ping", "Report that a job has run"),
        ping(HttpVerb::Post, "/ping/{secret}", "ping_by_post", "Report that a job has run"),
        ping(HttpVerb::Get, "/ping/{secret}/fail", "ping_fail", "Report that a job has failed"),
        ping(HttpVerb::Post, "/ping/{secret}/fail", "ping_fail_by_post", "Report that a job has failed"),
    ];
    ApiChapter {
        name: "Pings",
        about: "Addresses that monitored jobs call.",
        schemas: Vec::new(),
        operations,
    }
}
