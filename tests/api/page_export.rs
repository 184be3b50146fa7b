//! `watchkeeper export-page`: a status page as static files, beside a running server and of a stopped one.

mod place;
mod reading;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::net::TcpListener;

use rstest::rstest;
use serde_json::{Value, json};

use crate::page_export::place::{Export, RichPage, text};
use crate::support::moments::in_ms;
use crate::support::pages::{create_page, fresh, host_of, id_of, visit};
use crate::support::server::Server;

/// The values of these attributes in a document.
fn links(html: &str) -> Vec<&str> {
    let of = |name: &'static str| {
        html.split(name).skip(1).map(|rest| rest.split('"').next().unwrap()).collect::<Vec<_>>()
    };
    [" href=\"", " src=\"", " srcset=\""].into_iter().flat_map(of).collect()
}

fn is_absolute(link: &str) -> bool {
    ["http://", "https://", "data:", "mailto:", "#"].iter().any(|start| link.starts_with(start))
}

#[tokio::test]
async fn an_export_has_every_part_and_no_live_one() {
    let server = Server::shared();
    let page = RichPage::create(&server.bilingual_tenant()).await;
    let export = Export::place();
    let summary = export.make(&server, &page.slug);
    let files = export.files();
    assert_eq!(summary["files"], files.len() - 1, "the list of the files is not counted");
    assert_eq!((&summary["languages"], &summary["is_present"]), (&json!(["en", "de"]), &json!(true)));
    let month = &in_ms(0).date()[..7];
    for base in ["", "en/", "de/"] {
        for part in [
            "index.html".to_owned(),
            "appearance-dark.html".to_owned(),
            "embed/index.html".to_owned(),
            "history.atom".to_owned(),
            "history.rss".to_owned(),
            "feed.json".to_owned(),
            "maintenances.ics".to_owned(),
            "badge/status.svg".to_owned(),
            "badge/uptime.shields.json".to_owned(),
            format!("history/{month}/index.html"),
            format!("components/{}/index.html", page.component),
            format!("components/{}/index.html", page.group),
            format!("components/{}/history.atom", page.component),
            format!("components/{}/badge/response.svg", page.component),
            format!("incidents/{}/index.html", page.incident),
            format!("maintenances/{}/index.html", page.maintenance),
        ] {
            assert!(files.contains_key(&format!("{base}{part}")), "{base}{part}: {:?}", files.keys());
        }
    }
    for part in
        ["robots.txt", "sitemap.xml", "widget.js", "api/v2/summary.json", "api/v2/incidents/unresolved.json"]
    {
        assert!(files.contains_key(part), "{part}: {:?}", files.keys());
    }
    let is_there =
        |start: &str, end: &str| files.keys().any(|name| name.starts_with(start) && name.ends_with(end));
    for (start, end) in [
        ("assets/", ".svg"),
        ("static/style.", ".css"),
        ("static/page.", ".css"),
        ("static/script.", ".js"),
        ("en/card.", ".png"),
        ("de/incidents/", ".png"),
    ] {
        assert!(is_there(start, end), "{start}…{end}: {:?}", files.keys());
    }
    for (name, content) in files.iter().filter(|(name, _)| name.ends_with(".html")) {
        let html = text(content);
        for live in [
            "data-base",
            "data-revision",
            "data-live",
            "data-text",
            "/events\"",
            "<form",
            "href=\"/",
            "src=\"/",
        ] {
            assert!(!html.contains(live), "{name}: {live}: {html}");
        }
        assert!(
            html.contains("<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'"),
            "{name}"
        );
        assert!(html.contains("<time datetime=\"20"), "{name} tells no time: {html}");
    }
    assert!(export.text("index.html").contains("this copy of the page does not update itself"));
    assert!(export.text("de/index.html").contains("diese Kopie der Seite aktualisiert sich nicht selbst"));
}

