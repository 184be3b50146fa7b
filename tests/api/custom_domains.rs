//! `/v1/statuspages/{id}/custom-domains` (contract 4.15).
//!
//! The DNS is a server of the test's own; the times of automatic checks are tested with the rules and the timetable.

mod claims;

use std::sync::{Arc, Mutex, PoisonError, Weak};

use rstest::rstest;
use serde_json::{Value, json};

use crate::support::UNKNOWN_ID;
use crate::support::client::Client;
use crate::support::name_server::NameServer;
use crate::support::server::Server;

const KEYS: &str = "id hostname status cname_target txt_record_name txt_record_value verified verified_at \
    last_error_code statuspage_id certificate";

/// A server whose domains lead to `edge.example.test`, and its name server.
fn served() -> (Server, NameServer) {
    let names = NameServer::start();
    names.address_of("edge.example.test", [192, 0, 2, 1]);
    names.address_of("edge.example.test", [192, 0, 2, 2]);
    let server = Server::with(
        "",
        &[
            ("WATCHKEEPER_PROBE__DNS_SERVERS", &names.address.to_string()),
            ("WATCHKEEPER_STATUSPAGE_HOST", "pages.example.test"),
            ("WATCHKEEPER_EDGE_HOST", "edge.example.test"),
        ],
    );
    (server, names)
}

/// The server of all tests of this file; it ends with the last one that holds it, so that none is left behind.
fn shared() -> Arc<(Server, NameServer)> {
    static SHARED: Mutex<Weak<(Server, NameServer)>> = Mutex::new(Weak::new());
    let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
    shared.upgrade().unwrap_or_else(|| {
        let served = Arc::new(served());
        *shared = Arc::downgrade(&served);
        served
    })
}

fn page(client: &Client) -> String {
    let made = client.post("/v1/statuspages", &json!({"name": "Shop"})).expect(201);
    format!("/v1/statuspages/{}", made.data()["id"].as_str().unwrap())
}

fn attach(client: &Client, page: &str, hostname: &str) -> Value {
    client.post(&format!("{page}/custom-domains"), &json!({"hostname": hostname})).expect(201).data()
}

fn path(page: &str, domain: &Value) -> String {
    format!("{page}/custom-domains/{}", domain["id"].as_str().unwrap())
}

fn verify(client: &Client, page: &str, domain: &Value) -> Value {
    client.post(&format!("{}/verify", path(page, domain)), &json!({})).expect(200).data()
}

fn errors(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(key, text)| ((*key).to_owned(), (*text).to_owned())).collect()
}

/// Contract 4.15: 201, `Location`, the whole object; it can be read again and is in the list.
#[test]
fn an_attached_domain_shows_its_required_records() {
    let shared = shared();
    let (server, _) = &*shared;
    let client = server.client();
    let page = page(&client);
    let body = json!({"hostname": " records.example.com ", "status": "active"});
    let created = client.post(&format!("{page}/custom-domains"), &body).expect(201);
    let domain = created.data();
    assert_eq!(
        domain.as_object().unwrap().keys().collect::<Vec<_>>(),
        KEYS.split_whitespace().collect::<Vec<_>>()
    );
    for (key, value) in [
        ("hostname", json!("records.example.com")),
        ("status", json!("pending_verification")),
        ("cname_target", json!("edge.example.test")),
        ("txt_record_name", json!("_status-verify.records.example.com")),
        ("verified", json!(false)),
        ("verified_at", Value::Null),
        ("last_error_code", Value::Null),
        ("statuspage_id", json!(page.rsplit('/').next().unwrap())),
        ("certificate", json!({"status": "none", "not_after": null, "last_error": null})),
    ] {
        assert_eq!(domain[key], value, "{key}");
    }
    let value = domain["txt_record_value"].as_str().unwrap();
    assert!(value.len() == 40 && value.bytes().all(|byte| byte.is_ascii_alphanumeric()), "{value}");
    let location = format!("{}{}", server.base(), path(&page, &domain));
    assert_eq!(created.header("location"), Some(&*location));
    assert_eq!(client.get(&path(&page, &domain)).expect(200).body, created.body);
    let list = client.get(&format!("{page}/custom-domains")).expect(200).json();
    assert_eq!(list["data"], json!([domain]));
    assert_eq!(list["meta"]["per_page"], 1);
}

