//! The certificates and the answers to challenges in memory: TLS handshakes cannot wait for the database.
//!
//! They are read again regularly, since other nodes store them as well, and at once after an order of this node. While the
//! database is unavailable the last ones that were read are served.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use rustls::crypto::CryptoProvider;
use rustls::sign::CertifiedKey;
use tokio::time::{Instant, sleep};

use crate::certificates::challenge_certificate::challenge_certificate;
use crate::certificates::vault::CertificateVault;
use crate::clock::Clock;
use crate::model::certificate::CertificateValidity;
use crate::store::acme_challenges::ChallengeAnswer;
use crate::store::certificates::ServedCertificate;
use crate::store::{Database, MainError, acme_challenges, certificates};
use crate::telemetry::{Exposition, MetricCollector};

/// Time between two reads of the answers to challenges.
const ANSWERS_EVERY: Duration = Duration::from_secs(1);
/// Time after which every node has read an answer that was stored, unless it cannot reach the database.
pub(super) const ANSWERS_SPREAD: Duration = Duration::from_secs(3);
/// Number of reads of the answers between two reads of the certificates.
const READS_OF_CERTIFICATES: u32 = 5;

/// The certificates that this node serves. Cheap to clone.
#[derive(Clone)]
pub struct CertificateCache(Arc<CacheInner>);

struct CacheInner {
    main: Database,
    vault: CertificateVault,
    clock: Clock,
    provider: Arc<CryptoProvider>,
    /// By host name.
    certificates: RwLock<HashMap<String, CachedCertificate>>,
    /// By token.
    answers: RwLock<HashMap<String, PreparedAnswer>>,
    /// Start of the last read of the answers; locked during a read.
    reading: tokio::sync::Mutex<Option<Instant>>,
}

#[derive(Clone)]
struct CachedCertificate {
    domain: i64,
    revision: i64,
    validity: CertificateValidity,
    key: Arc<CertifiedKey>,
}

#[derive(Clone)]
struct PreparedAnswer {
    answer: ChallengeAnswer,
    /// For TLS-ALPN-01; `None` if it cannot be made.
    certificate: Option<Arc<CertifiedKey>>,
}

impl CertificateCache {
    /// An empty cache of the certificates in this database.
    #[must_use]
    pub fn new(main: Database, vault: CertificateVault, clock: Clock) -> Self {
        Self(Arc::new(CacheInner {
            main,
            vault,
            clock,
            provider: Arc::new(rustls::crypto::aws_lc_rs::default_provider()),
            certificates: RwLock::default(),
            answers: RwLock::default(),
            reading: tokio::sync::Mutex::default(),
        }))
    }

    /// Reads again and again, until the future is dropped.
    pub async fn run(self) {
        for read in (0..READS_OF_CERTIFICATES).cycle() {
            let certificates = if read == 0 { self.read_certificates().await } else { Ok(()) };
            if let Err(error) = certificates.and(self.read_answers().await) {
                tracing::warn!(%error, "cannot read certificates of custom domains; retrying");
            }
            sleep(ANSWERS_EVERY).await;
        }
    }

    /// Returns true if this node serves a certificate for the host that is valid now.
    #[must_use]
    pub fn has_valid_certificate(&self, host: &str) -> bool {
        let now = self.0.clock.now();
        let certificates = self.0.certificates.read().unwrap_or_else(PoisonError::into_inner);
        certificates.get(host).is_some_and(|cached| {
            let CertificateValidity { not_before, not_after } = cached.validity;
            not_before <= now && now <= not_after
        })
    }

    /// Returns the answer to the HTTP-01 challenge with this token; `None` if there is none. An answer that another node has
    /// just stored is read from the database.
    pub async fn http_answer(&self, token: &str) -> Option<String> {
        let asked = Instant::now();
        if let Some(known) = self.known_answer(token) {
            return Some(known);
        }
        let mut reading = self.0.reading.lock().await;
        // All who ask at the same time share one read, so that invented tokens cost little.
        if reading.is_none_or(|begun| begun <= asked) {
            *reading = Some(Instant::now());
            if let Err(error) = self.fill_answers().await {
                tracing::warn!(%error, "cannot read the answers to challenges");
            }
        }
        drop(reading);
        self.known_answer(token)
    }

    pub(super) fn provider(&self) -> &Arc<CryptoProvider> {
        &self.0.provider
    }

