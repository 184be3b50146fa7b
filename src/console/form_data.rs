//! The fields of a form, or of a query string, in the order in which they were sent.

use std::time::Duration;

use actix_web::dev::Payload;
use actix_web::http::header::{self, HeaderMap};
use futures_util::StreamExt as _;
use tokio::time::timeout;
use url::form_urlencoded;

const MEDIA_TYPE: &str = "application/x-www-form-urlencoded";
/// Maximum length of a form in bytes: some texts of 10,000 characters in several languages, encoded.
const BYTES_MAX: usize = 512 * 1_024;
/// Time within which a form must be complete.
const TIME_MAX: Duration = Duration::from_secs(30);

/// Why a form is not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FormError {
    /// It is incomplete, or something else than a form.
    Malformed,
    /// It is too large.
    TooLarge,
    /// It did not arrive in time.
    TooSlow,
}

/// The fields of a form. Its debug output shows no values, which may be passwords.
#[derive(Clone, Default, PartialEq, Eq)]
pub(super) struct FormData(Vec<FormEntry>);

/// A field of a form.
#[derive(Clone, PartialEq, Eq)]
struct FormEntry {
    name: String,
    value: String,
}

impl std::fmt::Debug for FormData {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.0.iter().map(|entry| &entry.name)).finish()
    }
}

impl FormData {
    /// Parses encoded fields.
    pub(super) fn parse(text: &[u8]) -> Self {
        let pairs = form_urlencoded::parse(text);
        Self(pairs.map(|(name, value)| FormEntry { name: name.into(), value: value.into() }).collect())
    }

    /// Reads the body of a request.
    ///
    /// # Errors
    /// When it is not a form, too large, too slow or incomplete.
    pub(super) async fn read(headers: &HeaderMap, payload: Payload) -> Result<Self, FormError> {
        let declared = headers.get(header::CONTENT_TYPE).and_then(|declared| declared.to_str().ok());
        let media = declared.and_then(|declared| declared.split(';').next()).unwrap_or_default().trim();
        if !media.eq_ignore_ascii_case(MEDIA_TYPE) {
            return Err(FormError::Malformed);
        }
        let body = timeout(TIME_MAX, read_body(payload)).await.map_err(|_| FormError::TooSlow)??;
        Ok(Self::parse(&body))
    }

    /// Returns the value of a field, the last one if there are several, without blanks around it; empty if it is missing.
    pub(super) fn text(&self, name: &str) -> &str {
        self.exact(name).trim()
    }

    /// Returns the value of a field as it was entered; empty if it is missing.
    pub(super) fn exact(&self, name: &str) -> &str {
        self.0.iter().rev().find(|entry| entry.name == name).map_or("", |entry| entry.value.as_str())
    }

    /// Returns true if the field was sent.
    pub(super) fn has(&self, name: &str) -> bool {
        self.0.iter().any(|entry| entry.name == name)
    }

    /// Returns all values of a field that are not empty.
    pub(super) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        let named = self.0.iter().filter(move |entry| entry.name == name);
        named.map(|entry| entry.value.trim()).filter(|value| !value.is_empty())
    }

    /// Adds a field at the end, unless it is empty.
    pub(super) fn push(&mut self, name: &str, value: &str) {
        if !value.is_empty() {
            self.0.push(FormEntry { name: name.to_owned(), value: value.to_owned() });
        }
    }

    /// Returns true if something was entered into the field, or into one below it.
    pub(super) fn has_content(&self, path: &str) -> bool {
        self.below(path).any(|entry| !entry.value.trim().is_empty())
    }

    /// Returns the number of rows of a list: fields of its rows are named `path.0.…`, `path.1.…`.
    pub(super) fn rows(&self, path: &str) -> usize {
        let index = |entry: &FormEntry| entry.name.get(path.len() + 1..)?.split('.').next()?.parse().ok();
        self.below(path).filter_map(index).max().map_or(0, |last: usize| last.saturating_add(1))
    }

    /// Returns true if another form has the same content in the field, or in those below it. How lines end, and in which order
    /// the fields are, makes no difference.
    pub(super) fn has_same(&self, other: &Self, path: &str) -> bool {
        let content = |form: &Self| {
            let filled = form.below(path).filter(|entry| !entry.value.is_empty());
            let mut content: Vec<String> =
                filled.map(|entry| format!("{}={}", entry.name, entry.value.replace("\r\n", "\n"))).collect();
            content.sort_by(|one, other| one.split('=').next().cmp(&other.split('=').next()));
            content
        };
        content(self) == content(other)
    }

    fn below<'a>(&'a self, path: &'a str) -> impl Iterator<Item = &'a FormEntry> {
        let is_below = move |name: &str| {
            name.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        self.0.iter().filter(move |entry| is_below(&entry.name))
    }

    /// Returns the fields with other names, without those for which `renamed` returns `None`.
    pub(super) fn with_names(&self, mut renamed: impl FnMut(&str) -> Option<String>) -> Self {
        let kept = self
            .0
            .iter()
            .filter_map(|entry| Some(FormEntry { name: renamed(&entry.name)?, value: entry.value.clone() }));
        Self(kept.collect())
    }

    /// Calls `receive` with the name and the value of each field.
    pub(super) fn each<'a>(&'a self, mut receive: impl FnMut(&'a str, &'a str)) {
        self.0.iter().for_each(|entry| receive(&entry.name, &entry.value));
    }

    /// Returns the fields encoded again, with other values for one of them: without it if `value` is empty.
    pub(super) fn encoded_with(&self, name: &str, value: &str) -> String {
        let mut encoded = form_urlencoded::Serializer::new(String::new());
        for entry in self.0.iter().filter(|entry| entry.name != name && !entry.value.is_empty()) {
            encoded.append_pair(&entry.name, &entry.value);
        }
        if !value.is_empty() {
            encoded.append_pair(name, value);
        }
        encoded.finish()
    }
}

