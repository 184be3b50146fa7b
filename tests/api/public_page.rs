//! Public status pages, as visitors see them: by the host of the request, without a token.

use rstest::rstest;
use serde_json::{Value, json};

use crate::support::client::Client;
use crate::support::name_server::NameServer;
use crate::support::pages::{get_at as get, sheet_address, visit};
use crate::support::server::Server;
use crate::support::{create, service};

fn create_page(client: &Client, body: &Value) -> (String, String) {
    let made = client.post("/v1/statuspages", body).expect(201).data();
    assert_eq!(made["is_published"], true);
    let slug = made["slug"].as_str().unwrap();
    (format!("/v1/statuspages/{}", made["id"].as_str().unwrap()), format!("{slug}.localhost"))
}

fn add_component(client: &Client, page: &str, body: &Value) -> String {
    let made = client.post(&format!("{page}/components"), body).expect(201);
    made.data()["id"].as_str().unwrap().to_owned()
}

const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
                      connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; \
                      require-trusted-types-for 'script'; trusted-types wk";

#[test]
fn a_published_page_is_shown_at_its_slug() {
    let client = Server::shared_client();
    let (_, host) = create_page(&client, &json!({"name": "Corner shop"}));
    let port = client.address.port();
    let shown = get(&client, &format!("{host}:{port}"), "/").expect(200);
    assert!(
        shown.body.contains("<h1>Corner shop</h1>") && shown.body.contains("<html lang=\"en\" dir=\"ltr\">"),
        "{}",
        shown.body
    );
    for (name, value) in [
        ("content-type", "text/html; charset=utf-8"),
        ("content-security-policy", POLICY),
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "no-referrer"),
        ("content-language", "en"),
        ("vary", "Accept-Language, Accept-Encoding"),
        ("cache-control", "public, max-age=0, s-maxage=5, stale-if-error=86400"),
    ] {
        assert_eq!(shown.header(name), Some(value), "{name}");
    }
    assert_eq!(shown.body.matches("<script").count(), 1);
    assert!(!shown.body.contains("style=") && !shown.body.contains("javascript:"));
    for spelling in [host.to_uppercase(), format!("{host}."), host.clone()] {
        let again = get(&client, &spelling, "/").expect(200).body;
        assert_eq!(again, shown.body, "{spelling}");
    }
    let head = visit(&client, "HEAD", &host, "/", &[]).expect(200);
    assert_eq!(
        (head.body.as_str(), head.header("content-length")),
        ("", Some(&*shown.body.len().to_string()))
    );
    let style = get(&client, &host, &sheet_address(&shown.body, "style")).expect(200);
    assert_eq!(style.header("content-type"), Some("text/css; charset=utf-8"));
    assert_eq!(style.header("cache-control"), Some("public, max-age=31536000, immutable"));
    let earlier = get(&client, &host, "/static/style.0123456789abcdef.css").expect(200);
    assert_eq!(
        (earlier.header("cache-control"), earlier.body.clone()),
        (Some("no-cache"), style.body.clone())
    );
}

/// Specification 2.6: unpublished addresses answer 404; all absent pages look the same.
#[test]
fn unpublished_and_unknown_pages_are_one_and_the_same_404() {
    let client = Server::shared_client();
    let (page, host) = create_page(&client, &json!({"name": "Secret plans"}));
    client.post(&format!("{page}/unpublish"), &json!({})).expect(200);
    let hidden = get(&client, &host, "/").expect(404);
    assert!(!hidden.body.contains("Secret") && !hidden.body.contains(&host), "{}", hidden.body);
    assert_eq!(hidden.header("content-type"), Some("text/html; charset=utf-8"));
    for (host, path) in [
        ("nobody-has-this-slug.localhost", "/"),
        ("alert('1').localhost", "/%3Cscript%3E"),
        ("a.b.localhost", "/"),
        (host.as_str(), "/v1/services"),
        (host.as_str(), "/static/page.0123456789abcdef.css"),
    ] {
        let answer = get(&client, host, path).expect(404);
        assert_eq!(
            (answer.body, answer.headers.len()),
            (hidden.body.clone(), hidden.headers.len()),
            "{host}{path}"
        );
    }
    client.post(&format!("{page}/publish"), &json!({})).expect(200);
    get(&client, &host, "/").expect(200);
    client.delete(&page).expect(200);
    assert_eq!(get(&client, &host, "/").expect(404).body, hidden.body);
}

