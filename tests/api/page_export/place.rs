//! A page with everything, and the folder of its export.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::Output;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::client::Client;
use crate::support::moments::in_ms;
use crate::support::pages::{create_page, fresh, id_of, new_component, statuspage};
use crate::support::server::Server;
use crate::support::target::Target;
use crate::support::{create, until_status};

const LOGO: &str =
    r#"<svg xmlns="http://www.w3.org/2000/svg" width="40" height="20"><path d="M0 0h40v20H0z"/></svg>"#;

/// A page with everything that visitors can see.
pub(crate) struct RichPage {
    pub(crate) slug: String,
    pub(crate) component: String,
    pub(crate) group: String,
    pub(crate) incident: String,
    pub(crate) maintenance: String,
    _target: Target,
}

impl RichPage {
    pub(crate) async fn create(client: &Client) -> Self {
        let css = "header { background: url(/nothing.png) } main { --copied: yes }";
        let fields = json!({"slug": fresh("copied"), "name": {"en": "Corner shop", "de": "Eckladen"},
            "primary_color": "#0a6640", "custom_css": css, "allow_theme_switch": true, "show_locations": true, "show_sla": true});
        let page = create_page(client, &fields);
        let (id, slug) = (id_of(&page), page["slug"].as_str().unwrap().to_owned());
        let form = "Content-Type: multipart/form-data; boundary=XX";
        let body = format!(
            "--XX\r\nContent-Disposition: form-data; name=\"file\"; filename=\"x\"\r\n\r\n{LOGO}\r\n--XX--\r\n"
        );
        client
            .send("POST", &format!("{}/assets/logo", statuspage(&id)), &[form], body.as_bytes())
            .expect(200);
        let target = Target::start();
        let settings = json!({"interval_seconds": 60});
        let body = json!({"name": "Web", "check_type": "http", "target": target.url(), "settings": settings});
        let measured = create(client, &body);
        until_status(client, &measured, "up").await;
        let agreed = json!({"name": "Web", "objective": 99.9, "period": "month", "time_zone": "UTC",
            "service_id": measured});
        client.post("/v1/sla-targets", &agreed).expect(201);
        let manual = create(client, &json!({"name": "Till", "check_type": "manual"}));
        let group = new_component(client, &id, &json!({"name": "Payments", "is_group": true}));
        let component =
            new_component(client, &id, &json!({"name": "Web", "service_id": measured, "parent_id": group}));
        new_component(client, &id, &json!({"name": "Till", "service_id": manual, "parent_id": group}));
        let incident = json!({"title": "Till is slow", "message": "We *look*.", "is_published": true,
            "service_ids": [manual]});
        let incident = id_of(&client.post("/v1/incidents", &incident).expect(201).data());
        let planned = json!({"title": "Upgrade", "message": "We upgrade.", "service_ids": [manual],
            "scheduled_start": in_ms(86_400_000).to_string()});
        let maintenance = id_of(&client.post("/v1/maintenances", &planned).expect(201).data());
        Self { slug, component, group, incident, maintenance, _target: target }
    }
}

/// An export in a folder of its own.
pub(crate) struct Export {
    _place: TempDir,
    pub(crate) folder: PathBuf,
}

impl Export {
    pub(crate) fn place() -> Self {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("status");
        Self { _place: place, folder }
    }

    /// Runs the command with these arguments.
    pub(crate) fn run(&self, server: &Server, slug: &str, arguments: &[&str]) -> Output {
        let folder = self.folder.to_str().unwrap();
        server.command(&[&["export-page", slug, "--to", folder], arguments].concat())
    }

    /// Exports a page that the server shows; returns the summary.
    pub(crate) fn make(&self, server: &Server, slug: &str) -> Value {
        let made = self.run(server, slug, &["--json", "--url", &server.base()]);
        assert_eq!(made.status.code(), Some(0), "{}", String::from_utf8_lossy(&made.stderr));
        serde_json::from_slice(&made.stdout).unwrap()
    }

    /// All files with their content, by name.
    pub(crate) fn files(&self) -> BTreeMap<String, Vec<u8>> {
        let (mut found, mut folders) = (BTreeMap::new(), vec![self.folder.clone()]);
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    let name = path.strip_prefix(&self.folder).unwrap().to_str().unwrap().to_owned();
                    found.insert(name, fs::read(&path).unwrap());
                }
            }
        }
        found
    }

    pub(crate) fn text(&self, file: &str) -> String {
        fs::read_to_string(self.folder.join(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
    }

    pub(crate) fn address(&self, file: &str) -> String {
        format!("file://{}", self.folder.join(file).display())
    }
}

pub(crate) fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}
