//! Cookies that responses set during a check (RFC 6265, section 5), for the following requests of the same check.
//!
//! Cookies live as long as the check. Their values are never shown.

use std::cmp::Reverse;
use std::net::IpAddr;
use std::time::{Duration, SystemTime};

use http::header::{COOKIE, DATE, SET_COOKIE};
use http::{HeaderMap, HeaderValue};
use url::Url;

/// Maximum number of cookies of one check.
const COOKIES_MAX: usize = 100;
/// Maximum length of one `Set-Cookie` in bytes, as in browsers.
const COOKIE_MAX_BYTES: usize = 4_096;
/// Maximum length of all names and values in bytes, which servers accept in one header line.
const TOTAL_MAX_BYTES: usize = 16 << 10;

/// The cookies of one check.
#[derive(Default)]
pub(super) struct CookieJar(Vec<Cookie>);

struct Cookie {
    name: Vec<u8>,
    value: Vec<u8>,
    host: String,
    /// True when subdomains of `host` get the cookie as well.
    has_domain: bool,
    path: String,
    is_secure: bool,
}

impl std::fmt::Debug for CookieJar {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "CookieJar({})", self.0.len())
    }
}

impl CookieJar {
    /// Stores the cookies of a response from `url`.
    pub(super) fn take(&mut self, url: &Url, headers: &HeaderMap) {
        let now =
            headers.get(DATE).and_then(date).unwrap_or(SystemTime::UNIX_EPOCH + Duration::from_hours(24));
        for line in headers.get_all(SET_COOKIE) {
            let Some((cookie, is_over)) = Cookie::parse(line.as_bytes(), url, now) else { continue };
            self.0.retain(|old| !old.is_replaced_by(&cookie));
            let size: usize = self.0.iter().map(Cookie::size).sum();
            if !is_over && self.0.len() < COOKIES_MAX && size + cookie.size() <= TOTAL_MAX_BYTES {
                self.0.push(cookie);
            }
        }
    }

    /// Returns the `Cookie` header of a request: the cookies that responses have set, and the configured ones
    /// that no response has replaced. `None` if no response has set a cookie for this URL.
    pub(super) fn line(&self, url: &Url, configured: Option<&HeaderMap>) -> Option<HeaderValue> {
        let mut set: Vec<&Cookie> = self.0.iter().filter(|cookie| cookie.is_for(url)).collect();
        if set.is_empty() {
            return None;
        }
        set.sort_by_key(|cookie| Reverse(cookie.path.len()));
        let configured = configured.into_iter().flat_map(|headers| headers.get_all(COOKIE));
        let configured = configured.flat_map(|line| line.as_bytes().split(|byte| *byte == b';'));
        let configured = configured.map(<[u8]>::trim_ascii).filter(|pair| {
            let name = pair.split(|byte| *byte == b'=').next().unwrap_or_default().trim_ascii();
            !pair.is_empty() && set.iter().all(|cookie| cookie.name != name)
        });
        let mut pairs: Vec<Vec<u8>> = configured.map(<[u8]>::to_vec).collect();
        pairs.extend(set.iter().map(|cookie| [&cookie.name, b"=".as_slice(), &cookie.value].concat()));
        let mut line = HeaderValue::from_bytes(&pairs.join(b"; ".as_slice())).ok()?;
        line.set_sensitive(true);
        Some(line)
    }
}

impl Cookie {
    /// Parses `Set-Cookie` (RFC 6265, section 5.2 and 5.3). The flag is true if the cookie has expired.
    fn parse(line: &[u8], url: &Url, now: SystemTime) -> Option<(Self, bool)> {
        let host = url.host_str()?;
        let mut parts = line.split(|byte| *byte == b';');
        let (name, value) = pair(parts.next()?)?;
        if name.is_empty() || line.len() > COOKIE_MAX_BYTES || HeaderValue::from_bytes(line).is_err() {
            return None;
        }
        let (name, value) = (name.to_vec(), value.to_vec());
        let path = default_path(url.path()).to_owned();
        let mut cookie =
            Self { name, value, host: host.to_owned(), has_domain: false, path, is_secure: false };
        let (mut expires, mut max_age) = (None, None);
        for part in parts {
            let (key, value) = pair(part).unwrap_or((part.trim_ascii(), b""));
            let text = std::str::from_utf8(value).unwrap_or_default();
            match key.to_ascii_lowercase().as_slice() {
                b"domain" if !text.is_empty() => cookie.widen(text)?,
                b"path" if text.starts_with('/') => text.clone_into(&mut cookie.path),
                b"secure" => cookie.is_secure = true,
                b"max-age" => {
                    max_age = is_number(text).then(|| text.starts_with('-') || !has_digit_above_zero(text));
                }
                b"expires" => expires = HeaderValue::from_bytes(value).ok().as_ref().and_then(date),
                _ => {}
            }
        }
        let is_over = max_age.unwrap_or_else(|| expires.is_some_and(|expires| expires <= now));
        // A plain-text connection cannot set secure cookies.
        (!cookie.is_secure || url.scheme() == "https").then_some((cookie, is_over))
    }

