//! HTTP responses with status pages, and the security headers that limit what browsers do with them.

use std::convert::Infallible;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use actix_web::http::StatusCode;
use actix_web::http::header;
use actix_web::{HttpResponse, HttpResponseBuilder};
use askama::Template;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use futures_util::{Stream, StreamExt as _};
use sha2::{Digest as _, Sha256};

use crate::model::statuspage::Statuspage;
use crate::model::statuspage::word::AccessType;
use crate::pages::badge_route::BadgeFormat;
use crate::pages::embed::{EMBED_POLICY, WIDGET};
use crate::pages::export_header::EXPORT_HEADER;
use crate::pages::feeds::FeedFormat;
use crate::pages::stylesheets::has_own_style;
use crate::pages::view::MessagePage;
use crate::pages::visit::{PageVisit, VisitLanguage};
use crate::representation::Representation;
use crate::store::assets::StoredFile;

/// Content security policy: scripts, styles and images from the page's own host, and no inline ones; scripts create HTML
/// only by the policy `wk` (Trusted Types).
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
                      connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; \
                      require-trusted-types-for 'script'; trusted-types wk";
/// Policy of a page with a style sheet of its owner, which may load images and fonts from other hosts (contract 4.13.4).
const POLICY_WITH_OWN_STYLE: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
                                     img-src 'self' data: https:; font-src https: data:; connect-src 'self'; \
                                     base-uri 'none'; form-action 'self'; frame-ancestors 'none'; \
                                     require-trusted-types-for 'script'; trusted-types wk";
/// Inline style of a page with a message only, such as 404.
const NOTICE_STYLE: &str =
    concat!(include_str!("../html_kit/palette.css"), include_str!("templates/style.css"));