/// On the host of a page there is nothing but the page; on our own hosts everything is as ever; on a host that is nobody's
/// the API answers, and everything else is a plain 404.
#[test]
fn the_host_separates_pages_and_api() {
    let client = Server::shared_client();
    let (_, host) = create_page(&client, &json!({"name": "Apart"}));
    for path in ["/metrics", "/healthz", "/readyz", "/v1/me", "/v1/services", "/index.html"] {
        let answer = get(&client, &host, path).expect(404);
        assert_eq!(answer.header("content-type"), Some("text/html; charset=utf-8"), "{path}");
    }
    for method in ["POST", "PUT", "DELETE", "OPTIONS"] {
        let answer = visit(&client, method, &host, "/", &[]).expect(405);
        assert_eq!(answer.header("allow"), Some("GET, HEAD"), "{method}");
    }
    let port = client.address.port();
    for api in
        [format!("127.0.0.1:{port}"), format!("localhost:{port}"), "[::1]:1".into(), "watchkeeper".into()]
    {
        assert_eq!(
            get(&client, &api, "/v1/me").expect(401).header("www-authenticate"),
            Some("Bearer"),
            "{api}"
        );
        get(&client, &api, "/healthz").expect(200);
        get(&client, &api, "/index.html").expect(404).json();
    }
    let unknown = "unknown.example.com";
    get(&client, unknown, "/v1/me").expect(401).json();
    for path in ["/healthz", "/readyz", "/metrics", "/v1/", "/openapi.json", "/docs", "/ping/none"] {
        let (there, own) = (get(&client, unknown, path), get(&client, "localhost", path));
        assert_eq!(there.status, own.status, "{path}");
        assert_eq!(there.header("content-type"), own.header("content-type"), "{path}");
    }
    for path in ["/", "/metricsx", "/index.html", "/calendars/none"] {
        let answer = get(&client, unknown, path).expect(404);
        assert_eq!(answer.header("content-type"), Some("text/html; charset=utf-8"), "{path}");
        assert!(!answer.body.contains("unknown.example"), "nothing is echoed");
    }
}

const HOSTILE: &str = "</title><script>alert('1')</script>\"&";

/// All user input is shown as text.
#[test]
fn hostile_texts_are_escaped_everywhere() {
    let client = Server::shared_client();
    let page = json!({"name": HOSTILE, "slug": "hostile-words", "seo": {
        "title": {"en": "</title><b>"}, "description": {"en": "\"><script>alert(2)</script>"}}});
    let (page, host) = create_page(&client, &page);
    let group =
        add_component(&client, &page, &json!({"name": HOSTILE, "description": HOSTILE, "is_group": true}));
    let shop = create(&client, &json!({"name": HOSTILE, "check_type": "manual"}));
    add_component(&client, &page, &json!({"name": HOSTILE, "service_id": shop, "parent_id": group}));
    client.patch(&page, &json!({"imprint_url": "https://example.com/\"><script>"})).expect(200);
    let html = get(&client, &host, "/").expect(200).body;
    assert!(html.matches("<script").count() == 1 && !html.contains("<b>"), "{html}");
    assert_eq!(html.matches("&#60;script&#62;alert(&#39;1&#39;)").count(), 6, "{html}");
}

/// Contract 4.14.5: visitors see the effective status as a word, and nothing hidden.
#[test]
fn components_are_shown_with_their_status() {
    let client = Server::shared_client();
    let (page, host) = create_page(&client, &json!({"name": "Components"}));
    let till = create(&client, &json!({"name": "Till", "check_type": "manual"}));
    let shop = add_component(
        &client,
        &page,
        &json!({"name": "Shop group", "is_group": true, "default_open": false,
        "hide_operational_children": true}),
    );
    add_component(&client, &page, &json!({"name": "Visible till", "service_id": till, "parent_id": shop}));
    add_component(&client, &page, &json!({"name": "Healthy door", "parent_id": shop}));
    add_component(&client, &page, &json!({"name": "Hidden cellar", "is_visible": false}));
    let html = get(&client, &host, "/").expect(200).body;
    assert!(html.contains("All systems operational") && !html.contains("\" open>"), "{html}");
    assert!(!html.contains("Hidden cellar") && !html.contains("Healthy door"), "{html}");
    let stated = json!({"status": "down", "reason": "It fell"});
    client.post(&format!("{}/status-override", service(&till)), &stated).expect(200);
    let html = get(&client, &host, "/").expect(200).body;
    assert!(html.contains("Some systems are down") && html.contains("\" open>"), "{html}");
    assert!(html.contains("Visible till") && html.contains("Major outage"), "{html}");
    assert!(!html.contains("Healthy door") && !html.contains("It fell"), "{html}");
}

