//! The address of a request: `http` or `https`, with a host, without user info.
//!
//! Paths and queries may be secrets (such as a webhook's token), so only the origin of an address is shown.

use std::fmt;

use hickory_proto::rr::Name;
use http::Uri;
use url::{Host, Url};

/// Maximum length of an address in characters.
const CHARACTERS_MAX: usize = 2_048;

/// An address that requests can be sent to.
#[derive(Clone, PartialEq, Eq)]
pub struct OutboundUrl {
    uri: Uri,
    origin: String,
}

impl OutboundUrl {
    /// Parses an address. The fragment is removed.
    ///
    /// # Errors
    ///
    /// When the address is not permitted; the message says what is allowed.
    pub fn parse(text: &str) -> Result<Self, OutboundUrlError> {
        if text.chars().count() > CHARACTERS_MAX {
            return Err(OutboundUrlError::TooLong);
        }
        if text.contains(|c: char| c.is_whitespace() || c.is_control()) {
            return Err(OutboundUrlError::Unreadable);
        }
        let url = Url::parse(text).map_err(|_| OutboundUrlError::Unreadable)?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(OutboundUrlError::Scheme);
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(OutboundUrlError::UserInfo);
        }
        match url.host() {
            Some(Host::Domain(name)) if Name::from_ascii(name).is_err() => {
                return Err(OutboundUrlError::Host);
            }
            None => return Err(OutboundUrlError::Host),
            Some(_) => {}
        }
        if url.port() == Some(0) {
            return Err(OutboundUrlError::Port);
        }
        let uri = url[..url::Position::AfterQuery].parse().map_err(|_| OutboundUrlError::Unreadable)?;
        Ok(Self { uri, origin: url.origin().ascii_serialization() })
    }

    /// Scheme, host and port: the part that may be shown.
    #[must_use]
    pub fn origin(&self) -> &str {
        &self.origin
    }

    pub(super) fn into_uri(self) -> Uri {
        self.uri
    }
}

impl fmt::Display for OutboundUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.origin)
    }
}

impl fmt::Debug for OutboundUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "OutboundUrl({}/…)", self.origin)
    }
}

/// The reasons why a text is not an address for requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OutboundUrlError {
    /// The text is too long.
    #[error("must have at most 2,048 characters")]
    TooLong,
    /// The text is not a URL.
    #[error("must be a complete URL, such as https://example.com/hook")]
    Unreadable,
    /// The scheme is neither `http` nor `https`.
    #[error("must begin with http:// or https://")]
    Scheme,
    /// No host, or one that cannot be a DNS name.
    #[error("must have a host: a DNS name or an IP address")]
    Host,
    /// A user or password before the host.
    #[error("must not have a user name or password before the host; a header can carry them")]
    UserInfo,
    /// The port is 0.
    #[error("must have a port from 1 to 65535, or none")]
    Port,
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("http://example.com", "http://example.com", "http://example.com/")]
    #[case("https://EXAMPLE.com:8443/a?b=c#d", "https://example.com:8443", "https://example.com:8443/a?b=c")]
    #[case("http://[::1]:81/x", "http://[::1]:81", "http://[::1]:81/x")]
    #[case("http://0x7f.1/", "http://127.0.0.1", "http://127.0.0.1/")]
    #[case(
        "https://bücher.example/ä",
        "https://xn--bcher-kva.example",
        "https://xn--bcher-kva.example/%C3%A4"
    )]
    fn an_address_is_read(#[case] text: &str, #[case] origin: &str, #[case] uri: &str) {
        let url = OutboundUrl::parse(text).unwrap();
        assert_eq!((url.origin(), url.uri.to_string().as_str()), (origin, uri));
    }

    #[rstest]
    #[case("example.com/hook", OutboundUrlError::Unreadable)]
    #[case("http://", OutboundUrlError::Unreadable)]
    #[case("http://a b/", OutboundUrlError::Unreadable)]
    #[case("http://a/\r\nHost: b", OutboundUrlError::Unreadable)]
    #[case("ftp://example.com/", OutboundUrlError::Scheme)]
    #[case("file:///etc/passwd", OutboundUrlError::Scheme)]
    #[case("http://user@example.com/", OutboundUrlError::UserInfo)]
    #[case("http://:secret@example.com/", OutboundUrlError::UserInfo)]
    #[case("http://a..b/", OutboundUrlError::Host)]
    #[case("http://example.com:0/", OutboundUrlError::Port)]
    fn a_malformed_url_is_refused(#[case] text: &str, #[case] form: OutboundUrlError) {
        assert_eq!(OutboundUrl::parse(text), Err(form));
    }

    #[test]
    fn an_address_is_at_most_2048_characters_long() {
        let of = |length: usize| format!("http://a/{}", "x".repeat(length - 9));
        assert!(OutboundUrl::parse(&of(2_048)).is_ok());
        assert_eq!(OutboundUrl::parse(&of(2_049)), Err(OutboundUrlError::TooLong));
    }

    #[test]
    fn path_and_query_are_not_shown() {
        let url = OutboundUrl::parse("https://example.com/secret?secret").unwrap();
        assert!(!format!("{url} {url:?}").contains("secret"));
    }
}