/// Contract 1.4: whole collections are one page unless paging is requested; oldest first.
#[test]
fn all_domains_come_in_one_page() {
    let shared = shared();
    let client = shared.0.client();
    let page = page(&client);
    let list = client.get(&format!("{page}/custom-domains")).expect(200).json();
    assert_eq!(
        (&list["data"], &list["meta"]["per_page"], &list["meta"]["last_page"]),
        (&json!([]), &json!(1), &json!(1))
    );
    let names: Vec<String> = (0..17).map(|at| format!("n{at}.list.example.com")).collect();
    for name in &names {
        attach(&client, &page, name);
    }
    let hosts = |list: &Value| -> Vec<String> {
        let rows = list["data"].as_array().unwrap().iter();
        rows.map(|row| row["hostname"].as_str().unwrap().to_owned()).collect()
    };
    let list = client.get(&format!("{page}/custom-domains")).expect(200).json();
    assert_eq!((hosts(&list), &list["meta"]["per_page"]), (names.clone(), &json!(17)));
    let second = client.get(&format!("{page}/custom-domains?page=2")).expect(200).json();
    assert_eq!((hosts(&second), &second["meta"]["last_page"]), (names[15..].to_vec(), &json!(2)));
}

const FORM: &str = "Enter a host name in lower case, such as status.example.com.";
const TAKEN: &str = "This host name is not available.";

/// Contract 4.15 and 5.3: what is no host name, and which ones are not to be had.
#[rstest]
#[case(json!({}), "This field is required.")]
#[case(json!({"hostname": null}), "This field must not be null.")]
#[case(json!({"hostname": 7}), "This value must be a string.")]
#[case(json!({"hostname": " "}), "Use at least 1 characters.")]
#[case(json!({"hostname": "a".repeat(254)}), "Use at most 253 characters.")]
#[case(json!({"hostname": "Status.example.com"}), FORM)]
#[case(json!({"hostname": "localhost"}), FORM)]
#[case(json!({"hostname": "bücher.example"}), FORM)]
#[case(json!({"hostname": "status.example.com."}), FORM)]
#[case(json!({"hostname": "https://status.example.com"}), FORM)]
#[case(json!({"hostname": "192.0.2.1"}), FORM)]
#[case(json!({"hostname": "pages.example.test"}), TAKEN)]
#[case(json!({"hostname": "shop.pages.example.test"}), TAKEN)]
#[case(json!({"hostname": "edge.example.test"}), TAKEN)]
#[case(json!({"hostname": "a.b.edge.example.test"}), TAKEN)]
fn a_host_name_that_cannot_be_attached_is_refused(#[case] body: Value, #[case] text: &str) {
    let shared = shared();
    let client = shared.0.client();
    let page = page(&client);
    let refused = client.post(&format!("{page}/custom-domains"), &body);
    assert_eq!(refused.errors(), errors(&[("hostname", text)]));
}

/// Contract 4.15: the host of the API cannot be attached.
#[test]
fn the_host_of_the_api_is_reserved() {
    let server = Server::behind("https://api.example.com:8443/base");
    let client = server.client();
    let page = page(&client);
    for name in ["api.example.com", "x.api.example.com"] {
        let refused = client.post(&format!("{page}/custom-domains"), &json!({"hostname": name}));
        assert_eq!(refused.errors(), errors(&[("hostname", TAKEN)]), "{name}");
    }
}

