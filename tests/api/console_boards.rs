//! The console's screens about incidents and status pages: the board, an incident, a page with its tree and its domains.

use rstest::rstest;
use serde_json::{Value, json};

use crate::console_service::down;
use crate::notification_channels::{create_channel, webhook};
use crate::support::client::Client;
use crate::support::console::ConsoleUser;
use crate::support::pages::{all, fresh, id_of, new_component, new_page};
use crate::support::server::Server;
use crate::support::sink::Sink;
use crate::support::{create, create_unconfigured, eventually};

/// A user with this role, whose screens are in this language.
fn speaker(client: &Client, role: &str, language: &str) -> ConsoleUser {
    let user = ConsoleUser::invited(client, role);
    user.post("/settings", &[("what", "profile"), ("name", "Anna"), ("language", language)]).expect(303);
    user
}

/// Creates an incident with these fields beside a title and a message, and gives its path.
fn open_incident(client: &Client, more: &Value) -> String {
    let mut body = json!({"title": "Checkout is slow", "message": "We look.", "severity": "major"});
    for (key, value) in more.as_object().unwrap() {
        body[key] = value.clone();
    }
    format!("/incidents/{}", id_of(&client.post("/v1/incidents", &body).expect(201).data()))
}

/// An escalation policy with two steps, the first one at once.
pub(crate) fn escalate(client: &Client) -> Sink {
    let sink = Sink::start();
    let channel = create_channel(client, &webhook(&sink.url(), &json!({"name": "Phones"})))["id"].clone();
    let steps = [0, 900].map(|after| json!({"after_seconds": after, "channel_ids": [channel]}));
    client.post("/v1/escalation-policies", &json!({"name": "Night shift", "steps": steps})).expect(201);
    sink
}

#[rstest]
#[case("en", &["Affected services", "Down since", "not yet", "1 step taken of 2", "Next step", "HTTP 204"])]
#[case("de", &["Betroffene Dienste", "Ausgefallen seit", "noch nicht", "1 Stufe ausgeführt von 2", "HTTP 204"])]
#[tokio::test]
async fn an_incident_shows_its_edges_and_who_was_told(#[case] language: &str, #[case] words: &[&str]) {
    let client = Server::shared().tenant("business");
    let _sink = escalate(&client);
    let user = speaker(&client, "responder", language);
    let service = down(&client).await;
    let incident = eventually("the outage becomes an incident", || {
        let found = client.get(&format!("/v1/services/{service}/incidents")).expect(200).data();
        found[0]["id"].as_str().map(str::to_owned)
    })
    .await;
    let progress = format!("/v1/incidents/{incident}/escalation");
    eventually("the first step is taken", || {
        (client.get(&progress).expect(200).data()["steps_taken"] == 1).then_some(())
    })
    .await;
    let page = eventually("somebody was told", || {
        let page = user.get(&format!("/incidents/{incident}")).expect(200).body;
        page.contains("HTTP 204").then_some(page)
    })
    .await;
    for word in words {
        assert!(page.contains(word), "{word}: {page}");
    }
    let changes = client.get(&format!("/v1/services/{service}/status-changes")).expect(200).data();
    let edge = changes.as_array().unwrap().iter().find(|change| change["to"] == "down").unwrap();
    let edge = edge["at"].as_str().unwrap().trim_end_matches('Z').replace('T', " ");
    assert!(page.contains(&edge), "{edge}: {page}");
    for link in [format!("/console/services/{service}"), "/console/policies/escalations/".into()] {
        assert!(page.contains(&format!("href=\"{link}")), "{link}: {page}");
    }
    assert!(
        page.contains("class=\"primary\" data-key=\"a\"") && page.contains("#message\" data-key=\"r\""),
        "{page}"
    );
}

#[test]
fn an_update_is_previewed_before_it_is_posted() {
    let client = Server::shared().tenant("business");
    let user = ConsoleUser::invited(&client, "responder");
    let path = open_incident(&client, &json!({}));
    let text = "It is **fixed** <script>alert(1)</script> [log](javascript:x)";
    let fields = [("status", "monitoring"), ("message", text), ("preview", "true")];
    let page = user.post(&format!("{path}/updates"), &fields).expect(200).body;
    assert!(page.contains("It is <strong>fixed</strong>") && !page.contains("<script>alert"), "{page}");
    assert!(page.contains("It is **fixed** &#60;script&#62;"), "the text is kept: {page}");
    assert!(page.contains("<option value=\"monitoring\" selected>"), "the status is kept: {page}");
    assert!(!page.contains("name=\"notify_subscribers\" value=\"true\" checked"), "so is what was left out");
    let shown = |name: &str| client.get(&format!("/v1{path}")).expect(200).data()[name].clone();
    assert_eq!(shown("status"), "investigating", "a preview posts nothing");
    user.post(&format!("{path}/updates"), &[("status", "monitoring"), ("message", text)]).expect(303);
    assert_eq!(shown("status"), "monitoring");
    assert_eq!(shown("updates").as_array().unwrap().len(), 2);
    let refused = user.post(&format!("{path}/updates"), &[("status", "identified")]).expect(422).body;
    assert!(refused.contains("role=\"alert\""), "{refused}");
}

