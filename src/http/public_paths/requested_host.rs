//! The host that a request is for, which selects a status page or the paths of the API.

use actix_web::HttpRequest;
use actix_web::http::{Version, header};

use crate::model::domain_names::{HostLines, InvalidHost};

/// Returns the host of a request, as [`HostLines::host`] does.
///
/// # Errors
/// When the request has no valid host.
pub(in crate::http) fn requested_host(request: &HttpRequest) -> Result<Option<String>, InvalidHost> {
    let mut lines = request.headers().get_all(header::HOST);
    let lines = HostLines {
        target: request.uri().authority().map(|authority| authority.as_str()),
        header: lines.next().map(|line| line.as_bytes()),
        is_repeated: lines.next().is_some(),
        must_have_header: request.version() == Version::HTTP_11,
    };
    lines.host()
}
