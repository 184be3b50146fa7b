//! `/v1/statuspages` (contract 4.13): create, read, list, change, delete, slugs.
//!
//! The individual fields are in `statuspage_fields`, publishing in `statuspage_publishing`.

use rstest::rstest;
use serde_json::{Value, json};

use crate::support::UNKNOWN_ID;
use crate::support::pages::{
    bilingual, create_page, fresh, id_of, keys, new_component, new_page, statuspage, tenant,
};
use crate::support::postgres::Postgres;
use crate::support::server::Server;

const PATH: &str = "/v1/statuspages";

/// Contract 4.13.1: every default, the keys in the order of the example.
#[test]
fn a_page_is_created_with_its_defaults() {
    let server = Server::shared();
    let client = server.client();
    let slug = fresh("defaults");
    let created = client.post(PATH, &json!({"name": " Example status ", "slug": slug})).expect(201);
    let made = created.data();
    let (id, created_at) = (id_of(&made), &made["created_at"]);
    let location = format!("{}/v1/statuspages/{id}", server.base());
    assert_eq!(created.header("location"), Some(&*location));
    assert_eq!(created.header("content-language"), Some("en"));
    assert_eq!(created.header("vary"), Some("Accept-Language"));
    let url = format!("http://{slug}.localhost:{}", client.address.port());
    let expected = json!({"id": id, "name": "Example status", "name_translations": {"en": "Example status"}, "slug": slug,
        "url": url, "is_published": true, "theme": "default", "supported_locales": null, "default_locale": null,
        "effective_supported_locales": ["en"], "effective_default_locale": "en", "primary_color": null,
        "secondary_color": null, "custom_css": null, "imprint_url": null, "privacy_policy_url": null, "show_logo": true,
        "logo_size": "medium", "show_affected_services": true, "show_unlinked_services": false,
        "show_incident_history": true, "show_locations": false, "show_sla": false, "status_json_includes_hidden": false,
        "seo": {"title": {}, "description": {}, "image_subtitle": {}, "image_appearance": "auto", "indexable": true,
            "live_status": true, "event_images": true},
        "logo_url": null, "logo_dark_url": null, "favicon_url": null, "access_type": "public", "has_password": false,
        "email_whitelist": [], "appearance": "system", "allow_appearance_switch": true,
        "subscriber_channels": ["email"], "components_count": 0, "components": [],
        "created_at": created_at, "updated_at": created_at});
    assert_eq!(made.to_string(), expected.to_string());
    assert_eq!(client.get(&statuspage(&id)).expect(200).data(), made);
}

/// Contract 1.1, 1.2: both methods change what is sent and nothing else; `{}` changes nothing.
#[rstest]
fn a_page_is_changed_by_put_and_patch(#[values("PUT", "PATCH")] method: &str) {
    let client = Server::shared_client();
    let before = create_page(&client, &json!({"primary_color": "#AbCdEf"}));
    let path = statuspage(&id_of(&before));
    assert_eq!(client.json(method, &path, &json!({})).expect(200).data(), before);
    let ignored = json!({"id": UNKNOWN_ID, "theme": "dark", "url": "x", "is_published": false, "has_password": 7,
        "components": 1, "novelty": {}, "slug": null});
    assert_eq!(client.json(method, &path, &ignored).expect(200).data(), before);
    let after =
        client.json(method, &path, &json!({"name": "Renamed", "show_logo": false})).expect(200).data();
    let mut expected = before.clone();
    expected["name"] = json!("Renamed");
    expected["name_translations"] = json!({"en": "Renamed"});
    expected["show_logo"] = json!(false);
    expected["updated_at"] = after["updated_at"].clone();
    assert_eq!(after, expected);
    assert_ne!(after["updated_at"], before["updated_at"]);
    assert_eq!(client.get(&path).expect(200).data(), after);
}

