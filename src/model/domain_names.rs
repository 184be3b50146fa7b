//! Host names of status pages (contract 4.15): their form, the names of this installation, and the records that a
//! custom domain needs.

use std::net::{IpAddr, Ipv6Addr};

use crate::model::domain::CustomDomain;

/// The host names of this installation, without ports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DomainNames {
    /// Domain of the status pages: the host name of each page is its slug below this domain.
    pub pages: String,
    /// The host name to which custom domains must resolve.
    pub edge: String,
    /// Host names or IP addresses at which the API answers and heartbeat pings arrive.
    pub api: Vec<String>,
    /// First label of the names of TXT records that verify a domain.
    pub txt_label: String,
}

/// The records that a custom domain must have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequiredRecords {
    /// Host name of the custom domain.
    pub hostname: String,
    /// The target to which it must resolve: by CNAME, or by the same addresses.
    pub cname_target: String,
    /// The name of the TXT record.
    pub txt_name: String,
    /// The value of the TXT record.
    pub txt_value: String,
}

impl DomainNames {
    /// Returns true if the name cannot be attached, because it is one of the installation or below one.
    #[must_use]
    pub fn is_reserved(&self, hostname: &str) -> bool {
        self.own().any(|ours| is_within(hostname, ours))
    }

    /// Returns true if the name is one of this installation itself, not of a status page.
    #[must_use]
    pub fn is_own(&self, hostname: &str) -> bool {
        self.own().any(|ours| hostname == ours)
    }

    /// Returns true if the API answers at this host: a name of this installation, `localhost` or an IP address.
    #[must_use]
    pub fn is_of_api(&self, host: &str) -> bool {
        self.is_own(host) || host == "localhost" || host.parse::<IpAddr>().is_ok()
    }

    fn own(&self) -> impl Iterator<Item = &str> {
        [&self.pages, &self.edge].into_iter().chain(&self.api).map(String::as_str)
    }

    /// The records that the domain needs.
    #[must_use]
    pub fn records(&self, domain: &CustomDomain) -> RequiredRecords {
        RequiredRecords {
            hostname: domain.hostname.clone(),
            cname_target: self.edge.clone(),
            txt_name: format!("{}.{}", self.txt_label, domain.hostname),
            txt_value: domain.txt_value.clone(),
        }
    }

    /// The part of the host name before the domain of the pages, which is a page's slug; `None` if it is not below that
    /// domain.
    #[must_use]
    pub fn slug<'h>(&self, hostname: &'h str) -> Option<&'h str> {
        hostname.strip_suffix(self.pages.as_str())?.strip_suffix('.')
    }
}

/// The host of a request is missing, repeated or malformed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no valid host")]
pub struct InvalidHost;

/// The parts of a request that name its host.
#[derive(Clone, Copy, Debug, Default)]
pub struct HostLines<'a> {
    /// Host and port of the request target; `None` if the target is only a path.
    pub target: Option<&'a str>,
    /// Value of the first `Host` header.
    pub header: Option<&'a [u8]>,
    /// True if the request has more than one `Host` header.
    pub is_repeated: bool,
    /// True for HTTP/1.1, which requires a `Host` header.
    pub must_have_header: bool,
}

impl HostLines<'_> {
    /// The host of the request in lower case, without port and trailing dot; `None` if the request names no host. The
    /// host of the target takes precedence (RFC 9112, section 3.2.2).
    ///
    /// # Errors
    /// When the header is missing, repeated or malformed (RFC 9112, section 3.2), or the target is malformed.
    pub fn host(&self) -> Result<Option<String>, InvalidHost> {
        if self.is_repeated || (self.must_have_header && self.header.is_none()) {
            return Err(InvalidHost);
        }
        let of_header = self.header.map_or(Ok(None), parse_host)?;
        self.target.map_or(Ok(of_header), |target| parse_host(target.as_bytes()))
    }
}

/// Maximum length of a host name in bytes (RFC 1035, section 2.3.4).
const NAME_MAX: usize = 253;
/// Maximum length of a label of a host name in bytes.
const LABEL_MAX: usize = 63;