/// Contract 4.10.2, 4.11.2: open published incidents and coming work of visible services, with their public timeline.
#[test]
fn incidents_and_maintenances_are_announced() {
    let client = Server::shared_client();
    let (page, host) = create_page(&client, &json!({"name": "Announcements"}));
    let (_, other_host) = create_page(&client, &json!({"name": "Elsewhere"}));
    let till = create(&client, &json!({"name": "Internal till 7", "check_type": "manual"}));
    add_component(&client, &page, &json!({"name": "Public till", "service_id": till}));
    let announce = |title: &str, is_published: bool| {
        let body = json!({"title": title, "message": "First line\nsecond line\n\n<b>New</b> *paragraph*",
            "service_ids": [till], "is_published": is_published, "severity": "major"});
        client.post("/v1/incidents", &body).expect(201).data()["id"].as_str().unwrap().to_owned()
    };
    announce("Internal trouble", false);
    let incident = announce("Till <jammed>", true);
    let work =
        json!({"title": "New drawer", "scheduled_start": "2199-01-02T03:04:05Z", "service_ids": [till]});
    client.post("/v1/maintenances", &work).expect(201);
    let html = get(&client, &host, "/").expect(200).body;
    for text in [
        "Till &#60;jammed&#62;",
        "<div class=\"message\"><p>First line\nsecond line</p>\n<p>New <em>paragraph</em></p>\n</div>",
        "Affected: Public till",
        "Investigating",
        "New drawer",
        "<time datetime=\"2199-01-02T03:04:05.000Z\">2199-01-02 03:04 UTC</time> – open end",
    ] {
        assert!(html.contains(text), "{text}: {html}");
    }
    assert!(!html.contains("Internal"), "{html}");
    let elsewhere = get(&client, &other_host, "/").expect(200).body;
    assert!(!elsewhere.contains("jammed") && !elsewhere.contains("New drawer"), "{elsewhere}");
    client.post(&format!("/v1/incidents/{incident}/resolve"), &json!({"message": "Oiled"})).expect(200);
    assert!(!get(&client, &host, "/").expect(200).body.contains("jammed"));
}

/// Contract 1.11: the language is the visitor's, among those of the page; the words of the page follow.
#[test]
fn a_page_is_shown_in_the_language_of_its_visitor() {
    let server = Server::shared();
    let create = ["org", "create", "--name", "Polyglot", "--plan", "business", "--languages", "en,de"];
    let organisation = server.command_json(&create)[0]["id"].as_str().unwrap().to_owned();
    let client = server.member(&organisation, "all");
    let (_, host) = create_page(&client, &json!({"name": {"en": "Tongues", "de": "Zungen"}}));
    let origin = format!("http://{host}:{}", client.address.port());
    for (accept, locale, texts) in [
        ("de-AT, fr;q=0.5", "de", ["<h1>Zungen</h1>", "Status unbekannt"]),
        ("fr", "en", ["<h1>Tongues</h1>", "Status unknown"]),
    ] {
        let shown = visit(&client, "GET", &host, "/", &[&format!("Accept-Language: {accept}")]).expect(200);
        assert_eq!(shown.header("content-language"), Some(locale));
        assert!(shown.body.contains(&format!("<html lang=\"{locale}\" dir=\"ltr\">")), "{}", shown.body);
        assert_eq!(shown.header("vary"), Some("Accept-Language, Accept-Encoding"));
        assert!(texts.iter().all(|text| shown.body.contains(text)), "{}", shown.body);
        let explicit =
            visit(&client, "GET", &host, &format!("/{locale}/"), &["Accept-Language: en"]).expect(200);
        assert_eq!((explicit.header("vary"), &explicit.body), (Some("Accept-Encoding"), &shown.body));
        for link in [
            &format!("<link rel=\"alternate\" hreflang=\"de\" href=\"{origin}/de/\">"),
            &format!("<link rel=\"alternate\" hreflang=\"x-default\" href=\"{origin}/\">"),
            "href=\"/en/\" lang=\"en\" hreflang=\"en\"",
        ] {
            assert!(shown.body.contains(link), "{link}: {}", shown.body);
        }
    }
    assert_eq!(get(&client, &host, "/de").expect(308).header("location"), Some("/de/"));
    get(&client, &host, "/fr/").expect(404);
}

