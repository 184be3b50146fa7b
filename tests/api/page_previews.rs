//! What other web sites show of a status page: the preview image of a link, the frame, the bar, and the list for search
//! engines.

use serde_json::{Value, json};

use crate::support::client::Client;
use crate::support::pages::{create_page, fresh, get_at, get_bytes, host_of, id_of, new_component, visit};
use crate::support::server::Server;
use crate::support::{create, service};

/// A page with its id and its host.
fn page(client: &Client, fields: &Value) -> (String, String) {
    let mut body = json!({"slug": fresh("previews")});
    body.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    let page = create_page(client, &body);
    (id_of(&page), host_of(&page))
}

/// A component whose service has this status; returns the service.
fn component(client: &Client, page: &str, status: &str) -> String {
    let till = create(client, &json!({"name": "Till", "check_type": "manual"}));
    let stated = json!({"status": status, "reason": "Seen"});
    client.post(&format!("{}/status-override", service(&till)), &stated).expect(200);
    new_component(client, page, &json!({"name": "Till", "service_id": till}));
    till
}

/// The value of a `meta` element.
fn meta<'a>(html: &'a str, name: &str) -> &'a str {
    let (_, rest) =
        html.split_once(&format!("\"{name}\" content=\"")).unwrap_or_else(|| panic!("{name}: {html}"));
    rest.split('"').next().unwrap()
}

/// The path of the preview image that the page names.
fn card_path(client: &Client, host: &str) -> String {
    let html = get_at(client, host, "/").expect(200).body;
    let url = meta(&html, "og:image").to_owned();
    let (_, path) = url.split_once("://").unwrap().1.split_once('/').unwrap();
    format!("/{path}")
}

#[test]
fn a_page_names_its_preview_image_by_an_absolute_address() {
    let client = Server::shared_client();
    let fields = json!({"name": "Corner shop", "seo": {"title": {"en": "Shop status"}}});
    let (id, host) = page(&client, &fields);
    let html = get_at(&client, &host, "/").expect(200).body;
    assert_eq!(meta(&html, "og:title"), "Shop status");
    assert_eq!(meta(&html, "og:site_name"), "Corner shop");
    assert_eq!(meta(&html, "og:description"), "Status unknown");
    assert_eq!(meta(&html, "og:image:alt"), "Corner shop: Status unknown");
    assert_eq!(meta(&html, "twitter:card"), "summary_large_image");
    let base = format!("http://{host}:{}", client.address.port());
    assert_eq!(meta(&html, "og:url"), format!("{base}/"));
    assert!(html.contains(&format!("<link rel=\"canonical\" href=\"{base}/\">")), "{html}");
    assert!(meta(&html, "og:image").starts_with(&format!("{base}/en/card.")), "{html}");
    let path = card_path(&client, &host);
    let (head, image) = get_bytes(&client, &host, &path, "br");
    assert!(head.starts_with("http/1.1 200") && head.contains("content-type: image/png"), "{head}");
    assert!(head.contains("cache-control: public, max-age=31536000, immutable"), "{head}");
    assert!(!head.contains("content-encoding"), "an image is not compressed again: {head}");
    let decoded = image::load_from_memory_with_format(&image, image::ImageFormat::Png).unwrap();
    assert_eq!((decoded.width(), decoded.height()), (1200, 630));
    assert!(image.len() <= 300 * 1024, "{} bytes", image.len());

    component(&client, &id, "down");
    let present = card_path(&client, &host);
    assert_ne!(present, path, "another status is another address");
    let (head, other) = get_bytes(&client, &host, &path, "br");
    assert!(head.contains("cache-control: no-cache"), "an earlier address shows the present image: {head}");
    assert_eq!(get_bytes(&client, &host, &present, "br").1, other);
    assert_ne!(image, other);
    get_at(&client, &host, "/card.png").expect(404);
}

/// Contract 4.13.1, `seo`: every setting of the preview image has its effect.
#[test]
fn the_owner_decides_what_the_preview_image_shows() {
    let client = Server::shared_client();
    let (id, host) = page(&client, &json!({"name": "Settings"}));
    component(&client, &id, "up");
    let mut seen = vec![card_path(&client, &host)];
    for seo in [
        json!({"image_appearance": "dark"}),
        json!({"image_subtitle": {"en": "Everything about our tills"}}),
        json!({"live_status": false}),
    ] {
        client.patch(&format!("/v1/statuspages/{id}"), &json!({ "seo": seo })).expect(200);
        let path = card_path(&client, &host);
        assert!(!seen.contains(&path), "{seo}");
        seen.push(path);
    }
    let html = get_at(&client, &host, "/").expect(200).body;
    assert_eq!(meta(&html, "og:image:alt"), "Settings", "the status is not told");
    assert!(!html.contains("og:description"), "{html}");
    let without = card_path(&client, &host);
    component(&client, &id, "down");
    assert_eq!(card_path(&client, &host), without);
    client.patch(&format!("/v1/statuspages/{id}"), &json!({"seo": {}, "appearance": "dark"})).expect(200);
    assert!(get_bytes(&client, &host, &card_path(&client, &host), "br").0.contains("200 ok"));
}

#[test]
fn preview_images_exist_in_each_language_and_with_any_name() {
    let client = Server::shared().bilingual_tenant();
    for name in ["متجر الزاوية", "</text><script>", "日本語", "\u{202e}", &"W".repeat(255)] {
        let (_, host) = page(&client, &json!({"name": {"en": name, "de": "Laden"}}));
        let html = get_at(&client, &host, "/de/").expect(200).body;
        assert!(meta(&html, "og:image").contains("/de/card."), "{html}");
        assert_eq!((meta(&html, "og:locale"), meta(&html, "og:locale:alternate")), ("de", "en"));
        let (head, _) = get_bytes(&client, &host, &card_path(&client, &host), "br");
        assert!(head.starts_with("http/1.1 200"), "{name}: {head}");
    }
}

