//! A request of a visitor: its host selects the page, its path a part of the page.
//!
//! The host is taken from the target of the request, or else from its only `Host` header. Other headers about hosts are
//! ignored.

use std::cell::Cell;
use std::fmt;
use std::net::IpAddr;
use std::rc::Rc;

use actix_web::HttpRequest;
use actix_web::dev::Payload;
use actix_web::http::Method;
use actix_web::http::header::{ACCEPT_LANGUAGE, HeaderMap, ORIGIN};

use crate::clock::Timestamp;
use crate::model::domain_names::DomainNames;
use crate::model::language::choose;
use crate::pages::page_host::PageHost;
use crate::pages::snapshot::PageLanguages;

/// A request to a host that may belong to a status page.
#[derive(Clone, Debug)]
pub(super) struct PageVisit {
    pub(super) host: PageHost,
    pub(super) method: Method,
    /// Path of the request, as sent.
    pub(super) path: String,
    /// Query string as sent; empty if there is none.
    pub(super) query: String,
    pub(super) headers: HeaderMap,
    /// The visitor's address, as far as it is known behind trusted proxies.
    pub(super) client: IpAddr,
    /// True if this server ended the TLS connection of the visitor.
    has_tls: bool,
    /// The body of a request that sends a form; otherwise empty.
    pub(super) form: FormBody,
    /// The time that an export of the page shows; `None` for visitors.
    pub(super) exported_at: Option<Timestamp>,
}

/// The body of a form, which is read once.
#[derive(Clone, Default)]
pub(super) struct FormBody(Rc<Cell<Option<Payload>>>);

impl FormBody {
    pub(super) fn set(&self, payload: Payload) {
        self.0.set(Some(payload));
    }

    /// Returns the body; empty if it was taken before.
    pub(super) fn take(&self) -> Payload {
        self.0.take().unwrap_or(Payload::None)
    }
}

impl fmt::Debug for FormBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FormBody(..)")
    }
}

/// Path prefixes that are served on every host without a page: for load balancers, Prometheus, clients of the API, jobs
/// that send pings to an internal name, and proxies that ask whether a host needs a certificate. The files of pages are among
/// them, because the API names them.
const API_PATHS: [&str; 9] =
    ["/healthz", "/readyz", "/metrics", "/v1", "/openapi.json", "/docs", "/ping", "/tls", "/assets"];

impl PageVisit {
    /// Returns true if the visitor's browser sends the request over HTTPS, as far as the request tells.
    pub(super) fn is_secure(&self) -> bool {
        let origin = self.headers.get(ORIGIN).and_then(|origin| origin.to_str().ok());
        self.has_tls || origin.is_some_and(|origin| origin.starts_with("https://"))
    }

    /// Returns true for a path that is served on every host without a page.
    pub(super) fn is_api_path(&self) -> bool {
        let is_within = |path: &&str| {
            let rest = self.path.strip_prefix(*path);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        API_PATHS.iter().any(is_within)
    }

    /// Reads a request for this host; `None` if the request cannot be for a page of any owner.
    pub(super) fn read(
        request: &HttpRequest,
        host: &str,
        client: IpAddr,
        names: &DomainNames,
    ) -> Option<Self> {
        let host = PageHost::read(host, names)?;
        Some(Self {
            host,
            method: request.method().clone(),
            path: request.uri().path().to_owned(),
            query: request.uri().query().unwrap_or_default().to_owned(),
            headers: request.headers().clone(),
            client,
            has_tls: request.app_config().secure(),
            form: FormBody::default(),
            exported_at: None,
        })
    }

    /// Returns the same request, for an export that shows this time.
    pub(super) fn exported_at(&self, time: Timestamp) -> Self {
        Self { exported_at: Some(time), ..self.clone() }
    }

    /// Creates the request of an export in this process for a part of a page, which shows this time.
    pub(super) fn of_export(slug: &str, target: &str, exported_at: Timestamp) -> Self {
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        Self {
            host: PageHost::Slug(slug.to_owned()),
            method: Method::GET,
            path: path.to_owned(),
            query: query.to_owned(),
            headers: HeaderMap::new(),
            client: IpAddr::from([127, 0, 0, 1]),
            has_tls: false,
            form: FormBody::default(),
            exported_at: Some(exported_at),
        }
    }

    /// Returns the first language of `Accept-Language`, for texts that need no page; English without one.
    pub(super) fn preferred_language(&self) -> String {
        let text = self.accept_language();
        let first = text.split([',', ';']).next().unwrap_or_default().trim().to_owned();
        let is_tag =
            |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
        if is_tag(&first) { first } else { "en".to_owned() }
    }

    /// Returns the value of `Accept-Language`; empty if it is not readable.
    fn accept_language(&self) -> String {
        let lines = self.headers.get_all(ACCEPT_LANGUAGE).map(|line| line.to_str());
        lines.collect::<Result<Vec<_>, _>>().map(|lines| lines.join(",")).unwrap_or_default()
    }

    /// Returns the language of the visitor: the one in the path, or else the one that `Accept-Language` prefers among those
    /// of the page.
    pub(super) fn language(&self, in_path: Option<&str>, languages: &PageLanguages) -> VisitLanguage {
        if let Some(locale) = in_path {
            return VisitLanguage { locale: locale.to_owned(), is_negotiated: false };
        }
        let chosen = choose(&self.accept_language(), &languages.supported, &languages.default);
        let locale = chosen.unwrap_or_else(|| languages.default.clone());
        VisitLanguage { locale, is_negotiated: true }
    }
}

/// The language in which a visitor sees a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct VisitLanguage {
    pub(super) locale: String,
    /// True if the language follows from `Accept-Language`, false if it follows from the URL.
    pub(super) is_negotiated: bool,
}

