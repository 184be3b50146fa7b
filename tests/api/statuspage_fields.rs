//! Every field of a status page (contract 4.13.2, 4.13.4) and the rules between them.

use rstest::rstest;
use serde_json::{Value, json};

use crate::support::pages::{bilingual, create_page, id_of, keys, new_page, statuspage};
use crate::support::server::Server;

const PATH: &str = "/v1/statuspages";

/// Contract 4.13.2: what is sent is read back, on create and on update.
#[rstest]
#[case("primary_color", json!("#2563eb"), json!("#2563eb"))]
#[case("secondary_color", json!(" #ABCdef "), json!("#ABCdef"))]
#[case("primary_color", json!(""), Value::Null)]
#[case("custom_css", json!(" body { color: red } "), json!("body { color: red }"))]
#[case("custom_css", json!("@import 'x'; p { width: expression(1) }"), json!("p { width:  }"))]
#[case("custom_css", json!("@import 'x';"), Value::Null)]
#[case("custom_css", json!(""), Value::Null)]
#[case("imprint_url", json!("https://example.com/imprint"), json!("https://example.com/imprint"))]
#[case("imprint_url", json!("  "), Value::Null)]
#[case("privacy_policy_url", json!("mailto:legal@example.com"), json!("mailto:legal@example.com"))]
#[case("show_logo", json!(false), json!(false))]
#[case("show_affected_services", json!(false), json!(false))]
#[case("show_unlinked_services", json!(true), json!(true))]
#[case("show_incident_history", json!(false), json!(false))]
#[case("show_locations", json!(true), json!(true))]
#[case("show_sla", json!(true), json!(true))]
#[case("status_json_includes_hidden", json!(true), json!(true))]
#[case("logo_size", json!("large"), json!("large"))]
#[case("email_whitelist", json!([" Ops@Example.com ", "b@example.com"]), json!(["Ops@Example.com", "b@example.com"]))]
#[case("email_whitelist", Value::Null, json!([]))]
#[case("appearance", json!("dark"), json!("dark"))]
#[case("allow_appearance_switch", json!(false), json!(false))]
#[case("subscriber_channels", json!(["slack", "email"]), json!(["slack", "email"]))]
#[case("supported_locales", json!(["de"]), json!(["de"]))]
#[case("supported_locales", json!(["DE", "en"]), json!(["DE", "en"]))]
#[case("default_locale", json!("de"), json!("de"))]
fn a_field_is_read_back(#[case] field: &str, #[case] sent: Value, #[case] read: Value) {
    let client = bilingual();
    let created = create_page(&client, &json!({ field: sent }));
    assert_eq!(created[field], read);
    let path = statuspage(&new_page(&client));
    assert_eq!(client.patch(&path, &json!({ field: sent })).expect(200).data()[field], read);
    assert_eq!(client.get(&path).expect(200).data()[field], read);
}

/// Contract 1.2, 4.13.2: null clears what may be empty.
#[test]
fn null_clears_optional_fields() {
    let client = bilingual();
    let fields = json!({"primary_color": "#000000", "secondary_color": "#000000", "custom_css": "a{}",
        "imprint_url": "https://a.example", "privacy_policy_url": "https://a.example", "supported_locales": ["de"],
        "default_locale": "de", "email_whitelist": ["a@example.com"], "password": "correct horse"});
    let path = statuspage(&id_of(&create_page(&client, &fields)));
    let nulls: Value = fields
        .as_object()
        .unwrap()
        .keys()
        .map(|key| (key.clone(), Value::Null))
        .collect::<serde_json::Map<_, _>>()
        .into();
    let cleared = client.patch(&path, &nulls).expect(200).data();
    for key in fields.as_object().unwrap().keys() {
        match key.as_str() {
            "password" => assert_eq!(cleared["has_password"], false),
            "email_whitelist" => assert_eq!(cleared[key], json!([])),
            _ => assert_eq!(cleared[key], Value::Null, "{key}"),
        }
    }
    assert_eq!(cleared["effective_supported_locales"], json!(["en", "de"]));
    assert_eq!(cleared["effective_default_locale"], "en");
}