/// Contract 3.3: 403 with `upsell`; a field error comes first.
#[test]
fn the_plan_limits_domains_per_page() {
    let shared = shared();
    let client = shared.0.tenant("team");
    let page = page(&client);
    attach(&client, &page, "first.quota.example.com");
    let list = format!("{page}/custom-domains");
    let full = client.post(&list, &json!({"hostname": "second.quota.example.com"})).expect(403).json();
    assert_eq!(full["message"], "The plan allows 1 custom domains per status page; 1 exist.");
    assert_eq!(full["upsell"], json!({"reason": "limit", "key": "custom_domains"}));
    assert_eq!((&full["limit"], &full["usage"]), (&json!(1), &json!(1)));
    client.post(&list, &json!({"hostname": "X"})).expect(422);
    client.post(&list, &json!({"hostname": "first.quota.example.com"})).expect(422);
}

/// Contract 1.5 and 2.2: foreign pages and domains do not exist; reading and changing have their permissions.
#[test]
fn domains_belong_to_their_page() {
    let shared = shared();
    let (server, _) = &*shared;
    let (client, stranger) = (server.client(), server.tenant("business"));
    let (page_a, page_b) = (page(&client), page(&client));
    let domain = attach(&client, &page_a, "mine.example.com");
    let id = domain["id"].as_str().unwrap();
    let unknown =
        client.get(&format!("{page_a}/custom-domains/{UNKNOWN_ID}")).expect(404).without_request_id();
    for (who, path) in [
        (&client, format!("{page_b}/custom-domains/{id}")),
        (&client, format!("{page_a}/custom-domains/short")),
        (&stranger, format!("{page_a}/custom-domains/{id}")),
        (&client, format!("/v1/statuspages/{UNKNOWN_ID}/custom-domains/{id}")),
    ] {
        assert_eq!(who.get(&path).expect(404).without_request_id(), unknown, "{path}");
        assert_eq!(who.delete(&path).expect(404).without_request_id(), unknown, "{path}");
        assert_eq!(who.post(&format!("{path}/verify"), &json!({})).expect(404).without_request_id(), unknown);
    }
    assert_eq!(stranger.get(&format!("{page_a}/custom-domains")).expect(404).without_request_id(), unknown);
    let organisation = server.organisation("team");
    let reader = server.member(&organisation, "statuspages.view");
    let refused = reader.post(&format!("{page_a}/custom-domains"), &json!({})).expect(403);
    assert_eq!(refused.message(), "This token is missing the permission 'statuspages.edit'.");
    let blind = server.member(&organisation, "services.view");
    let refused = blind.get(&format!("{page_a}/custom-domains")).expect(403);
    assert_eq!(refused.message(), "This token is missing the permission 'statuspages.view'.");
}

/// Contract 4.15, `last_error_code`: each verification reports the first problem.
#[rstest]
#[case("absent.look.example.com", |_: &NameServer, _: &str| {}, "no_records")]
#[case(
    "astray.look.example.com",
    |names: &NameServer, host: &str| names.address_of(host, [198, 51, 100, 7]),
    "wrong_target"
)]
#[case(
    "elsewhere.look.example.com",
    |names: &NameServer, host: &str| names.alias(host, "elsewhere.example.org"),
    "wrong_target"
)]
#[case(
    "unowned.look.example.com",
    |names: &NameServer, host: &str| names.alias(host, "edge.example.test"),
    "ownership_missing"
)]
#[case(
    "other.look.example.com",
    |names: &NameServer, host: &str| {
        names.alias(host, "edge.example.test");
        names.text(&format!("_status-verify.{host}"), "another value");
    },
    "ownership_missing"
)]
#[case(
    "badly.look.example.com",
    |names: &NameServer, host: &str| names.sign_badly(host),
    "dnssec"
)]
fn a_verification_shows_the_problem(
    #[case] host: &str,
    #[case] prepare: fn(&NameServer, &str),
    #[case] code: &str,
) {
    let shared = shared();
    let (server, names) = &*shared;
    let client = server.client();
    let page = page(&client);
    let domain = attach(&client, &page, host);
    prepare(names, host);
    let looked = verify(&client, &page, &domain);
    assert_eq!(looked["last_error_code"], code);
    assert_eq!((&looked["status"], &looked["verified"]), (&json!("pending_verification"), &json!(false)));
    assert_eq!(client.get(&path(&page, &domain)).expect(200).data(), looked);
}

