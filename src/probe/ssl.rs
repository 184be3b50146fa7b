//! TLS certificate checks: reads the chain of a server and judges it.
//!
//! The handshake accepts any certificate, so that an expired or foreign certificate can be read and named; the
//! connection carries no application data. Certificates are judged as for verified HTTP.

use std::borrow::Cow;

use rustls::pki_types::{CertificateDer, UnixTime};
use tokio::io::AsyncWriteExt;
use tokio::time::timeout_at;
use tokio_rustls::client::TlsStream;
use x509_parser::extensions::GeneralName;
use x509_parser::prelude::{FromDer, X509Certificate};

use crate::model::check::{CheckFailure, CheckOutcome, ErrorCode, Micros};
use crate::probe::abort::ProbeAbort;
use crate::probe::attempt::RunningAttempt;
use crate::probe::condition::report::CheckConditions;
use crate::probe::connect::{DialRoute, check_other_family, dial, route};
use crate::probe::fact::{Fact, FactSource};
use crate::probe::judgement::{AnswerMeasurement, milliseconds};
use crate::probe::link::CountingStream;
use crate::probe::spec::SslCheck;
use crate::probe::tls::{handshake, server_name};
use crate::probe::toolbox::Toolbox;

const DAY_SECONDS: i64 = 86_400;

pub(crate) async fn run(
    check: &SslCheck,
    conditions: CheckConditions<'_>,
    toolbox: &Toolbox,
    attempt: RunningAttempt,
) -> CheckOutcome {
    examine(check, conditions, toolbox, attempt).await.0
}

/// Runs the check and also returns the facts that were read, even for a refused certificate.
pub(crate) async fn examine(
    check: &SslCheck,
    conditions: CheckConditions<'_>,
    toolbox: &Toolbox,
    mut attempt: RunningAttempt,
) -> (CheckOutcome, Option<SslFacts>) {
    let (stop, facts) = match inspect(check, toolbox, &mut attempt).await {
        Err(stop) => (stop, None),
        Ok(CertificateInspection { facts, verdict: Err(stop), .. }) => (stop, facts.ok()),
        Ok(CertificateInspection { facts: Err(unreadable), .. }) => (unreadable.into(), None),
        Ok(CertificateInspection { facts: Ok(mut facts), other, .. }) => {
            facts.response_time = Some(attempt.response_time());
            let answered = AnswerMeasurement {
                response_time: attempt.response_time(),
                timings: attempt.answered(),
                status_code: None,
                partial: check_other_family(other, toolbox, attempt.deadline).await,
            };
            return (answered.judge(conditions, &facts), Some(facts));
        }
    };
    (stop.unless_lost(attempt.peer, toolbox.egress()).outcome(attempt.timings_until_now()), facts)
}

/// The result of a handshake.
struct CertificateInspection {
    facts: Result<SslFacts, CheckFailure>,
    /// The verdict on the certificate, before any condition.
    verdict: Result<(), ProbeAbort>,
    other: Option<DialRoute>,
}

async fn inspect(
    check: &SslCheck,
    toolbox: &Toolbox,
    attempt: &mut RunningAttempt,
) -> Result<CertificateInspection, ProbeAbort> {
    let name = server_name(&check.host)?;
    let route = route(&check.host, check.port, check.addressing, toolbox, attempt).await?;
    let reached = dial(route, check.addressing, toolbox, attempt).await?;
    let config = toolbox.tls().for_inspection();
    let mut stream = handshake(reached.stream, name.clone(), config, attempt).await?;
    // A reset might overtake our last handshake message and look like a broken client in the server's log; at one
    // check an hour, a port in `TIME_WAIT` costs nothing.
    let _ = timeout_at(attempt.deadline, stream.shutdown()).await;
    let chain = stream.get_ref().1.peer_certificates().unwrap_or_default();
    let verdict = toolbox.tls().judge(chain, &name);
    let facts = SslFacts::read(chain, toolbox.tls().now(), &stream);
    Ok(CertificateInspection { facts, verdict, other: reached.other })
}