/// Contract 4.13.2: what a field refuses, on create and on update, under its own key.
#[rstest]
#[case("name", json!(""), "name", "Use at least 1 characters.")]
#[case("name", Value::Null, "name", "This field must not be null.")]
#[case("name", json!("a".repeat(256)), "name", "Use at most 255 characters.")]
#[case("name", json!({"fr": "x", "en": "x"}), "name.fr", "The organisation does not use the language fr.")]
#[case("name", json!({"de": "x"}), "name.en", "A text in the default language (en) is required.")]
#[case("primary_color", json!("#12345"), "primary_color", "Enter a colour as #RRGGBB.")]
#[case("primary_color", json!("red"), "primary_color", "Enter a colour as #RRGGBB.")]
#[case("secondary_color", json!("#12345g"), "secondary_color", "Enter a colour as #RRGGBB.")]
#[case("secondary_color", json!(0), "secondary_color", "This value must be a string.")]
#[case("custom_css", json!("a".repeat(10_001)), "custom_css", "Use at most 10000 characters.")]
#[case("imprint_url", json!("javascript:alert(1)"), "imprint_url", "Enter an http, https or mailto URL.")]
#[case("imprint_url", json!(format!("https://a.example/{}", "a".repeat(500))), "imprint_url", "Use at most 500 characters.")]
#[case("privacy_policy_url", json!("example.com"), "privacy_policy_url", "Enter an http, https or mailto URL.")]
#[case("show_logo", json!("true"), "show_logo", "This value must be true or false.")]
#[case("show_affected_services", json!(1), "show_affected_services", "This value must be true or false.")]
#[case("show_unlinked_services", Value::Null, "show_unlinked_services", "This field must not be null.")]
#[case("show_incident_history", json!([]), "show_incident_history", "This value must be true or false.")]
#[case("status_json_includes_hidden", json!(0), "status_json_includes_hidden", "This value must be true or false.")]
#[case("appearance", json!("auto"), "appearance", "Unknown value. Allowed: system, light, dark.")]
#[case("appearance", Value::Null, "appearance", "This field must not be null.")]
#[case("allow_appearance_switch", json!(1), "allow_appearance_switch", "This value must be true or false.")]
#[case("logo_size", json!("huge"), "logo_size", "Unknown value. Allowed: small, medium, large.")]
#[case("access_type", json!("Public"), "access_type", "Unknown value. Allowed: public, password, email_whitelist.")]
#[case("access_type", Value::Null, "access_type", "This field must not be null.")]
#[case("password", json!("1234567"), "password", "Use at least 8 characters.")]
#[case("password", json!("a".repeat(256)), "password", "Use at most 255 characters.")]
#[case("password", json!(12_345_678), "password", "This value must be a string.")]
#[case("email_whitelist", json!(["a@example.com", "nobody"]), "email_whitelist.1", "This is not a valid e-mail address.")]
#[case("email_whitelist", json!([null]), "email_whitelist.0", "This field must not be null.")]
#[case("email_whitelist", json!("a@example.com"), "email_whitelist", "This value must be a list.")]
#[case("email_whitelist", json!(vec!["a@example.com"; 501]), "email_whitelist", "Send at most 500 entries.")]
#[case("subscriber_channels", json!([]), "subscriber_channels", "Send at least 1 entries.")]
#[case("subscriber_channels", Value::Null, "subscriber_channels", "This field must not be null.")]
#[case("subscriber_channels", json!(vec!["email"; 7]), "subscriber_channels", "Send at most 6 entries.")]
#[case(
    "subscriber_channels",
    json!(["email", "fax"]),
    "subscriber_channels.1",
    "Unknown value. Allowed: email, webhook, slack, teams, discord, telegram."
)]
#[case("supported_locales", json!([]), "supported_locales", "Send at least 1 entries.")]
#[case("supported_locales", json!("en"), "supported_locales", "This value must be a list.")]
#[case("supported_locales", json!(["en", "fr"]), "supported_locales.1", "The organisation does not use the language fr.")]
#[case("default_locale", json!("fr"), "default_locale", "This language is not offered.")]
#[case("default_locale", json!(1), "default_locale", "This value must be a string.")]
#[case("seo", Value::Null, "seo", "This field must not be null.")]
#[case("seo", json!([1]), "seo", "This value must be an object.")]
#[case("seo", json!({"titel": {}}), "seo.titel", "Unknown field.")]
#[case("seo", json!({"title": "Shop"}), "seo.title", "This value must be an object.")]
#[case("seo", json!({"title": {"en": "a".repeat(71)}}), "seo.title.en", "Use at most 70 characters.")]
#[case("seo", json!({"description": {"en": "a".repeat(161)}}), "seo.description.en", "Use at most 160 characters.")]
#[case("seo", json!({"image_subtitle": {"en": "a", "de": "a".repeat(91)}}), "seo.image_subtitle.de", "Use at most 90 characters.")]
#[case("seo", json!({"title": {"en": "a\nb"}}), "seo.title.en", "This value must be a string.")]
#[case("seo", json!({"title": {"fr": "a", "en": "a"}}), "seo.title.fr", "The organisation does not use the language fr.")]
#[case("seo", json!({"image_appearance": "pink"}), "seo.image_appearance", "Unknown value. Allowed: auto, light, dark.")]
#[case("seo", json!({"indexable": 1}), "seo.indexable", "This value must be true or false.")]
#[case("seo", json!({"live_status": null}), "seo.live_status", "This field must not be null.")]
fn a_field_is_refused_under_its_own_key(
    #[case] field: &str,
    #[case] sent: Value,
    #[case] key: &str,
    #[case] text: &str,
) {
    let client = bilingual();
    let expected = [(key.to_owned(), text.to_owned())];
    let mut body = json!({"name": "x"});
    body[field] = sent.clone();
    assert_eq!(client.post(PATH, &body).errors(), expected);
    let path = statuspage(&new_page(&client));
    assert_eq!(client.patch(&path, &json!({ field: sent })).errors(), expected);
}

