//! Random requests over every route of the server's own description, with ids of anything that there is.

use crate::foreign_ids::Chance;
use crate::scoped_random::Names;
use crate::scoped_random::truth::{Seen, Thing, Truth};
use crate::support::client::{Answer, Client};

/// Bodies with blanks.
const BODIES: [&str; 22] = [
    "{}",
    r#"{"name": "{new}"}"#,
    r#"{"title": "{new}"}"#,
    r#"{"title": "{new}", "message": "x", "service_ids": ["{service}"], "status": "identified"}"#,
    r#"{"title": "{new}", "message": "x", "service_ids": ["{service}", "{service}"], "statuspage_ids": ["{page}"]}"#,
    r#"{"title": "{new}", "scheduled_start": "2196-01-01", "service_ids": ["{service}", "{service}"]}"#,
    r#"{"title": "{new}", "scheduled_start": "2196-01-01", "statuspage_ids": ["{page}"]}"#,
    r#"{"service_ids": ["{service}", "{service}", "{service}"]}"#,
    r#"{"service_ids": []}"#,
    r#"{"statuspage_ids": ["{page}"]}"#,
    r#"{"severity": "critical", "is_published": true}"#,
    r#"{"name": "{new}", "service_id": "{service}", "parent_id": "{component}"}"#,
    r#"{"name": "{new}", "service_id": "{service}"}"#,
    r#"{"parent_id": "{component}", "display_order": 3}"#,
    r#"{"name": "{new}", "is_group": true, "sync_tag_id": "{tag}"}"#,
    r#"{"name": "{new}", "check_type": "manual", "tags": ["{tag}", "{label}"]}"#,
    r#"{"name": "{new}", "check_type": "heartbeat", "tags": ["{label}"]}"#,
    r#"{"tags": ["{tag}", "{tag}"]}"#,
    r#"{"tags": ["{label}"], "name": "{new}"}"#,
    r#"{"status": "resolved", "message": "x", "reason": "x"}"#,
    r#"{"status": "monitoring", "message": "x", "reason": "x"}"#,
    r#"{"scheduled_end": null, "status": "down", "reason": "x", "message": "x"}"#,
];

/// Queries of reads with blanks.
const QUERIES: [&str; 10] = [
    "",
    "?per_page=100",
    "?per_page=1&page=2",
    "?service_ids={service}",
    "?service_ids={service},{service}",
    "?tag={label}",
    "?label={label}",
    "?slug={word}",
    "?key=red",
    "?is_published=true&resolved=false",
];

/// Methods and paths.
pub(super) struct Routes(Vec<(String, String)>);

impl Routes {
    /// Every operation below `/v1` whose answer has an end.
    pub(super) fn of(client: &Client) -> Self {
        let document = client.get("/openapi.json").expect(200).json();
        let paths = document["paths"]
            .as_object()
            .unwrap()
            .iter()
            .filter(|(path, _)| path.starts_with("/v1/") && *path != "/v1/events");
        let all = paths.flat_map(|(path, item)| {
            item.as_object().unwrap().keys().map(move |method| (method.to_uppercase(), path.clone()))
        });
        Self(all.collect())
    }

    /// One of them, filled at random.
    pub(super) fn draw(&self, truth: &Truth, names: &mut Names, chance: &mut Chance) -> Asked {
        let (method, path) = loop {
            let (method, path) = chance.one(&self.0);
            // Otherwise soon nothing would be left.
            if method != "DELETE" || chance.below(4) == 0 {
                break (method.clone(), path.clone());
            }
        };
        let mut filling = Filling { truth, names, chance, named: Vec::new() };
        let mut target = filling.path(&path);
        let mut body = String::new();
        if method == "GET" {
            let query = *filling.chance.one(&QUERIES);
            target += &filling.text(query);
        } else if method != "DELETE" {
            let template = *filling.chance.one(&BODIES);
            body = filling.text(template);
        }
        let named = filling.named;
        // Several tokens use the same few keys.
        let key = (method == "POST" && chance.below(8) == 0).then(|| chance.below(4));
        Asked { method, target, body, key, named }
    }
}

/// Fills blanks with what there is.
struct Filling<'a> {
    truth: &'a Truth,
    names: &'a mut Names,
    chance: &'a mut Chance,
    named: Vec<(String, String)>,
}

