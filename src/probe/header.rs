//! The headers that a service may configure (contract 4.2.2). The API, the compiler of checks and the probe
//! share these rules.
//!
//! Headers that decide where a request begins and ends, or that belong to the connection, are set by the probe only.
//! `Host` may be configured: virtual hosts are checked with it.

use http::HeaderName;
use http::header::HOST;
use http::uri::Authority;

use crate::probe::endpoint::Host;

/// Maximum number of headers of one service.
pub const HEADERS_MAX: usize = 50;

/// Maximum length of a header's name, in characters.
pub const NAME_MAX_LENGTH: usize = 256;

/// Reserved names; names with the prefix [`PROXY`] are reserved too.
pub const RESERVED: [&str; 8] = [
    "connection",
    "content-length",
    "http2-settings",
    "keep-alive",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// The prefix of names of headers for proxies.
pub const PROXY: &str = "proxy-";

/// The reasons why a header name is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HeaderNameRefusal {
    /// The name is not an RFC 9110 token of 1..256 characters.
    #[error("not a valid header name")]
    Form,
    /// The probe sets this header itself.
    #[error("the header cannot be set")]
    Reserved,
}

/// Parses the name of a header of the block `headers`.
///
/// # Errors
///
/// When the text is not a header name, or the name is reserved.
pub fn configured_name(text: &str) -> Result<HeaderName, HeaderNameRefusal> {
    let name = name(text).ok_or(HeaderNameRefusal::Form)?;
    if is_reserved(&name) { Err(HeaderNameRefusal::Reserved) } else { Ok(name) }
}

/// Parses the name of the header that carries an API key; `Host` is refused, since a host is not a secret.
///
/// # Errors
///
/// When the text is not a header name, or the name is reserved or `Host`.
pub fn credential_name(text: &str) -> Result<HeaderName, HeaderNameRefusal> {
    configured_name(text)
        .and_then(|name| if name == HOST { Err(HeaderNameRefusal::Reserved) } else { Ok(name) })
}

/// Parses an RFC 9110 token of 1..256 characters; `None` for any other text.
#[must_use]
pub fn name(text: &str) -> Option<HeaderName> {
    HeaderName::from_bytes(text.as_bytes()).ok().filter(|_| text.len() <= NAME_MAX_LENGTH)
}

/// Returns true for a valid `Host` value: a host name or address, an IPv6 address in brackets, and optionally a port.
#[must_use]
pub fn is_host(value: &str) -> bool {
    let Ok(authority) = value.parse::<Authority>() else { return false };
    let host = authority.host();
    let port = &value[host.len().min(value.len())..];
    let has_valid_port = match port.strip_prefix(':') {
        Some(digits) => {
            digits.bytes().all(|byte| byte.is_ascii_digit())
                && digits.parse::<u16>().is_ok_and(|port| port > 0)
        }
        None => port.is_empty(),
    };
    let is_bare_ipv6 = host.contains(':') && !host.starts_with('[');
    value.starts_with(host)
        && has_valid_port
        && !is_bare_ipv6
        && !host.is_empty()
        && Host::parse(host).is_ok()
}

fn is_reserved(name: &HeaderName) -> bool {
    RESERVED.contains(&name.as_str()) || name.as_str().starts_with(PROXY)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("X-Api-Key", None)]
    #[case("Host", None)]
    #[case("Cookie", None)]
    #[case("proxy", None)]
    #[case("Expect", None)]
    #[case("Connection", Some(HeaderNameRefusal::Reserved))]
    #[case("CONTENT-LENGTH", Some(HeaderNameRefusal::Reserved))]
    #[case("Transfer-Encoding", Some(HeaderNameRefusal::Reserved))]
    #[case("Upgrade", Some(HeaderNameRefusal::Reserved))]
    #[case("TE", Some(HeaderNameRefusal::Reserved))]
    #[case("Trailer", Some(HeaderNameRefusal::Reserved))]
    #[case("Keep-Alive", Some(HeaderNameRefusal::Reserved))]
    #[case("HTTP2-Settings", Some(HeaderNameRefusal::Reserved))]
    #[case("Proxy-Authorization", Some(HeaderNameRefusal::Reserved))]
    #[case("", Some(HeaderNameRefusal::Form))]
    #[case("X A", Some(HeaderNameRefusal::Form))]
    #[case("X:A", Some(HeaderNameRefusal::Form))]
    #[case("ü", Some(HeaderNameRefusal::Form))]
    fn a_name_is_accepted_or_refused(#[case] name: &str, #[case] refusal: Option<HeaderNameRefusal>) {
        assert_eq!(configured_name(name).err(), refusal);
    }

    #[test]
    fn a_name_has_at_most_256_characters() {
        assert!(configured_name(&"x".repeat(256)).is_ok());
        assert_eq!(configured_name(&"x".repeat(257)), Err(HeaderNameRefusal::Form));
    }

    #[test]
    fn an_api_key_is_not_a_host() {
        assert_eq!(credential_name("host"), Err(HeaderNameRefusal::Reserved));
        assert!(credential_name("X-Key").is_ok());
    }

    #[rstest]
    #[case("example.com", true)]
    #[case("example.com.", true)]
    #[case("Example.com:8443", true)]
    #[case("192.0.2.1:1", true)]
    #[case("[2001:db8::1]", true)]
    #[case("[2001:db8::1]:65535", true)]
    #[case("my_host", true)]
    #[case("", false)]
    #[case(":80", false)]
    #[case("example.com:", false)]
    #[case("example.com:0", false)]
    #[case("example.com:65536", false)]
    #[case("example.com:+80", false)]
    #[case("ada@example.com", false)]
    #[case("example.com/path", false)]
    #[case("exa mple.com", false)]
    #[case("2001:db8::1", false)]
    #[case("example.com, example.org", false)]
    #[case("a..b", false)]
    #[case("bücher.example", false)]
    fn a_host_is_a_host_with_a_port_perhaps(#[case] value: &str, #[case] expected: bool) {
        assert_eq!(is_host(value), expected);
    }
}