/// Contract 1.11, 5.3: what is wrong with one language hides nothing that is wrong with another.
#[rstest]
#[case(json!({"name": {"fr": "a", "en": " "}}), "name.fr", ("name.en", "A text in the default language (en) is required."))]
#[case(json!({"seo": {"title": {"fr": "a", "en": "a\tb"}}}), "seo.title.fr", ("seo.title.en", "This value must be a string."))]
fn every_language_of_a_text_is_validated(
    #[case] body: Value,
    #[case] unknown: &str,
    #[case] (key, text): (&str, &str),
) {
    let client = bilingual();
    let path = statuspage(&new_page(&client));
    let unused = "The organisation does not use the language fr.";
    let expected = [(unknown, unused), (key, text)].map(|(key, text)| (key.to_owned(), text.to_owned()));
    assert_eq!(client.patch(&path, &body).errors(), expected);
}

/// Contract 4.13.2: a name is required; `is_published` is read on create alone.
#[test]
fn a_create_needs_a_name_and_reads_is_published() {
    let client = Server::shared_client();
    assert_eq!(
        client.post(PATH, &json!({})).errors(),
        [("name".to_owned(), "This field is required.".to_owned())]
    );
    let text = "This value must be true or false.".to_owned();
    let refused = client.post(PATH, &json!({"name": "x", "is_published": "yes"}));
    assert_eq!(refused.errors(), [("is_published".to_owned(), text)]);
    let path = statuspage(&new_page(&client));
    client.patch(&path, &json!({"is_published": "yes"})).expect(200);
}

/// Contract 5.3: all fields are checked, keys in the order of the table.
#[test]
fn errors_are_in_the_order_of_the_table() {
    let client = Server::shared_client();
    let body = json!({"seo": {"x": 1, "title": 1}, "default_locale": "fr", "supported_locales": [], "subscriber_channels": [],
        "appearance": "x", "allow_appearance_switch": 1, "email_whitelist": 1, "password": "x", "access_type": "x", "logo_size": "x", "show_logo": 1, "privacy_policy_url": 1,
        "imprint_url": "x", "custom_css": 1, "secondary_color": "x", "primary_color": "x", "slug": "X", "name": 1,
        "is_published": 1});
    let expected = [
        "name",
        "slug",
        "primary_color",
        "secondary_color",
        "custom_css",
        "imprint_url",
        "privacy_policy_url",
        "show_logo",
        "logo_size",
        "access_type",
        "password",
        "email_whitelist",
        "appearance",
        "allow_appearance_switch",
        "subscriber_channels",
        "supported_locales",
    ];
    let seen = keys(&client.post(PATH, &body));
    assert_eq!(seen[..expected.len()], expected);
    assert_eq!(seen[expected.len()..], ["seo.title", "seo.x", "is_published"]);
}

