//! The engine room: nodes, queues and actors of this installation, for operators.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use askama::Template;
use serde_json::Value;

use crate::console::answer;
use crate::console::console_texts::ConsoleTexts;
use crate::console::frame::{ConsoleFrame, ConsoleSection};
use crate::console::screen_error::ScreenError;
use crate::console::screens::member_figure::MemberFigure;
use crate::console::visit::UserVisit;

/// Figures of the queues, in the order in which they are shown.
const FIGURES: [MemberFigure; 7] = [
    MemberFigure { member: "lateness_p99_ms", text: "lateness-p99", unit: " ms" },
    MemberFigure { member: "waiting_results", text: "waiting-results", unit: "" },
    MemberFigure { member: "spool_bytes", text: "spool-bytes", unit: "" },
    MemberFigure { member: "pending_batches", text: "pending-batches", unit: "" },
    MemberFigure { member: "lag_ms", text: "lag", unit: " ms" },
    MemberFigure { member: "redelivered_batches", text: "redelivered", unit: "" },
    MemberFigure { member: "refused_results", text: "refused", unit: "" },
];

#[derive(Template)]
#[template(path = "screens/engine/engine.html")]
struct EngineDocument {
    frame: ConsoleFrame,
    tone: &'static str,
    sentence: String,
    started_at: String,
    warnings: Vec<String>,
    nodes: Vec<NodeRow>,
    queues: Vec<EngineFact>,
    locations: Vec<LocationQueueRow>,
    actors: Vec<ActorRow>,
}

/// A figure with its name.
struct EngineFact {
    name: String,
    value: String,
}

struct NodeRow {
    name: String,
    tone: &'static str,
    state: String,
    partitions: String,
}

struct LocationQueueRow {
    code: String,
    status: String,
    waiting: String,
    spool: String,
    lateness: String,
}

struct ActorRow {
    name: String,
    running: String,
    restarts: String,
    panics: String,
    frozen: String,
    waiting: String,
    last_error: String,
}

/// Shows the engine room.
pub(in crate::console) async fn show(visit: &UserVisit) -> Result<HttpResponse, ScreenError> {
    let engine = visit.get("/v1/engine").await?["data"].take();
    let texts = visit.texts;
    let is_alive = engine["is_alive"] == true;
    let warnings: Vec<String> = rows(&engine["warnings"], |one| plain(one, ""));
    let tone = match (is_alive, warnings.is_empty()) {
        (false, _) => "major_outage",
        (true, false) => "degraded",
        (true, true) => "operational",
    };
    let document = EngineDocument {
        frame: ConsoleFrame::of(visit, ConsoleSection::Engine, texts.text("nav-engine")),
        tone,
        sentence: texts.text(if is_alive { "engine-alive" } else { "engine-dead" }),
        started_at: plain(&engine["started_at"], "").get(..19).unwrap_or_default().replace('T', " "),
        warnings,
        nodes: nodes(texts, &engine["ownership"]),
        queues: queues(texts, &engine),
        locations: rows(&engine["queues"]["locations"], |location| LocationQueueRow::of(texts, location)),
        actors: rows(&engine["actors"], ActorRow::of),
    };
    Ok(answer::document(StatusCode::OK, document.render()?, &visit.visit.headers))
}

fn rows<R>(list: &Value, row: impl Fn(&Value) -> R) -> Vec<R> {
    list.as_array().into_iter().flatten().map(row).collect()
}

/// Returns the nodes of a cluster; none for a single node.
fn nodes(texts: ConsoleTexts, ownership: &Value) -> Vec<NodeRow> {
    rows(&ownership["nodes"], |node| {
        let is_living = node["is_living"] == true;
        let leads = ownership["leads"] == true && node["name"] == ownership["node"];
        let state = texts.text(if is_living { "word-living" } else { "word-dead-node" });
        NodeRow {
            name: plain(&node["name"], ""),
            tone: if is_living { "operational" } else { "major_outage" },
            state: if leads { format!("{state}, {}", texts.text("word-leads")) } else { state },
            partitions: plain(&node["partitions"], ""),
        }
    })
}

/// Returns the figures of the queues that are known.
fn queues(texts: ConsoleTexts, engine: &Value) -> Vec<EngineFact> {
    let queues = &engine["queues"];
    let fact = |text: &str, value: String| EngineFact { name: texts.text(&format!("field-{text}")), value };
    let bus = queues["bus_connected"].as_bool().map(|is_connected| {
        fact("bus", texts.text(if is_connected { "word-connected" } else { "word-disconnected" }))
    });
    let unowned = engine["ownership"]["unowned"].as_u64().map(|count| fact("unowned", count.to_string()));
    let known = FIGURES.iter().filter(|figure| !queues[figure.member].is_null());
    let figures = known.map(|figure| fact(figure.text, plain(&queues[figure.member], figure.unit)));
    bus.into_iter().chain(figures).chain(unowned).collect()
}

impl LocationQueueRow {
    fn of(texts: ConsoleTexts, location: &Value) -> Self {
        let status = plain(&location["status"], "");
        Self {
            code: plain(&location["code"], ""),
            status: texts.text_or(&format!("word-{status}"), &status),
            waiting: plain(&location["waiting_results"], ""),
            spool: plain(&location["spool_bytes"], ""),
            lateness: plain(&location["lateness_p99_ms"], " ms"),
        }
    }
}

impl ActorRow {
    fn of(actor: &Value) -> Self {
        Self {
            name: plain(&actor["name"], ""),
            running: plain(&actor["alive"], ""),
            restarts: plain(&actor["restarts"], ""),
            panics: plain(&actor["panics"], ""),
            frozen: plain(&actor["frozen"], ""),
            waiting: plain(&actor["waiting"], ""),
            last_error: plain(&actor["last_error"], ""),
        }
    }
}

/// Returns a value with its unit; `–` if it is not known.
fn plain(value: &Value, unit: &str) -> String {
    match value {
        Value::Null => "–".to_owned(),
        Value::String(text) => text.clone(),
        other => format!("{other}{unit}"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn figures_without_a_value_are_left_out() {
        let engine = json!({
            "queues": {"waiting_results": 3, "spool_bytes": 0, "lateness_p99_ms": null, "bus_connected": false},
            "ownership": {"unowned": 2},
        });
        let facts = queues(ConsoleTexts::of("en"), &engine);
        let lines: Vec<String> = facts.iter().map(|fact| format!("{}: {}", fact.name, fact.value)).collect();
        assert_eq!(
            lines,
            [
                "NATS server: not connected",
                "Results waiting in memory: 3",
                "Bytes waiting on disk: 0",
                "Partitions without a node: 2",
            ]
        );
    }

    #[test]
    fn a_cluster_shows_its_nodes() {
        let ownership = json!({"node": "a", "leads": true, "nodes": [
            {"name": "a", "partitions": 40, "is_living": true}, {"name": "b", "partitions": 24, "is_living": false},
        ]});
        let nodes = nodes(ConsoleTexts::of("en"), &ownership);
        let lines: Vec<String> =
            nodes.iter().map(|node| format!("{} {} {}", node.name, node.partitions, node.state)).collect();
        assert_eq!(lines, ["a 40 alive, leader", "b 24 not alive"]);
        assert!(super::nodes(ConsoleTexts::of("en"), &Value::Null).is_empty());
    }
}
