//! Status pages that are protected by a password.

use serde_json::{Value, json};

use crate::support::client::{Answer, Client, exchange};
use crate::support::pages::{
    create_page, fresh, get_at, host_of, id_of, new_component, sheet_address, visit,
};
use crate::support::server::Server;

const PASSWORD: &str = "correct horse & more";

/// A protected page with its id and its host.
fn page(client: &Client, fields: &Value) -> (String, String) {
    let mut body = json!({"name": "Secret shop", "slug": fresh("protected"), "access_type": "password",
        "password": PASSWORD, "custom_css": "h1 { color: red }"});
    body.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    let page = create_page(client, &body);
    (id_of(&page), host_of(&page))
}

/// Sends a form body to a page, as a browser on the page does.
fn send(client: &Client, host: &str, body: &str, lines: &[&str]) -> Answer {
    let mut head = format!(
        "POST /password HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nContent-Length: {}\r\n",
        body.len()
    );
    for line in lines {
        head += &format!("{line}\r\n");
    }
    exchange(client.address, format!("{head}\r\n{body}").as_bytes())
}

const FORM: &str = "Content-Type: application/x-www-form-urlencoded";

fn give(client: &Client, host: &str, password: &str) -> Answer {
    let body: String =
        url::form_urlencoded::Serializer::new(String::new()).append_pair("password", password).finish();
    send(client, host, &body, &[FORM, "Sec-Fetch-Site: same-origin"])
}

/// The line with the cookie of a visitor who has given the password.
fn cookie(client: &Client, host: &str, password: &str) -> String {
    let answer = give(client, host, password).expect(303);
    assert_eq!(answer.header("location"), Some("/"));
    let cookie = answer.header("set-cookie").unwrap();
    assert!(cookie.ends_with("; Path=/; Max-Age=2592000; HttpOnly; SameSite=Lax"), "{cookie}");
    format!("Cookie: {}", cookie.split(';').next().unwrap())
}

#[test]
fn every_path_of_a_protected_page_has_the_same_answer() {
    let client = Server::shared_client();
    let (id, host) = page(&client, &json!({}));
    let till = new_component(&client, &id, &json!({"name": "Secret till"}));
    let form = get_at(&client, &host, "/").expect(401);
    assert!(form.body.contains("<form method=\"post\" action=\"/password\">"), "{}", form.body);
    assert!(form.body.contains("autocomplete=\"current-password\"") && !form.body.contains("value="));
    assert!(
        !form.body.contains("Secret") && !form.body.contains("<script") && !form.body.contains("color: red")
    );
    let policy = form.header("content-security-policy").unwrap();
    assert!(policy.contains("form-action 'self'") && policy.contains("frame-ancestors 'none'"), "{policy}");
    for (name, value) in [
        ("cache-control", "private, no-store"),
        ("referrer-policy", "same-origin"),
        ("www-authenticate", "Cookie form-action=\"/password\""),
        ("content-language", "en"),
    ] {
        assert_eq!(form.header(name), Some(value), "{name}");
    }
    let component = format!("/components/{till}/badge/status.svg");
    for path in [
        "/en/",
        "/nothing",
        "/password",
        "/api/v2/summary.json",
        "/api/v2/incidents.json",
        "/badge/status.svg",
        "/badge/status.shields.json",
        &component,
        "/embed",
        "/widget.js",
        "/sitemap.xml",
        "/card.0123456789abcdef.png",
        "/static/page.0123456789abcdef.css",
        "/assets/0123",
        "/v1/me",
        "/metrics",
    ] {
        let answer = get_at(&client, &host, path).expect(401);
        assert_eq!(answer.body, form.body, "{path}");
        assert_eq!(answer.headers.len(), form.headers.len(), "{path}");
    }
    assert_eq!(get_at(&client, &host, "/robots.txt").expect(200).body, "User-agent: *\nDisallow: /\n");
    let head = visit(&client, "HEAD", &host, "/", &[]).expect(401);
    assert_eq!(head.body, "");
    let other = visit(&client, "POST", &host, "/", &[]).expect(405);
    assert_eq!(other.header("allow"), Some("GET, HEAD"));
}

#[test]
fn the_password_opens_the_page_until_it_changes() {
    let client = Server::shared_client();
    let (id, host) = page(&client, &json!({}));
    let wrong = give(&client, &host, "wrong password").expect(401);
    assert!(wrong.body.contains("role=\"alert\"") && wrong.body.contains("This password is wrong."));
    assert!(wrong.header("set-cookie").is_none() && !wrong.body.contains("wrong password"), "{}", wrong.body);
    for other in ["", "correct horse", " correct horse & more"] {
        give(&client, &host, other).expect(401);
    }
    let cookie = cookie(&client, &host, PASSWORD);
    let open = visit(&client, "GET", &host, "/", &[&cookie]).expect(200);
    assert!(open.body.contains("<h1>Secret shop</h1>"), "{}", open.body);
    let sheet = sheet_address(&open.body, "page");
    for path in ["/", "/api/v2/summary.json", "/badge/status.svg", "/embed", "/widget.js", &sheet] {
        let answer = visit(&client, "GET", &host, path, &[&cookie]).expect(200);
        assert_eq!(answer.header("cache-control"), Some("private, no-store"), "{path}");
        assert_eq!(answer.header("access-control-allow-origin"), None, "{path}");
    }
    get_at(&client, &host, &sheet).expect(401);

    let (_, other_host) = page(&client, &json!({}));
    visit(&client, "GET", &other_host, "/", &[&cookie]).expect(401);
    let altered = cookie.replace('=', "=1");
    visit(&client, "GET", &host, "/", &[&altered]).expect(401);

    let path = format!("/v1/statuspages/{id}");
    client.patch(&path, &json!({"name": "Renamed"})).expect(200);
    visit(&client, "GET", &host, "/", &[&cookie]).expect(200);
    client.patch(&path, &json!({"password": PASSWORD})).expect(200);
    visit(&client, "GET", &host, "/", &[&cookie]).expect(401);
    client.patch(&path, &json!({"access_type": "public"})).expect(200);
    get_at(&client, &host, "/").expect(200);
    give(&client, &host, PASSWORD).expect(405);
    client
        .patch(&path, &json!({"access_type": "email_whitelist", "email_whitelist": ["a@example.com"]}))
        .expect(200);
    get_at(&client, &host, "/").expect(401);
    visit(&client, "GET", &host, "/", &[&cookie]).expect(401);
}