/// Contract 4.13.2: the rules between the fields of access.
#[test]
fn each_access_type_needs_its_field() {
    let client = Server::shared_client();
    let error = |key: &str, text: &str| [(key.to_owned(), text.to_owned())];
    let (required, needed) = ("This field is required.", "This access type needs a password.");
    let by_password = json!({"name": "x", "access_type": "password"});
    assert_eq!(client.post(PATH, &by_password).errors(), error("password", required));
    let by_list = json!({"name": "x", "access_type": "email_whitelist"});
    let empty = "This access type needs at least one address.";
    assert_eq!(client.post(PATH, &by_list).errors(), error("email_whitelist", empty));

    let path = statuspage(&new_page(&client));
    let change = |body: Value| client.patch(&path, &body);
    assert_eq!(change(json!({"access_type": "password"})).errors(), error("password", required));
    let locked = change(json!({"access_type": "password", "password": "correct horse"})).expect(200);
    assert!(!locked.body.contains("horse") && !locked.body.contains("argon2"), "{}", locked.body);
    assert_eq!(locked.data()["has_password"], true);
    assert_eq!(change(json!({"password": null})).errors(), error("password", needed));
    assert_eq!(change(json!({"password": ""})).errors(), error("password", needed));
    let public = change(json!({"access_type": "public"})).expect(200).data();
    assert_eq!(public["has_password"], true, "the password stays stored");
    change(json!({"access_type": "password"})).expect(200);
    let listed = change(json!({"access_type": "email_whitelist", "email_whitelist": ["a@example.com"]}))
        .expect(200)
        .data();
    assert_eq!(
        (&listed["has_password"], &listed["email_whitelist"]),
        (&json!(true), &json!(["a@example.com"]))
    );
    assert_eq!(change(json!({"email_whitelist": []})).errors(), error("email_whitelist", empty));
    assert_eq!(change(json!({"email_whitelist": null})).errors(), error("email_whitelist", empty));
    let open =
        change(json!({"access_type": "public", "password": null, "email_whitelist": []})).expect(200).data();
    assert_eq!((&open["has_password"], &open["email_whitelist"]), (&json!(false), &json!([])));
}

/// Contract 4.13.2: the password is not trimmed, never shown, and nowhere in the database.
#[test]
fn a_password_is_stored_as_a_hash() {
    let server = Server::start();
    let client = server.client();
    let page = create_page(&client, &json!({"password": "        ", "access_type": "password"}));
    assert_eq!(page["has_password"], true, "eight blanks are a password");
    let marker = "marker-of-a-password";
    client.patch(&statuspage(&id_of(&page)), &json!({ "password": marker })).expect(200);
    for file in server.files() {
        let bytes = std::fs::read(file).unwrap();
        assert!(!bytes.windows(marker.len()).any(|window| window == marker.as_bytes()));
    }
    assert!(!server.log().contains(marker));
}

/// Contract 4.13.2: the default language is one of those in effect.
#[test]
fn the_default_language_is_one_of_the_page() {
    let client = bilingual();
    let refused = [("default_locale".to_owned(), "This language is not offered.".to_owned())];
    let body = json!({"name": "x", "supported_locales": ["en"], "default_locale": "de"});
    assert_eq!(client.post(PATH, &body).errors(), refused);
    let path = statuspage(&id_of(&create_page(&client, &json!({"default_locale": "de"}))));
    assert_eq!(client.patch(&path, &json!({"supported_locales": ["en"]})).errors(), refused);
    let page =
        client.patch(&path, &json!({"supported_locales": ["de"], "default_locale": null})).expect(200).data();
    assert_eq!(page["effective_supported_locales"], json!(["de"]));
    assert_eq!(page["effective_default_locale"], "de", "the organisation's own is not offered");
}

