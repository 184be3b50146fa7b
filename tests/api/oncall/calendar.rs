//! The calendar of a contact: a secret address, and what is behind it.

use serde_json::{Value, json};

use super::{SCHEDULES, people};
use crate::contacts::contact_item;
use crate::support::client::Client;
use crate::support::server::Server;

/// The path of the calendar of a contact.
fn make_calendar(client: &Client, contact: &Value) -> String {
    let made = client.post(&format!("{}/calendar", contact_item(contact)), &json!({})).expect(201);
    let url = made.data()["url"].as_str().unwrap().to_owned();
    let at = url.find("/calendars/").unwrap();
    url[at..].to_owned()
}

fn lines(client: &Client, path: &str, name: &str) -> Vec<String> {
    let feed = client.without_token().get(path).expect(200);
    assert_eq!(feed.header("content-type"), Some("text/calendar; charset=utf-8"));
    let unfolded = feed.body.replace("\r\n ", "");
    let found = unfolded.split("\r\n").filter_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    found.map(str::to_owned).collect()
}

/// Weekly shifts of two contacts, from long ago.
fn schedule(client: &Client, name: &str, contacts: &[&Value]) {
    let layer = json!({"name": "Weeks", "contact_ids": contacts, "starts_at": "2020-01-06T08:00:00Z",
        "rotation": {"kind": "weekly", "day": "mon", "at": "09:00"}});
    client
        .post(SCHEDULES, &json!({"name": name, "time_zone": "Europe/Berlin", "layers": [layer]}))
        .expect(201);
}

#[test]
fn a_calendar_shows_the_shifts_of_its_contact() {
    let client = Server::shared().tenant("business");
    let [anna, ben, cleo] = people(&client);
    schedule(&client, "Shop, Berlin", &[&anna, &ben]);
    schedule(&client, "Stock", &[&ben, &cleo]);
    let path = make_calendar(&client, &anna);
    let begins = lines(&client, &path, "DTSTART");
    assert!((14..=17).contains(&begins.len()), "every other week of seven months: {begins:?}");
    assert!(begins.is_sorted() && begins.iter().all(|begin| begin.ends_with("0000Z")), "{begins:?}");
    assert_eq!(lines(&client, &path, "SUMMARY")[0], r"On call: Shop\, Berlin");
    assert_eq!(lines(&client, &path, "X-WR-CALNAME"), ["Anna"]);
    let ids = lines(&client, &path, "UID");
    assert_eq!(lines(&client, &path, "UID"), ids, "they stay");
    let both = lines(&client, &make_calendar(&client, &ben), "SUMMARY");
    assert!(both.len() > begins.len() && both.contains(&"On call: Stock".to_owned()), "{both:?}");
}

#[test]
fn an_address_works_until_it_is_replaced_or_removed() {
    let client = Server::shared().tenant("business");
    let [anna, ..] = people(&client);
    let first = make_calendar(&client, &anna);
    let second = make_calendar(&client, &anna);
    let stranger = client.without_token();
    assert_ne!(first, second);
    stranger.get(&first).expect(404);
    stranger.get(&second).expect(200);
    assert_eq!(stranger.send("HEAD", &second, &[], b"").status, 200);
    client.delete(&format!("{}/calendar", contact_item(&anna))).expect(200);
    stranger.get(&second).expect(404);
    client.delete(&format!("{}/calendar", contact_item(&anna))).expect(404);
    stranger.get("/calendars/x.ics").expect(404);
    stranger.get(second.strip_suffix(".ics").unwrap()).expect(404);
    assert_eq!(stranger.send("POST", &second, &[], b"").status, 405);
}

/// The calendar is deleted with its contact.
#[test]
fn the_calendar_of_a_deleted_contact_is_not_found() {
    let client = Server::shared().tenant("business");
    let [anna, ..] = people(&client);
    let path = make_calendar(&client, &anna);
    client.delete(&contact_item(&anna)).expect(200);
    client.without_token().get(&path).expect(404);
}

/// Only the hash of the secret is stored, also in the stored response of the request.
#[test]
fn the_address_of_a_calendar_is_not_stored_in_clear() {
    let server = Server::embedded("", &[]);
    let client = server.client();
    let [anna, ..] = people(&client);
    let path = format!("{}/calendar", contact_item(&anna));
    let made = client.send("POST", &path, &["Idempotency-Key: calendar-1"], b"{}").expect(201);
    let url = made.data()["url"].as_str().unwrap().to_owned();
    let secret = url.rsplit('/').next().unwrap().trim_end_matches(".ics").to_owned();
    let again = client.send("POST", &path, &["Idempotency-Key: calendar-1"], b"{}").expect(201);
    assert_eq!(again.data()["url"], url, "the answer is repeated");
    for file in server.files() {
        let contents = std::fs::read(&file).unwrap();
        let is_there = contents.windows(secret.len()).any(|part| part == secret.as_bytes());
        assert!(!is_there, "{}", file.display());
    }
}
