//! `GET /` on the host of the API: what this is, and where to go. It is made once, and needs no database.

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
    /// The form of the hosts of pages.
    page_host: &'a str,
    has_metrics: bool,
}

/// The page, and what it may do: be shown, with the one style that it brings.
pub(in crate::http) struct FrontPage {
    pub(in crate::http) html: Bytes,
    pub(in crate::http) policy: String,
}

impl FrontPage {
    /// Renders it, once for all requests.
    ///
    /// # Errors
    /// When the template cannot be filled.
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