/// Contract 1.4, 4.13.1: oldest first, paged, without `components`.
#[test]
fn pages_are_listed_oldest_first() {
    let client = tenant();
    let empty = client.get(PATH).expect(200).json();
    assert_eq!((&empty["data"], &empty["meta"]["total"]), (&json!([]), &json!(0)));
    let ids: Vec<String> = (0..3).map(|_| new_page(&client)).collect();
    new_component(&client, &ids[0], &json!({}));
    let list = client.get(&format!("{PATH}?per_page=2")).expect(200);
    assert_eq!(list.header("vary"), Some("Accept-Language"));
    let list = list.json();
    let rows = list["data"].as_array().unwrap();
    assert_eq!(rows.iter().map(id_of).collect::<Vec<_>>(), ids[..2]);
    assert_eq!((&list["meta"]["total"], &list["meta"]["last_page"]), (&json!(3), &json!(2)));
    assert_eq!((&rows[0]["components_count"], &rows[1]["components_count"]), (&json!(1), &json!(0)));
    let mut single = client.get(&statuspage(&ids[0])).expect(200).data();
    single.as_object_mut().unwrap().shift_remove("components");
    assert_eq!(single.to_string(), rows[0].to_string());
    let second = client.get(&format!("{PATH}?per_page=2&page=2")).expect(200).data();
    assert_eq!(second.as_array().unwrap().iter().map(id_of).collect::<Vec<_>>(), ids[2..]);
}

/// Contract 4.13.3, specification 4.9: the `slug` filter is exact; what no page can have selects nothing.
#[test]
fn the_slug_filter_finds_exactly_one_page() {
    let (client, other) = (Server::shared_client(), tenant());
    let slug = fresh("wanted");
    let id = id_of(&create_page(&client, &json!({ "slug": slug })));
    create_page(&client, &json!({"slug": format!("{slug}-2")}));
    let foreign = create_page(&other, &json!({}));
    let found = client.get(&format!("{PATH}?slug={slug}")).expect(200).json();
    assert_eq!(found["data"].as_array().unwrap().iter().map(id_of).collect::<Vec<_>>(), [id]);
    assert_eq!(found["meta"]["total"], 1);
    let upper = slug.to_uppercase();
    let foreign = foreign["slug"].as_str().unwrap();
    for nothing in ["", "nobody-has-this", "Not%20a%20slug", &upper, &slug[1..], foreign, "%00"] {
        let list = client.get(&format!("{PATH}?slug={nothing}")).expect(200).json();
        assert_eq!((&list["data"], &list["meta"]["total"]), (&json!([]), &json!(0)), "{nothing}");
    }
    let refused = client.get(&format!("{PATH}?slug[]={slug}"));
    assert_eq!(refused.errors(), [("slug".to_owned(), "Send a single value.".to_owned())]);
}

/// Contract 4.13.3, 1.7: PostgreSQL takes no NUL, so it must never see one.
#[test]
fn an_unmatchable_filter_selects_nothing_on_postgresql() {
    let Some(postgres) = Postgres::start() else { return };
    let server = Server::with("", &[("WATCHKEEPER_DATABASE_URL", &postgres.url())]);
    for filter in ["statuspages?slug", "services?tag", "tags?label", "tags?key"] {
        let list = server.client().get(&format!("/v1/{filter}=%00")).expect(200).json();
        assert_eq!(list["data"], json!([]), "{filter}");
    }
}

