//! Fixed answers, and the pictures drawn from them.

use serde_json::{Value, json};

use super::*;
use crate::cli::status::answer::EngineReply;
use crate::cli::status::node::NodeFailure;

const NOW: &str = "2026-11-23 12:00:05";

fn report(port: u16, answer: Result<Value, &str>) -> NodeReport {
    let answer = answer.map_err(|problem| NodeFailure::Away(problem.into()));
    let read = |raw: Value| EngineReply { engine: serde_json::from_value(raw.clone()).unwrap(), raw };
    NodeReport { url: format!("http://127.0.0.1:{port}").parse().unwrap(), answer: answer.map(read) }
}

fn alone() -> Value {
    json!({
        "started_at": "2026-11-23T12:00:00.000Z",
        "is_alive": true,
        "actors": [],
        "ownership": null,
        "queues": {
            "waiting_results": 3, "spool_bytes": 0, "lateness_p99_ms": 2,
            "bus_connected": null, "pending_batches": null, "lag_ms": null, "redelivered_batches": 0, "refused_results": 0,
            "locations": [{
                "code": "local", "status": "online", "waiting_results": null, "spool_bytes": null, "lateness_p99_ms": null,
            }],
        },
    })
}

/// A response of node a or b, which share all but two partitions; c has died.
fn among_others(node: &str) -> Value {
    let every_third = |from: usize| (from..62).step_by(3).collect::<Vec<_>>();
    let living = |name: &str, from: usize, is_living: bool| {
        let numbers = every_third(from);
        json!({"name": name, "partitions": numbers.len(), "numbers": numbers, "is_living": is_living})
    };
    json!({
        "started_at": "2026-11-23T12:00:00.000Z",
        "is_alive": node == "a",
        "actors": [{"name": "location", "restarts": u64::from(node == "a"), "last_error": "it panicked"}],
        "ownership": {
            "node": node, "leads": node == "a", "partitions": 21,
            "nodes": [living("a", 0, true), living("b", 1, true), living("c", 2, false)],
            "unowned": 2, "taken": 64, "takeovers": 10, "released": 43, "lost": 0,
            "fenced_results": 2, "fenced_changes": 1,
        },
        "queues": {
            "waiting_results": 0, "spool_bytes": 2_097_152, "lateness_p99_ms": null,
            "bus_connected": node == "a", "pending_batches": 12, "lag_ms": 1_200, "redelivered_batches": 4, "refused_results": 0,
            "locations": [
                {"code": "ams", "status": "offline", "waiting_results": 12_000, "spool_bytes": 1_048_576, "lateness_p99_ms": 4},
                {"code": "local", "status": "online", "waiting_results": null, "spool_bytes": null, "lateness_p99_ms": null},
            ],
        },
    })
}

#[test]
fn a_warning_is_a_line_of_its_own() {
    let mut full = alone();
    full["warnings"] = json!(["the disk of data is full"]);
    let picture = draw(&[report(8080, Ok(full))], NOW, false);
    assert!(picture.lines().any(|line| line == "127.0.0.1:8080: the disk of data is full"), "{picture}");
}

#[test]
fn a_single_node_is_drawn_in_one_line() {
    let expected = "\
1 of 1 node answers  2026-11-23 12:00:05

  node  address         partitions          taken  of dead  released  lost  fenced  since
  –     127.0.0.1:8080  alone: all of them      –        –         –     –       –  2026-11-23 12:00:00

queues          waiting  spool  late  bus   pending  lag  redelivered  refused
127.0.0.1:8080        3    0 B  2 ms  none        –    –            0        0

location  status  waiting  spool  late
local     online        –      –     –
";
    assert_eq!(draw(&[report(8080, Ok(alone()))], NOW, false), expected);
}

#[test]
fn clustered_nodes_are_drawn_with_their_problems() {
    let nodes = [
        report(8080, Ok(among_others("a"))),
        report(8081, Ok(among_others("b"))),
        report(8082, Err("does not answer: Connection refused (os error 111)")),
    ];
    let expected = "\
2 of 3 nodes answer  2026-11-23 12:00:05

ab×ab×ab×ab×ab×ab×ab×ab×ab×ab×ab×ab×ab×ab×ab×ab×ab×ab×ab×ab×ab··
a a 21   b b 21   × c 20, dead   · 2 unowned

   node  address         partitions       taken  of dead  released  lost  fenced  since
a  a     127.0.0.1:8080  21 of 64, leads     64       10        43     0       3  2026-11-23 12:00:00
b  b     127.0.0.1:8081  21 of 64            64       10        43     0       3  2026-11-23 12:00:00
   ?     127.0.0.1:8082  does not answer: Connection refused (os error 111)

queues  waiting     spool  late  bus        pending      lag  redelivered  refused
a             0  2.00 MiB     –  connected       12  1200 ms            4        0
b             0  2.00 MiB     –  away            12  1200 ms            4        0

a: location was restarted once: it panicked
b: the engine accepts no commands

location  status   waiting     spool  late
ams       offline    12000  1.00 MiB  4 ms
local     online         –         –     –
";
    assert_eq!(draw(&nodes, NOW, false), expected);
}

#[test]
fn colours_change_no_letter() {
    let nodes = [report(8080, Ok(among_others("b"))), report(8081, Err("does not answer"))];
    let coloured = draw(&nodes, NOW, true);
    assert!(coloured.contains("\u{1b}[36ma\u{1b}[0m") && coloured.contains("\u{1b}[31m×\u{1b}[0m"));
    let mut plain = String::new();
    let mut rest = coloured.split('\u{1b}');
    plain.push_str(rest.next().unwrap());
    rest.for_each(|piece| plain.push_str(piece.split_once('m').unwrap().1));
    assert_eq!(plain, draw(&nodes, NOW, false));
}

#[test]
fn only_unreachable_nodes_are_drawn_in_one_line_each() {
    let expected = "\
0 of 1 node answers  2026-11-23 12:00:05

  node  address         partitions  taken  of dead  released  lost  fenced  since
  ?     127.0.0.1:8080  does not answer
";
    assert_eq!(draw(&[report(8080, Err("does not answer"))], NOW, false), expected);
}