/// The host of `host[:port]` (RFC 3986, section 3.2.2) in lower case, without port and trailing dot; `None` if empty.
fn parse_host(value: &[u8]) -> Result<Option<String>, InvalidHost> {
    let text = std::str::from_utf8(value).map_err(|_| InvalidHost)?;
    let (host, port) = match text.strip_prefix('[') {
        Some(rest) => {
            let (address, rest) = rest.split_once(']').ok_or(InvalidHost)?;
            address.parse::<Ipv6Addr>().map_err(|_| InvalidHost)?;
            (address, if rest.is_empty() { "" } else { rest.strip_prefix(':').ok_or(InvalidHost)? })
        }
        None => {
            let (name, port) = text.split_once(':').unwrap_or((text, ""));
            let name = name.strip_suffix('.').unwrap_or(name);
            let is_name = name.len() <= NAME_MAX
                && name.bytes().all(is_of_host_name)
                && name.split('.').all(|label| (1..=LABEL_MAX).contains(&label.len()));
            if !is_name && !matches!(text.as_bytes(), [] | [b':', ..]) {
                return Err(InvalidHost);
            }
            (name, port)
        }
    };
    if !port.bytes().all(|digit| digit.is_ascii_digit()) {
        return Err(InvalidHost);
    }
    Ok((!host.is_empty()).then(|| host.to_ascii_lowercase()))
}

/// Returns true for a character that a registered name may contain (RFC 3986, section 3.2.2).
const fn is_of_host_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(byte, b'-' | b'.' | b'_' | b'~' | b'%' | b'!' | b'$' | b'&'..=b',' | b';' | b'=')
}

/// Returns true if the text is a host name in lower case with at least two labels, the last starting with a letter.
#[must_use]
pub fn is_hostname(text: &str) -> bool {
    let labels: Vec<&str> = text.split('.').collect();
    let is_plain = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit();
    let ends_in_letter = labels.last().is_some_and(|last| last.starts_with(|c: char| c.is_ascii_lowercase()));
    text.len() <= 253
        && labels.len() >= 2
        && labels.iter().all(|label| is_label(label, is_plain))
        && ends_in_letter
}

/// Returns true for a label of a host name: 1 to 63 bytes of characters that `is_letter` accepts, and inner hyphens.
pub(super) fn is_label(label: &str, is_letter: impl Fn(char) -> bool) -> bool {
    (1..=63).contains(&label.len())
        && !label.starts_with('-')
        && !label.ends_with('-')
        && label.chars().all(|letter| letter == '-' || is_letter(letter))
}

