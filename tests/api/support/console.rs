//! A person at the console: a browser without scripts, with its cookie.

use serde_json::{Value, json};
use url::form_urlencoded;

use crate::support::client::{Answer, Client};

/// A password that is long enough.
pub(crate) const PASSWORD: &str = "correct horse battery";

/// A browser of a user, with the cookie of its session.
pub(crate) struct ConsoleUser {
    client: Client,
    cookie: String,
}

/// Encodes the fields of a form.
pub(crate) fn form(fields: &[(&str, &str)]) -> String {
    form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish()
}

/// The path of a link.
pub(crate) fn path_of(link: &str) -> String {
    let path = link.split_once("//").and_then(|(_, rest)| rest.find('/').map(|at| &rest[at..]));
    path.unwrap_or(link).to_owned()
}

/// The cookie that an answer sets, as it is sent back.
pub(crate) fn cookie_of(answer: &Answer) -> String {
    answer.header("set-cookie").expect("a cookie").split(';').next().unwrap().to_owned()
}

/// Sends a form as a browser does.
pub(crate) fn send_form(client: &Client, path: &str, fields: &[(&str, &str)], lines: &[&str]) -> Answer {
    let mut head = vec!["Content-Type: application/x-www-form-urlencoded"];
    head.extend(lines);
    client.without_token().send("POST", path, &head, form(fields).as_bytes())
}

/// The newest entry of the audit log about what somebody has done. The engine may have opened an incident meanwhile.
pub(crate) fn newest_change(client: &Client) -> Value {
    let entries = client.get("/v1/audit-log?per_page=20").expect(200).data();
    let by_somebody = entries.as_array().unwrap().iter().find(|entry| entry["actor"]["kind"] != "engine");
    by_somebody.expect("somebody has done something").clone()
}

/// A line by which browsers say that a form comes from the same origin.
pub(crate) const OWN_ORIGIN: &str = "Sec-Fetch-Site: same-origin";

impl ConsoleUser {
    /// Invites a user with this role, who chooses a password and is signed in.
    pub(crate) fn invited(client: &Client, role: &str) -> Self {
        Self::with(client, &json!({"role": role}))
    }

    /// As [`ConsoleUser::invited`], with this body.
    pub(crate) fn with(client: &Client, body: &Value) -> Self {
        let mut body = body.clone();
        if body["email"].is_null() {
            body["email"] = json!(format!("{}@example.com", crate::support::pages::fresh("person")));
        }
        let link = client.post("/v1/users", &body).expect(201).data()["link"].as_str().unwrap().to_owned();
        Self::by_link(client, &link)
    }

    /// The user behind a link, who chooses a password.
    pub(crate) fn by_link(client: &Client, link: &str) -> Self {
        let ticket = link.split_once("ticket=").unwrap().1.trim();
        let fields = [("ticket", ticket), ("email", "owner@example.com"), ("password", PASSWORD)];
        let answer = send_form(client, "/console/welcome", &fields, &[OWN_ORIGIN]).expect(303);
        Self { client: client.without_token(), cookie: cookie_of(&answer) }
    }

    /// The line with the cookie.
    pub(crate) fn cookie(&self) -> String {
        format!("Cookie: {}", self.cookie)
    }

    /// Loads a screen, by its path below `/console`.
    pub(crate) fn get(&self, path: &str) -> Answer {
        self.client.send("GET", &format!("/console{path}"), &[&self.cookie()], b"")
    }

    /// Sends a form to a path below `/console`.
    pub(crate) fn post(&self, path: &str, fields: &[(&str, &str)]) -> Answer {
        let cookie = self.cookie();
        send_form(&self.client, &format!("/console{path}"), fields, &[OWN_ORIGIN, &cookie])
    }
}
