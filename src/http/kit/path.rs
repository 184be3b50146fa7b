//! The path of a request (contract 1.1): decoded segments, which are matched against the patterns of routes.
//!
//! Exactly one trailing slash is accepted; nothing is normalised or redirected. A malformed id counts as an id that
//! does not exist.

use percent_encoding::percent_decode_str;

use crate::http::kit::error::ApiError;
use crate::http::kit::query;
use crate::id::Id;

/// The path of a request, split and percent-decoded once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestPath {
    segments: Vec<String>,
}

impl RequestPath {
    /// Parses the path of a request target.
    #[must_use]
    pub fn parse(raw: &str) -> Self {
        let raw = raw.strip_prefix('/').unwrap_or(raw);
        let raw = raw.strip_suffix('/').unwrap_or(raw);
        let decoded = raw.split('/').map(|segment| percent_decode_str(segment).decode_utf8_lossy());
        Self { segments: decoded.map(Into::into).collect() }
    }

    /// Returns true if the path belongs to this API.
    #[must_use]
    pub fn is_api(&self) -> bool {
        self.segments.first().is_some_and(|first| first == "v1")
    }

    /// Returns the path for links: without trailing slash, percent-encoded.
    #[must_use]
    pub fn canonical(&self) -> String {
        self.segments.iter().map(|segment| format!("/{}", query::encode(segment))).collect()
    }
}

/// A path pattern, such as `/v1/services/{id}`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathPattern(&'static str);

impl PathPattern {
    /// Creates a pattern; a segment in braces matches any non-empty text.
    #[must_use]
    pub const fn new(text: &'static str) -> Self {
        Self(text)
    }

    /// Returns the text of the pattern.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        self.0
    }

    /// Returns the values of the segments in braces, if the pattern matches.
    #[must_use]
    pub fn captures(self, path: &RequestPath) -> Option<PathValues> {
        let mut values = Vec::new();
        let mut given = path.segments.iter();
        for wanted in self.segments() {
            let segment = given.next()?;
            if is_parameter(wanted) && !segment.is_empty() {
                values.push(segment.clone());
            } else if wanted != segment {
                return None;
            }
        }
        given.next().is_none().then_some(PathValues(values))
    }

    /// Returns the number of segments in braces; a pattern with fewer is more specific.
    #[must_use]
    pub fn parameters(self) -> usize {
        self.segments().filter(|segment| is_parameter(segment)).count()
    }

    fn segments(self) -> impl Iterator<Item = &'static str> {
        self.0.split('/').skip(1)
    }
}

fn is_parameter(segment: &str) -> bool {
    segment.starts_with('{') && segment.ends_with('}')
}

/// The values of a pattern's segments in braces, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathValues(Vec<String>);

impl PathValues {
    /// Returns the value at this position, counted from 0.
    ///
    /// # Errors
    /// 404 if the route has no such position.
    pub fn text(&self, at: usize) -> Result<&str, ApiError> {
        self.0.get(at).map(String::as_str).ok_or(ApiError::NotFound)
    }

    /// Returns the last value.
    #[must_use]
    pub fn last(&self) -> Option<&str> {
        self.0.last().map(String::as_str)
    }

    /// Returns the id at this position, counted from 0.
    ///
    /// # Errors
    /// 404 if the text is not a well-formed id.
    pub fn id(&self, at: usize) -> Result<Id, ApiError> {
        self.text(at)?.parse().map_err(|_| ApiError::NotFound)
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    const ID: &str = "rNSJxMbDTX2uHc08AiCqo";

    /// Contract 1.1: trailing slashes, decoding, case.
    #[rstest]
    #[case("/v1/services", Some(vec![]))]
    #[case("/v1/services/", Some(vec![]))]
    #[case("/v1/%73ervices", Some(vec![]))]
    #[case("/%761/services", Some(vec![]))]
    #[case("/v1/services//", None)]
    #[case("//v1/services", None)]
    #[case("/v1//services", None)]
    #[case("/v1/Services", None)]
    #[case("/V1/services", None)]
    #[case("/v1/%2573ervices", None)]
    #[case("/v1/services/x", None)]
    #[case("/v1", None)]
    #[case("/", None)]
    fn a_plain_pattern_matches_one_path(#[case] raw: &str, #[case] values: Option<Vec<&str>>) {
        check("/v1/services", raw, values);
    }

    #[rstest]
    #[case("/v1/services/a/pause", Some(vec!["a"]))]
    #[case("/v1/services/a%2Fb/pause/", Some(vec!["a/b"]))]
    #[case("/v1/services/%ff/pause", Some(vec!["\u{fffd}"]))]
    #[case("/v1/services/%2541/pause", Some(vec!["%41"]))]
    #[case("/v1/services//pause", None)]
    #[case("/v1/services/a", None)]
    #[case("/v1/services/a/pause/b", None)]
    #[case("/v1/services/a/b/pause", None)]
    fn a_parameter_is_one_segment_decoded_once(#[case] raw: &str, #[case] values: Option<Vec<&str>>) {
        check("/v1/services/{id}/pause", raw, values);
    }

    fn check(pattern: &'static str, raw: &str, values: Option<Vec<&str>>) {
        let captured = PathPattern::new(pattern).captures(&RequestPath::parse(raw));
        let values = values.map(|values| PathValues(values.into_iter().map(str::to_owned).collect()));
        assert_eq!(captured, values);
    }

    #[test]
    fn links_show_the_canonical_path() {
        assert_eq!(RequestPath::parse("/v1/%73ervices/a%2fb/").canonical(), "/v1/services/a%2Fb");
    }

    #[rstest]
    #[case("/v1", true)]
    #[case("/v1/", true)]
    #[case("/v1/anything", true)]
    #[case("/v1//", true)]
    #[case("/v10/services", false)]
    #[case("/", false)]
    #[case("/healthz", false)]
    fn every_path_below_v1_belongs_to_the_api(#[case] raw: &str, #[case] ours: bool) {
        assert_eq!(RequestPath::parse(raw).is_api(), ours);
    }

    #[test]
    fn a_malformed_id_does_not_exist() {
        let values = PathValues(vec![ID.to_owned(), "short".to_owned()]);
        assert_eq!(values.id(0).unwrap().as_str(), ID);
        assert!(matches!(values.id(1), Err(ApiError::NotFound)));
        assert!(matches!(values.text(2), Err(ApiError::NotFound)));
    }
}
