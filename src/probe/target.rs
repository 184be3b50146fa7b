//! Targets: the forms of contract 4.2.1, parsed by the same code for validation and for compiling checks.
//!
//! Nothing is resolved or contacted here, and no address is refused: that is the egress gate's task when the check
//! runs.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use hickory_proto::rr::Name;
use url::Url;

use crate::model::check::CheckType;
use crate::probe::endpoint::{Endpoint, Host};

/// Maximum length of a URL, and of the text of a manual service, in characters.
const MAX_LENGTH: usize = 2048;

/// Maximum length of a host name in characters, without trailing dot.
const MAX_NAME_LENGTH: usize = 253;

/// Default port of an `ssl` target.
const HTTPS_PORT: u16 = 443;

/// A target, in the form of its type.
#[derive(Clone, Debug)]
pub enum Target {
    /// The URL of an `http` check.
    Url(Box<Url>),
    /// Host and port of a `tcp` or `ssl` check; for `ssl` the default port is filled in.
    HostPort(Host, u16),
    /// The name that a `dns` check asks for.
    Name(Name),
    /// Name or address of an `icmp` check.
    Host(Host),
    /// Free text of a type that is not probed.
    Unused,
}

/// The target does not have the form of its check type. The text of the error is shown to clients (contract
/// 5.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TargetFormError {
    /// The target of an `http` check is not an absolute URL.
    #[error("Enter an absolute http or https URL.")]
    Url,
    /// The target of a `tcp` check is not a host and a port.
    #[error("Enter host:port.")]
    HostPort,
    /// The target of a `dns` or `ssl` check is not a host name.
    #[error("Enter a host name.")]
    HostName,
    /// The target of an `icmp` check is neither a host name nor an address.
    #[error("Enter a host name or an IP address.")]
    HostOrAddress,
    /// The text of a `manual` or `heartbeat` service is too long.
    #[error("Use at most 2048 characters.")]
    Length,
}

/// Parses a target in the form of its type.
pub fn parse_target(check_type: CheckType, text: &str) -> Result<Target, TargetFormError> {
    match check_type {
        CheckType::Http => url(text).ok_or(TargetFormError::Url),
        CheckType::Tcp => host_port(text, None).ok_or(TargetFormError::HostPort),
        CheckType::Dns => name(text).map(Target::Name).ok_or(TargetFormError::HostName),
        CheckType::Icmp => bare_host(text).map(Target::Host).ok_or(TargetFormError::HostOrAddress),
        CheckType::Ssl => host_port(text, Some(HTTPS_PORT)).ok_or(TargetFormError::HostName),
        CheckType::Manual | CheckType::Heartbeat if text.chars().count() <= MAX_LENGTH => Ok(Target::Unused),
        CheckType::Manual | CheckType::Heartbeat => Err(TargetFormError::Length),
    }
}

/// Returns true if checks of two targets go to the same place: for URLs the same scheme, host and port, for all others the same
/// target.
#[must_use]
pub fn is_same_place(check_type: CheckType, one: &str, other: &str) -> bool {
    match (parse_target(check_type, one), parse_target(check_type, other)) {
        (Ok(Target::Url(one)), Ok(Target::Url(other))) => one.origin() == other.origin(),
        _ => one == other,
    }
}

/// Parses a URL. The URL parser accepts more than the contract (missing slashes, surrounding blanks, an empty
/// authority), so scheme, blanks and authority are checked first.
fn url(text: &str) -> Option<Target> {
    let (scheme, rest) = text.split_once("://")?;
    let is_web = scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https");
    let authority = rest.split(['/', '\\', '?', '#']).next()?;
    let is_plain = !text.contains(|character: char| character.is_control()) && text.trim() == text;
    if !is_web || !is_plain || authority.is_empty() || authority.contains('@') {
        return None;
    }
    if text.chars().count() > MAX_LENGTH {
        return None;
    }
    let url = Url::parse(text).ok()?;
    let endpoint = Endpoint::of(&url).ok()?;
    (endpoint.port != 0).then(|| Target::Url(Box::new(url)))
}

