//! `GET /` on the host of the API: a short introduction with links. It is rendered once, without a database.

use actix_web::web::Bytes;
use askama::Template;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};

use crate::config::Config;

const STYLE: &str = include_str!("templates/front.css");

#[derive(Template)]
#[template(path = "front.html")]
struct FrontView<'a> {
    style: &'static str,
    version: &'static str,
    /// Pattern of the host names of status pages.
    page_host: &'a str,
    has_metrics: bool,
}

/// The introduction, and its content security policy, which only allows its inline style.
pub(in crate::http) struct FrontPage {
    pub(in crate::http) html: Bytes,
    pub(in crate::http) policy: String,
}

impl FrontPage {
    /// Renders the page, once for all requests.
    pub(in crate::http) fn of(config: &Config) -> Result<Self, askama::Error> {
        let page_host = format!("SLUG.{}", config.statuspage_host());
        let (version, has_metrics) = (env!("CARGO_PKG_VERSION"), config.metrics_listen.is_none());
        let html = FrontView { style: STYLE, version, page_host: &page_host, has_metrics }.render()?;
        let hash = STANDARD.encode(Sha256::digest(STYLE));
        let policy = format!(
            "default-src 'none'; style-src 'sha256-{hash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        );
        Ok(Self { html: html.into(), policy })
    }
}