#[test]
fn an_incident_is_handled_on_its_screen() {
    let client = Server::shared().tenant("business");
    let user = ConsoleUser::invited(&client, "responder");
    let path = open_incident(&client, &json!({"service_ids": [create_unconfigured(&client)]}));
    user.post(&format!("{path}/acknowledge"), &[]).expect(303);
    let page = user.get(&path).expect(200).body;
    assert!(!page.contains("/acknowledge\"") && page.contains("Nobody else is notified"), "{page}");
    assert!(page.contains("named by the incident"), "{page}");
    let page = user.get(&format!("{path}?status=resolved")).expect(200).body;
    assert!(page.contains("<option value=\"resolved\" selected>"), "{page}");
    let fields = [("status", "resolved"), ("message", "Done."), ("form-key", "resolve-1")];
    user.post(&format!("{path}/updates"), &fields).expect(303);
    let resolved = client.get(&format!("/v1{path}")).expect(200).data();
    assert_eq!(
        (&resolved["status"], &resolved["updates"][1]["message"]),
        (&json!("resolved"), &json!("Done."))
    );
    let page = user.get(&path).expect(200).body;
    assert!(
        page.contains("Any other status opens it again") && !page.contains("#message\" data-key=\"r\""),
        "{page}"
    );
    user.post(&format!("{path}/updates"), &[("status", "identified"), ("message", "Again.")]).expect(303);
    assert_eq!(client.get(&format!("/v1{path}")).expect(200).data()["resolved_at"], Value::Null);
    user.get(&format!("{path}/edit")).expect(200);
    let viewer = ConsoleUser::invited(&client, "viewer");
    assert!(!viewer.get(&path).expect(200).body.contains("<textarea"));
    viewer.post(&format!("{path}/updates"), &[("status", "resolved"), ("message", "x")]).expect(403);
}

#[test]
fn an_incident_leads_to_the_pages_that_show_it() {
    let client = Server::shared().tenant("business");
    let service = create_unconfigured(&client);
    let page = client
        .post("/v1/statuspages", &json!({"name": "Shop", "slug": fresh("shows"), "is_published": false}))
        .expect(201)
        .data();
    new_component(&client, page["id"].as_str().unwrap(), &json!({"service_id": service}));
    let path = open_incident(&client, &json!({"service_ids": [service], "is_published": true}));
    let user = ConsoleUser::invited(&client, "viewer");
    assert!(!user.get(&path).expect(200).body.contains("On the page Shop"), "the page is not published");
    client.post(&format!("/v1/statuspages/{}/publish", page["id"].as_str().unwrap()), &json!({})).expect(200);
    let link = format!("href=\"{}{path}\"", page["url"].as_str().unwrap());
    let body = user.get(&path).expect(200).body;
    assert!(body.contains(&link) && body.contains("On the page Shop"), "{link}: {body}");
}

#[test]
fn the_board_has_a_column_for_each_state() {
    let client = Server::shared().tenant("business");
    let user = ConsoleUser::invited(&client, "viewer");
    assert!(user.get("/incidents").expect(200).body.contains("class=\"empty\""));
    let service = create(&client, &json!({"name": "Till", "check_type": "manual"}));
    open_incident(&client, &json!({"title": "New one", "service_ids": [service]}));
    let taken = open_incident(&client, &json!({"title": "Taken one"}));
    client.post(&format!("/v1{taken}/acknowledge"), &json!({})).expect(200);
    open_incident(&client, &json!({"title": "Known one", "status": "identified"}));
    let over = open_incident(&client, &json!({"title": "Past one"}));
    client.post(&format!("/v1{over}/resolve"), &json!({"message": "Done."})).expect(200);
    let page = user.get("/incidents").expect(200).body;
    let column = |name: &str| {
        let rest = page.split_once(&format!("id=\"column-{name}\"")).unwrap().1;
        rest.split_once("</section>").unwrap().0.to_owned()
    };
    for (name, title) in [
        ("waiting", "New one"),
        ("investigating", "Taken one"),
        ("identified", "Known one"),
        ("resolved", "Past one"),
    ] {
        assert!(column(name).contains(&format!("\">{title}</a>")), "{name}: {page}");
    }
    assert!(column("waiting").contains("Till") && !column("monitoring").contains("<li"), "{page}");
    for (query, expected) in [("?state=resolved", 1), ("?state=open", 3), ("?visibility=public", 0), ("", 4)]
    {
        let page = user.get(&format!("/incidents/all{query}")).expect(200).body;
        assert_eq!(page.matches("<tr data-row>").count(), expected, "{query}: {page}");
    }
    let page = user.get(&format!("/incidents/all?service={service}")).expect(200).body;
    assert!(page.contains("New one") && !page.contains("Known one"), "{page}");
    assert!(user.get("/incidents/all?from=x").expect(200).body.contains("role=\"alert\""));
}

