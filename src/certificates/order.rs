//! One order for one host name (RFC 8555, section 7.4): challenge, validation, certificate.

use std::fmt::Display;
use std::time::Duration;

use instant_acme::{
    Account, AuthorizationStatus, ChallengeStatus, ChallengeType, Error, Identifier, NewOrder, Order,
    OrderStatus, Problem, RetryPolicy,
};
use tokio::time::Instant;

use crate::certificates::bundle::{BundleError, CertificateBundle};
use crate::model::certificate::ChallengeMethod;
use crate::store::MainError;
use crate::store::acme_challenges::ChallengeAnswer;

/// How often the state of an order is requested, and for how long: authorities validate from several places.
const POLLING: RetryPolicy = RetryPolicy::new()
    .initial_delay(Duration::from_millis(250))
    .backoff(1.5)
    .timeout(Duration::from_secs(120));
/// Start of the kinds of errors of ACME.
const PROBLEM_PREFIX: &str = "urn:ietf:params:acme:error:";

/// An order for a certificate.
pub(super) struct CertificateOrder<'a> {
    pub(super) account: &'a Account,
    pub(super) hostname: &'a str,
    pub(super) method: ChallengeMethod,
}

/// The reasons why there is no certificate.
#[derive(Debug, thiserror::Error)]
pub(super) enum OrderFailure {
    /// The authority refused, could not be reached, or answered with something unusable.
    #[error("{reason}")]
    Authority {
        reason: String,
        cause: RefusalCause,
        /// The wait until the authority wants to be asked again, if it is known.
        asked_wait: Option<Duration>,
    },
    /// The main database failed, which is not the domain's fault.
    #[error(transparent)]
    Store(#[from] MainError),
}

/// The causes of a refusal that are handled in their own way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RefusalCause {
    /// The authority does not know the account, as after a test authority was set up again.
    UnknownAccount,
    /// Nonces were rejected, several times for one request.
    RejectedNonces,
    /// Anything else.
    Other,
}

impl CertificateOrder<'_> {
    /// Obtains a certificate. `publish` makes the answer to the challenge available to the authority.
    pub(super) async fn obtain(
        &self,
        publish: impl AsyncFn(ChallengeAnswer) -> Result<(), MainError>,
    ) -> Result<CertificateBundle, OrderFailure> {
        let identifiers = [Identifier::Dns(self.hostname.to_owned())];
        let mut order = self.account.new_order(&NewOrder::new(&identifiers)).await?;
        self.prove_control(&mut order, publish).await?;
        let is_ready = match order.poll_ready(&POLLING).await {
            Ok(status) => status == OrderStatus::Ready,
            // The order repeats the reason only in part.
            Err(Error::Api(problem)) => return Err(self.refusal(&mut order, Some(problem)).await),
            Err(error) => return Err(error.into()),
        };
        if !is_ready {
            return Err(self.refusal(&mut order, None).await);
        }
        let key_pem = order.finalize().await?;
        let chain_pem = order.poll_certificate(&POLLING).await?;
        Ok(CertificateBundle { chain_pem, key_pem })
    }

    async fn prove_control(
        &self,
        order: &mut Order,
        publish: impl AsyncFn(ChallengeAnswer) -> Result<(), MainError>,
    ) -> Result<(), OrderFailure> {
        let (kind, name) = match self.method {
            ChallengeMethod::Http => (ChallengeType::Http01, "http-01"),
            ChallengeMethod::TlsAlpn => (ChallengeType::TlsAlpn01, "tls-alpn-01"),
        };
        let mut authorizations = order.authorizations();
        while let Some(authorization) = authorizations.next().await {
            let mut authorization = authorization?;
            // An authority may remember the proof of an earlier order.
            if authorization.status == AuthorizationStatus::Valid {
                continue;
            }
            let challenge = authorization.challenge(kind.clone());
            let mut challenge = challenge.ok_or_else(|| {
                OrderFailure::unusable(&format!("the certificate authority does not offer {name}"))
            })?;
            publish(ChallengeAnswer {
                token: challenge.token.clone(),
                hostname: self.hostname.to_owned(),
                key_authorization: challenge.key_authorization().as_str().to_owned(),
            })
            .await?;
            challenge.set_ready().await?;
        }
        Ok(())
    }

    /// Returns why the authority refuses the order: the error of the challenge, or else that of the order.
    async fn refusal(&self, order: &mut Order, of_order: Option<Problem>) -> OrderFailure {
        let mut found = of_order;
        let mut authorizations = order.authorizations();
        while let Some(Ok(mut authorization)) = authorizations.next().await {
            let Ok(state) = authorization.refresh().await else { break };
            let failed =
                state.challenges.iter().find(|challenge| challenge.status == ChallengeStatus::Invalid);
            if let Some(problem) = failed.and_then(|challenge| challenge.error.clone()) {
                found = Some(problem);
                break;
            }
        }
        match found {
            Some(problem) => Error::Api(problem).into(),
            None => OrderFailure::unusable("the certificate authority refused the order without a reason"),
        }
    }
}

impl OrderFailure {
    fn unusable(reason: &str) -> Self {
        Self::Authority { reason: reason.to_owned(), cause: RefusalCause::Other, asked_wait: None }
    }

    /// The stored account cannot be used.
    pub(super) fn of_account(error: &dyn Display) -> Self {
        Self::unusable(&format!("the account at the certificate authority cannot be used: {error}"))
    }
}

impl From<Error> for OrderFailure {
    fn from(error: Error) -> Self {
        let asked_wait = match &error {
            Error::Timeout(Some(at)) => {
                Some(Instant::from_std(*at).saturating_duration_since(Instant::now()))
            }
            _ => None,
        };
        Self::Authority { reason: reason(&error), cause: RefusalCause::of(&error), asked_wait }
    }
}

impl RefusalCause {
    fn of(error: &Error) -> Self {
        let Error::Api(problem) = error else { return Self::Other };
        match problem.r#type.as_deref().and_then(|kind| kind.strip_prefix(PROBLEM_PREFIX)) {
            Some("accountDoesNotExist") => Self::UnknownAccount,
            Some("badNonce") => Self::RejectedNonces,
            _ => Self::Other,
        }
    }
}

impl From<BundleError> for OrderFailure {
    fn from(error: BundleError) -> Self {
        Self::unusable(&error.to_string())
    }
}

/// Describes an error to the owner of a domain: what the authority says, or why there is no answer.
fn reason(error: &Error) -> String {
    match error {
        Error::Api(problem) => {
            let kind = problem.r#type.as_deref().unwrap_or("error");
            let kind = kind.strip_prefix(PROBLEM_PREFIX).unwrap_or(kind);
            let details = problem.subproblems.iter().filter_map(|part| part.detail.as_deref());
            let details: Vec<&str> = problem.detail.as_deref().into_iter().chain(details).collect();
            format!("{kind}: {}", if details.is_empty() { "no details".into() } else { details.join("; ") })
        }
        Error::Timeout(_) => "the certificate authority did not finish the order in time".into(),
        other => format!("no usable answer of the certificate authority: {other}"),
    }
}