async fn read_body(mut payload: Payload) -> Result<Vec<u8>, FormError> {
    let mut body = Vec::new();
    while let Some(chunk) = payload.next().await {
        let chunk = chunk.map_err(|_| FormError::Malformed)?;
        if body.len() + chunk.len() > BYTES_MAX {
            return Err(FormError::TooLarge);
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

#[cfg(test)]
mod tests {
    use actix_web::error::PayloadError;
    use actix_web::http::header::HeaderValue;
    use bytes::Bytes;
    use futures_util::{Stream, stream};
    use rstest::rstest;

    use super::*;

    fn headers(media: &str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_str(media).unwrap());
        headers
    }

    /// A body that arrives in these pieces.
    fn streamed(pieces: impl Stream<Item = Result<Bytes, PayloadError>> + 'static) -> Payload {
        Payload::Stream { payload: Box::pin(pieces) }
    }

    #[test]
    fn fields_are_read_in_their_order() {
        let form = FormData::parse(b"tag=a&tag=+&tag=b%26&name=+Shop+&empty=");
        assert_eq!(form.all("tag").collect::<Vec<_>>(), ["a", "b&"]);
        assert_eq!((form.text("name"), form.exact("name"), form.text("other")), ("Shop", " Shop ", ""));
        assert!(form.has("empty") && !form.has("other"));
        assert_eq!(form.encoded_with("name", "x y"), "tag=a&tag=+&tag=b%26&name=x+y");
        assert_eq!(form.encoded_with("tag", ""), "name=+Shop+");
        assert_eq!(format!("{form:?}"), r#"["tag", "tag", "tag", "name", "empty"]"#);
    }

    #[rstest]
    #[case("a.0=x&b=1&a.1=y", "a.1=y&a.0=x&b=2", true)]
    #[case("a=x%0D%0Ay", "a=x%0Ay", true)]
    #[case("a=x&a=", "a=x", true)]
    #[case("a=x&a=y", "a=y&a=x", false)]
    #[case("a.0=x", "a.1=x", false)]
    fn forms_are_compared(#[case] one: &str, #[case] other: &str, #[case] expected: bool) {
        let [one, other] = [one, other].map(|form| FormData::parse(form.as_bytes()));
        assert_eq!(one.has_same(&other, "a"), expected);
    }

    #[rstest]
    #[case(MEDIA_TYPE, "a".repeat(BYTES_MAX + 1), Err(FormError::TooLarge))]
    #[case("Application/X-WWW-form-urlencoded; charset=utf-8", "a=1".into(), Ok(()))]
    #[case("application/json", "{}".into(), Err(FormError::Malformed))]
    #[tokio::test]
    async fn a_body_is_a_form_of_limited_size(
        #[case] media: &str,
        #[case] body: String,
        #[case] expected: Result<(), FormError>,
    ) {
        let sent = streamed(stream::iter([Ok(Bytes::from(body))]));
        assert_eq!(FormData::read(&headers(media), sent).await.map(|_| ()), expected);
    }

    #[tokio::test(start_paused = true)]
    async fn a_form_that_does_not_end_is_given_up() {
        let sent = streamed(stream::pending());
        assert_eq!(FormData::read(&headers(MEDIA_TYPE), sent).await, Err(FormError::TooSlow));
    }
}