fn host_port(text: &str, default_port: Option<u16>) -> Option<Target> {
    let (host, port) = match text.strip_prefix('[') {
        Some(rest) => {
            let (address, rest) = rest.split_once(']')?;
            let address: Ipv6Addr = address.parse().ok()?;
            let port = match rest.strip_prefix(':') {
                Some(port) => Some(port),
                None if rest.is_empty() => None,
                None => return None,
            };
            (Host::Ip(IpAddr::V6(address)), port)
        }
        None => {
            let (host, port) = match text.split_once(':') {
                Some((host, port)) => (host, Some(port)),
                None => (text, None),
            };
            (named_host(host)?, port)
        }
    };
    let port = match port {
        Some(port) => port_number(port)?,
        None => default_port?,
    };
    Some(Target::HostPort(host, port))
}

/// Parses a port: digits only, 1..65535.
fn port_number(text: &str) -> Option<u16> {
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
    let port = text.parse().ok().filter(|_| is_number)?;
    (port != 0).then_some(port)
}

/// Parses a name, an IPv4 address, or an IPv6 address without brackets.
fn bare_host(text: &str) -> Option<Host> {
    match text.parse::<Ipv6Addr>() {
        Ok(address) => Some(Host::Ip(IpAddr::V6(address))),
        Err(_) => named_host(text),
    }
}

/// Parses a name or an IPv4 address. No name ends in a number: `300.1.1.1` is a mistyped address.
fn named_host(text: &str) -> Option<Host> {
    if let Ok(address) = text.parse::<Ipv4Addr>() {
        return Some(Host::Ip(IpAddr::V4(address)));
    }
    let last_label = text.strip_suffix('.').unwrap_or(text).rsplit('.').next()?;
    let is_number = last_label.bytes().all(|byte| byte.is_ascii_digit());
    (!is_number).then(|| name(text)).flatten().map(Host::Name)
}

