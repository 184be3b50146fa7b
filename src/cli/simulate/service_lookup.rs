//! Finds the service of a simulation by its id or its name.

use anyhow::bail;
use bytes::Bytes;
use hyper::{Method, StatusCode};
use serde::Deserialize;

use crate::cli::name_lookup::{NamedKind, find_named};
use crate::cli::node_api;
use crate::cli::simulate::{SimulationServer, refusal};
use crate::id::Id;

const SERVICE: NamedKind =
    NamedKind { one: "service", several: "services", hint: "GET /v1/services lists what this token sees" };
const PAGE: usize = 100;

/// A service in a list.
#[derive(Deserialize)]
struct ListedService {
    id: Id,
    name: String,
}

/// Returns the id of the service with this id or name. An id is not verified here, because the server verifies it.
///
/// # Errors
/// When the server does not answer or refuses, no service has the name, or several have it.
pub(super) async fn service(server: &SimulationServer, named: &str) -> anyhow::Result<Id> {
    if let Ok(id) = named.parse() {
        return Ok(id);
    }
    let mut all = Vec::new();
    for page in 1.. {
        let path = format!("/v1/services?per_page={PAGE}&page={page}");
        let listed: Vec<ListedService> = match server.ask(Method::GET, path, Bytes::new()).await? {
            (StatusCode::OK, answer) => serde_json::from_value(node_api::data(answer))?,
            (StatusCode::FORBIDDEN, _) => {
                bail!(
                    "only a token with the permission services.view finds a service by its name; use its id"
                )
            }
            (_, answer) => bail!("{}: {}", node_api::authority(&server.node), refusal(&answer)),
        };
        let is_last = listed.len() < PAGE;
        all.extend(listed);
        if is_last {
            break;
        }
    }
    Ok(find_named(&all, named, SERVICE, |one| (&one.id, &one.name))?.id)
}