/// Contract 1.3, 4.13.3: a deleted page is gone with its components; a second delete finds nothing.
#[test]
fn a_deleted_page_is_gone() {
    let client = Server::shared_client();
    let id = new_page(&client);
    let component = new_component(&client, &id, &json!({}));
    let gone = client.delete(&statuspage(&id)).expect(200);
    assert_eq!(gone.body, format!(r#"{{"data":{{"id":"{id}","deleted":true}}}}"#));
    client.delete(&statuspage(&id)).expect(404);
    client.get(&statuspage(&id)).expect(404);
    client.get(&format!("{}/components/{component}", statuspage(&id))).expect(404);
}

/// Contract 1.5, 1.8: a foreign page, an unknown one and a malformed id are the same nothing, before the body is read.
#[test]
fn a_foreign_page_answers_like_an_unknown_one() {
    let server = Server::shared();
    let (mine, theirs) = (server.tenant("business"), server.tenant("business"));
    let foreign = new_page(&theirs);
    let inside = new_component(&theirs, &foreign, &json!({}));
    let before = theirs.get(&statuspage(&foreign)).expect(200).body;
    let own = new_page(&mine);
    for (method, rest) in [
        ("GET", String::new()),
        ("PUT", String::new()),
        ("PATCH", String::new()),
        ("DELETE", String::new()),
        ("POST", "/publish".into()),
        ("POST", "/unpublish".into()),
        ("GET", "/components".into()),
        ("POST", "/components".into()),
        ("GET", format!("/components/{inside}")),
        ("PUT", format!("/components/{inside}")),
        ("PATCH", format!("/components/{inside}")),
        ("DELETE", format!("/components/{inside}")),
    ] {
        let ask = |id: &str| mine.send(method, &format!("{}{rest}", statuspage(id)), &[], b"not json");
        let (unknown, foreign) = (ask(UNKNOWN_ID), ask(&foreign));
        assert_eq!(unknown.status, 404, "{method} {rest}");
        assert_eq!(foreign.without_request_id(), unknown.without_request_id(), "{method} {rest}");
        assert_eq!(ask("short").status, 404, "{method} {rest}");
        if rest.contains(&inside) {
            assert_eq!(ask(&own).status, 404, "{method}: a component of another page");
        }
    }
    assert_eq!(theirs.get(&statuspage(&foreign)).expect(200).body, before);
}

/// Contract 2.2: each route needs its permission, which is named.
#[test]
fn every_route_needs_its_permission() {
    let server = Server::shared();
    let client = server.member(&server.organisation("business"), "services.view");
    let page = format!("{PATH}/{UNKNOWN_ID}");
    let component = format!("{page}/components/{UNKNOWN_ID}");
    for (method, path, permission) in [
        ("GET", PATH, "statuspages.view"),
        ("POST", PATH, "statuspages.create"),
        ("GET", &page, "statuspages.view"),
        ("PUT", &page, "statuspages.edit"),
        ("PATCH", &page, "statuspages.edit"),
        ("DELETE", &page, "statuspages.delete"),
        ("POST", &format!("{page}/publish"), "statuspages.publish"),
        ("POST", &format!("{page}/unpublish"), "statuspages.publish"),
        ("GET", &format!("{page}/components"), "statuspages.view"),
        ("POST", &format!("{page}/components"), "statuspages.edit"),
        ("GET", &component, "statuspages.view"),
        ("PUT", &component, "statuspages.edit"),
        ("PATCH", &component, "statuspages.edit"),
        ("DELETE", &component, "statuspages.edit"),
    ] {
        let refused = client.send(method, path, &[], b"").expect(403);
        let text = format!("This token is missing the permission '{permission}'.");
        assert_eq!(refused.message(), text, "{method} {path}");
    }
}

/// Contract 4.13.2: the slug is derived from the name in the default language, and is numbered when it is taken.
#[test]
fn a_slug_is_derived_and_numbered() {
    let client = bilingual();
    let word = fresh("café-größe");
    let name = json!({"en": format!("  {word} & Co.! "), "de": "Etwas anderes"});
    let expected = word.replace("café", "cafe").replace("größe", "grosse");
    for suffix in ["", "-2", "-3"] {
        let page = create_page(&client, &json!({ "name": name, "slug": null }));
        assert_eq!(page["slug"], format!("{expected}-co{suffix}"));
    }
    let nameless = create_page(&client, &json!({"name": "!!!"}));
    let random = nameless["slug"].as_str().unwrap().strip_prefix("page-").unwrap();
    assert!(
        random.len() == 8 && random.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit()),
        "{random}"
    );
    let reserved = create_page(&client, &json!({"name": "Status"}));
    assert!(reserved["slug"].as_str().unwrap().starts_with("status-"), "{reserved}");
    let long = create_page(&client, &json!({"name": format!("{}{}", fresh("long"), "a".repeat(100))}));
    assert_eq!(long["slug"].as_str().unwrap().len(), 63);
}

/// Contract 4.13.2: form, length, reserved and taken slugs.
#[rstest]
#[case(json!("Shop"), "Use lower-case letters and digits, separated by single hyphens.")]
#[case(json!("-shop"), "Use lower-case letters and digits, separated by single hyphens.")]
#[case(json!("shop--a"), "Use lower-case letters and digits, separated by single hyphens.")]
#[case(json!("shop_a"), "Use lower-case letters and digits, separated by single hyphens.")]
#[case(json!(""), "Use at least 1 characters.")]
#[case(json!("a".repeat(64)), "Use at most 63 characters.")]
#[case(json!(7), "This value must be a string.")]
#[case(json!("www"), "This slug is not available.")]
#[case(json!("ping"), "This slug is not available.")]
fn an_unavailable_slug_is_refused(#[case] slug: Value, #[case] text: &str) {
    let client = Server::shared_client();
    let expected = [("slug".to_owned(), text.to_owned())];
    assert_eq!(client.post(PATH, &json!({"name": "x", "slug": slug})).errors(), expected);
    let id = new_page(&client);
    assert_eq!(client.patch(&statuspage(&id), &json!({ "slug": slug })).errors(), expected);
}

/// Contract 4.13.2: unique per installation; a freed slug is free for its organisation alone.
#[test]
fn a_slug_belongs_to_one_page_and_stays_with_its_organisation() {
    let server = Server::shared();
    let (mine, theirs) = (server.tenant("business"), server.tenant("business"));
    let (slug, second) = (fresh("unique"), fresh("unique"));
    let taken = [("slug".to_owned(), "This slug is not available.".to_owned())];
    let id = id_of(&create_page(&mine, &json!({ "slug": slug })));
    let body = json!({"name": "x", "slug": slug});
    assert_eq!(mine.post(PATH, &body).errors(), taken);
    assert_eq!(theirs.post(PATH, &body).errors(), taken);
    let foreign = new_page(&theirs);
    assert_eq!(theirs.patch(&statuspage(&foreign), &json!({ "slug": slug })).errors(), taken);
    // All errors of a body are listed, in the order of the table.
    let several = json!({"name": "", "slug": slug, "logo_size": "huge"});
    assert_eq!(keys(&theirs.post(PATH, &several)), ["name", "slug", "logo_size"]);

    let renamed = mine.patch(&statuspage(&id), &json!({ "slug": second })).expect(200).data();
    assert_eq!(renamed["slug"], second);
    assert!(renamed["url"].as_str().unwrap().starts_with(&format!("http://{second}.localhost")), "{renamed}");
    assert_eq!(theirs.post(PATH, &body).errors(), taken, "freed by renaming");
    assert_eq!(create_page(&theirs, &json!({ "name": slug }))["slug"], format!("{slug}-2"));
    assert_eq!(create_page(&mine, &json!({ "name": slug }))["slug"], slug, "free for its organisation");
    mine.delete(&statuspage(&id)).expect(200);
    assert_eq!(theirs.post(PATH, &json!({"name": "x", "slug": second})).errors(), taken, "freed by deleting");
    mine.post(PATH, &json!({"name": "x", "slug": second})).expect(201);
}

/// Contract 4.13.2, exact under concurrency: many pages of one name get one slug each.
#[test]
fn parallel_creates_get_different_slugs() {
    let server = Server::shared();
    let clients = [server.tenant("business"), server.tenant("business")];
    let body = json!({"name": fresh("crowd")});
    let slugs: Vec<String> = std::thread::scope(|scope| {
        let asking: Vec<_> = (0..12)
            .map(|at| {
                let (client, body) = (&clients[at % 2], &body);
                scope.spawn(move || {
                    client.post(PATH, body).expect(201).data()["slug"].as_str().unwrap().to_owned()
                })
            })
            .collect();
        asking.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let distinct: std::collections::HashSet<_> = slugs.iter().collect();
    assert_eq!(distinct.len(), 12, "{slugs:?}");
    let word = body["name"].as_str().unwrap();
    for number in 2..=12 {
        assert!(slugs.contains(&format!("{word}-{number}")), "{slugs:?}");
    }
}

/// Contract 1.14 and specification 2.6: configured host, reserved slugs and constant members.
#[test]
fn an_operator_configures_host_reserved_slugs_and_constant_members() {
    let file = "reserved_slugs = ['mine', 'yours']\nstatuspage_host = 'status.example.net'\n\
                [compat.extra_statuspage_fields]\nflavour = 'plain'\nname = 'never'\nnested = { a = [1, true] }\n";
    let server = Server::with(file, &[]);
    let client = server.client();
    let page = create_page(&client, &json!({"slug": "www"}));
    assert_eq!(page["url"], "https://www.status.example.net");
    let list = client.get(PATH).expect(200).data();
    for page in [&page, &list[0]] {
        assert_eq!(page["flavour"], "plain");
        assert_eq!(page["nested"], json!({"a": [1, true]}));
        assert_eq!(page["name"], "Example status", "no constant replaces a member");
    }
    assert_eq!(keys(&client.post(PATH, &json!({"name": "x", "slug": "mine"}))), ["slug"]);
    assert_eq!(create_page(&client, &json!({"name": "Yours"}))["slug"], "yours-2");
}

/// Pages survive a kill.
#[test]
fn a_page_survives_a_kill() {
    let mut server = Server::start();
    let page =
        create_page(&server.client(), &json!({"password": "correct horse", "access_type": "password"}));
    server.kill_and_restart();
    let seen = server.client().get(&statuspage(&id_of(&page))).expect(200).data();
    for key in ["id", "name", "slug", "has_password", "access_type", "created_at"] {
        assert_eq!(seen[key], page[key], "{key}");
    }
}