#[test]
fn an_address_has_ten_attempts_in_fifteen_minutes() {
    let client = Server::shared_client();
    let (_, host) = page(&client, &json!({}));
    for _ in 0..10 {
        give(&client, &host, "wrong password").expect(401);
    }
    let refused = give(&client, &host, PASSWORD).expect(429);
    let wait: u64 = refused.header("retry-after").unwrap().parse().unwrap();
    assert!((1..=900).contains(&wait), "{wait}");
    assert!(refused.body.contains("Too many attempts. Try again in 1"), "{}", refused.body);
    assert!(refused.header("set-cookie").is_none());
    let (_, other) = page(&client, &json!({}));
    give(&client, &other, PASSWORD).expect(303);
}

#[test]
fn only_small_forms_from_the_page_itself_are_read() {
    let client = Server::shared_client();
    let (_, host) = page(&client, &json!({}));
    let body = "password=correct+horse+%26+more";
    for lines in [
        [FORM, "Sec-Fetch-Site: cross-site"],
        [FORM, "Sec-Fetch-Site: same-site"],
        [FORM, "Origin: https://evil.example"],
        [FORM, "Origin: null"],
    ] {
        let answer = send(&client, &host, body, &lines).expect(403);
        assert!(answer.header("set-cookie").is_none(), "{lines:?}");
    }
    send(&client, &host, body, &["Content-Type: text/plain"]).expect(415);
    send(&client, &host, &format!("password={}", "a".repeat(10_000)), &[FORM]).expect(413);
    for origin in [format!("Origin: http://{host}"), "Accept: */*".to_owned()] {
        send(&client, &host, body, &[FORM, &origin]).expect(303);
    }
    let secure = send(&client, &host, body, &[FORM, &format!("Origin: https://{host}")]).expect(303);
    let cookie = secure.header("set-cookie").unwrap();
    assert!(cookie.starts_with("__Host-watchkeeper-page=") && cookie.ends_with("; Secure"), "{cookie}");
    let line = format!("Cookie: {}", cookie.split(';').next().unwrap());
    visit(&client, "GET", &host, "/", &[&line]).expect(200);
}

#[test]
fn the_form_is_in_the_visitor_s_language() {
    let client = Server::shared().bilingual_tenant();
    let (_, host) = page(&client, &json!({}));
    let form = visit(&client, "GET", &host, "/", &["Accept-Language: de"]).expect(401);
    assert!(form.body.contains("<html lang=\"de\"") && form.body.contains("durch ein Passwort geschützt"));
    let explicit = get_at(&client, &host, "/de/").expect(401);
    assert_eq!(explicit.body, get_at(&client, &host, "/").expect(401).body);
}

const SVG: &str = r#"<svg xmlns="http://www.w3.org/2000/svg"><path d="M0 0h7"/></svg>"#;

/// A file of a protected page is served on the host of the page only, to visitors who have given the password.
#[test]
fn files_of_a_protected_page_are_protected_too() {
    let client = Server::shared_client();
    let (id, host) = page(&client, &json!({}));
    let drawing = SVG.replace("<svg", &format!("<svg id=\"{host}\""));
    let form = format!(
        "--XX\r\nContent-Disposition: form-data; name=\"file\"; filename=\"x\"\r\n\r\n{drawing}\r\n--XX--\r\n"
    );
    let upload = |page: &str| {
        let path = format!("/v1/statuspages/{page}/assets/logo");
        let line = "Content-Type: multipart/form-data; boundary=XX";
        client.send("POST", &path, &[line], form.as_bytes()).expect(200).data()
    };
    let shown = upload(&id);
    let url = shown["logo_url"].as_str().unwrap();
    let path = url[url.find("/assets/").unwrap()..].to_owned();
    let elsewhere = create_page(&client, &json!({"slug": fresh("elsewhere")}));
    client.without_token().get(&path).expect(404);
    get_at(&client, &host, &path).expect(401);
    get_at(&client, &host_of(&elsewhere), &path).expect(404);
    let cookie = cookie(&client, &host, PASSWORD);
    let file = visit(&client, "GET", &host, &path, &[&cookie]).expect(200);
    assert_eq!(file.body, drawing);
    for (name, value) in [
        ("content-type", "image/svg+xml"),
        ("content-security-policy", "default-src 'none'; style-src 'unsafe-inline'; sandbox"),
        ("cache-control", "private, no-store"),
    ] {
        assert_eq!(file.header(name), Some(value), "{name}");
    }
    upload(&id_of(&elsewhere));
    for host in [host_of(&elsewhere), client.address.to_string()] {
        let file = get_at(&client, &host, &path).expect(200);
        assert_eq!(file.header("cache-control"), Some("public, max-age=31536000, immutable"), "{host}");
    }
}