#[tokio::test]
async fn every_relative_link_leads_to_a_file() {
    let server = Server::shared();
    let page = RichPage::create(&server.bilingual_tenant()).await;
    let export = Export::place();
    export.make(&server, &page.slug);
    let (files, mut followed) = (export.files(), BTreeSet::new());
    for (name, content) in files.iter().filter(|(name, _)| name.ends_with(".html")) {
        let folder = export.folder.join(name).parent().unwrap().to_owned();
        for link in links(text(content)).into_iter().filter(|link| !is_absolute(link)) {
            let path = folder.join(link.split('#').next().unwrap());
            let found = fs::canonicalize(&path).unwrap_or_else(|error| panic!("{name}: {link}: {error}"));
            assert!(
                found.is_file() && found.starts_with(fs::canonicalize(&export.folder).unwrap()),
                "{name}: {link}"
            );
            followed.insert(found);
        }
    }
    assert!(followed.len() > 20, "{followed:?}");
}

/// The states are those of the last measurement, and every document says so; the rest is as beside the running server.
#[tokio::test]
async fn an_export_of_a_stopped_server_tells_the_time_of_its_last_measurement() {
    let mut server = Server::start();
    let page = RichPage::create(&server.bilingual_tenant()).await;
    let export = Export::place();
    export.make(&server, &page.slug);
    let beside = export.files();
    assert_eq!(server.terminate().await, Some(0));
    let stopped_at = in_ms(0).to_string();
    let made = export.run(&server, &page.slug, &["--json"]);
    assert_eq!(made.status.code(), Some(0), "{}", String::from_utf8_lossy(&made.stderr));
    let summary: Value = serde_json::from_slice(&made.stdout).unwrap();
    let as_of = summary["as_of"].as_str().unwrap();
    assert_eq!(summary["is_present"], json!(false));
    assert!(*as_of < *stopped_at, "{summary} {stopped_at}");
    let stopped = export.files();
    // An address of a preview image changes with its content, which the state is a part of.
    let names = |files: &BTreeMap<String, Vec<u8>>| -> BTreeSet<String> {
        files.keys().filter(|name| !name.contains("card.")).cloned().collect()
    };
    assert_eq!(names(&stopped), names(&beside));
    let root = export.text("index.html");
    assert!(root.contains(&format!("<time datetime=\"{as_of}\">")), "{as_of}: {root}");
    assert!(export.text("embed/index.html").contains(&format!("<time datetime=\"{as_of}\">")), "{as_of}");
    let json: Value = serde_json::from_str(&export.text("api/v2/status.json")).unwrap();
    assert_eq!(json["page"]["watchkeeper"]["as_of"], summary["as_of"]);
    // The measured component has its last state and its days.
    let component = export.text(&format!("en/components/{}/index.html", page.component));
    for shown in [
        "badge operational",
        "<table>",
        "Reachable</span> ",
        "agreed 99.9",
        "<meter",
        format!("<span>{}</span>", &as_of[..10]).as_str(),
    ] {
        assert!(component.contains(shown), "{shown}: {component}");
    }
    // People read the same.
    let said = export.run(&server, &page.slug, &[]);
    let said = text(&said.stdout);
    assert!(said.contains(&format!("as of {as_of}")) && said.contains("not the present ones"), "{said}");
}

#[tokio::test]
async fn another_export_replaces_the_first_one() {
    let server = Server::shared();
    let client = server.tenant("business");
    let page = create_page(&client, &json!({"slug": fresh("replaced")}));
    let slug = page["slug"].as_str().unwrap();
    let incident = json!({"title": "Slow", "message": "We look.", "is_published": true});
    let incident = id_of(&client.post("/v1/incidents", &incident).expect(201).data());
    let export = Export::place();
    export.make(&server, slug);
    let of_incident = format!("incidents/{incident}/index.html");
    fs::write(export.folder.join("CNAME"), "status.example.com").unwrap();
    let before = export.files();
    client.delete(&format!("/v1/incidents/{incident}")).expect(200);
    // A failing one: no server answers.
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let failed = export.run(&server, slug, &["--url", &format!("http://{free}")]);
    assert_eq!(failed.status.code(), Some(1));
    assert!(text(&failed.stderr).contains("does not answer"), "{}", text(&failed.stderr));
    assert_eq!(export.files(), before);
    export.make(&server, slug);
    let after = export.files();
    assert!(!after.contains_key(&of_incident), "{:?}", after.keys());
    assert_eq!(after["CNAME"], b"status.example.com");
    let beside = fs::read_dir(export.folder.parent().unwrap()).unwrap().count();
    assert_eq!(beside, 1, "something is left beside the export");
}

