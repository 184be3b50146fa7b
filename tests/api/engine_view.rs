//! `GET /v1/engine`: how the process is doing, for operators alone. Its permission is none of contract 2.1: a token
//! has it only when it was created with this permission by name.

use std::path::Path;

use rstest::rstest;
use serde_json::{Value, json};

use crate::support::client::Client;
use crate::support::server::Server;

#[test]
fn only_a_token_with_the_permission_sees_the_engine() {
    let server = Server::shared();
    let organisation = server.organisation("business");
    for member in [server.client(), server.member(&organisation, "all")] {
        let refused = member.get("/v1/engine").expect(403);
        assert_eq!(refused.message(), "This token is missing the permission 'engine.view'.");
    }
    let operator = server.member(&organisation, "engine.view");
    operator.get("/v1/services").expect(403);
    let engine = operator.get("/v1/engine").expect(200).data();
    assert_eq!(engine["is_alive"], json!(true));
    let actor = |name: &str| {
        let found = engine["actors"].as_array().unwrap().iter().find(|actor| actor["name"] == name);
        found.unwrap_or_else(|| panic!("no {name}: {engine}")).clone()
    };
    for (name, on_death) in [
        ("fleet", "end_process"),
        ("recorder", "end_process"),
        ("compactor", "restart"),
        ("maintenance_clock", "restart"),
        ("domain_clock", "restart"),
        ("reconciliation", "restart"),
    ] {
        let actor = actor(name);
        assert_eq!((&actor["alive"], &actor["on_death"]), (&json!(1), &json!(on_death)), "{name}");
        assert_eq!([&actor["restarts"], &actor["panics"], &actor["frozen"]], [&json!(0); 3], "{name}");
        assert_eq!(actor["last_error"], Value::Null, "{name}");
    }
    for name in ["aggregator", "location", "recorder"] {
        assert!(actor(name)["waiting"].is_u64(), "{name}: what waits for it is known");
    }
}

/// Contract 4.17: the permissions of the contract come in its order; that of operators comes last.
#[test]
fn me_lists_the_operator_permission_last() {
    let server = Server::shared();
    let organisation = server.organisation("business");
    let operator = server.member(&organisation, "engine.view,all");
    let permissions = operator.get("/v1/me").expect(200).json()["permissions"].clone();
    let owner = server.member(&organisation, "all").get("/v1/me").expect(200).json()["permissions"].clone();
    let mut expected = owner.as_array().unwrap().clone();
    assert_eq!(expected.len(), 56, "18 of the contract, and those of the additions");
    expected.push(json!("engine.view"));
    assert_eq!(permissions, Value::from(expected));
}

/// The token of the first start has every permission of the API, which this is not one of: the pages say how to get it.
#[rstest]
#[case("README.md")]
#[case("docs/commands.md")]
fn the_documented_command_creates_an_operator_token(#[case] page: &str) {
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(page)).unwrap();
    let mut commands = text.split('`').filter_map(|code| code.strip_prefix("watchkeeper "));
    let commands = commands.find(|code| code.starts_with("token create") && code.contains("engine.view"));
    let server = Server::shared();
    let organisation = server.organisation("business");
    let arguments = commands.expect("the command is named").replace(" ID ", &format!(" {organisation} "));
    let made = server.command_json(&arguments.split(' ').collect::<Vec<_>>());
    let token = made["token"].as_str().map(str::to_owned);
    Client { token, ..server.client() }.get("/v1/engine").expect(200);
}

/// A node without NATS servers shares nothing, whatever its databases are; what waits is said all the same.
#[test]
fn a_single_node_shows_no_ownership_but_its_queues() {
    for server in [Some(Server::embedded("", &[])), Server::on_postgres(&[])].into_iter().flatten() {
        let operator = server.member(&server.organisation("business"), "engine.view");
        let engine = operator.get("/v1/engine").expect(200).data();
        assert_eq!(engine["ownership"], Value::Null);
        let queues = json!({
            "waiting_results": 0,
            "spool_bytes": 0,
            "lateness_p99_ms": null,
            "bus_connected": null,
            "pending_batches": null,
            "lag_ms": null,
            "redelivered_batches": 0,
            "refused_results": 0,
            "locations": [{
                "code": "local", "status": "online", "waiting_results": null, "spool_bytes": null, "lateness_p99_ms": null,
            }],
        });
        assert_eq!(engine["queues"], queues);
    }
}
