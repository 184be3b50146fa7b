//! The HTTP server: actix-web on its own threads, with limits on slow clients and a time-limited stop.

use std::net::{IpAddr, TcpListener};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use actix_web::body::{BoxBody, MessageBody};
use actix_web::dev::{Payload, ServerHandle, ServiceFactory, ServiceRequest, ServiceResponse};
use actix_web::middleware::{Next, from_fn};
use actix_web::{App, HttpRequest, HttpResponse, HttpServer, Resource, Route, guard, web};
use anyhow::Context as _;
use futures_util::future::{LocalBoxFuture, join_all};
use tokio::time::Instant;

use crate::certificates::ServerTls;
use crate::config::Config;
use crate::config::limits::HttpLimits;
use crate::config::listen_address::ListenAddress;
use crate::http::console_entry::ConsoleEntry;
use crate::http::description;
use crate::http::gate::cors::CorsPolicy;
use crate::http::gate::traffic::TrafficCounters;
use crate::http::gate::{ApiGate, GateRules};
use crate::http::kit::body::BodyLimits;
use crate::http::listeners::{ServerSockets, listen_on};
use crate::http::openapi::known_inputs::KnownInputs;
use crate::http::openapi::{ApiDescription, LazyDescription};
use crate::http::public_paths::assets::serve_asset;
use crate::http::public_paths::calendar::serve_calendar;
use crate::http::public_paths::certificates::{CertificateDoor, add_transport_security, tls_ask};
use crate::http::public_paths::console::serve_console;
use crate::http::public_paths::front::ServerState;
use crate::http::public_paths::front_page::FrontPage;
use crate::http::public_paths::operation;
use crate::http::public_paths::ping;
use crate::http::public_paths::ping_limiter::PingLimiter;
use crate::http::public_paths::requested_host::requested_host;
use crate::http::v1::routes::routes;
use crate::http::v1::state::AppState;
use crate::model::domain_names::InvalidHost;

/// Answers requests to a host that belongs to a status page; returns `None` for any other host. The request is read, and its
/// body taken if it is a form of a page, before the returned future is polled.
pub type Visitors = Arc<
    dyn Fn(&HttpRequest, &RequestSource, &mut Payload) -> LocalBoxFuture<'static, Option<HttpResponse>>
        + Send
        + Sync,
>;

/// Where a request is sent, and by whom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestSource {
    /// The requested host, without a port.
    pub host: String,
    /// The client's address, as far as trusted proxies report it.
    pub client: IpAddr,
}

/// The HTTP server, answering on all its listeners.
pub struct WebServer {
    handles: Vec<ServerHandle>,
}

impl WebServer {
    /// Stops accepting connections and lets running requests finish, on all listeners at once.
    pub async fn stop(&self) {
        join_all(self.handles.iter().map(|handle| handle.stop(true))).await;
    }
}

/// What every request passes before it is divided among the pages and the API.
struct FrontDoor {
    visitors: Visitors,
    /// `None` on a server that obtains no certificates.
    certificates: Option<CertificateDoor>,
}