/// Contract 4.15: both records right make it active, by CNAME (also through another) or by the same addresses.
#[rstest]
#[case("direct.right.example.com", |names: &NameServer, host: &str| names.alias(host, "edge.example.test"))]
#[case(
    "indirect.right.example.com",
    |names: &NameServer, host: &str| {
        names.alias(host, "cdn.right.example.com");
        names.alias("cdn.right.example.com", "Edge.Example.test");
    }
)]
#[case(
    "apex.right.example.com",
    |names: &NameServer, host: &str| names.address_of(host, [192, 0, 2, 2])
)]
fn both_records_make_a_domain_active(#[case] host: &str, #[case] prepare: fn(&NameServer, &str)) {
    let shared = shared();
    let (server, names) = &*shared;
    let client = server.client();
    let page = page(&client);
    let address = || client.get(&page).expect(200).data()["url"].as_str().unwrap().to_owned();
    let before = address();
    let domain = attach(&client, &page, host);
    assert_eq!(address(), before);
    prepare(names, host);
    names.text(domain["txt_record_name"].as_str().unwrap(), domain["txt_record_value"].as_str().unwrap());
    let active = verify(&client, &page, &domain);
    assert_eq!((&active["status"], &active["verified"]), (&json!("active"), &json!(true)));
    assert!(active["verified_at"].is_string() && active["last_error_code"].is_null(), "{active}");
    assert_eq!(address(), format!("https://{host}"), "specification 2.6");
    let again = client.post(&format!("{}/verify", path(&page, &domain)), &json!({}));
    assert_eq!(again.errors(), errors(&[("domain", "This domain is not waiting for verification.")]));
    client.delete(&path(&page, &domain)).expect(200);
    assert_eq!(address(), before);
}

/// Contract 4.13.1: only the first-created domain gives the page its address.
#[test]
fn the_address_of_a_page_stays_that_of_its_first_domain() {
    let shared = shared();
    let (server, names) = &*shared;
    let client = server.client();
    let page = page(&client);
    attach(&client, &page, "first.order.example.com");
    let later = attach(&client, &page, "later.order.example.com");
    names.alias("later.order.example.com", "edge.example.test");
    names.text(later["txt_record_name"].as_str().unwrap(), later["txt_record_value"].as_str().unwrap());
    assert_eq!(verify(&client, &page, &later)["status"], "active");
    let url = client.get(&page).expect(200).data()["url"].as_str().unwrap().to_owned();
    assert!(url.ends_with(".pages.example.test"), "{url}");
}

/// Contract 4.15: 429 within ten seconds, with the ordinary rate-limit headers; the body is ignored.
#[test]
fn a_domain_is_not_verified_twice_in_ten_seconds() {
    let shared = shared();
    let client = shared.0.client();
    let page = page(&client);
    let domain = attach(&client, &page, "hasty.example.com");
    let verify = format!("{}/verify", path(&page, &domain));
    client.send("POST", &verify, &["Content-Type: text/plain"], b"whatever").expect(200);
    let refused = client.post(&verify, &json!({})).expect(429);
    let seconds: u64 = refused.header("retry-after").unwrap().parse().unwrap();
    assert!((1..=10).contains(&seconds), "{seconds}");
    assert_eq!(
        refused.message(),
        format!("This domain was checked a moment ago. Try again in {seconds} seconds.")
    );
    assert!(refused.header("x-ratelimit-remaining").is_some());
    let other = attach(&client, &page, "patient.example.com");
    client.post(&format!("{}/verify", path(&page, &other)), &json!({})).expect(200);
}

/// A local fault does not fail a domain: its state stays.
#[test]
fn silent_name_servers_do_not_fail_a_domain() {
    let shared = shared();
    let (server, names) = &*shared;
    let client = server.client();
    let page = page(&client);
    let domain = attach(&client, &page, "silent.example.com");
    names.fall_silent_about("silent.example.com");
    let looked = verify(&client, &page, &domain);
    assert_eq!((&looked["status"], &looked["verified"]), (&json!("pending_verification"), &json!(false)));
    assert_eq!(looked["last_error_code"], "no_records");
}
