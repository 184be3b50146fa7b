//! Promises to visitors: a page claims nothing that is not known, shows its time, and looks like a page also when it is missing.
//! And the front page at the address of the API.

use serde_json::{Value, json};

use crate::support::client::Client;
use crate::support::pages::{
    create_component, create_page, fresh, get_at, host_of, id_of, new_component, shown, visit,
};
use crate::support::server::Server;
use crate::support::{create, service};

fn manual(client: &Client, status: Option<&str>) -> String {
    let id = create(client, &json!({"name": "Till", "check_type": "manual"}));
    if let Some(status) = status {
        let stated = json!({"status": status, "reason": "Seen"});
        client.post(&format!("{}/status-override", service(&id)), &stated).expect(200);
    }
    id
}

/// A page with its id and its host.
fn page(client: &Client) -> (String, String) {
    let page = create_page(client, &json!({"slug": fresh("visited")}));
    (id_of(&page), host_of(&page))
}

fn body(client: &Client, host: &str) -> String {
    get_at(client, host, "/").expect(200).body
}

/// Contract 7 no. 47.
#[test]
fn a_page_with_unknown_systems_does_not_call_all_of_them_operational() {
    let client = Server::shared_client();
    let (id, host) = page(&client);
    new_component(&client, &id, &json!({"service_id": manual(&client, Some("up"))}));
    assert!(body(&client, &host).contains("All systems operational"));
    let paused =
        create(&client, &json!({"name": "Paused", "check_type": "http", "target": "http://127.0.0.1:9/"}));
    client.post(&format!("{}/pause", service(&paused)), &json!({})).expect(200);
    new_component(&client, &id, &json!({"service_id": paused}));
    let html = body(&client, &host);
    assert!(
        html.contains("The status of some systems is unknown") && !html.contains("All systems"),
        "{html}"
    );
}

/// Contract 4.14.5, rows 2 and 5.
#[test]
fn a_component_is_not_shown_better_than_measured() {
    let client = Server::shared_client();
    let (id, host) = page(&client);
    let gone = manual(&client, Some("up"));
    let component = new_component(&client, &id, &json!({"service_id": gone}));
    let status = || -> Value { shown(&client, &id, &component)["effective_status"].clone() };
    assert_eq!(status(), "operational");
    client.delete(&service(&gone)).expect(200);
    assert_eq!(status(), "unknown", "nobody measures it any more");
    assert!(body(&client, &host).contains("Status unknown"));
    client
        .patch(&format!("/v1/statuspages/{id}/components/{component}"), &json!({"name": "Renamed"}))
        .expect(200);
    assert_eq!(status(), "unknown", "a name measures nothing");
    client
        .patch(&format!("/v1/statuspages/{id}/components/{component}"), &json!({"service_id": null}))
        .expect(200);
    assert_eq!(status(), "operational", "it shall show no service");
}

#[test]
fn a_page_does_not_reload_itself() {
    let client = Server::shared_client();
    let (_, host) = page(&client);
    let answer = get_at(&client, &host, "/").expect(200);
    assert_eq!(answer.header("refresh"), None);
    assert!(!answer.body.contains("As of"), "it is up to date");
}

#[test]
fn a_notice_shows_no_progress() {
    let client = Server::shared_client();
    let (id, host) = page(&client);
    create_component(&client, &id, &json!({}));
    let notice = json!({"title": "Closed over Christmas", "message": "Back in January.", "kind": "notice",
        "is_published": true, "statuspage_ids": [id]});
    client.post("/v1/incidents", &notice).expect(201);
    let html = body(&client, &host);
    assert!(html.contains("Back in January.") && !html.contains("Investigating"), "{html}");
}

/// The page for a missing page looks like one; it includes its style, as there are no files either.
#[test]
fn a_missing_page_includes_its_style() {
    let client = Server::shared_client();
    let missing = get_at(&client, "no-such-page.localhost", "/").expect(404);
    assert!(missing.body.contains("<style>") && !missing.body.contains("/static/"), "{}", missing.body);
    assert!(missing.header("content-security-policy").unwrap().contains("style-src 'sha256-"));
    for path in ["/static/style.0123456789abcdef.css", "/style.css"] {
        get_at(&client, "no-such-page.localhost", path).expect(404);
        visit(&client, "POST", "no-such-page.localhost", path, &["Content-Length: 0"]).expect(404);
    }
}

/// Probes and clients may reach the API by such a name; people find no front page there.
#[test]
fn an_unknown_host_has_no_front_page() {
    let client = Server::shared_client();
    get_at(&client, "shop", "/").expect(404);
    get_at(&client, "shop", "/healthz").expect(200);
    get_at(&client, "localhost", "/").expect(200);
}

#[test]
fn the_front_page_of_the_api_describes_itself() {
    let client = Server::shared_client();
    let anybody = client.without_token();
    let front = anybody.get("/").expect(200);
    assert_eq!(front.header("content-type"), Some("text/html; charset=utf-8"));
    assert!(
        front
            .header("content-security-policy")
            .unwrap()
            .starts_with("default-src 'none'; style-src 'sha256-")
    );
    assert!(
        front.body.contains(env!("CARGO_PKG_VERSION")) && !front.body.contains("<script"),
        "{}",
        front.body
    );
    let links: Vec<&str> =
        front.body.split("href=\"").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
    assert!(links.contains(&"/docs"), "{links:?}");
    for link in links {
        anybody.get(link).expect(200);
    }
    let refused = anybody.send("POST", "/", &[], b"");
    assert_eq!((refused.status, refused.header("allow")), (405, Some("GET, HEAD")));
}