impl Filling<'_> {
    /// Something of this kind, now and then of another one; mostly of the organisation of the scopes.
    fn thing(&mut self, kind: &str) -> &Thing {
        let is_own = self.chance.below(5) != 0;
        let any = self.chance.below(20) == 0;
        let fits = |thing: &&Thing| thing.is_own == is_own && (any || thing.kind == kind);
        let fitting: Vec<&Thing> = self.truth.things.iter().filter(fits).collect();
        let all: Vec<&Thing> = self.truth.things.iter().collect();
        let from = if fitting.is_empty() { &all } else { &fitting };
        from[self.chance.below(from.len())]
    }

    fn id(&mut self, kind: &str) -> String {
        let id = self.thing(kind).id.clone();
        self.named.push((id.clone(), id.clone()));
        id
    }

    fn path(&mut self, path: &str) -> String {
        let kind = match path.split('/').nth(2) {
            Some("services") => "service",
            Some("tags") => "tag",
            Some("incidents") => "incident",
            Some("maintenances") => "maintenance",
            Some("statuspages") => "page",
            _ => "scope",
        };
        let component = self.thing("component").clone();
        let page = component.page.clone().filter(|_| self.chance.below(4) != 0);
        let mut filled: Vec<String> = Vec::new();
        for segment in path.split('/') {
            filled.push(match segment {
                "{component}" => {
                    self.named.push((component.id.clone(), component.id.clone()));
                    component.id.clone()
                }
                "{id}" if path.contains("{component}") && page.is_some() => {
                    let page = page.clone().unwrap();
                    self.named.push((page.clone(), page.clone()));
                    page
                }
                "{id}" => self.id(kind),
                blank if blank.starts_with('{') => self.id("component"),
                literal => literal.to_owned(),
            });
        }
        filled.join("/")
    }

    fn text(&mut self, template: &str) -> String {
        let mut text = template.replace("{new}", &self.names.next());
        for kind in ["service", "page", "component", "tag"] {
            let blank = format!("{{{kind}}}");
            while text.contains(&blank) {
                text = text.replacen(&blank, &self.id(kind), 1);
            }
        }
        let keys = super::KEYS;
        if text.contains("{label}") {
            let tag = self.thing("tag").clone();
            let word = tag.words.first().cloned().unwrap_or_default();
            let key = *self.chance.one(&keys);
            self.named.push((tag.id, word.clone()));
            text = text.replace("{label}", &format!("{key}:{word}"));
        }
        if text.contains("{word}") {
            let page = self.thing("page").clone();
            let word = page.words.first().cloned().unwrap_or_default();
            self.named.push((page.id, word.clone()));
            text = text.replace("{word}", &word);
        }
        text
    }
}

/// A request.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    pub(super) method: String,
    pub(super) target: String,
    body: String,
    key: Option<usize>,
    /// Ids of what it names, each with the word that it uses for it.
    named: Vec<(String, String)>,
}

/// The same request with unknown words in place of unseen ones.
pub(super) struct Twin {
    pub(super) asked: Asked,
    words: Vec<(String, String)>,
}

impl Asked {
    pub(super) fn send(&self, client: &Client) -> Answer {
        let mut lines = vec!["Content-Type: application/json".to_owned()];
        lines.extend(self.key.map(|key| format!("Idempotency-Key: key-{key}")));
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        client.send(&self.method, &self.target, &lines, self.body.as_bytes())
    }

    /// Returns true if a second request would succeed as well: it makes something new, or changes what stays.
    pub(super) fn can_be_repeated(&self) -> bool {
        let makes = ["/v1/services", "/v1/incidents", "/v1/maintenances"].contains(&self.target.as_str());
        matches!(&*self.method, "PUT" | "PATCH") || makes || self.target.ends_with("/components")
    }

    /// Returns true if the request itself says this word.
    pub(super) fn says(&self, word: &str) -> bool {
        self.target.contains(word) || self.body.contains(word)
    }

    /// `None` when it names nothing unseen, or is sent under a key.
    pub(super) fn with_unknown(&self, seen: &Seen) -> Option<Twin> {
        let mut twin = Twin { asked: self.clone(), words: Vec::new() };
        for (id, word) in self.named.iter().filter(|(id, _)| !seen.contains(id)) {
            if !word.is_empty() && twin.words.iter().all(|(known, _)| known != word) {
                let unknown = unknown_word(twin.words.len(), id == word);
                twin.asked.target = twin.asked.target.replace(word, &unknown);
                twin.asked.body = twin.asked.body.replace(word, &unknown);
                twin.words.push((word.clone(), unknown));
            }
        }
        (!twin.words.is_empty() && self.key.is_none()).then_some(twin)
    }
}

/// An unknown word: like an id, or like a name.
fn unknown_word(number: usize, is_id: bool) -> String {
    if is_id { format!("AAAAAAAAAAAAAAAAAAA{number:02}") } else { format!("nobody{number:02}x") }
}

impl Twin {
    /// An answer to the first request with the words of the twin.
    pub(super) fn renamed(&self, body: &str) -> String {
        self.words.iter().fold(body.to_owned(), |body, (word, unknown)| body.replace(word, unknown))
    }
}