/// Restricted pages show nothing, not even their name.
#[rstest]
#[case(json!({"access_type": "password", "password": "correct horse"}), 401)]
#[case(json!({"access_type": "email_whitelist", "email_whitelist": ["ann@example.com"]}), 401)]
fn a_restricted_page_shows_nothing(#[case] access: Value, #[case] status: u16) {
    let client = Server::shared_client();
    let (page, host) = create_page(&client, &json!({"name": "Board room", "custom_css": "h1{color:red}"}));
    client.patch(&page, &access).expect(200);
    for path in ["/", "/static/page.0123456789abcdef.css", "/en/", "/anything"] {
        let shown = get(&client, &host, path).expect(status);
        assert!(!shown.body.contains("Board room") && !shown.body.contains("color:red"), "{}", shown.body);
    }
    assert!(get(&client, &host, "/robots.txt").expect(200).body.contains("Disallow: /"));
}

#[test]
fn custom_colours_and_styles_are_a_separate_stylesheet() {
    let client = Server::shared_client();
    let style = json!({"name": "Styled", "primary_color": "#Ab12cD", "custom_css": "h1 { color: teal }"});
    let (_, host) = create_page(&client, &style);
    let html = get(&client, &host, "/").expect(200);
    assert!(html.header("content-security-policy").unwrap().contains("style-src 'self';"));
    let sheet = get(&client, &host, &sheet_address(&html.body, "page")).expect(200);
    assert!(
        sheet.body.contains("solid #Ab12cD") && sheet.body.contains("h1 { color: teal }"),
        "{}",
        sheet.body
    );
    assert_eq!(sheet.header("content-type"), Some("text/css; charset=utf-8"));
}

#[test]
fn search_engine_settings_are_applied() {
    let client = Server::shared_client();
    let (page, host) = create_page(&client, &json!({"name": "Found", "seo": {"title": {"en": "Found it"}}}));
    let open = get(&client, &host, "/").expect(200);
    assert!(open.body.contains("<title>Found it</title>") && !open.body.contains("noindex"));
    assert!(get(&client, &host, "/robots.txt").expect(200).body.contains("Allow: /"));
    client.patch(&page, &json!({"seo": {"indexable": false}})).expect(200);
    let hidden = get(&client, &host, "/").expect(200);
    assert!(hidden.body.contains("noindex") && hidden.header("x-robots-tag").is_some());
    // A visitor without access does not learn that the page is hidden from search engines.
    assert!(get(&client, &host, "/robots.txt").expect(200).body.contains("Allow: /"));
}

