//! `GET /assets/{hash}`: files of public status pages, without a token, on every host that belongs to no page. On the host of a
//! page, `pages` serves the files of that page, also if it is protected.
//!
//! Files can only be displayed as images: the type is fixed, and scripts and loading of other files are forbidden. The URL
//! changes with the content, so browsers may cache a file without limit. Files of unpublished pages are served as well: only
//! a client that has seen the file knows the hash.

use actix_web::dev::Payload;
use actix_web::http::header;
use actix_web::{HttpRequest, HttpResponse, web};

use crate::http::kit::error::ApiError;
use crate::http::kit::request_id::request_id;
use crate::http::public_paths::front::ServerState;
use crate::store::assets;

const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; sandbox";
const FOR_EVER: &str = "public, max-age=31536000, immutable";
/// Length of the hash in a URL, in hexadecimal digits of SHA-256.
const HASH_LENGTH: usize = 64;

pub(in crate::http) async fn serve_asset(
    front: web::Data<ServerState>,
    hash: web::Path<String>,
    request: HttpRequest,
) -> HttpResponse {
    let is_hash = hash.len() == HASH_LENGTH && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
    let found = match is_hash {
        true => assets::find_public(front.state.databases.main.reader(), &hash).await,
        false => Ok(None),
    };
    match found {
        Ok(Some(file)) => HttpResponse::Ok()
            .insert_header((header::CONTENT_TYPE, file.content_type))
            .insert_header((header::CONTENT_SECURITY_POLICY, POLICY))
            .insert_header((header::X_CONTENT_TYPE_OPTIONS, "nosniff"))
            .insert_header((header::CACHE_CONTROL, FOR_EVER))
            .body(file.bytes),
        // The gate answers requests for missing files, with a 404 like any unknown path.
        Ok(None) => front.gate.answer(&request, Payload::None).await,
        Err(error) => {
            tracing::error!(%error, "cannot read an asset of a status page");
            ApiError::Unavailable.to_response(&request_id(request.headers()))
        }
    }
}