/// Contract 4.13.1, `seo.event_images`.
#[test]
fn an_incident_has_a_preview_image_of_its_own() {
    let client = Server::shared_client();
    let (id, host) = page(&client, &json!({"name": "Events"}));
    let till = component(&client, &id, "up");
    let incident = json!({"title": "Till jammed", "message": "Seen", "service_ids": [till], "is_published": true,
        "severity": "critical"});
    let incident = id_of(&client.post("/v1/incidents", &incident).expect(201).data());
    let html = || get_at(&client, &host, &format!("/incidents/{incident}")).expect(200).body;
    let shown = html();
    assert_eq!(meta(&shown, "og:image:alt"), "Till jammed: Investigating");
    assert_eq!(meta(&shown, "og:title"), "Till jammed · Events");
    let url = meta(&shown, "og:image").to_owned();
    let path = url[url.find("/en/incidents/").unwrap()..].to_owned();
    let (head, image) = get_bytes(&client, &host, &path, "br");
    assert!(head.starts_with("http/1.1 200") && head.contains("immutable"), "{head}");
    assert_ne!(image, get_bytes(&client, &host, &card_path(&client, &host), "br").1);
    client.patch(&format!("/v1/statuspages/{id}"), &json!({"seo": {"live_status": false}})).expect(200);
    assert_eq!(meta(&html(), "og:image:alt"), "Till jammed", "the state is not told");
    client.patch(&format!("/v1/statuspages/{id}"), &json!({"seo": {"event_images": false}})).expect(200);
    assert_eq!(meta(&html(), "og:image:alt"), "Events: All systems operational");
    assert!(meta(&html(), "og:image").contains("/en/card."));
    get_at(&client, &host, &path).expect(404);
    get_at(&client, &host, "/incidents/ZmCQideh_cmU2E495CYCg/card.0123.png").expect(404);
}

#[test]
fn the_frame_may_be_shown_by_any_site_and_runs_nothing() {
    let client = Server::shared_client();
    let name = "Frame <script>alert('1')</script>";
    let (id, host) = page(&client, &json!({ "name": name }));
    let till = component(&client, &id, "down");
    let incident = json!({"title": "<img src=x onerror=alert(1)>", "message": "Seen", "service_ids": [till],
        "is_published": true, "severity": "major"});
    client.post("/v1/incidents", &incident).expect(201);
    let frame = get_at(&client, &host, "/embed").expect(200);
    let policy = frame.header("content-security-policy").unwrap();
    assert!(policy.starts_with("default-src 'none'; style-src 'sha256-"), "{policy}");
    assert!(policy.ends_with("frame-ancestors *"), "{policy}");
    assert_eq!(frame.header("vary"), Some("Accept-Language, Accept-Encoding"));
    assert!(frame.body.contains("Some systems are down") && frame.body.contains("class=\"major_outage\""));
    assert!(frame.body.contains("target=\"_blank\" rel=\"noopener\""), "{}", frame.body);
    assert!(!frame.body.contains("<script") && !frame.body.contains("<img"), "{}", frame.body);
    assert!(frame.body.contains("&#60;img src=x"), "{}", frame.body);
    assert!(
        get_at(&client, &host, "/embed?appearance=dark").expect(200).body.contains("data-theme=\"dark\"")
    );
    let whole = get_at(&client, &host, "/").expect(200);
    assert!(whole.header("content-security-policy").unwrap().contains("frame-ancestors 'none'"));
}

#[test]
fn the_script_for_bars_is_small_and_can_be_loaded_from_anywhere() {
    let client = Server::shared_client();
    let (_, host) = page(&client, &json!({}));
    let script = get_at(&client, &host, "/widget.js").expect(200);
    for (name, value) in [
        ("content-type", "text/javascript; charset=utf-8"),
        ("access-control-allow-origin", "*"),
        ("cross-origin-resource-policy", "cross-origin"),
        ("cache-control", "public, max-age=300, stale-while-revalidate=86400"),
    ] {
        assert_eq!(script.header(name), Some(value), "{name}");
    }
    assert!(script.body.len() <= 2048 && script.body.contains("'api/v2/'"));
    let known = format!("If-None-Match: {}", script.header("etag").unwrap());
    visit(&client, "GET", &host, "/widget.js", &[&known]).expect(304);
}

#[test]
fn search_engines_find_the_page_in_all_languages() {
    let client = Server::shared().bilingual_tenant();
    let (id, host) = page(&client, &json!({}));
    let base = format!("http://{host}:{}", client.address.port());
    let robots = get_at(&client, &host, "/robots.txt").expect(200).body;
    assert_eq!(robots, format!("User-agent: *\nAllow: /\nSitemap: {base}/sitemap.xml\n"));
    let map = get_at(&client, &host, "/sitemap.xml").expect(200);
    assert_eq!(map.header("content-type"), Some("application/xml; charset=utf-8"));
    for locale in ["en", "de"] {
        assert!(map.body.contains(&format!("<loc>{base}/{locale}/</loc>")), "{}", map.body);
    }
    client.patch(&format!("/v1/statuspages/{id}"), &json!({"seo": {"indexable": false}})).expect(200);
    get_at(&client, &host, "/sitemap.xml").expect(404);
    assert_eq!(get_at(&client, &host, "/robots.txt").expect(200).body, "User-agent: *\nAllow: /\n");
}