    pub(super) fn certificate(&self, host: &str) -> Option<Arc<CertifiedKey>> {
        let certificates = self.0.certificates.read().unwrap_or_else(PoisonError::into_inner);
        certificates.get(host).map(|cached| Arc::clone(&cached.key))
    }

    pub(super) fn challenge_certificate(&self, host: &str) -> Option<Arc<CertifiedKey>> {
        let answers = self.0.answers.read().unwrap_or_else(PoisonError::into_inner);
        answers.values().find(|cached| cached.answer.hostname == host)?.certificate.clone()
    }

    /// Reads the answers to challenges.
    pub(super) async fn read_answers(&self) -> Result<(), MainError> {
        let mut reading = self.0.reading.lock().await;
        *reading = Some(Instant::now());
        self.fill_answers().await
    }

    /// Reads the certificates that are new, and removes those that are no longer served.
    pub(super) async fn read_certificates(&self) -> Result<(), MainError> {
        let served = certificates::served(self.0.main.reader()).await?;
        let before = self.0.certificates.read().unwrap_or_else(PoisonError::into_inner).clone();
        let mut after = HashMap::with_capacity(served.len());
        for one in served {
            let known = before
                .get(&one.hostname)
                .filter(|known| (known.domain, known.revision) == (one.domain, one.revision));
            let cached = match known {
                Some(known) => Some(known.clone()),
                // A certificate that cannot be read does not displace one that works.
                None => self.open(&one).await?.or_else(|| before.get(&one.hostname).cloned()),
            };
            after.extend(cached.map(|cached| (one.hostname, cached)));
        }
        *self.0.certificates.write().unwrap_or_else(PoisonError::into_inner) = after;
        Ok(())
    }

    async fn open(&self, served: &ServedCertificate) -> Result<Option<CachedCertificate>, MainError> {
        let ServedCertificate { domain, revision, hostname } = served;
        let Some(sealed) = certificates::sealed(self.0.main.reader(), *domain).await? else {
            return Ok(None);
        };
        let Ok(bundle) = self.0.vault.open_certificate(*domain, &sealed) else {
            tracing::error!(hostname, "certificate of a custom domain was sealed with another key");
            return Ok(None);
        };
        match bundle.open(&self.0.provider) {
            Ok(usable) => Ok(Some(CachedCertificate {
                domain: *domain,
                revision: *revision,
                validity: usable.validity,
                key: Arc::new(usable.key),
            })),
            Err(error) => {
                tracing::error!(hostname, %error, "stored certificate of a custom domain is damaged");
                Ok(None)
            }
        }
    }

    async fn fill_answers(&self) -> Result<(), MainError> {
        let stored = acme_challenges::list(self.0.main.reader()).await?;
        let before = self.0.answers.read().unwrap_or_else(PoisonError::into_inner).clone();
        let cached = stored.into_iter().map(|answer| {
            let known = before.get(&answer.token).filter(|known| known.answer == answer);
            let cached = known.cloned().unwrap_or_else(|| self.prepare(answer));
            (cached.answer.token.clone(), cached)
        });
        let after = cached.collect();
        *self.0.answers.write().unwrap_or_else(PoisonError::into_inner) = after;
        Ok(())
    }

    fn prepare(&self, answer: ChallengeAnswer) -> PreparedAnswer {
        let certificate = challenge_certificate(&answer, &self.0.provider);
        let certificate = certificate
            .inspect_err(|error| {
                tracing::error!(hostname = answer.hostname, %error, "cannot answer TLS-ALPN-01");
            })
            .ok();
        PreparedAnswer { answer, certificate: certificate.map(Arc::new) }
    }

    fn known_answer(&self, token: &str) -> Option<String> {
        let answers = self.0.answers.read().unwrap_or_else(PoisonError::into_inner);
        answers.get(token).map(|cached| cached.answer.key_authorization.clone())
    }
}

impl MetricCollector for CertificateCache {
    fn collect(&self, out: &mut Exposition) {
        let now = self.0.clock.now();
        let certificates = self.0.certificates.read().unwrap_or_else(PoisonError::into_inner);
        out.gauge("certificates", "Certificates of custom domains that this node serves.")
            .value(certificates.len());
        let first_end = certificates.values().map(|cached| cached.validity.not_after).min();
        if let Some(end) = first_end {
            out.gauge(
                "certificate_seconds_left",
                "Seconds until the first of these certificates expires; negative once one has expired.",
            )
            .value(end.ms_since(now) / 1_000);
        }
    }
}

impl fmt::Debug for CertificateCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CertificateCache(..)")
    }
}