/// The names of the components of a page in their order, each behind dots for its groups.
fn tree(client: &Client, page: &str) -> Vec<String> {
    let rows = all(client, page);
    let level = |row: &Value| {
        let parents =
            std::iter::successors(Some(row), |row| rows.iter().find(|other| other["id"] == row["parent_id"]));
        parents.count() - 1
    };
    rows.iter().map(|row| format!("{}{}", ".".repeat(level(row)), row["name"].as_str().unwrap())).collect()
}

#[test]
fn the_tree_of_a_page_is_edited_by_forms() {
    let client = Server::shared().tenant("business");
    let user = ConsoleUser::invited(&client, "editor");
    let page = new_page(&client);
    let path = format!("/statuspages/{page}");
    let send = |fields: &[(&str, &str)]| {
        let answer = user.post(&format!("{path}/tree"), fields).expect(303);
        let address = answer.header("location").unwrap().to_owned();
        let id = address.split_once("at=").unwrap().1.split_once('&').unwrap().0.to_owned();
        assert!(address.ends_with(&format!("#c-{id}")), "{address}");
        id
    };
    let service = create_unconfigured(&client);
    let shop = send(&[("move", "add"), ("name", "Shop"), ("kind", "group"), ("form-key", "add-1")]);
    let till = send(&[("move", "add"), ("name", "Till"), ("kind", "component"), ("service_id", &service)]);
    let mail = send(&[("move", "add"), ("name", "Mail"), ("parent_id", &shop)]);
    assert_eq!(tree(&client, &page), ["Shop", ".Mail", "Till"]);
    send(&[("move", "indent"), ("id", &till)]);
    assert_eq!(tree(&client, &page), ["Shop", ".Mail", ".Till"]);
    send(&[("move", "up"), ("id", &till)]);
    assert_eq!(tree(&client, &page), ["Shop", ".Till", ".Mail"]);
    send(&[("move", "outdent"), ("id", &mail)]);
    send(&[("move", "up"), ("id", &mail)]);
    assert_eq!(tree(&client, &page), ["Mail", "Shop", ".Till"]);
    send(&[("move", "down"), ("id", &mail)]);
    send(&[("move", "rename"), ("id", &mail), ("name", "Letters & parcels")]);
    assert_eq!(tree(&client, &page), ["Shop", ".Till", "Letters & parcels"]);
    let shown = user.get(&format!("{path}?at={till}&by=up")).expect(200).body;
    let (_, row) = shown.split_once(&format!("id=\"c-{till}\"")).unwrap();
    let row = row.split_once("</li>").unwrap().0;
    assert!(row.contains("value=\"up\"") && row.contains("value=\"outdent\""), "{row}");
    assert_eq!((row.matches(" disabled").count(), row.matches(" autofocus").count()), (3, 1), "{row}");
    assert!(shown.contains("Letters &#38; parcels") && shown.contains("class=\"level-1\""), "{shown}");
}

#[test]
fn groups_are_nested_five_levels_deep() {
    let client = Server::shared().tenant("business");
    let user = ConsoleUser::invited(&client, "editor");
    let page = new_page(&client);
    let mut parent = Value::Null;
    for level in 1..=5 {
        let body = json!({"name": format!("Level {level}"), "is_group": true, "parent_id": parent});
        parent = json!(new_component(&client, &page, &body));
    }
    let fields =
        [("move", "add"), ("name", "Too deep"), ("kind", "group"), ("parent_id", parent.as_str().unwrap())];
    let refused = user.post(&format!("/statuspages/{page}/tree"), &fields).expect(422).body;
    assert!(refused.contains("at most 5 levels deep") && refused.contains("class=\"level-4\""), "{refused}");
    let fields = [("move", "add"), ("name", "Deepest"), ("parent_id", parent.as_str().unwrap())];
    user.post(&format!("/statuspages/{page}/tree"), &fields).expect(303);
    assert_eq!(tree(&client, &page)[5], ".....Deepest");
    let viewer = ConsoleUser::invited(&client, "viewer");
    viewer.post(&format!("/statuspages/{page}/tree"), &fields).expect(403);
    assert!(!viewer.get(&format!("/statuspages/{page}")).expect(200).body.contains("name=\"move\""));
}

