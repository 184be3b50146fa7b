//! An organisation of which a confined token sees a part.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::support::client::{Answer, Client};
use crate::support::server::Server;

/// An organisation with a service inside the scope `Shop team`, one outside, and everything that hangs on them. Of incidents,
/// maintenances and pages there is one for the service inside, one for both, one for the service outside.
pub(crate) struct World {
    pub(crate) server: Arc<Server>,
    pub(crate) admin: Client,
    pub(crate) confined: Client,
    pub(crate) scope: String,
    pub(crate) inside: String,
    pub(crate) outside: String,
    pub(crate) tags: [String; 2],
    pub(crate) incidents: [String; 3],
    pub(crate) maintenances: [String; 3],
    pub(crate) pages: [String; 3],
    /// On the page of both: a group, inside it a component of each service.
    pub(crate) components: [String; 3],
}

/// Makes something, and gives its id.
pub(crate) fn made(client: &Client, path: &str, body: &Value) -> String {
    client.post(path, body).expect(201).data()["id"].as_str().unwrap().to_owned()
}

/// The ids of the rows of a list.
pub(crate) fn ids(client: &Client, path: &str) -> Vec<String> {
    let list = client.get(path).expect(200).json();
    let rows = list["data"].as_array().unwrap();
    assert_eq!(list["meta"]["total"], rows.len(), "{path}");
    rows.iter().map(|row| row["id"].as_str().unwrap().to_owned()).collect()
}

impl World {
    pub(crate) fn new() -> Self {
        let server = Server::shared();
        let organisation = server.organisation("business");
        let admin = server.member(&organisation, "all");
        let tags = ["shop", "bank"].map(|key| made(&admin, "/v1/tags", &json!({"key": key})));
        let service = |tag: &str| {
            let body = json!({"name": format!("{tag} service"), "check_type": "heartbeat", "tags": [tag]});
            made(&admin, "/v1/services", &body)
        };
        let (inside, outside) = (service("shop"), service("bank"));
        let scope = made(&admin, "/v1/access-scopes", &json!({"name": "Shop team", "tags": ["shop"]}));
        let sets = [vec![&inside], vec![&inside, &outside], vec![&outside]];
        let pages = sets.clone().map(|services| {
            let page = made(&admin, "/v1/statuspages", &json!({"name": "Page"}));
            for service in services {
                let component = json!({"name": "Own", "service_id": service});
                made(&admin, &format!("/v1/statuspages/{page}/components"), &component);
            }
            page
        });
        let said = json!({"title": "Title", "message": "Message", "scheduled_start": "2196-01-01"});
        let with = |services: &[&String]| {
            let mut body = said.clone();
            body["service_ids"] = json!(services);
            body["statuspage_ids"] = json!(pages);
            body
        };
        let incidents = sets.clone().map(|set| made(&admin, "/v1/incidents", &with(&set)));
        let maintenances = sets.map(|set| made(&admin, "/v1/maintenances", &with(&set)));
        let on_both = format!("/v1/statuspages/{}/components", pages[1]);
        let group = made(&admin, &on_both, &json!({"name": "Group", "is_group": true}));
        let [own, foreign] = [&inside, &outside].map(|service| {
            made(&admin, &on_both, &json!({"name": "In", "parent_id": group, "service_id": service}))
        });
        let components = [group, own, foreign];
        let confined = confined(&server, &organisation, "Shop team");
        Self {
            server,
            admin,
            confined,
            scope,
            inside,
            outside,
            tags,
            incidents,
            maintenances,
            pages,
            components,
        }
    }

    /// A text with blanks such as `{inside}` and `{incidents.0}` filled.
    pub(crate) fn fill(&self, text: &str) -> String {
        let mut text = text.replace("{inside}", &self.inside).replace("{outside}", &self.outside);
        text = text.replace("{scope}", &self.scope);
        for (name, ids) in [
            ("tags", &self.tags[..]),
            ("incidents", &self.incidents),
            ("maintenances", &self.maintenances),
            ("pages", &self.pages),
            ("components", &self.components),
        ] {
            for (place, id) in ids.iter().enumerate() {
                text = text.replace(&format!("{{{name}.{place}}}"), id);
            }
        }
        text
    }

    pub(crate) fn ask(&self, request: &str) -> Answer {
        send(&self.confined, &self.fill(request))
    }
}

/// A client that is confined to this scope, with every permission.
pub(crate) fn confined(server: &Server, organisation: &str, scope: &str) -> Client {
    server.confined_member(organisation, "all,engine.view", scope)
}

/// Sends a request in the form `METHOD path body`.
pub(crate) fn send(client: &Client, request: &str) -> Answer {
    let mut words = request.splitn(3, ' ');
    let (method, path) = (words.next().unwrap(), words.next().unwrap());
    let body = words.next().unwrap_or_default();
    client.send(method, path, &["Content-Type: application/json"], body.as_bytes())
}