/// Parses labels of 1..63 letters, digits, `-` and `_`; at most 253 characters; a trailing dot is allowed.
fn name(text: &str) -> Option<Name> {
    let bare = text.strip_suffix('.').unwrap_or(text);
    let is_label = |label: &str| {
        let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        (1..=63).contains(&label.len()) && label.bytes().all(is_allowed)
    };
    if bare.len() > MAX_NAME_LENGTH || !bare.split('.').all(is_label) {
        return None;
    }
    let mut name = Name::from_ascii(bare).ok()?;
    name.set_fqdn(true);
    Some(name)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    /// The target as it will be used, or the text that the client sees.
    fn read(check_type: CheckType, text: &str) -> String {
        match parse_target(check_type, text) {
            Ok(Target::Url(url)) => url.to_string(),
            Ok(Target::HostPort(Host::Ip(address), port)) => {
                std::net::SocketAddr::new(address, port).to_string()
            }
            Ok(Target::HostPort(Host::Name(name), port)) => format!("{name}:{port}"),
            Ok(Target::Name(name) | Target::Host(Host::Name(name))) => name.to_string(),
            Ok(Target::Host(Host::Ip(address))) => address.to_string(),
            Ok(Target::Unused) => "unused".into(),
            Err(form) => form.to_string(),
        }
    }

    /// The forms of a target for each check type (contract 4.2.1).
    #[rstest]
    #[case("http://example.com", "http://example.com/")]
    #[case("HTTPS://Example.com:8443/a?b#c", "https://example.com:8443/a?b#c")]
    #[case("http://127.0.0.1:8080/health", "http://127.0.0.1:8080/health")]
    #[case("http://[::1]/", "http://[::1]/")]
    #[case("https://bücher.example/", "https://xn--bcher-kva.example/")]
    #[case("http://a_b.example/", "http://a_b.example/")]
    #[case("http://example.com/a b", "http://example.com/a%20b")]
    fn urls_are_read(#[case] text: &str, #[case] expected: &str) {
        assert_eq!(read(CheckType::Http, text), expected);
    }

    #[rstest]
    #[case("https://a.example/x", "HTTPS://A.example:443/y?z", true)]
    #[case("https://a.example/", "http://a.example/", false)]
    #[case("https://a.example/", "https://a.example:8443/", false)]
    #[case("https://a.example/", "https://b.a.example/", false)]
    #[case("https://a.example/", "https://a.example.evil.example/", false)]
    #[case("http://127.0.0.1:80/", "http://127.0.0.1/", true)]
    fn urls_of_one_origin_are_the_same_place(#[case] one: &str, #[case] other: &str, #[case] same: bool) {
        assert_eq!(is_same_place(CheckType::Http, one, other), same);
    }

    #[rstest]
    #[case("")]
    #[case("example.com")]
    #[case("//example.com")]
    #[case("/health")]
    #[case("http:example.com")]
    #[case("http:/example.com")]
    #[case("http://")]
    #[case("http:///health")]
    #[case("http://?x")]
    #[case("http://:80/")]
    #[case("http://\\example.com")]
    #[case("ftp://example.com/")]
    #[case("file:///etc/passwd")]
    #[case("javascript://example.com/%0aalert(1)")]
    #[case("http://user@example.com/")]
    #[case("http://user:pass@example.com/")]
    #[case("http://@example.com/")]
    #[case("http://:@example.com/")]
    #[case(" http://example.com")]
    #[case("http://example.com ")]
    #[case("http://exam\tple.com/")]
    #[case("http://example.com/\r\nX: y")]
    #[case("http://example.com/\0")]
    #[case("http://example.com:0/")]
    #[case("http://example.com:65536/")]
    #[case("http://example.com:http/")]
    #[case("http://exa mple.com/")]
    #[case("http://300.1.1.1/")]
    #[case("http://[::1/")]
    #[case("http://a..b/")]
    fn other_texts_are_no_urls(#[case] text: &str) {
        assert_eq!(read(CheckType::Http, text), "Enter an absolute http or https URL.");
    }

    #[test]
    fn a_url_has_at_most_2048_characters() {
        let url = |length: usize| format!("http://example.com/{}", "ä".repeat(length - 19));
        assert!(parse_target(CheckType::Http, &url(2048)).is_ok());
        assert_eq!(parse_target(CheckType::Http, &url(2049)).unwrap_err(), TargetFormError::Url);
    }

    #[rstest]
    #[case("example.com:443", "example.com.:443")]
    #[case("example.com.:1", "example.com.:1")]
    #[case("localhost:65535", "localhost.:65535")]
    #[case("192.0.2.1:22", "192.0.2.1:22")]
    #[case("[2001:db8::1]:443", "[2001:db8::1]:443")]
    #[case("a_b-c.example:80", "a_b-c.example.:80")]
    #[case("", "Enter host:port.")]
    #[case("example.com", "Enter host:port.")]
    #[case("example.com:", "Enter host:port.")]
    #[case("example.com:0", "Enter host:port.")]
    #[case("example.com:65536", "Enter host:port.")]
    #[case("example.com:+80", "Enter host:port.")]
    #[case("example.com: 80", "Enter host:port.")]
    #[case(":80", "Enter host:port.")]
    #[case("2001:db8::1:443", "Enter host:port.")]
    #[case("[2001:db8::1]", "Enter host:port.")]
    #[case("[2001:db8::1]443", "Enter host:port.")]
    #[case("[192.0.2.1]:80", "Enter host:port.")]
    #[case("[example.com]:80", "Enter host:port.")]
    #[case("300.1.1.1:80", "Enter host:port.")]
    #[case("http://example.com:80", "Enter host:port.")]
    #[case("user@example.com:80", "Enter host:port.")]
    #[case("exämple.com:80", "Enter host:port.")]
    fn tcp_targets_are_host_and_port(#[case] text: &str, #[case] expected: &str) {
        assert_eq!(read(CheckType::Tcp, text), expected);
    }

    #[rstest]
    #[case("example.com", "example.com.")]
    #[case("example.com.", "example.com.")]
    #[case("_dmarc.example.com", "_dmarc.example.com.")]
    #[case("com", "com.")]
    #[case("1.0.0.127.in-addr.arpa", "1.0.0.127.in-addr.arpa.")]
    #[case("", "Enter a host name.")]
    #[case(".", "Enter a host name.")]
    #[case("example..com", "Enter a host name.")]
    #[case(".example.com", "Enter a host name.")]
    #[case("example.com..", "Enter a host name.")]
    #[case("example.com:53", "Enter a host name.")]
    #[case("dns://example.com", "Enter a host name.")]
    #[case("exa mple.com", "Enter a host name.")]
    #[case("*.example.com", "Enter a host name.")]
    #[case("ex\\097mple.com", "Enter a host name.")]
    #[case("2001:db8::1", "Enter a host name.")]
    fn dns_targets_are_names(#[case] text: &str, #[case] expected: &str) {
        assert_eq!(read(CheckType::Dns, text), expected);
    }

    #[test]
    fn names_and_labels_have_bounded_lengths() {
        let has = |text: &str| parse_target(CheckType::Dns, text).is_ok();
        let label = "a".repeat(63);
        let name = [label.as_str(); 3].join(".") + "." + &"b".repeat(61);
        assert_eq!(name.len(), 253);
        assert!(has(&label) && has(&name) && has(&format!("{name}.")));
        assert!(!has(&format!("{label}a")) && !has(&format!("{name}b")));
    }

    #[rstest]
    #[case("example.com", "example.com.")]
    #[case("192.0.2.1", "192.0.2.1")]
    #[case("2001:db8::1", "2001:db8::1")]
    #[case("::ffff:192.0.2.1", "::ffff:192.0.2.1")]
    #[case("[2001:db8::1]", "Enter a host name or an IP address.")]
    #[case("fe80::1%eth0", "Enter a host name or an IP address.")]
    #[case("192.0.2.1:80", "Enter a host name or an IP address.")]
    #[case("192.0.2.256", "Enter a host name or an IP address.")]
    #[case("192.0.2.0/24", "Enter a host name or an IP address.")]
    #[case("", "Enter a host name or an IP address.")]
    fn icmp_targets_are_hosts(#[case] text: &str, #[case] expected: &str) {
        assert_eq!(read(CheckType::Icmp, text), expected);
    }

    #[rstest]
    #[case("example.com", "example.com.:443")]
    #[case("example.com:8443", "example.com.:8443")]
    #[case("192.0.2.1", "192.0.2.1:443")]
    #[case("[2001:db8::1]", "[2001:db8::1]:443")]
    #[case("[2001:db8::1]:8443", "[2001:db8::1]:8443")]
    #[case("example.com:", "Enter a host name.")]
    #[case("https://example.com", "Enter a host name.")]
    #[case("2001:db8::1", "Enter a host name.")]
    #[case("", "Enter a host name.")]
    fn ssl_targets_have_an_optional_port(#[case] text: &str, #[case] expected: &str) {
        assert_eq!(read(CheckType::Ssl, text), expected);
    }

    #[test]
    fn the_text_of_a_manual_service_is_only_bounded() {
        assert_eq!(read(CheckType::Manual, "the coffee machine"), "unused");
        assert_eq!(read(CheckType::Manual, &"ä".repeat(2048)), "unused");
        assert_eq!(read(CheckType::Manual, &"a".repeat(2049)), "Use at most 2048 characters.");
    }
}