#[test]
fn a_page_has_a_preview_before_it_is_published() {
    let client = Server::shared().tenant("business");
    let body =
        json!({"name": "Shop", "slug": fresh("preview"), "is_published": false, "primary_color": "#336699"});
    let page = id_of(&client.post("/v1/statuspages", &body).expect(201).data());
    new_component(&client, &page, &json!({"name": "Till <b>"}));
    let user = ConsoleUser::invited(&client, "viewer");
    let screen = user.get(&format!("/statuspages/{page}?appearance=dark&width=phone")).expect(200);
    assert!(screen.header("content-security-policy").unwrap().contains("frame-src 'self'"));
    let source = format!("src=\"/console/statuspages/{page}/preview?appearance=dark\"");
    assert!(screen.body.contains(&source) && screen.body.contains("narrow-preview"), "{}", screen.body);
    let preview = user.get(&format!("/statuspages/{page}/preview?appearance=dark")).expect(200);
    let policy = preview.header("content-security-policy").unwrap();
    assert!(policy.contains("frame-ancestors 'self'") && !policy.contains("script-src"), "{policy}");
    let body = &preview.body;
    assert!(body.contains("data-theme=\"dark\"") && body.contains("Till &#60;b&#62;"), "{body}");
    assert!(!body.contains("<script") && !body.contains("\"/static/"), "{body}");
    for sheet in ["style.css", "own.css"] {
        assert!(
            body.contains(&format!("\"/console/statuspages/{page}/preview/{sheet}\"")),
            "{sheet}: {body}"
        );
        let answer = user.get(&format!("/statuspages/{page}/preview/{sheet}")).expect(200);
        assert_eq!(answer.header("content-type"), Some("text/css; charset=utf-8"));
    }
    let other = ConsoleUser::invited(&Server::shared().tenant("business"), "owner");
    other.get(&format!("/statuspages/{page}/preview")).expect(404);
    user.get(&format!("/statuspages/{page}/preview/other.css")).expect(404);
}

#[test]
fn a_confined_user_sees_no_preview() {
    let client = Server::shared().tenant("business");
    client.post("/v1/tags", &json!({"key": "team", "value": "a"})).expect(201);
    let scope =
        client.post("/v1/access-scopes", &json!({"name": "Team", "tags": ["team:a"]})).expect(201).data();
    let user = ConsoleUser::with(&client, &json!({"role": "viewer", "access_scope_id": scope["id"]}));
    let page = new_page(&client);
    let status = user.get(&format!("/statuspages/{page}/preview")).status;
    assert!(matches!(status, 403 | 404), "{status}");
}

#[rstest]
#[case("en", &["waiting for the records", "The records were not checked yet", "What to do:", "Verify"])]
#[case("de", &["wartet auf die Einträge", "noch nicht geprüft", "Nächster Schritt:", "Prüfen"])]
fn a_domain_shows_its_records_and_the_next_step(#[case] language: &str, #[case] words: &[&str]) {
    let client = Server::shared().tenant("business");
    let user = speaker(&client, "editor", language);
    let page = new_page(&client);
    let path = format!("/statuspages/{page}/domains");
    assert!(user.get(&path).expect(200).body.contains("class=\"empty\""));
    let hostname = format!("{}.shop.example", fresh("status"));
    let made = client
        .post(&format!("/v1{}", path.replace("domains", "custom-domains")), &json!({"hostname": hostname}));
    let domain = made.expect(201).data();
    let body = user.get(&path).expect(200).body;
    for word in words {
        assert!(body.contains(word), "{word}: {body}");
    }
    for member in ["hostname", "cname_target", "txt_record_name", "txt_record_value"] {
        let value = domain[member].as_str().unwrap();
        assert!(body.contains(&format!("<code>{value}</code>")), "{member}: {body}");
    }
    assert!(body.contains("<th scope=\"row\">CNAME</th>") && body.contains("/verify\""), "{body}");
}
