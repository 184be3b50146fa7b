//! Status pages and components to be tested.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::{Value, json};

use crate::support::client::{Answer, Client, exchange};
use crate::support::server::Server;

/// The path of a status page.
pub(crate) fn statuspage(id: &str) -> String {
    format!("/v1/statuspages/{id}")
}

/// The path of the components of a page.
pub(crate) fn components(page: &str) -> String {
    format!("/v1/statuspages/{page}/components")
}

/// The path of a component.
pub(crate) fn component(page: &str, id: &str) -> String {
    format!("/v1/statuspages/{page}/components/{id}")
}

/// A word that no other test uses: slugs are unique in the installation.
pub(crate) fn fresh(word: &str) -> String {
    static WORDS: AtomicU32 = AtomicU32::new(0);
    format!("{word}{}", WORDS.fetch_add(1, Ordering::Relaxed))
}

/// The id of what was answered.
pub(crate) fn id_of(data: &Value) -> String {
    data["id"].as_str().unwrap().to_owned()
}

/// Creates a page with these fields beside a name, and gives it.
pub(crate) fn create_page(client: &Client, fields: &Value) -> Value {
    client.post("/v1/statuspages", &with_name(fields, "Example status")).expect(201).data()
}

/// Creates a page and gives its id.
pub(crate) fn new_page(client: &Client) -> String {
    id_of(&create_page(client, &json!({})))
}

/// Creates a component with these fields beside a name, and gives it.
pub(crate) fn create_component(client: &Client, page: &str, fields: &Value) -> Value {
    client.post(&components(page), &with_name(fields, "Shop")).expect(201).data()
}

/// Creates a component and gives its id.
pub(crate) fn new_component(client: &Client, page: &str, fields: &Value) -> String {
    id_of(&create_component(client, page, fields))
}

/// The component as it is now.
pub(crate) fn shown(client: &Client, page: &str, id: &str) -> Value {
    client.get(&component(page, id)).expect(200).data()
}

/// All components of a page, in order.
pub(crate) fn all(client: &Client, page: &str) -> Vec<Value> {
    client.get(&components(page)).expect(200).data().as_array().unwrap().clone()
}

/// A client of an organisation with two languages, English first.
pub(crate) fn bilingual() -> Client {
    Server::shared().bilingual_tenant()
}

/// A client of an organisation of its own on the shared server.
pub(crate) fn tenant() -> Client {
    Server::shared().tenant("business")
}

/// The keys of a 422, in the order of the answer.
#[track_caller]
pub(crate) fn keys(answer: &Answer) -> Vec<String> {
    answer.errors().into_iter().map(|(key, _)| key).collect()
}

fn with_name(fields: &Value, name: &str) -> Value {
    let mut body = json!({ "name": name });
    for (key, value) in fields.as_object().unwrap() {
        body[key] = value.clone();
    }
    body
}

/// Asks on another host than the server's own, with these header lines.
pub(crate) fn visit(client: &Client, method: &str, host: &str, path: &str, lines: &[&str]) -> Answer {
    let mut head = format!("{method} {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n");
    for line in lines {
        head += &format!("{line}\r\n");
    }
    exchange(client.address, format!("{head}\r\n").as_bytes())
}

/// Reads a path on another host than the server's own.
pub(crate) fn get_at(client: &Client, host: &str, path: &str) -> Answer {
    visit(client, "GET", host, path, &[])
}

/// The head, in lower case, and the body of an answer that is not text; these content codings are accepted.
pub(crate) fn get_bytes(client: &Client, host: &str, path: &str, codings: &str) -> (String, Vec<u8>) {
    let mut stream = TcpStream::connect(client.address).unwrap();
    let head = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n");
    stream.write_all(format!("{head}Accept-Encoding: {codings}\r\n\r\n").as_bytes()).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    let end = answer.windows(4).position(|bytes| bytes == b"\r\n\r\n").unwrap();
    (String::from_utf8(answer[..end].to_vec()).unwrap().to_lowercase(), answer[end + 4..].to_vec())
}

/// Sends a form to a path of a page, as a browser without cookies does.
pub(crate) fn send_form(client: &Client, host: &str, path: &str, fields: &[(&str, &str)]) -> Answer {
    let body = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
    let length = body.len();
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\
         Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {length}\r\n\r\n"
    );
    exchange(client.address, (head + &body).as_bytes())
}

/// The host of a page.
pub(crate) fn host_of(page: &Value) -> String {
    format!("{}.localhost", page["slug"].as_str().unwrap())
}

/// The address of a style sheet that a page names: `style`, which all pages share, or `page`.
pub(crate) fn sheet_address(html: &str, name: &str) -> String {
    let start = format!("<link rel=\"stylesheet\" href=\"/static/{name}.");
    let rest = html.split(&start).nth(1).unwrap_or_else(|| panic!("{html}"));
    format!("/static/{name}.{}", rest.split('"').next().unwrap())
}
