//! Responses with pages, and the security headers that restrict browsers to displaying them.

use std::sync::LazyLock;

use actix_web::http::StatusCode;
use actix_web::http::header;
use actix_web::{HttpResponse, HttpResponseBuilder};
use askama::Template;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};

use crate::model::statuspage::Statuspage;
use crate::model::statuspage::word::PageColorScheme;
use crate::pages::appearance::cookie;
use crate::pages::own_style::has_own_style;
use crate::pages::view::MessagePage;

/// Content security policy: no scripts, frames or forms; styles and images from the page's own host.
const POLICY: &str = "default-src 'none'; style-src 'self'; img-src 'self' data:; base-uri 'none'; \
                      form-action 'none'; frame-ancestors 'none'";
/// Policy of a page with its owner's style sheet, which may load images and fonts from other hosts (contract 4.13.4).
const POLICY_WITH_OWN_STYLE: &str = "default-src 'none'; style-src 'self'; img-src 'self' data: https:; \
                                     font-src https: data:; base-uri 'none'; form-action 'none'; \
                                     frame-ancestors 'none'";

const STYLE: &str = include_str!("templates/style.css");
const DARK_STYLE: &str = include_str!("templates/dark.css");

/// Inline style of a notice.
static NOTICE_STYLE: LazyLock<String> =
    LazyLock::new(|| format!("{STYLE}@media (prefers-color-scheme: dark) {{\n{DARK_STYLE}}}\n"));
/// Policy of a notice: only its inline style is allowed.
static NOTICE_POLICY: LazyLock<String> = LazyLock::new(|| {
    let hash = STANDARD.encode(Sha256::digest(NOTICE_STYLE.as_bytes()));
    format!(
        "default-src 'none'; style-src 'sha256-{hash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
});

/// Seconds until a browser reloads an open page.
const REFRESH_SECONDS: &str = "60";

/// A page in one language.
pub(super) fn page(page: &Statuspage, html: String, locale: &str) -> HttpResponse {
    let policy = if has_own_style(page) { POLICY_WITH_OWN_STYLE } else { POLICY };
    let varies = if page.allows_appearance_switch { "Accept-Language, Cookie" } else { "Accept-Language" };
    let mut answer = guarded(StatusCode::OK, policy);
    answer
        .insert_header((header::VARY, varies))
        .insert_header((header::CACHE_CONTROL, "no-cache"))
        .insert_header((header::REFRESH, REFRESH_SECONDS))
        .insert_header((header::CONTENT_LANGUAGE, locale));
    if !page.seo.indexable {
        answer.insert_header(("x-robots-tag", "noindex, nofollow"));
    }
    answer.content_type("text/html; charset=utf-8").body(html)
}

/// A style sheet that all pages share, by its path.
pub(super) fn shared_style(path: &str) -> HttpResponse {
    let text = if path == "/dark.css" { DARK_STYLE } else { STYLE };
    sheet(text.to_owned(), "public, max-age=300")
}

/// Stores a visitor's choice of appearance in a cookie and redirects to the page.
pub(super) fn remember_choice(appearance: PageColorScheme) -> HttpResponse {
    guarded(StatusCode::SEE_OTHER, POLICY)
        .insert_header((header::LOCATION, "/"))
        .insert_header((header::SET_COOKIE, cookie(appearance)))
        .insert_header((header::CACHE_CONTROL, "no-store"))
        .insert_header(("x-robots-tag", "noindex, nofollow"))
        .finish()
}

/// The style sheet of one page.
pub(super) fn own_style(text: String) -> HttpResponse {
    sheet(text, "no-cache")
}

/// Returns `robots.txt`. Search engines must be able to read a page to learn that it shall not be indexed.
pub(super) fn robots(is_open: bool) -> HttpResponse {
    let rule = if is_open { "Allow: /" } else { "Disallow: /" };
    let text = format!("User-agent: *\n{rule}\n");
    guarded(StatusCode::OK, POLICY).content_type("text/plain; charset=utf-8").body(text)
}

/// 404 without a reason; the request is not echoed.
pub(super) fn not_found() -> HttpResponse {
    notice(StatusCode::NOT_FOUND, "Page not found", "There is no status page at this address.")
}

/// Response for a page that is not open to everybody.
pub(super) fn restricted() -> HttpResponse {
    notice(StatusCode::FORBIDDEN, "Access restricted", "This status page is not open to everybody.")
}

/// Response while the data of a page cannot be read.
pub(super) fn unavailable() -> HttpResponse {
    let text = "This status page cannot be shown at the moment. Please try again in a few seconds.";
    let mut answer = notice(StatusCode::SERVICE_UNAVAILABLE, "Not available", text);
    answer.headers_mut().insert(header::RETRY_AFTER, header::HeaderValue::from_static("5"));
    // Reload, so that an open page recovers by itself.
    answer.headers_mut().insert(header::REFRESH, header::HeaderValue::from_static(REFRESH_SECONDS));
    answer
}

/// 405: pages are read-only.
pub(super) fn wrong_method() -> HttpResponse {
    let mut answer = notice(StatusCode::METHOD_NOT_ALLOWED, "Not possible", "Status pages can only be read.");
    answer.headers_mut().insert(header::ALLOW, header::HeaderValue::from_static("GET, HEAD"));
    answer
}

fn notice(status: StatusCode, title: &'static str, text: &'static str) -> HttpResponse {
    // A template of two fixed texts cannot fail; otherwise the text alone is enough.
    let html = MessagePage { style: &NOTICE_STYLE, title, text }.render().unwrap_or_else(|_| text.to_owned());
    guarded(status, &NOTICE_POLICY)
        .insert_header((header::CACHE_CONTROL, "no-store"))
        .content_type("text/html; charset=utf-8")
        .body(html)
}

fn sheet(text: String, caching: &'static str) -> HttpResponse {
    guarded(StatusCode::OK, POLICY)
        .insert_header((header::CACHE_CONTROL, caching))
        .content_type("text/css; charset=utf-8")
        .body(text)
}

fn guarded(status: StatusCode, policy: &str) -> HttpResponseBuilder {
    let mut answer = HttpResponse::build(status);
    answer
        .insert_header((header::CONTENT_SECURITY_POLICY, policy))
        .insert_header((header::X_CONTENT_TYPE_OPTIONS, "nosniff"))
        .insert_header((header::REFERRER_POLICY, "no-referrer"));
    answer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unavailable_page_is_reloaded() {
        assert_eq!(unavailable().headers().get(header::REFRESH).unwrap(), REFRESH_SECONDS);
    }
}