    /// Widens the cookie to a whole domain; `None` when the cookie's host is not within the domain.
    fn widen(&mut self, domain: &str) -> Option<()> {
        let domain = domain.strip_prefix('.').unwrap_or(domain).to_ascii_lowercase();
        if domain == self.host {
            self.has_domain = domain.contains('.');
            return Some(());
        }
        // A domain without a dot would match all its subdomains.
        if !domain.contains('.') || !is_below(&self.host, &domain) {
            return None;
        }
        (self.host, self.has_domain) = (domain, true);
        Some(())
    }

    fn is_replaced_by(&self, other: &Self) -> bool {
        (&self.name, &self.host, &self.path) == (&other.name, &other.host, &other.path)
    }

    /// Returns true if a request to this URL sends the cookie (RFC 6265, section 5.4).
    fn is_for(&self, url: &Url) -> bool {
        let host = url.host_str().unwrap_or_default();
        let is_host = host == self.host || (self.has_domain && is_below(host, &self.host));
        let is_path = url
            .path()
            .strip_prefix(self.path.as_str())
            .is_some_and(|rest| rest.is_empty() || self.path.ends_with('/') || rest.starts_with('/'));
        is_host && is_path && (!self.is_secure || url.scheme() == "https")
    }

    const fn size(&self) -> usize {
        self.name.len() + self.value.len()
    }
}

fn pair(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let at = text.iter().position(|byte| *byte == b'=')?;
    Some((text[..at].trim_ascii(), text[at + 1..].trim_ascii()))
}

/// Returns the path up to its last slash (RFC 6265, section 5.1.4).
fn default_path(path: &str) -> &str {
    match path.rfind('/') {
        Some(at) if at > 0 => &path[..at],
        _ => "/",
    }
}

fn is_below(host: &str, domain: &str) -> bool {
    host.strip_suffix(domain).is_some_and(|rest| rest.ends_with('.')) && host.parse::<IpAddr>().is_err()
}

