//! The format of a report: the parameter `format`, else the first supported type in `Accept`.

use actix_web::http::header::{self, HeaderMap};

use crate::http::kit::field_errors::FieldErrors;
use crate::http::kit::query::QueryString;
use crate::http::kit::rule::FieldRule;

/// The format of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReportFormat {
    Json,
    Csv,
    Html,
}

impl ReportFormat {
    pub(super) const WORDS: [&'static str; 3] = ["json", "csv", "html"];

    /// Reads the requested format, with JSON as the default.
    pub(super) fn read(query: &QueryString, headers: &HeaderMap, errors: &mut FieldErrors) -> Self {
        match query.narrowing_value("format", errors) {
            Some("json") => Self::Json,
            Some("csv") => Self::Csv,
            Some("html") => Self::Html,
            Some(_) => {
                errors.add("format", FieldRule::unknown_word(&Self::WORDS));
                Self::Json
            }
            None => Self::accepted(headers.get(header::ACCEPT).and_then(|value| value.to_str().ok())),
        }
    }

    fn accepted(accept: Option<&str>) -> Self {
        let media_types = accept.unwrap_or_default().split(',');
        let known = media_types.filter_map(|media| match media.split(';').next()?.trim() {
            "application/json" | "application/*" | "*/*" => Some(Self::Json),
            "text/csv" => Some(Self::Csv),
            "text/html" | "text/*" => Some(Self::Html),
            _ => None,
        });
        known.into_iter().next().unwrap_or(Self::Json)
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(None, ReportFormat::Json)]
    #[case(Some("*/*"), ReportFormat::Json)]
    #[case(Some("application/json, text/html"), ReportFormat::Json)]
    #[case(Some("text/html,application/xhtml+xml,*/*;q=0.8"), ReportFormat::Html)]
    #[case(Some("text/csv; header=present"), ReportFormat::Csv)]
    #[case(Some("image/png"), ReportFormat::Json)]
    fn the_first_known_media_type_decides(#[case] accept: Option<&str>, #[case] format: ReportFormat) {
        assert_eq!(ReportFormat::accepted(accept), format);
    }
}