/// Starts to answer on `sockets`, and on the separate address of the metrics if there is one. `visitors` gets every
/// request first: neither the API nor the console is served on the host of a status page.
///
/// # Errors
///
/// When a route has no access rule, or an address is in use.
pub fn serve(
    state: AppState,
    sockets: ServerSockets,
    visitors: &Visitors,
    console: ConsoleEntry,
) -> anyhow::Result<WebServer> {
    let tls = state.certificates.as_ref().map(ServerTls::new).transpose()?;
    let door = front_door(&state, &sockets, visitors)?;
    let (config, state) = (Arc::clone(&state.config), Arc::new(state));
    let described = Arc::clone(&config);
    let describe = move || ApiDescription::of(&description::document(&routes()?, &described));
    let description = Arc::new(LazyDescription::new(describe));
    let gate = Arc::new(ApiGate::new(rules(&config, &state, &description), routes()?, Arc::clone(&state)));
    let traffic = TrafficCounters::default();
    let pings = PingLimiter::new(config.rate_limit_per_minute, config.limits.http.rate_limit_addresses);
    let page = FrontPage::of(&config)?;
    let front = web::Data::new(ServerState { state, traffic, pings, description, page, gate, console });
    let limits = &config.limits.http;
    let own_metrics = config.metrics_listen;
    let shared = front.clone();
    let app = move || {
        let door = Arc::clone(&door);
        let door = from_fn(move |request, next| route_by_host(Arc::clone(&door), request, next));
        let app = App::new().wrap(door).app_data(shared.clone());
        let app = app.service(only_read("/", reading().to(operation::front_page)));
        let app = app.service(only_read("/assets/{hash}", reading().to(serve_asset)));
        let app = app.service(only_read("/healthz", reading().to(operation::healthz)));
        let app = app.service(only_read("/readyz", reading().to(operation::readyz)));
        let app = app.service(only("GET, HEAD, POST", "/ping/{secret}", pinging().to(ping::ping)));
        let app = app.service(only("GET, HEAD, POST", "/ping/{secret}/fail", pinging().to(ping::ping_fail)));
        let app = app.service(only_read("/calendars/{calendar}", reading().to(serve_calendar)));
        let app = app.service(only_read("/openapi.json", reading().to(operation::openapi)));
        let app = app.service(only_read("/docs", reading().to(operation::docs)));
        let app = app.service(only_read("/tls/ask", reading().to(tls_ask)));
        let app = app.service(web::resource(["/console", "/console/{path:.*}"]).to(serve_console));
        let numbers = own_metrics.is_none().then(|| only_read("/metrics", reading().to(operation::metrics)));
        let app = app.configure(|services| {
            if let Some(numbers) = numbers {
                services.service(numbers);
            }
        });
        app.default_service(web::to(answer))
    };
    let mut handles = vec![listen(app, sockets, tls.as_ref(), limits)?];
    if let Some(address) = own_metrics {
        handles.push(serve_metrics(address, limits, &front)?);
    }
    Ok(WebServer { handles })
}

fn front_door(
    state: &AppState,
    sockets: &ServerSockets,
    visitors: &Visitors,
) -> anyhow::Result<Arc<FrontDoor>> {
    let cache = state.certificates.as_ref();
    let certificates = cache.map(|cache| CertificateDoor::new(cache.clone(), &sockets.http)).transpose()?;
    Ok(Arc::new(FrontDoor { visitors: Arc::clone(visitors), certificates }))
}

/// Passes requests to the host of a status page to that page, and all others to the API. Refuses requests without a valid
/// host.
async fn route_by_host(
    door: Arc<FrontDoor>,
    mut request: ServiceRequest,
    next: Next<BoxBody>,
) -> Result<ServiceResponse<BoxBody>, actix_web::Error> {
    let front = request.app_data::<web::Data<ServerState>>();
    let client = front.map(|front| front.gate.client_address(request.request()));
    let (head, body) = request.parts_mut();
    let mut response = match door.answer(head, client, body).await {
        Some(response) => request.into_response(response),
        None => next.call(request).await?,
    };
    let (request, response_head) = (response.request().clone(), response.headers_mut());
    add_transport_security(&request, response_head);
    Ok(response)
}

impl FrontDoor {
    /// Answers a request that is not for the API. Visitors are not answered while the address of the client is unknown.
    async fn answer(
        &self,
        request: &HttpRequest,
        client: Option<IpAddr>,
        body: &mut Payload,
    ) -> Option<HttpResponse> {
        let host = match requested_host(request) {
            Ok(host) => host,
            Err(InvalidHost) => return Some(operation::refuse_host(request)),
        };
        if let Some(certificates) = &self.certificates
            && let Some(answer) = certificates.answer(request, host.as_deref()).await
        {
            return Some(answer);
        }
        let source = RequestSource { host: host?, client: client? };
        (self.visitors)(request, &source, body).await
    }
}

/// A route for `GET`, and for `HEAD`, which load balancers use.
fn reading() -> Route {
    web::route().guard(guard::Any(guard::Get()).or(guard::Head()))
}

fn pinging() -> Route {
    web::route().guard(guard::Any(guard::Get()).or(guard::Head()).or(guard::Post()))
}

fn only_read(path: &str, route: Route) -> Resource {
    only("GET, HEAD", path, route)
}