/// Returns true if `name` is `zone`, or below it.
fn is_within(name: &str, zone: &str) -> bool {
    let rest = name.strip_suffix(zone);
    !zone.is_empty() && rest.is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::clock::Timestamp;

    fn names() -> DomainNames {
        DomainNames {
            pages: "status.example.net".into(),
            edge: "edge.example.org".into(),
            api: vec!["api.example.com".into(), "192.0.2.1".into()],
            txt_label: "_status-verify".into(),
        }
    }

    /// Contract 4.15: a name equal to or below the host of the pages, the edge or the API is reserved.
    #[rstest]
    #[case("status.example.net", true)]
    #[case("shop.status.example.net", true)]
    #[case("edge.example.org", true)]
    #[case("a.b.edge.example.org", true)]
    #[case("api.example.com", true)]
    #[case("v1.api.example.com", true)]
    #[case("example.net", false)]
    #[case("mystatus.example.net", false)]
    #[case("status.example.com", false)]
    fn names_of_the_installation_are_reserved(#[case] hostname: &str, #[case] expected: bool) {
        assert_eq!(names().is_reserved(hostname), expected);
    }

    #[test]
    fn a_domain_needs_two_records() {
        let domain = CustomDomain::attached(1, "status.example.com".into(), Timestamp::from_ms(0));
        let records = names().records(&domain);
        assert_eq!(records.cname_target, "edge.example.org");
        assert_eq!(records.txt_name, "_status-verify.status.example.com");
        assert_eq!(records.txt_value, domain.txt_value);
    }

    #[rstest]
    #[case("shop.status.example.net", Some("shop"))]
    #[case("a.b.status.example.net", Some("a.b"))]
    #[case("status.example.net", None)]
    #[case("shopstatus.example.net", None)]
    #[case("shop.example.com", None)]
    fn pages_are_below_their_name(#[case] hostname: &str, #[case] slug: Option<&str>) {
        assert_eq!(names().slug(hostname), slug);
    }

    fn host(header: &[u8]) -> Result<Option<String>, InvalidHost> {
        HostLines { header: Some(header), ..HostLines::default() }.host()
    }

    #[rstest]
    #[case("Shop.Example.com:8080", Some("shop.example.com"))]
    #[case("shop.example.com.", Some("shop.example.com"))]
    #[case("shop.example.com.:80", Some("shop.example.com"))]
    #[case("intranet", Some("intranet"))]
    #[case("my_service:8080", Some("my_service"))]
    #[case("shop.example.com:", Some("shop.example.com"))]
    #[case("127.0.0.1:8080", Some("127.0.0.1"))]
    #[case("[::1]:8080", Some("::1"))]
    #[case("[2001:DB8::1]", Some("2001:db8::1"))]
    #[case("", None)]
    #[case(":80", None)]
    fn a_host_header_names_a_host(#[case] value: &str, #[case] expected: Option<&str>) {
        assert_eq!(host(value.as_bytes()), Ok(expected.map(str::to_owned)));
    }

    #[rstest]
    fn what_cannot_be_a_host_is_refused(
        #[values(
            "[::1",
            "[::1]x",
            "[::1]:x",
            "[shop]",
            "[]",
            "::1",
            ".",
            "a..b",
            ".a",
            "a b",
            "a/b",
            "user@a",
            "<a>",
            "a:b",
            "a:8:0",
            "b\u{fc}cher.example"
        )]
        value: &str,
    ) {
        assert_eq!(host(value.as_bytes()), Err(InvalidHost));
        assert_eq!(HostLines { target: Some(value), ..HostLines::default() }.host(), Err(InvalidHost));
    }

    #[test]
    fn a_host_has_a_length() {
        assert_eq!(host(b"a\xff.example"), Err(InvalidHost));
        let label = "a".repeat(63);
        let longest = format!("{label}.{label}.{label}.{}", "b".repeat(61));
        assert_eq!(host(longest.as_bytes()), Ok(Some(longest.clone())));
        assert_eq!(host(format!("{longest}b").as_bytes()), Err(InvalidHost));
        assert_eq!(host(format!("{label}a.example").as_bytes()), Err(InvalidHost));
    }

    /// RFC 9112, section 3.2: HTTP/1.1 requires exactly one `Host` header.
    #[test]
    fn one_line_is_needed_and_the_target_takes_precedence() {
        let line = HostLines { header: Some(b"one.example"), must_have_header: true, ..HostLines::default() };
        assert_eq!(line.host(), Ok(Some("one.example".into())));
        let with_target = HostLines { target: Some("Two.example:80"), ..line };
        assert_eq!(with_target.host(), Ok(Some("two.example".into())));
        assert_eq!(HostLines { header: Some(b"[::1"), ..with_target }.host(), Err(InvalidHost));
        assert_eq!(HostLines { is_repeated: true, ..line }.host(), Err(InvalidHost));
        assert_eq!(HostLines { header: None, ..line }.host(), Err(InvalidHost));
        assert_eq!(HostLines::default().host(), Ok(None), "HTTP/1.0");
    }

    #[rstest]
    #[case("api.example.com", true)]
    #[case("localhost", true)]
    #[case("192.0.2.7", true)]
    #[case("::1", true)]
    #[case("intranet", false)]
    #[case("shop.status.example.net", false)]
    #[case("unknown.example.com", false)]
    fn the_api_has_the_names_of_the_installation(#[case] host: &str, #[case] expected: bool) {
        assert_eq!(names().is_of_api(host), expected);
    }

    /// A host name has at least two labels, in lower case (contract 4.15).
    #[rstest]
    #[case("status.example.com", true)]
    #[case("a.b", true)]
    #[case("1-2.3.x1", true)]
    #[case("xn--bcher-kva.example", true)]
    #[case("example.xn--p1ai", true)]
    #[case("localhost", false)]
    #[case("Status.example.com", false)]
    #[case("bücher.example", false)]
    #[case("status.example.com.", false)]
    #[case(".example.com", false)]
    #[case("a..com", false)]
    #[case("-a.com", false)]
    #[case("a-.com", false)]
    #[case("a_b.com", false)]
    #[case("*.example.com", false)]
    #[case("192.0.2.1", false)]
    #[case("example.1com", false)]
    #[case("https://example.com", false)]
    #[case("example.com:443", false)]
    #[case("", false)]
    fn host_names_have_a_form(#[case] text: &str, #[case] expected: bool) {
        assert_eq!(is_hostname(text), expected);
    }

    #[test]
    fn labels_and_names_have_a_length() {
        let label = "a".repeat(63);
        assert!(is_hostname(&format!("{label}.com")));
        assert!(!is_hostname(&format!("{label}a.com")));
        let longest = format!("{label}.{label}.{label}.{}", "b".repeat(61));
        assert_eq!((longest.len(), is_hostname(&longest)), (253, true));
        assert!(!is_hostname(&format!("{longest}b")));
    }

    #[rstest]
    #[case("status.example.net", "status.example.net", true)]
    #[case("a.status.example.net", "status.example.net", true)]
    #[case("mystatus.example.net", "status.example.net", false)]
    #[case("example.net", "status.example.net", false)]
    #[case("example.net", "", false)]
    fn names_are_matched_against_zones(#[case] name: &str, #[case] zone: &str, #[case] expected: bool) {
        assert_eq!(is_within(name, zone), expected);
    }
}