/// A path of a page, divided into language and rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LanguagePath<'a> {
    /// The path does not name a language. Holds the whole path.
    Negotiated(&'a str),
    /// The path names a language, such as `/de/…`. Holds the language in the page's spelling, and the rest, which is empty
    /// for `/de`.
    Explicit { locale: &'a str, rest: &'a str },
}

impl<'a> LanguagePath<'a> {
    /// Reads a path of a page that offers these languages.
    pub(super) fn read(path: &'a str, languages: &'a PageLanguages) -> Self {
        let below = path.strip_prefix('/').unwrap_or(path);
        let (first, rest) = below.find('/').map_or((below, ""), |at| below.split_at(at));
        let named = languages.supported.iter().find(|locale| *locale == first);
        named.map_or(Self::Negotiated(path), |locale| Self::Explicit { locale, rest })
    }
}

#[cfg(test)]
mod tests {
    use actix_web::test::TestRequest;
    use rstest::rstest;

    use super::*;

    fn visit(host: &str, path: &str) -> Option<PageVisit> {
        let names = DomainNames {
            pages: "status.example.net".into(),
            edge: "edge.example.net".into(),
            api: vec!["api.status.example.net".into(), "ping.status.example.net".into()],
            txt_label: "_verify".into(),
        };
        let client = IpAddr::from([192, 0, 2, 1]);
        PageVisit::read(&TestRequest::with_uri(path).to_http_request(), host, client, &names)
    }

    #[rstest]
    #[case("shop.status.example.net", Some("shop"))]
    #[case("a.shop.status.example.net", Some("a.shop"))]
    #[case("status.shop.example", Some("custom status.shop.example"))]
    #[case("api.status.example.net", None)]
    #[case("ping.status.example.net", None)]
    #[case("status.example.net", None)]
    #[case("edge.example.net", None)]
    #[case("localhost", None)]
    #[case("127.0.0.1", None)]
    #[case("::1", None)]
    #[case("watchkeeper", None)]
    #[case("my_host.example.net", None)]
    fn the_host_header_selects_the_page(#[case] host: &str, #[case] expected: Option<&str>) {
        let found = visit(host, "/").map(|visit| match visit.host {
            PageHost::Slug(slug) => slug,
            PageHost::Custom(name) => format!("custom {name}"),
        });
        assert_eq!(found.as_deref(), expected);
    }

    #[rstest]
    #[case("/", LanguagePath::Negotiated("/"))]
    #[case("/history/2026-11", LanguagePath::Negotiated("/history/2026-11"))]
    #[case("/de", LanguagePath::Explicit { locale: "de", rest: "" })]
    #[case("/de/", LanguagePath::Explicit { locale: "de", rest: "/" })]
    #[case("/de/history/2026-11", LanguagePath::Explicit { locale: "de", rest: "/history/2026-11" })]
    #[case("/fr/", LanguagePath::Negotiated("/fr/"))]
    #[case("/DE/", LanguagePath::Negotiated("/DE/"))]
    fn a_path_can_name_a_language(#[case] path: &str, #[case] expected: LanguagePath<'_>) {
        let languages = PageLanguages { supported: vec!["en".into(), "de".into()], default: "en".into() };
        assert_eq!(LanguagePath::read(path, &languages), expected);
    }

    #[rstest]
    #[case("/metrics", true)]
    #[case("/v1/services", true)]
    #[case("/assets/abc", true)]
    #[case("/assetsx", false)]
    #[case("/", false)]
    fn some_paths_are_served_on_hosts_without_a_page(#[case] path: &str, #[case] is_served: bool) {
        assert_eq!(visit("shop.status.example.net", path).unwrap().is_api_path(), is_served);
    }

    #[test]
    fn the_origin_of_a_form_tells_whether_the_browser_uses_https() {
        let mut found = visit("shop.status.example.net", "/").unwrap();
        assert!(!found.is_secure());
        for (origin, is_secure) in [("https://shop.status.example.net", true), ("http://a.example", false)] {
            found.headers.insert(ORIGIN, origin.parse().unwrap());
            assert_eq!(found.is_secure(), is_secure, "{origin}");
        }
    }
}