/// Contract 4.13.1: null is `{}`; texts are in the languages that the page offers, and have the page's language where
/// the page does not offer the organisation's.
#[rstest]
#[case(json!(null), json!({"title": null, "description": null, "image_subtitle": null}), Ok(()))]
#[case(json!(null), json!({"title": {"de": "a"}}), Err(("seo.title.en", "A text in the default language (en) is required.")))]
#[case(json!(["de"]), json!({"title": {"de": "a"}, "image_subtitle": null}), Ok(()))]
#[case(json!(["DE"]), json!({"title": {"de": "a"}}), Ok(()))]
#[case(json!(["de"]), json!({"title": {"de": "a", "en": "b"}}), Err(("seo.title.en", "This language is not offered.")))]
#[case(json!(["de"]), json!({"title": {"de": "a", "fr": "b"}}), Err(("seo.title.fr", "The organisation does not use the language fr.")))]
#[case(json!(["de"]), json!({"title": {"de": " "}}), Err(("seo.title.de", "A text in the default language (de) is required.")))]
#[case(json!(["de", "en"]), json!({"title": {"de": "a"}}), Err(("seo.title.en", "A text in the default language (en) is required.")))]
fn seo_texts_are_in_the_languages_of_the_page(
    #[case] supported: Value,
    #[case] seo: Value,
    #[case] expected: Result<(), (&str, &str)>,
) {
    let client = bilingual();
    let at_once = client.post(PATH, &json!({"name": "Shop", "supported_locales": supported, "seo": seo}));
    let path = statuspage(&id_of(&create_page(&client, &json!({ "supported_locales": supported }))));
    let later = client.patch(&path, &json!({ "seo": seo }));
    for (answer, status) in [(at_once, 201), (later, 200)] {
        match expected {
            Ok(()) => {
                let shown = answer.expect(status).data()["seo"].clone();
                for name in ["title", "description", "image_subtitle"] {
                    let sent = Some(&seo[name]).filter(|sent| !sent.is_null()).cloned();
                    assert_eq!(shown[name], sent.unwrap_or_else(|| json!({})), "{name}");
                }
            }
            Err((key, text)) => assert_eq!(answer.errors(), [(key.to_owned(), text.to_owned())]),
        }
    }
}

/// Contract 4.13.2: `seo` replaces the whole block.
#[test]
fn the_seo_block_is_replaced_as_a_whole() {
    let client = bilingual();
    let title = json!({"en": "Shop", "de": "Laden"});
    let sent = json!({"title": title, "description": {}, "image_appearance": "dark", "indexable": false});
    let page = create_page(&client, &json!({ "seo": sent }));
    let expected = json!({"title": {"de": "Laden", "en": "Shop"}, "description": {}, "image_subtitle": {},
        "image_appearance": "dark", "indexable": false, "live_status": true, "event_images": true});
    assert_eq!(page["seo"], expected);
    let path = statuspage(&id_of(&page));
    assert_eq!(
        client.patch(&path, &json!({ "seo": expected })).expect(200).data(),
        page,
        "an echo changes nothing"
    );
    let replaced = client.patch(&path, &json!({"seo": {"event_images": false}})).expect(200).data();
    let expected = json!({"title": {}, "description": {}, "image_subtitle": {}, "image_appearance": "auto",
        "indexable": true, "live_status": true, "event_images": false});
    assert_eq!(replaced["seo"], expected);
}

/// Contract 1.11: the name in the language of the reader, with all translations.
#[test]
fn the_name_is_shown_in_the_language_of_the_reader() {
    let client = bilingual();
    let page = create_page(&client, &json!({"name": {"en": "Status", "de": "Zustand"}}));
    let path = statuspage(&id_of(&page));
    for (accept, language, name) in [("de-AT", "de", "Zustand"), ("fr", "en", "Status")] {
        for path in [path.as_str(), PATH] {
            let answer = client.send("GET", path, &[&format!("Accept-Language: {accept}")], b"").expect(200);
            assert_eq!(answer.header("content-language"), Some(language));
            let data = answer.data();
            let seen = if data.is_array() { &data[0] } else { &data };
            assert_eq!(seen["name"], name);
            assert_eq!(seen["name_translations"], json!({"de": "Zustand", "en": "Status"}));
        }
    }
    let replaced = client.patch(&path, &json!({"name": "Only English"})).expect(200).data();
    assert_eq!(replaced["name_translations"], json!({"en": "Only English"}));
}
