//! The destination of an HTTP request, as the probe connects to it and names it: host, port, `Host` header, path.
//!
//! An [`Endpoint`] is derived once from a URL. Nothing is resolved or connected here.

use std::net::IpAddr;

use hickory_proto::rr::Name;
use http::HeaderValue;
use http::uri::PathAndQuery;
use url::Url;

/// A host, ready to be resolved or connected to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Host {
    /// A name, fully qualified: the system's search list is not applied to targets.
    Name(Name),
    /// A literal address, which is not resolved.
    Ip(IpAddr),
}

impl Host {
    /// Parses a name, an IPv4 address, or an IPv6 address with or without brackets.
    pub fn parse(text: &str) -> Result<Self, HostFormError> {
        let bare = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
        if let Ok(address) = bare.unwrap_or(text).parse::<IpAddr>() {
            return Ok(Self::Ip(address));
        }
        let mut name = Name::from_ascii(text).map_err(|_| HostFormError)?;
        name.set_fqdn(true);
        Ok(Self::Name(name))
    }

    /// The name or address as text, without brackets or trailing dot.
    #[must_use]
    pub fn to_text(&self) -> String {
        match self {
            Self::Name(name) => {
                let mut text = name.to_ascii();
                text.truncate(text.trim_end_matches('.').len());
                text
            }
            Self::Ip(address) => address.to_string(),
        }
    }
}

/// The text is neither a host name nor an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("neither a host name nor an IP address")]
pub struct HostFormError;

/// The destination of one HTTP request.
#[derive(Clone, Debug)]
pub struct Endpoint {
    /// True when the connection uses TLS.
    pub tls: bool,
    /// The host to connect to.
    pub host: Host,
    /// The port to connect to.
    pub port: u16,
    /// `Host` header (and `:authority`): the host as in the URL, with the port when it is not the scheme's own.
    pub authority: HeaderValue,
    /// Path and query, never empty, without the fragment.
    pub path: PathAndQuery,
}

impl Endpoint {
    /// Derives the endpoint of an absolute `http` or `https` URL.
    pub fn of(url: &Url) -> Result<Self, EndpointFormError> {
        let tls = match url.scheme() {
            "http" => false,
            "https" => true,
            _ => return Err(EndpointFormError::Scheme),
        };
        let host = match url.host().ok_or(EndpointFormError::Host)? {
            url::Host::Domain(name) => Host::parse(name).map_err(|_| EndpointFormError::Host)?,
            url::Host::Ipv4(address) => Host::Ip(IpAddr::V4(address)),
            url::Host::Ipv6(address) => Host::Ip(IpAddr::V6(address)),
        };
        let text = url.host_str().unwrap_or_default();
        let authority = match url.port() {
            Some(port) => HeaderValue::try_from(format!("{text}:{port}")),
            None => HeaderValue::try_from(text),
        };
        let path = PathAndQuery::try_from(&url[url::Position::BeforePath..url::Position::AfterQuery]);
        Ok(Self {
            tls,
            host,
            port: url.port().unwrap_or(if tls { 443 } else { 80 }),
            authority: authority.map_err(|_| EndpointFormError::Host)?,
            path: path.map_err(|_| EndpointFormError::Path)?,
        })
    }
}

/// The reasons why a URL names no endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EndpointFormError {
    /// The scheme is neither `http` nor `https`.
    #[error("the scheme is neither http nor https")]
    Scheme,
    /// No host, or one that cannot be a DNS name.
    #[error("the host is not a valid name or address")]
    Host,
    /// The path cannot be sent in a request line.
    #[error("the path cannot be sent")]
    Path,
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("http://example.com", false, "example.com", 80, "example.com", "/")]
    #[case("https://example.com/a?b=c#d", true, "example.com", 443, "example.com", "/a?b=c")]
    #[case("https://EXAMPLE.com:8443/", true, "example.com", 8443, "example.com:8443", "/")]
    #[case("http://[2001:db8::1]:81?q", false, "2001:db8::1", 81, "[2001:db8::1]:81", "/?q")]
    #[case("http://192.0.2.1/ä\r\n", false, "192.0.2.1", 80, "192.0.2.1", "/%C3%A4")]
    #[case("http://0x7f.1/", false, "127.0.0.1", 80, "127.0.0.1", "/")]
    #[case("http://bücher.example./", false, "xn--bcher-kva.example", 80, "xn--bcher-kva.example.", "/")]
    fn a_url_becomes_an_endpoint(
        #[case] url: &str,
        #[case] tls: bool,
        #[case] host: &str,
        #[case] port: u16,
        #[case] authority: &str,
        #[case] path: &str,
    ) {
        let endpoint = Endpoint::of(&Url::parse(url).unwrap()).unwrap();
        assert_eq!((endpoint.tls, endpoint.host.to_text().as_str(), endpoint.port), (tls, host, port));
        assert_eq!(endpoint.authority, authority);
        assert_eq!(endpoint.path, path);
    }

    #[rstest]
    #[case("file:///etc/passwd", EndpointFormError::Scheme)]
    #[case("gopher://example.com/", EndpointFormError::Scheme)]
    #[case("javascript:alert(1)", EndpointFormError::Scheme)]
    fn other_schemes_have_no_endpoint(#[case] url: &str, #[case] form: EndpointFormError) {
        assert_eq!(Endpoint::of(&Url::parse(url).unwrap()).unwrap_err(), form);
    }
}