#[rstest]
#[case::password(json!({"access_type": "password", "password": "correct horse"}))]
#[case::whitelist(json!({"access_type": "email_whitelist", "email_whitelist": ["me@example.com"]}))]
#[tokio::test]
async fn a_protected_page_is_exported_only_on_request(#[case] protection: Value) {
    let server = Server::shared();
    let client = server.tenant("business");
    let mut fields = json!({"slug": fresh("guarded")});
    for (key, value) in protection.as_object().unwrap() {
        fields[key] = value.clone();
    }
    let page = create_page(&client, &fields);
    let slug = page["slug"].as_str().unwrap();
    let export = Export::place();
    let refused = export.run(&server, slug, &["--url", &server.base()]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(text(&refused.stderr).contains("--include-protected"), "{}", text(&refused.stderr));
    assert!(!export.folder.exists());
    let made = export.run(&server, slug, &["--url", &server.base(), "--include-protected"]);
    assert_eq!(made.status.code(), Some(0), "{}", text(&made.stderr));
    assert!(text(&made.stdout).contains("its files are not"), "{}", text(&made.stdout));
    let root = export.text("index.html");
    assert!(root.contains("Example status") && !root.contains("<form"), "{root}");
    // The header of an export opens the page to nobody else.
    let host = format!("{slug}.localhost");
    let visit = |line: &str| crate::support::pages::visit(&client, "GET", &host, "/", &[line]).status;
    assert!([401, 403].contains(&visit("Watchkeeper-Export: 1795193000000.99999999999999.AAAA")));
}

#[tokio::test]
async fn a_refusal_says_what_to_do() {
    let server = Server::shared();
    let client = server.tenant("business");
    let page = create_page(&client, &json!({"slug": fresh("hidden"), "is_published": false}));
    let hidden = page["slug"].as_str().unwrap();
    let export = Export::place();
    let refused = |slug: &str| {
        let refused = export.run(&server, slug, &["--url", &server.base()]);
        assert_eq!(refused.status.code(), Some(2));
        let said = text(&refused.stderr).to_owned();
        assert_eq!(said.lines().count(), 1, "{said}");
        said
    };
    assert!(refused("no-such-page").contains("there is no status page 'no-such-page'; the pages are: "));
    assert!(refused(hidden).contains("is not published"));
    let public = create_page(&client, &json!({"slug": fresh("shown")}));
    fs::create_dir(&export.folder).unwrap();
    fs::write(export.folder.join("thesis.txt"), "mine").unwrap();
    assert!(refused(public["slug"].as_str().unwrap()).contains("is not empty, and holds no earlier export"));
    assert_eq!(export.files().len(), 1);
    // The settings of another installation: its server does not know the page.
    let other = Server::start();
    let foreign = Export::place().run(&server, public["slug"].as_str().unwrap(), &["--url", &other.base()]);
    assert_eq!(foreign.status.code(), Some(1));
    assert!(text(&foreign.stderr).contains("has no page at"), "{}", text(&foreign.stderr));
}

/// A header that is not valid leads to no page: an export must not consist of what visitors see.
#[test]
fn a_header_of_another_key_is_refused() {
    let client = Server::shared_client();
    let page = create_page(&client, &json!({"slug": fresh("header")}));
    let host = host_of(&page);
    for value in ["1.2.abc", "", "1795193460250.99999999999999.AAAAAAAAAAAAAAAAAAAAAA"] {
        let refused = visit(&client, "GET", &host, "/", &[&format!("Watchkeeper-Export: {value}")]);
        assert!(!refused.expect(403).body.contains("data-base"), "{value}");
    }
    let shown = visit(&client, "GET", &host, "/", &[]).expect(200);
    assert_eq!(shown.header("watchkeeper-export"), None);
}