/// Policy of a page with a message only, which allows nothing but its inline style.
static NOTICE_POLICY: LazyLock<String> = LazyLock::new(|| {
    let hash = STANDARD.encode(Sha256::digest(NOTICE_STYLE));
    format!(
        "default-src 'none'; style-src 'sha256-{hash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
});

/// Policy of uploaded files, as of the API.
const UPLOAD_POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; sandbox";
/// Policy of a form: it sends to its own host, and no style sheet of the owner can read what is entered.
const FORM_POLICY: &str = "default-src 'none'; style-src 'self'; img-src 'self' data:; base-uri 'none'; \
                           form-action 'self'; frame-ancestors 'none'";

/// Seconds until a browser tries again to load a page that could not be shown, or a frame again.
const REFRESH_SECONDS: &str = "60";
/// Caching of a page (RFC 9111). Every cache may store it, and has to ask whether it has changed; a shared cache need not
/// ask for 5 seconds, and may serve the page for a day while this server is unavailable.
const PAGE_CACHING: &str = "public, max-age=0, s-maxage=5, stale-if-error=86400";
/// Caching of a feed, which programs read at most once a minute.
const FEED_CACHING: &str = "public, max-age=60, stale-if-error=86400";
/// Caching of a file whose URL changes with its content.
const FILE_CACHING: &str = "public, max-age=31536000, immutable";

/// Caching of a badge. Caches of other web sites may show an earlier badge while they fetch the present one.
const BADGE_CACHING: &str = "public, max-age=60, stale-while-revalidate=600";
/// Caching of the script for other web sites, whose URL never changes.
const WIDGET_CACHING: &str = "public, max-age=300, stale-while-revalidate=86400";

/// Returns a page in one language.
pub(super) fn page(
    page: &Statuspage,
    content: &Representation,
    visit: &PageVisit,
    language: &VisitLanguage,
) -> HttpResponse {
    let policy = if has_own_style(page) { POLICY_WITH_OWN_STYLE } else { POLICY };
    let mut answer = guarded(StatusCode::OK, policy);
    if language.is_negotiated {
        answer.insert_header((header::VARY, "Accept-Language"));
    }
    answer
        .insert_header((header::CACHE_CONTROL, PAGE_CACHING))
        .insert_header((header::CONTENT_LANGUAGE, language.locale.as_str()));
    if !page.seo.indexable {
        answer.insert_header(("x-robots-tag", "noindex, nofollow"));
    }
    answer.content_type("text/html; charset=utf-8");
    content.answer(answer, &visit.headers)
}

/// Returns a document of a form, which no cache may store.
pub(super) fn form(status: StatusCode, html: String) -> HttpResponse {
    guarded(status, FORM_POLICY)
        .insert_header((header::CACHE_CONTROL, "no-store"))
        .insert_header(("x-robots-tag", "noindex"))
        .content_type("text/html; charset=utf-8")
        .body(html)
}

/// Returns 405 for a method that a form does not have.
pub(super) fn wrong_method_of_form() -> HttpResponse {
    let mut answer = notice(StatusCode::METHOD_NOT_ALLOWED, "Not possible", "Use the form.");
    answer.headers_mut().insert(header::ALLOW, header::HeaderValue::from_static("GET, HEAD, POST"));
    answer
}

/// Returns the response to a form that is too long or arrives too slowly.
pub(super) fn bad_form() -> HttpResponse {
    notice(StatusCode::BAD_REQUEST, "Not possible", "The form could not be read.")
}

/// Returns a document for programs, which scripts of any origin may read.
pub(super) fn json(
    visit: &PageVisit,
    content: Result<Arc<Representation>, serde_json::Error>,
) -> HttpResponse {
    let content = match content {
        Ok(content) => content,
        Err(error) => {
            tracing::error!(path = visit.path, %error, "cannot write the JSON of a status page");
            return unavailable();
        }
    };
    let mut answer = guarded(StatusCode::OK, POLICY);
    answer
        .insert_header((header::CACHE_CONTROL, PAGE_CACHING))
        .insert_header((header::ACCESS_CONTROL_ALLOW_ORIGIN, "*"))
        .insert_header(("x-robots-tag", "noindex"))
        .content_type("application/json; charset=utf-8");
    content.answer(answer, &visit.headers)
}

/// Returns a feed.
pub(super) fn feed(visit: &PageVisit, content: &Representation, format: FeedFormat) -> HttpResponse {
    let mut answer = guarded(StatusCode::OK, POLICY);
    answer
        .insert_header((header::CACHE_CONTROL, FEED_CACHING))
        .insert_header((header::ACCESS_CONTROL_ALLOW_ORIGIN, "*"))
        .insert_header(("x-robots-tag", "noindex"))
        .content_type(format!("{}; charset=utf-8", format.media_type()));
    content.answer(answer, &visit.headers)
}

/// Returns a badge, which pages of any origin may show.
pub(super) fn badge(visit: &PageVisit, content: &Representation, format: BadgeFormat) -> HttpResponse {
    let mut answer = guarded(StatusCode::OK, POLICY);
    answer
        .insert_header((header::CACHE_CONTROL, BADGE_CACHING))
        .insert_header((header::ACCESS_CONTROL_ALLOW_ORIGIN, "*"))
        .insert_header(("cross-origin-resource-policy", "cross-origin"))
        .insert_header(("x-robots-tag", "noindex"))
        .content_type(match format {
            BadgeFormat::Svg => "image/svg+xml",
            BadgeFormat::Shields => "application/json; charset=utf-8",
        });
    content.answer(answer, &visit.headers)
}

/// Returns a preview image. `is_current` tells whether the requested URL is that of this image.
pub(super) fn image(content: &Representation, visit: &PageVisit, is_current: bool) -> HttpResponse {
    let mut answer = guarded(StatusCode::OK, POLICY);
    answer
        .insert_header((header::CACHE_CONTROL, if is_current { FILE_CACHING } else { "no-cache" }))
        .insert_header(("cross-origin-resource-policy", "cross-origin"))
        .content_type("image/png");
    content.answer(answer, &visit.headers)
}

/// Returns the summary of a page for frames of other web sites.
pub(super) fn frame(content: &Representation, visit: &PageVisit, language: &VisitLanguage) -> HttpResponse {
    let mut answer = guarded(StatusCode::OK, &EMBED_POLICY);
    if language.is_negotiated {
        answer.insert_header((header::VARY, "Accept-Language"));
    }
    answer
        .insert_header((header::CACHE_CONTROL, PAGE_CACHING))
        .insert_header((header::REFRESH, REFRESH_SECONDS))
        .insert_header((header::CONTENT_LANGUAGE, language.locale.as_str()))
        .insert_header(("x-robots-tag", "noindex"))
        .content_type("text/html; charset=utf-8");
    content.answer(answer, &visit.headers)
}

/// Returns the script for other web sites.
pub(super) fn widget(visit: &PageVisit) -> HttpResponse {
    let mut answer = guarded(StatusCode::OK, POLICY);
    answer
        .insert_header((header::CACHE_CONTROL, WIDGET_CACHING))
        .insert_header((header::ACCESS_CONTROL_ALLOW_ORIGIN, "*"))
        .insert_header(("cross-origin-resource-policy", "cross-origin"))
        .content_type("text/javascript; charset=utf-8");
    WIDGET.answer(answer, &visit.headers)
}

/// Returns the list of documents for search engines.
pub(super) fn sitemap(content: &Representation, visit: &PageVisit) -> HttpResponse {
    let mut answer = guarded(StatusCode::OK, POLICY);
    answer
        .insert_header((header::CACHE_CONTROL, PAGE_CACHING))
        .content_type("application/xml; charset=utf-8");
    content.answer(answer, &visit.headers)
}

/// Returns an uploaded file. It can only be displayed as an image: scripts and loading of other files are forbidden.
pub(super) fn upload(file: StoredFile) -> HttpResponse {
    guarded(StatusCode::OK, UPLOAD_POLICY)
        .insert_header((header::CACHE_CONTROL, FILE_CACHING))
        .content_type(file.content_type)
        .body(file.bytes)
}

/// Returns the response for a visitor of a protected page: no cache stores it, and no other site may read it.
pub(super) fn keep_private(mut answer: HttpResponse) -> HttpResponse {
    let headers = answer.headers_mut();
    headers.insert(header::CACHE_CONTROL, header::HeaderValue::from_static("private, no-store"));
    headers.remove(header::ACCESS_CONTROL_ALLOW_ORIGIN);
    headers.remove("cross-origin-resource-policy");
    answer
}

/// Adds to a response that it is a part of an export.
pub(super) fn part_of_export(answer: HttpResponse) -> HttpResponse {
    let mut answer = keep_private(answer);
    let name = header::HeaderName::from_static(EXPORT_HEADER);
    answer.headers_mut().insert(name, header::HeaderValue::from_static("1"));
    answer
}

/// Returns the response to a request for an export whose header is not valid.
pub(super) fn no_export() -> HttpResponse {
    notice(StatusCode::FORBIDDEN, "No export", "The header of this request is not valid for this page.")
}

/// Returns a style sheet. `revision` is the hash in the requested URL.
pub(super) fn sheet(content: &Representation, revision: &str, visit: &PageVisit) -> HttpResponse {
    file(content, revision, visit, "text/css; charset=utf-8")
}

/// Returns the script. `revision` is the hash in the requested URL.
pub(super) fn script(content: &Representation, revision: &str, visit: &PageVisit) -> HttpResponse {
    file(content, revision, visit, "text/javascript; charset=utf-8")
}

fn file(
    content: &Representation,
    revision: &str,
    visit: &PageVisit,
    content_type: &'static str,
) -> HttpResponse {
    let mut answer = guarded(StatusCode::OK, POLICY);
    let caching = if content.revision() == revision { FILE_CACHING } else { "no-cache" };
    answer.insert_header((header::CACHE_CONTROL, caching)).content_type(content_type);
    content.answer(answer, &visit.headers)
}

/// Returns a stream of server-sent events, which no cache may store and no proxy may hold back.
pub(super) fn events(chunks: impl Stream<Item = Bytes> + 'static) -> HttpResponse {
    guarded(StatusCode::OK, POLICY)
        .insert_header((header::CACHE_CONTROL, "no-store"))
        .insert_header(("x-accel-buffering", "no"))
        .content_type("text/event-stream; charset=utf-8")
        .streaming(chunks.map(Ok::<_, Infallible>))
}

/// Redirects permanently.
pub(super) fn moved(path: &str) -> HttpResponse {
    guarded(StatusCode::PERMANENT_REDIRECT, POLICY).insert_header((header::LOCATION, path)).finish()
}

/// Returns `robots.txt`. Search engines must be able to read a page to learn that it must not be indexed.
pub(super) fn robots(page: &Statuspage, url: &str) -> HttpResponse {
    let is_open = page.access_type == AccessType::Public;
    let rule = if is_open { "Allow: /" } else { "Disallow: /" };
    let mut text = format!("User-agent: *\n{rule}\n");
    if is_open && page.seo.indexable {
        text += &format!("Sitemap: {url}/sitemap.xml\n");
    }
    guarded(StatusCode::OK, POLICY).content_type("text/plain; charset=utf-8").body(text)
}

/// Returns 404. The response neither tells the reason nor repeats the request.
pub(super) fn not_found() -> HttpResponse {
    notice(StatusCode::NOT_FOUND, "Page not found", "There is no status page at this address.")
}

/// Returns the response while the data of a page cannot be read.
pub(super) fn unavailable() -> HttpResponse {
    let text = "This status page cannot be shown at the moment. Please try again in a few seconds.";
    let mut answer = notice(StatusCode::SERVICE_UNAVAILABLE, "Not available", text);
    answer.headers_mut().insert(header::RETRY_AFTER, header::HeaderValue::from_static("5"));
    // The browser reloads the page, so that an open page recovers by itself.
    answer.headers_mut().insert(header::REFRESH, header::HeaderValue::from_static(REFRESH_SECONDS));
    answer
}

/// Adds the time to wait to a response.
pub(super) fn after(mut answer: HttpResponse, wait: Duration) -> HttpResponse {
    let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
    answer.headers_mut().insert(header::RETRY_AFTER, header::HeaderValue::from(seconds.max(1)));
    answer
}

/// Returns 405, because pages are read-only.
pub(super) fn wrong_method() -> HttpResponse {
    let mut answer = notice(StatusCode::METHOD_NOT_ALLOWED, "Not possible", "Status pages can only be read.");
    answer.headers_mut().insert(header::ALLOW, header::HeaderValue::from_static("GET, HEAD"));
    answer
}

fn notice(status: StatusCode, title: &'static str, text: &'static str) -> HttpResponse {
    // A template of two fixed texts cannot fail; if it did, the text alone would be enough.
    let html = MessagePage { style: NOTICE_STYLE, title, text }.render().unwrap_or_else(|_| text.to_owned());
    guarded(status, &NOTICE_POLICY)
        .insert_header((header::CACHE_CONTROL, "no-store"))
        .content_type("text/html; charset=utf-8")
        .body(html)
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

    #[test]
    fn the_time_to_wait_is_rounded_up() {
        let wait = |wait| {
            let answer = after(HttpResponse::Ok().finish(), wait);
            answer.headers().get(header::RETRY_AFTER).unwrap().to_str().unwrap().to_owned()
        };
        assert_eq!(wait(Duration::from_millis(1_001)), "2");
        assert_eq!(wait(Duration::from_millis(1)), "1");
        assert_eq!(wait(Duration::from_secs(900)), "900");
    }
}