fn is_number(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

fn has_digit_above_zero(text: &str) -> bool {
    text.bytes().any(|byte| matches!(byte, b'1'..=b'9'))
}

/// Parses an HTTP date. Hyphens in place of spaces are accepted, because many servers send them.
fn date(value: &HeaderValue) -> Option<SystemTime> {
    let text = value.to_str().ok()?;
    httpdate::parse_http_date(text).or_else(|_| httpdate::parse_http_date(&text.replace('-', " "))).ok()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn line(from: &str, lines: &[&str], to: &str, configured: Option<&str>) -> Option<String> {
        let mut headers =
            HeaderMap::from_iter([(DATE, HeaderValue::from_static("Fri, 20 Nov 2026 16:51:00 GMT"))]);
        for line in lines {
            headers.append(SET_COOKIE, line.parse().unwrap());
        }
        let mut jar = CookieJar::default();
        jar.take(&from.parse().unwrap(), &headers);
        let configured = configured.map(|line| HeaderMap::from_iter([(COOKIE, line.parse().unwrap())]));
        jar.line(&to.parse().unwrap(), configured.as_ref()).map(|line| line.to_str().unwrap().to_owned())
    }

    /// Columns: the URL of the response, its `Set-Cookie`, the URL of the next request, and the `Cookie` line
    /// of that.
    #[rstest]
    #[case("http://a.test/", "n=1; Path=/", "http://a.test/", Some("n=1"))]
    #[case("http://a.test/", " n = 1 ;HttpOnly; SameSite=Lax", "http://a.test/x", Some("n=1"))]
    #[case("http://a.test/", "n=a=b", "http://a.test/", Some("n=a=b"))]
    #[case("http://a.test/", "n=", "http://a.test/", Some("n="))]
    #[case("http://a.test/", "=1", "http://a.test/", None)]
    #[case("http://a.test/", "n", "http://a.test/", None)]
    #[case::another_port("http://a.test/", "n=1", "http://a.test:81/", Some("n=1"))]
    #[case::another_host("http://a.test/", "n=1", "http://b.test/", None)]
    #[case::a_host_below("http://a.test/", "n=1", "http://www.a.test/", None)]
    #[case::a_domain("http://www.a.test/", "n=1; Domain=.A.test", "http://b.a.test/", Some("n=1"))]
    #[case::the_domain_itself("http://www.a.test/", "n=1; domain=a.test", "http://a.test/", Some("n=1"))]
    #[case::another_domain("http://a.test/", "n=1; Domain=b.test", "http://b.test/", None)]
    #[case::half_a_name("http://bca.test/", "n=1; Domain=a.test", "http://a.test/", None)]
    #[case::everybodys("http://a.test/", "n=1; Domain=test", "http://b.test/", None)]
    #[case::an_address("http://127.0.0.1/", "n=1; Domain=0.0.1", "http://127.0.0.1/", None)]
    #[case::the_same_address("http://127.0.0.1/", "n=1; Domain=127.0.0.1", "http://127.0.0.1/", Some("n=1"))]
    #[case::its_folder("http://a.test/x/y", "n=1", "http://a.test/x/z", Some("n=1"))]
    #[case::another_folder("http://a.test/x/y", "n=1", "http://a.test/", None)]
    #[case::a_path("http://a.test/", "n=1; Path=/x", "http://a.test/x/y", Some("n=1"))]
    #[case::a_longer_name("http://a.test/", "n=1; Path=/x", "http://a.test/xy", None)]
    #[case::a_path_that_is_none("http://a.test/", "n=1; Path=x", "http://a.test/", Some("n=1"))]
    #[case::secure("https://a.test/", "n=1; Secure", "https://a.test/", Some("n=1"))]
    #[case::in_clear("https://a.test/", "n=1; secure", "http://a.test/", None)]
    #[case::set_in_clear("http://a.test/", "n=1; Secure", "https://a.test/", None)]
    #[case::from_clear_to_secure("http://a.test/", "n=1", "https://a.test/", Some("n=1"))]
    #[case::a_time("http://a.test/", "n=1; Max-Age=60", "http://a.test/", Some("n=1"))]
    #[case::no_time("http://a.test/", "n=1; Max-Age=0", "http://a.test/", None)]
    #[case::less_than_no_time("http://a.test/", "n=1; Max-Age=-1", "http://a.test/", None)]
    #[case::over("http://a.test/", "n=1; Expires=Thu, 01-Jan-1970 00:00:01 GMT", "http://a.test/", None)]
    #[case::not_over(
        "http://a.test/",
        "n=1; Expires=Sat, 20 Nov 2027 16:51:00 GMT",
        "http://a.test/",
        Some("n=1")
    )]
    #[case::age_first(
        "http://a.test/",
        "n=1; Max-Age=9; Expires=Thu, 01 Jan 1970 00:00:01 GMT",
        "http://a.test/",
        Some("n=1")
    )]
    fn a_cookie_is_sent_only_to_matching_requests(
        #[case] from: &str,
        #[case] set: &str,
        #[case] to: &str,
        #[case] expected: Option<&str>,
    ) {
        assert_eq!(line(from, &[set], to, None).as_deref(), expected);
    }

    #[rstest]
    #[case(&["a=1", "b=2"], None, Some("a=1; b=2"))]
    #[case(&["a=1", "a=2"], None, Some("a=2"))]
    #[case(&["a=1", "a=; Max-Age=0"], None, None)]
    #[case(&["a=1", "b=2; Path=/x"], None, Some("b=2; a=1"))]
    #[case(&["a=1"], Some("b=2; c=3"), Some("b=2; c=3; a=1"))]
    #[case(&["b=1"], Some("a=2;b=3"), Some("a=2; b=1"))]
    #[case(&[], Some("a=2"), None)]
    fn cookies_are_sent_in_one_header(
        #[case] set: &[&str],
        #[case] configured: Option<&str>,
        #[case] expected: Option<&str>,
    ) {
        assert_eq!(line("http://a.test/", set, "http://a.test/x", configured).as_deref(), expected);
    }

    #[test]
    fn the_number_and_size_of_cookies_are_limited() {
        let long = format!("a={}", "x".repeat(COOKIE_MAX_BYTES));
        assert_eq!(line("http://a.test/", &[&long], "http://a.test/", None), None);
        let many: Vec<String> = (0..200).map(|number| format!("{number}=1")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        let line = line("http://a.test/", &many, "http://a.test/", None).unwrap();
        assert_eq!(line.split("; ").count(), COOKIES_MAX);
    }
}
