//! Facts: the findings of a probe that conditions may test.
//!
//! A [`Fact`] is the name of a finding, [`FactSource`] the interface to a probe's values. A fact without a
//! value is `None`. Comparisons are in `condition`.

use std::borrow::Cow;
use std::str::FromStr;

use http::HeaderMap;

macro_rules! facts {
    ($($(#[$doc:meta])* $variant:ident = $name:literal,)*) => {
        /// The condition fields of contract 4.2.4, apart from the parametric `json.<path>` and `header.<name>`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Fact {
            $($(#[$doc])* $variant,)*
        }

        impl Fact {
            /// All facts, in the order of their definition.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The name that conditions use.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }
        }
    };
}

facts! {
    /// Milliseconds until the target had answered; every checked type has this fact.
    ResponseTimeMs = "response_time_ms",
    /// Status code of the HTTP response.
    StatusCode = "status_code",
    /// Body of the HTTP response as text.
    Body = "body",
    /// Number of redirects that were followed.
    RedirectsFollowed = "metadata.redirects_followed",
    /// Length of the HTTP body in bytes.
    ContentLength = "metadata.content_length",
    /// Protocol version of the response: `HTTP/1.0`, `HTTP/1.1` or `HTTP/2`.
    Protocol = "metadata.protocol",
    /// The URL after all redirects.
    FinalUrl = "metadata.final_url",
    /// Number of addresses that a host name resolved to.
    ResolvedIpCount = "metadata.resolved_ip_count",
    /// Number of address records.
    IpCount = "metadata.ip_count",
    /// Number of NS records.
    NsCount = "metadata.ns_count",
    /// Number of MX records.
    MxCount = "metadata.mx_count",
    /// Number of TXT records.
    TxtCount = "metadata.txt_count",
    /// Address records of a name.
    Ips = "metadata.ips",
    /// Name servers of a name, without trailing dot.
    NsRecords = "metadata.ns_records",
    /// Mail exchangers of a name, as `<preference> <host>` without trailing dot.
    MxRecords = "metadata.mx_records",
    /// Texts of the TXT records.
    TxtRecords = "metadata.txt_records",
    /// Canonical name, without trailing dot.
    Cname = "metadata.cname",
    /// Longest round trip of a ping, in milliseconds.
    MaxRttMs = "metadata.max_rtt_ms",
    /// Lost echo requests in percent.
    PacketLossPct = "metadata.packet_loss_pct",
    /// Number of echo replies received.
    PacketsReceived = "metadata.packets_received",
    /// Whole days until the certificate expires.
    DaysUntilExpiry = "metadata.days_until_expiry",
    /// Number of certificates that the server sent.
    ChainLength = "metadata.chain_length",
    /// Issuer of the server's certificate.
    Issuer = "metadata.issuer",
    /// Subject of the server's certificate.
    Subject = "metadata.subject",
    /// Negotiated cipher suite.
    CipherSuite = "metadata.cipher_suite",
    /// TLS version of the connection: `TLS 1.2` or `TLS 1.3`.
    TlsVersion = "metadata.tls_version",
    /// Names that the certificate is valid for.
    DnsNames = "metadata.dns_names",
}

/// The text is not the name of a fact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown fact")]
pub struct UnknownFact;

impl FromStr for Fact {
    type Err = UnknownFact;

    fn from_str(text: &str) -> Result<Self, UnknownFact> {
        Self::ALL.iter().copied().find(|fact| fact.as_str() == text).ok_or(UnknownFact)
    }
}

/// The result of a text search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextPresence {
    /// The text was found.
    Present,
    /// The text was not found.
    Absent,
    /// The text is not in the part that was read, but may be in the rest.
    Undecided,
}

/// The bytes of a JSON document, or of its start.
#[derive(Clone, Copy, Debug)]
pub struct JsonDocument<'a> {
    /// Bytes of the document, in UTF-8 unless they are not valid text.
    pub bytes: &'a [u8],
    /// True when `bytes` is only the start of the document.
    pub is_cut: bool,
}

/// The findings of one probe. Each probe overrides the facts that it has; the others are missing.
pub trait FactSource {
    /// Returns the value of a numeric fact.
    fn number(&self, fact: Fact) -> Option<f64>;

    /// Returns the value of a text fact.
    fn text(&self, fact: Fact) -> Option<Cow<'_, str>> {
        let _ = fact;
        None
    }

    /// Returns the value of a list fact.
    fn list(&self, fact: Fact) -> Option<&[String]> {
        let _ = fact;
        None
    }

    /// Returns a lower bound of a numeric fact whose exact value is unknown.
    fn at_least(&self, fact: Fact) -> Option<f64> {
        let _ = fact;
        None
    }

    /// Searches the body for a text; `None` when there is no body.
    fn search_body(&self, text: &str) -> Option<TextPresence> {
        let _ = text;
        None
    }

    /// Returns the body, when it may be JSON. Called only for `json.<path>` conditions.
    fn json(&self) -> Option<JsonDocument<'_>> {
        None
    }

    /// The headers of the response.
    fn headers(&self) -> Option<&HeaderMap> {
        None
    }
}
