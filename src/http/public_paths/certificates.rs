//! Paths for certificates: answers to HTTP-01 challenges, the redirect from HTTP to HTTPS, and the question of a proxy that
//! obtains certificates itself.
//!
//! A host is redirected only if this node has a valid certificate for it, so a page is reachable by HTTP before its first
//! certificate is issued, and if none can be.

use std::io;
use std::net::{SocketAddr, TcpListener};

use actix_web::http::Method;
use actix_web::http::header::{self, HeaderMap, HeaderValue};
use actix_web::{HttpRequest, HttpResponse, web};

use crate::certificates::CertificateCache;
use crate::http::kit::error::ApiError;
use crate::http::kit::reply::add_common;
use crate::http::kit::request_id::request_id;
use crate::http::public_paths::front::ServerState;
use crate::http::v1::state::AppState;
use crate::model::domain_names::is_hostname;
use crate::store::custom_domains;

/// Folder of the answers to HTTP-01 challenges (RFC 8555, section 8.3).
const CHALLENGES: &str = "/.well-known/acme-challenge/";
/// Maximum length of a token that is looked up, in bytes; authorities use 43.
const TOKEN_MAX_BYTES: usize = 128;
/// Tells browsers to use HTTPS for a year.
const HSTS: HeaderValue = HeaderValue::from_static("max-age=31536000");

/// Answers what has to be answered before a request is passed to a page or the API, on a server that obtains certificates.
pub(in crate::http) struct CertificateDoor {
    cache: CertificateCache,
    /// The addresses whose requests are redirected.
    redirecting: Vec<SocketAddr>,
}

impl CertificateDoor {
    /// A door that redirects the requests of these listeners.
    pub(in crate::http) fn new(cache: CertificateCache, http: &[TcpListener]) -> io::Result<Self> {
        let redirecting = http.iter().map(TcpListener::local_addr).collect::<io::Result<_>>()?;
        Ok(Self { cache, redirecting })
    }

    /// Answers a request for a challenge on any listener, and on those for HTTP a request for a host with a certificate;
    /// `None` for any other.
    pub(in crate::http) async fn answer(
        &self,
        request: &HttpRequest,
        host: Option<&str>,
    ) -> Option<HttpResponse> {
        if let Some(token) = requested_token(request)
            && let Some(answer) = self.cache.http_answer(token).await
        {
            let mut response = HttpResponse::Ok();
            response.insert_header((header::CACHE_CONTROL, "no-store"));
            return Some(response.content_type("application/octet-stream").body(answer));
        }
        let host = host?;
        let is_redirecting = self.redirecting.contains(&request.app_config().local_addr());
        (is_redirecting && self.cache.has_valid_certificate(host)).then(|| redirect(request, host))
    }
}

fn requested_token(request: &HttpRequest) -> Option<&str> {
    let is_read = request.method() == Method::GET || request.method() == Method::HEAD;
    let token = request.path().strip_prefix(CHALLENGES)?;
    (is_read && (1..=TOKEN_MAX_BYTES).contains(&token.len())).then_some(token)
}

/// Redirects to the same address by HTTPS at the usual port, which leads to `acme.https_listen`.
fn redirect(request: &HttpRequest, host: &str) -> HttpResponse {
    let path = request.uri().path_and_query().map_or("/", |path| path.as_str());
    let mut response = HttpResponse::PermanentRedirect();
    response.insert_header((header::LOCATION, format!("https://{host}{path}")));
    response.insert_header((header::CACHE_CONTROL, "no-store"));
    response.finish()
}

/// Adds the header by which browsers use HTTPS from now on, if this server itself ended the TLS of the request.
pub(in crate::http) fn add_transport_security(request: &HttpRequest, headers: &mut HeaderMap) {
    if request.app_config().secure() {
        headers.insert(header::STRICT_TRANSPORT_SECURITY, HSTS);
    }
}

/// Answers whether a host name is an active custom domain: 200 or 404. Only for proxies in front, so anyone else gets 404.
pub(in crate::http) async fn tls_ask(front: web::Data<ServerState>, request: HttpRequest) -> HttpResponse {
    let id = request_id(request.headers());
    let mut response = match find_domain(&front.state, &request).await {
        Ok(()) => HttpResponse::Ok().content_type("text/plain; charset=utf-8").body("active\n"),
        Err(error) => error.to_response(&id),
    };
    add_common(response.headers_mut(), &id);
    response
}

async fn find_domain(state: &AppState, request: &HttpRequest) -> Result<(), ApiError> {
    let peer = request.peer_addr().map(|peer| peer.ip().to_canonical());
    let is_proxy = peer.is_some_and(|peer| {
        peer.is_loopback() || state.config.trusted_proxies.iter().any(|proxy| proxy.contains(peer))
    });
    let mut query = url::form_urlencoded::parse(request.query_string().as_bytes());
    let domain = query.find(|(name, _)| name == "domain").map(|(_, domain)| domain.to_ascii_lowercase());
    let domain = domain.filter(|domain| is_proxy && is_hostname(domain)).ok_or(ApiError::NotFound)?;
    let is_active = custom_domains::is_active(state.databases.main.reader(), &domain).await?;
    if is_active { Ok(()) } else { Err(ApiError::NotFound) }
}