/// An active custom domain shows the page, another one does not exist.
#[test]
fn an_active_custom_domain_shows_its_page() {
    let names = NameServer::start();
    let server = Server::with(
        "",
        &[
            ("WATCHKEEPER_PROBE__DNS_SERVERS", &names.address.to_string()),
            ("WATCHKEEPER_STATUSPAGE_HOST", "pages.example.test"),
        ],
    );
    let client = server.client();
    let made =
        client.post("/v1/statuspages", &json!({"name": "Two doors", "slug": "doors"})).expect(201).data();
    let page = format!("/v1/statuspages/{}", made["id"].as_str().unwrap());
    let host = "status.doors.example";
    let domains = format!("{page}/custom-domains");
    let domain = client.post(&domains, &json!({"hostname": host})).expect(201).data();
    let shown = get(&client, "doors.pages.example.test", "/").expect(200).body;
    assert!(get(&client, host, "/").expect(404).body.starts_with("<!doctype"), "not active yet");
    get(&client, host, "/v1/me").expect(401).json();
    names.alias(host, "pages.example.test");
    names.text(domain["txt_record_name"].as_str().unwrap(), domain["txt_record_value"].as_str().unwrap());
    let path = format!("{domains}/{}", domain["id"].as_str().unwrap());
    let active = client.post(&format!("{path}/verify"), &json!({})).expect(200).data();
    assert_eq!(active["status"], "active");
    let again = get(&client, "Status.Doors.Example:443", "/").expect(200).body;
    let canonical = "<link rel=\"canonical\" href=\"https://status.doors.example/\">";
    assert!(again.contains(canonical), "{again}");
    let body = |html: &str| html.split_once("<body").unwrap().1.to_owned();
    assert_eq!(body(&again), body(&shown), "only the head names the host");
    get(&client, host, "/v1/me").expect(404);
    get(&client, host, "/metrics").expect(404);
    client.post(&format!("{page}/unpublish"), &json!({})).expect(200);
    assert!(get(&client, host, "/").expect(404).body.starts_with("<!doctype"));
    client.post(&format!("{page}/publish"), &json!({})).expect(200);
    client.delete(&path).expect(200);
    assert!(get(&client, host, "/").expect(404).body.starts_with("<!doctype"), "detached");
    get(&client, host, "/v1/me").expect(401).json();
}

/// Colours of the page at a path: `color-scheme`, the attribute of the document, and the current link.
fn appearance_of(client: &Client, host: &str, path: &str) -> (String, Option<String>, Option<String>) {
    let html = get(client, host, path).expect(200).body;
    let between = |start: &str, end: &str| {
        let (_, rest) = html.split_once(start)?;
        Some(rest.split_once(end)?.0.to_owned())
    };
    let scheme = between("<meta name=\"color-scheme\" content=\"", "\"").unwrap();
    let theme = between("data-theme=\"", "\"");
    (scheme, theme, between("rel=\"nofollow\" aria-current=\"true\">", "</a>"))
}

/// Contract 4.13.1: `appearance` is the colour scheme of the page.
#[rstest]
#[case("system", "light dark", None, "System")]
#[case("light", "light", Some("light"), "Light")]
#[case("dark", "dark", Some("dark"), "Dark")]
fn a_page_has_the_colours_of_its_appearance(
    #[case] appearance: &str,
    #[case] scheme: &str,
    #[case] theme: Option<&str>,
    #[case] current: &str,
) {
    let client = Server::shared_client();
    let (_, host) = create_page(&client, &json!({"name": "Colours", "appearance": appearance}));
    let shown = appearance_of(&client, &host, "/");
    assert_eq!(shown, (scheme.into(), theme.map(str::to_owned), Some(current.into())));
}

/// Contract 4.13.1: visitors may change it, without script and without a cookie, which would end shared caching.
#[test]
fn a_visitor_chooses_the_colours() {
    let client = Server::shared_client();
    let (page, host) = create_page(&client, &json!({"name": "Choice", "appearance": "light"}));
    let first = get(&client, &host, "/").expect(200);
    assert!(first.body.contains("<a href=\"?appearance=dark\" rel=\"nofollow\">Dark</a>"), "{}", first.body);
    assert_eq!(first.header("set-cookie"), None);
    assert_eq!(appearance_of(&client, &host, "/?appearance=dark").0, "dark");
    assert_eq!(appearance_of(&client, &host, "/?appearance=pink").0, "light", "an unknown choice is ignored");
    client.patch(&page, &json!({"allow_appearance_switch": false})).expect(200);
    let (scheme, _, current) = appearance_of(&client, &host, "/?appearance=dark");
    assert_eq!((scheme.as_str(), current), ("light", None), "visitors may not choose any more");
    let fixed = get(&client, &host, "/").expect(200);
    assert!(!fixed.body.contains("?appearance="), "{}", fixed.body);
}