/// A path outside of `/v1`, with or without a trailing slash. Methods other than those of its route are refused (contract
/// 1.1).
fn only(allowed: &'static str, path: &str, route: Route) -> Resource {
    let refuse = move |request: HttpRequest| operation::refuse_method(request, allowed);
    web::resource([path.to_owned(), format!("{}/", path.trim_end_matches('/'))])
        .route(route)
        .default_service(web::to(refuse))
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

fn serve_metrics(
    address: ListenAddress,
    limits: &HttpLimits,
    front: &web::Data<ServerState>,
) -> anyhow::Result<ServerHandle> {
    let front = front.clone();
    let app = move || App::new().app_data(front.clone()).route("/metrics", reading().to(operation::metrics));
    listen(app, ServerSockets { plain: listen_on(address)?, ..ServerSockets::default() }, None, limits)
}

/// Answers on these sockets; `tls` is for those of HTTPS. Every socket has the same limits on slow clients, and is closed in
/// the same way.
fn listen<T, B>(
    app: impl Fn() -> App<T> + Send + Clone + 'static,
    sockets: ServerSockets,
    tls: Option<&ServerTls>,
    limits: &HttpLimits,
) -> anyhow::Result<ServerHandle>
where
    T: ServiceFactory<ServiceRequest, Config = (), Response = ServiceResponse<B>, InitError = ()> + 'static,
    T: ServiceFactory<ServiceRequest, Error = actix_web::Error>,
    T::Future: 'static,
    B: MessageBody + 'static,
{
    let workers = if limits.workers == 0 { cores() } else { limits.workers };
    let unread = Duration::from_secs(limits.write_timeout_seconds);
    let limited = |listener: TcpListener| -> std::io::Result<TcpListener> {
        socket2::SockRef::from(&listener).set_tcp_user_timeout(Some(unread))?;
        Ok(listener)
    };
    let mut server = HttpServer::new(app)
        .workers(workers)
        .max_connections(limits.connections)
        .client_request_timeout(Duration::from_secs(limits.head_timeout_seconds))
        .keep_alive(Duration::from_secs(limits.keep_alive_seconds))
        .shutdown_timeout(limits.shutdown_seconds)
        .disable_signals();
    for listener in sockets.plain.into_iter().chain(sockets.http) {
        server = server.listen(limited(listener)?)?;
    }
    for listener in sockets.https {
        let tls = tls.context("there are no certificates for HTTPS")?;
        server = server.listen_rustls_0_23(limited(listener)?, tls.config())?;
    }
    let server = server.run();
    let handle = server.handle();
    drop(actix_web::rt::spawn(server));
    Ok(handle)
}

/// Passes a request to the gate. Only operational requests do not take this way.
async fn answer(front: web::Data<ServerState>, request: HttpRequest, payload: web::Payload) -> HttpResponse {
    let started = Instant::now();
    let response = front.gate.answer(&request, payload.into_inner()).await;
    front.traffic.record_answer(response.status().as_u16(), started.elapsed());
    response
}

fn rules(config: &Config, state: &AppState, description: &Arc<LazyDescription>) -> GateRules {
    let HttpLimits { body_bytes, body_timeout_seconds, .. } = config.limits.http;
    let proxies = config.trusted_proxies.clone();
    let description = Arc::clone(description);
    // Strict requests are rare, so the known input is extracted on first use.
    let known = LazyLock::new(move || {
        let document =
            description.get().ok().and_then(|known| serde_json::from_slice(known.json.plain()).ok());
        KnownInputs::of(&document.unwrap_or_default())
    });
    GateRules {
        clock: state.clock.clone(),
        guard: Arc::clone(&state.guard),
        token_prefix: config.compat.token_prefix.clone(),
        limiter: Arc::clone(&state.limiter),
        is_trusted_proxy: Box::new(move |address| proxies.iter().any(|proxy| proxy.contains(address))),
        cors: CorsPolicy::new(config.cors_allowed_origins.clone()),
        body_limits: BodyLimits { bytes: body_bytes, timeout: Duration::from_secs(body_timeout_seconds) },
        known_input: Box::new(move |verb, pattern| known.find(verb, pattern)),
    }
}
