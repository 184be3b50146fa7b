//! The OpenAPI 3.1 document: the machine-readable description of the API.
//!
//! The route table decides which operations the document contains, so it never promises an operation that does not exist.
//! The chapters describe parameters, bodies and responses. Tests compare routes and chapters, and the black-box tests
//! validate every response against the document.

mod kind;
pub(in crate::http) mod known_inputs;
pub(in crate::http) mod operation;
mod page;
mod refusals;
mod render;
pub(in crate::http) mod shape;

use std::sync::OnceLock;

use utoipa::openapi::path::{PathItem, PathsBuilder};
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::openapi::tag::TagBuilder;
use utoipa::openapi::{Components, InfoBuilder, LicenseBuilder, OpenApi, OpenApiBuilder, Server};

use crate::config::Config;
use crate::http::gate::route::{HttpVerb, RouteSummary, RouteTable};
use crate::http::openapi::operation::{ApiChapter, ApiOperation};
use crate::representation::Representation;

/// The paths outside of `/v1`.
pub(super) const OUTSIDE: [&str; 9] = [
    "/",
    "/ping/{secret}",
    "/ping/{secret}/fail",
    "/calendars/{calendar}",
    "/healthz",
    "/readyz",
    METRICS,
    "/openapi.json",
    "/docs",
];
const METRICS: &str = "/metrics";

const ABOUT: &str = "Uptime monitoring and status pages.\n\n\
    Every path below `/v1` needs an API token: `Authorization: Bearer <token>`. Answers are JSON; messages of errors are \
    English. Every `GET` can be asked as `HEAD`, and `OPTIONS` tells the methods of a path without a token. `PUT` and \
    `PATCH` do the same: what is left out stays as it is. Clients must ignore members that they do not know. \
    Query parameters and members of a body that are not described are ignored; with `Prefer: handling=strict` they are refused \
    (422), each with what is allowed in its place; so are repeated keys of an object.\n\n\
    Clients are made from this document. TypeScript: `npx openapi-typescript openapi.json --default-non-nullable=false -o watchkeeper.ts`; \
    without that option members that have a default are required in requests. Python: `openapi-python-client generate --path openapi.json`.";

/// The API description, rendered as JSON and HTML.
pub struct ApiDescription {
    /// The document as JSON.
    pub json: Representation,
    /// The document as an HTML page.
    pub page: Representation,
    /// Content security policy of the page, which allows only its style.
    pub policy: String,
}

impl ApiDescription {
    /// Renders a document as JSON and HTML, once for all requests.
    pub fn of(document: &OpenApi) -> anyhow::Result<Self> {
        let value = serde_json::to_value(document)?;
        let page = page::render(&value)?;
        Ok(Self {
            json: Representation::new(value.to_string()),
            page: Representation::new(page),
            policy: page::content_security_policy(),
        })
    }
}

/// An API description that is rendered on first use: few requests need it, and rendering would delay every start.
pub struct LazyDescription {
    made: OnceLock<Result<ApiDescription, String>>,
    make: Box<dyn Fn() -> anyhow::Result<ApiDescription> + Send + Sync>,
}

impl LazyDescription {
    /// Creates a description that `make` renders on first use.
    #[must_use]
    pub fn new(make: impl Fn() -> anyhow::Result<ApiDescription> + Send + Sync + 'static) -> Self {
        Self { made: OnceLock::new(), make: Box::new(make) }
    }

    /// Returns the description, which is rendered if needed.
    ///
    /// # Errors
    /// The reason why it could not be rendered.
    pub fn get(&self) -> Result<&ApiDescription, &str> {
        let make = || (self.make)().map_err(|error| format!("{error:#}"));
        self.made.get_or_init(make).as_ref().map_err(String::as_str)
    }
}

/// Builds the document of a server with these chapters, routes and settings.
#[must_use]
pub(super) fn document<S>(chapters: Vec<ApiChapter>, routes: &RouteTable<S>, config: &Config) -> OpenApi {
    let lines: Vec<RouteSummary> = routes.lines().collect();
    let outside = OUTSIDE.iter().filter(|path| **path != METRICS || config.metrics_listen.is_none());
    let outside: Vec<&str> = outside.copied().collect();
    build(chapters, &lines, &outside, config)
}

pub(super) fn build(
    chapters: Vec<ApiChapter>,
    lines: &[RouteSummary],
    outside: &[&str],
    config: &Config,
) -> OpenApi {
    let mut components = Components::new();
    refusals::add(&mut components);
    let scheme = HttpBuilder::new().scheme(HttpAuthScheme::Bearer).description(Some("An API token."));
    components.add_security_scheme(render::TOKEN, SecurityScheme::Http(scheme.build()));
    let (mut paths, mut tags) = (PathsBuilder::new(), Vec::new());
    for chapter in chapters {
        let operations: Vec<_> =
            chapter.operations.iter().map(|known| (known, served(known, lines, outside))).collect();
        if operations.iter().any(|(_, served)| !served.is_empty()) {
            tags.push(TagBuilder::new().name(chapter.name).description(Some(chapter.about)).build());
        }
        for (known, (verb, line)) in
            operations.into_iter().flat_map(|(known, all)| all.into_iter().map(move |one| (known, one)))
        {
            let access = line.as_ref().map(|line| &line.access);
            let rendered = render::render(known, verb, access, chapter.name);
            paths = paths.path(known.path, PathItem::new(render::method(verb), rendered));
        }
        components
            .schemas
            .extend(chapter.schemas.into_iter().map(|(name, shape)| (name.into(), shape.into_schema())));
    }
    let licence = LicenseBuilder::new().name("Apache-2.0").identifier(Some("Apache-2.0")).build();
    let info = InfoBuilder::new().title("Watchkeeper").version(env!("CARGO_PKG_VERSION"));
    let info = info.description(Some(ABOUT)).license(Some(licence)).build();
    OpenApiBuilder::new()
        .info(info)
        .servers(Some([Server::new(config.base_url())]))
        .paths(paths.build())
        .components(Some(components))
        .tags(Some(tags))
        .build()
}

/// Returns the methods under which an operation is served, with their rows of the route table (`None` outside of `/v1`).
fn served(
    known: &ApiOperation,
    lines: &[RouteSummary],
    outside: &[&str],
) -> Vec<(HttpVerb, Option<RouteSummary>)> {
    if outside.contains(&known.path) {
        return vec![(known.verb, None)];
    }
    let serves = |line: &&RouteSummary| {
        line.verbs.contains(&known.verb) && shape_of(line.path).eq(shape_of(known.path))
    };
    let line = lines.iter().find(serves).copied();
    let verbs = line.into_iter().flat_map(|line| line.verbs).filter(|verb| **verb != HttpVerb::Head);
    verbs.map(|verb| (*verb, line)).collect()
}

/// Returns the segments of a path, independent of the names of its parameters.
pub(super) fn shape_of(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').map(|segment| if segment.starts_with('{') { "{}" } else { segment })
}