/// The findings about the certificate and the handshake.
pub(crate) struct SslFacts {
    response_time: Option<Micros>,
    days_until_expiry: f64,
    chain_length: f64,
    issuer: String,
    subject: String,
    cipher_suite: &'static str,
    tls_version: &'static str,
    dns_names: Vec<String>,
}

impl SslFacts {
    fn read(
        chain: &[CertificateDer<'_>],
        now: UnixTime,
        stream: &TlsStream<CountingStream>,
    ) -> Result<Self, CheckFailure> {
        let unreadable = || CheckFailure::new(ErrorCode::TlsHandshake, "The certificate cannot be read");
        let own = chain.first().ok_or_else(unreadable)?;
        let (_, own) = X509Certificate::from_der(own).map_err(|_| unreadable())?;
        let session = stream.get_ref().1;
        Ok(Self {
            response_time: None,
            days_until_expiry: whole_days(own.validity().not_after.timestamp(), now),
            chain_length: u32::try_from(chain.len()).map_or(f64::MAX, f64::from),
            issuer: own.issuer().to_string(),
            subject: own.subject().to_string(),
            cipher_suite: session
                .negotiated_cipher_suite()
                .and_then(|suite| suite.suite().as_str())
                .unwrap_or_default(),
            tls_version: match session.protocol_version() {
                Some(rustls::ProtocolVersion::TLSv1_3) => "TLS 1.3",
                _ => "TLS 1.2",
            },
            dns_names: dns_names(&own),
        })
    }
}

/// Days until `not_after`, rounded down: 13.9 days left are 13.
fn whole_days(not_after: i64, now: UnixTime) -> f64 {
    let now = i64::try_from(now.as_secs()).unwrap_or(i64::MAX);
    let days = not_after.saturating_sub(now).div_euclid(DAY_SECONDS);
    i32::try_from(days).map_or(f64::MAX, f64::from)
}

fn dns_names(certificate: &X509Certificate<'_>) -> Vec<String> {
    let alternatives = certificate.subject_alternative_name().ok().flatten();
    let names = alternatives.iter().flat_map(|extension| &extension.value.general_names);
    names
        .filter_map(|name| match name {
            GeneralName::DNSName(name) => Some((*name).to_owned()),
            _ => None,
        })
        .collect()
}

impl FactSource for SslFacts {
    fn number(&self, fact: Fact) -> Option<f64> {
        match fact {
            Fact::ResponseTimeMs => self.response_time.map(milliseconds),
            Fact::DaysUntilExpiry => Some(self.days_until_expiry),
            Fact::ChainLength => Some(self.chain_length),
            _ => None,
        }
    }

    fn text(&self, fact: Fact) -> Option<Cow<'_, str>> {
        match fact {
            Fact::Issuer => Some(Cow::Borrowed(&self.issuer)),
            Fact::Subject => Some(Cow::Borrowed(&self.subject)),
            Fact::CipherSuite => Some(Cow::Borrowed(self.cipher_suite)),
            Fact::TlsVersion => Some(Cow::Borrowed(self.tls_version)),
            _ => None,
        }
    }

    fn list(&self, fact: Fact) -> Option<&[String]> {
        (fact == Fact::DnsNames).then_some(self.dns_names.as_slice())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(14 * DAY_SECONDS, 14.0)]
    #[case(14 * DAY_SECONDS - 1, 13.0)]
    #[case(0, 0.0)]
    #[case(-1, -1.0)]
    fn days_left_are_rounded_down(#[case] seconds_left: i64, #[case] days: f64) {
        let now = UnixTime::since_unix_epoch(Duration::from_secs(1_800_000_000));
        let measured = whole_days(1_800_000_000 + seconds_left, now);
        assert!((measured - days).abs() < f64::EPSILON, "{measured}");
    }
}
