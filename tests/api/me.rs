//! `GET /v1/me` (contract 4.17): what the calling token is and may, on every plan.

use serde_json::{Value, json};

use crate::support::create_unconfigured;
use crate::support::server::Server;

/// Contract 4.17: the bare object, keys in the order of the table.
#[test]
fn the_first_token_has_all_permissions_and_no_limits() {
    let me = Server::shared_client().get("/v1/me").expect(200).json();
    let keys: Vec<&String> = me.as_object().unwrap().keys().collect();
    assert_eq!(
        keys,
        ["type", "permissions", "organization", "rate_limit", "token", "limits", "access_scope"]
    );
    assert_eq!((&me["type"], me["permissions"].as_array().unwrap().len()), (&json!("user"), 56));
    let organisation = &me["organization"];
    assert_eq!((&organisation["name"], &organisation["plan"]), (&json!("Default"), &json!("business")));
    assert_eq!((&organisation["locales"], &organisation["default_locale"]), (&json!(["en"]), &json!("en")));
    assert_eq!(me["rate_limit"], json!({"requests_per_minute": 1_000_000}));
    for (key, limit) in me["limits"].as_object().unwrap() {
        assert_eq!(limit["limit"], Value::Null, "{key}");
    }
}

/// Contract 4.17: usage counts what is active; per-page quotas have none.
#[test]
fn limits_show_allowance_and_usage() {
    let server = Server::shared();
    let client = server.tenant("team");
    let id = create_unconfigured(&client);
    create_unconfigured(&client);
    client.post(&format!("/v1/services/{id}/pause"), &json!({})).expect(200);
    let limits = client.get("/v1/me").expect(200).json()["limits"].clone();
    assert_eq!(limits["services"], json!({"limit": 50, "usage": 1}));
    assert_eq!(limits["components"], json!({"limit": 250, "usage": null}));
    assert_eq!(limits["custom_domains"], json!({"limit": 1, "usage": null}));
}

/// Contract 4.17: no permission and no plan is needed; permissions come in the order of 2.1.
#[test]
fn a_token_with_few_permissions_on_the_free_plan_may_read_me() {
    let server = Server::shared();
    let organisation = server.organisation("free");
    let member = server.member(&organisation, "statuspages.publish,services.view");
    let me = member.get("/v1/me").expect(200).json();
    assert_eq!(me["permissions"], json!(["services.view", "statuspages.publish"]));
    assert_eq!(
        (&me["organization"]["public_id"], &me["organization"]["plan"]),
        (&json!(organisation), &json!("free"))
    );
    assert_eq!(me["token"]["name"], "Bot");
}