/// A page is sent once: with an entity tag for each coding, which changes with the page.
#[test]
fn an_unchanged_page_is_not_sent_again() {
    let client = Server::shared_client();
    let (page, host) = create_page(&client, &json!({"name": "Tagged"}));
    let gzip = "Accept-Encoding: gzip";
    let first = visit(&client, "HEAD", &host, "/", &[gzip]).expect(200);
    assert_eq!(first.header("content-encoding"), Some("gzip"));
    let tag = first.header("etag").unwrap().to_owned();
    let known = format!("If-None-Match: {tag}");
    let again = visit(&client, "GET", &host, "/", &[gzip, &known]).expect(304);
    assert_eq!((again.header("etag"), again.body.as_str()), (Some(&*tag), ""));
    let plain = get(&client, &host, "/").expect(200);
    assert_ne!(plain.header("etag"), Some(&*tag), "strong: each coding has its own");
    client.patch(&page, &json!({"name": "Changed"})).expect(200);
    let changed = visit(&client, "HEAD", &host, "/", &[gzip, &known]).expect(200);
    assert_ne!(changed.header("etag"), Some(&*tag));
}

/// The dark logo is shown whenever the page is dark.
#[test]
fn the_dark_logo_is_shown_with_the_dark_colours() {
    let client = Server::shared_client();
    let (page, host) = create_page(&client, &json!({"name": "Logos", "appearance": "dark"}));
    for name in ["logo", "logo-dark"] {
        let drawing = format!("<svg xmlns='http://www.w3.org/2000/svg'><path id='{name}' d='M0 0h9'/></svg>");
        let form = format!(
            "--XX\r\nContent-Disposition: form-data; name=\"file\"; filename=\"x\"\r\n\r\n{drawing}\r\n--XX--\r\n"
        );
        let line = ["Content-Type: multipart/form-data; boundary=XX"];
        client.send("POST", &format!("{page}/assets/{name}"), &line, form.as_bytes()).expect(200);
    }
    assert!(get(&client, &host, "/").expect(200).body.contains("media=\"all\">\n<img"));
    client.patch(&page, &json!({"appearance": "light"})).expect(200);
    assert!(!get(&client, &host, "/").expect(200).body.contains("<source"));
    client.patch(&page, &json!({"appearance": "system"})).expect(200);
    assert!(get(&client, &host, "/").expect(200).body.contains("<source srcset="));
}

/// However many announcements are for other pages: a page shows its own.
#[test]
fn announcements_of_other_pages_do_not_displace_those_of_a_page() {
    let client = crate::support::pages::tenant();
    let (page, host) = create_page(&client, &json!({"name": "Quiet"}));
    let (other, _) = create_page(&client, &json!({"name": "Busy"}));
    let id = |path: &str| path.rsplit('/').next().unwrap().to_owned();
    let (page, other) = (id(&page), id(&other));
    let incident = |title: &str, page: &str, started_at: &str| {
        let body = json!({
            "title": title, "message": "We look.", "is_published": true, "statuspage_ids": [page],
            "started_at": started_at,
        });
        client.post("/v1/incidents", &body).expect(201);
    };
    let window = |title: &str, page: &str, start: &str| {
        let body =
            json!({"title": title, "message": "Work.", "statuspage_ids": [page], "scheduled_start": start});
        client.post("/v1/maintenances", &body).expect(201);
    };
    incident("Ours is the oldest", &page, "2026-01-01");
    window("Ours is the last", &page, "2196-12-01");
    for _ in 0..201 {
        incident("Theirs", &other, "2026-02-01");
        window("Theirs", &other, "2196-01-01");
    }
    let shown = get(&client, &host, "/").expect(200).body;
    assert!(shown.contains("Ours is the oldest") && shown.contains("Ours is the last"), "{shown}");
    assert!(!shown.contains("Theirs"));
}

/// Of thirty nights of the same work only the next one is shown.
#[test]
fn a_page_shows_the_next_window_of_a_series() {
    let client = Server::shared_client();
    let (page, host) = create_page(&client, &json!({"name": "Nightly"}));
    let page = page.rsplit('/').next().unwrap().to_owned();
    let start = crate::support::moments::in_ms(86_400_000);
    let start = start.plus_ms(-start.ms().rem_euclid(1_000));
    let body = json!({
        "title": "Every night", "statuspage_ids": [page], "scheduled_start": start.to_string(),
        "scheduled_end": start.plus_ms(60_000).to_string(),
        "recurrence": {"rrule": "FREQ=DAILY", "time_zone": "UTC"},
    });
    client.post("/v1/maintenances", &body).expect(201);
    let shown = get(&client, &host, "/").expect(200).body;
    assert_eq!(shown.matches("Every night").count(), 1, "{shown}");
    assert!(shown.contains(&start.to_string()), "{shown}");
}
