//! What somebody pastes to have it checked: an address, a host with a port, a command.

use std::net::IpAddr;

use url::Url;

use crate::model::check::CheckType;

/// A check that was recognised in a pasted text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::console) struct PastedTarget {
    pub(in crate::console) check_type: CheckType,
    /// `None` for types without a target.
    pub(in crate::console) target: Option<String>,
    /// A name for the service.
    pub(in crate::console) name: String,
}

impl PastedTarget {
    /// Recognises a text; `None` if it is blank.
    pub(in crate::console) fn read(text: &str) -> Option<Self> {
        let text = text.trim();
        let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        // Options and their values come before the target.
        let rest = rest.split_whitespace().rfind(|argument| !argument.starts_with('-')).unwrap_or_default();
        let of = |check_type, target: &str| Self {
            check_type,
            target: Some(target.to_owned()),
            name: target.to_owned(),
        };
        match word.to_ascii_lowercase().as_str() {
            "" => return None,
            "ping" | "icmp" if !rest.is_empty() => return Some(of(CheckType::Icmp, rest)),
            "dig" | "dns" | "nslookup" | "host" if !rest.is_empty() => return Some(of(CheckType::Dns, rest)),
            "ssl" | "tls" if !rest.is_empty() => return Some(of(CheckType::Ssl, rest)),
            "curl" | "wget" | "http" if !rest.is_empty() => return Some(Self::of_address(rest)),
            "cron" | "heartbeat" => {
                let name = if rest.is_empty() {
                    "Heartbeat".to_owned()
                } else {
                    text[word.len()..].trim().to_owned()
                };
                return Some(Self { check_type: CheckType::Heartbeat, target: None, name });
            }
            _ => {}
        }
        Some(Self::of_address(text))
    }

    fn of_address(text: &str) -> Self {
        if let Ok(url) = Url::parse(text)
            && matches!(url.scheme(), "http" | "https")
        {
            return Self::of_url(&url);
        }
        let is_port = |port: &str| port.parse::<u16>().is_ok_and(|port| port > 0);
        let tcp = text.rsplit_once(':').filter(|(host, port)| !host.is_empty() && is_port(port));
        if tcp.is_some() {
            return Self { check_type: CheckType::Tcp, target: Some(text.to_owned()), name: text.to_owned() };
        }
        if text.parse::<IpAddr>().is_ok() {
            return Self {
                check_type: CheckType::Icmp,
                target: Some(text.to_owned()),
                name: text.to_owned(),
            };
        }
        match Url::parse(&format!("https://{text}")) {
            Ok(url) => Self::of_url(&url),
            Err(_) => {
                Self { check_type: CheckType::Http, target: Some(text.to_owned()), name: text.to_owned() }
            }
        }
    }

    fn of_url(url: &Url) -> Self {
        let host = url.host_str().unwrap_or_default();
        let path = url.path().trim_end_matches('/');
        Self { check_type: CheckType::Http, target: Some(url.to_string()), name: format!("{host}{path}") }
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("https://shop.example/health", "http https://shop.example/health shop.example/health")]
    #[case(" shop.example ", "http https://shop.example/ shop.example")]
    #[case("shop.example/cart", "http https://shop.example/cart shop.example/cart")]
    #[case("db.example:5432", "tcp db.example:5432 db.example:5432")]
    #[case("[::1]:22", "tcp [::1]:22 [::1]:22")]
    #[case("ping router.example", "icmp router.example router.example")]
    #[case("ping -c 3 192.0.2.7", "icmp 192.0.2.7 192.0.2.7")]
    #[case("192.0.2.7", "icmp 192.0.2.7 192.0.2.7")]
    #[case("dig shop.example", "dns shop.example shop.example")]
    #[case("ssl shop.example", "ssl shop.example shop.example")]
    #[case("curl -s https://shop.example/", "http https://shop.example/ shop.example")]
    #[case("cron nightly backup", "heartbeat - nightly backup")]
    #[case("heartbeat", "heartbeat - Heartbeat")]
    fn a_pasted_text_is_a_check(#[case] text: &str, #[case] expected: &str) {
        let found = PastedTarget::read(text).unwrap();
        let target = found.target.as_deref().unwrap_or("-");
        assert_eq!(format!("{} {target} {}", found.check_type.as_str(), found.name), expected);
    }

    #[test]
    fn a_blank_text_is_nothing() {
        assert_eq!(PastedTarget::read("  "), None);
    }
}
