//! The enrolment service: a machine becomes a location, and a location renews its token.
//!
//! The machine creates its keys and sends the public ones. A renewed token is for the key that the location was enrolled with,
//! so it is useful to the holder of that key only.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;

use crate::bus::connection::BusConnection;
use crate::bus::messages::enrolment::{BusReply, EnrolmentGrant, EnrolmentRequest, RenewalGrant};
use crate::bus::requests::{BusRequest, ENROLMENTS, RENEWALS, RequestSubscription};
use crate::bus::sealing;
use crate::bus::subjects::BusSubject;
use crate::bus::users::{BusUser, LOCATION_TOKEN_MS, TokenIssuer, is_user_key};
use crate::clock::Clock;
use crate::id::Id;
use crate::model::location::LocationCode;
use crate::remote::counters::RemoteCounters;
use crate::store::probe_locations::{self, LocationKeys};
use crate::store::{Databases, MainError};

/// The shortest time between two renewals of one location: more frequent requests are not answered.
const BETWEEN_RENEWALS: Duration = Duration::from_secs(10);

/// Answers enrolments and renewals. Cheap to clone.
#[derive(Clone, Debug)]
pub struct EnrolmentService {
    /// Connection to the bus.
    pub connection: BusConnection,
    /// The databases; the main one has the locations.
    pub databases: Databases,
    /// Signs the tokens of locations.
    pub issuer: Arc<TokenIssuer>,
    /// Source of the wall time.
    pub clock: Clock,
    /// Notified when a machine has become a location.
    pub enrolled: Arc<Notify>,
    /// Counters of enrolments.
    pub counters: Arc<RemoteCounters>,
}

impl EnrolmentService {
    /// Answers until the connection is closed.
    pub async fn run(self) {
        let listen = |subjects| RequestSubscription::listen(&self.connection, subjects);
        let (Ok(mut enrolments), Ok(mut renewals)) = (listen(ENROLMENTS).await, listen(RENEWALS).await)
        else {
            return;
        };
        let mut renewed: HashMap<LocationCode, Instant> = HashMap::new();
        loop {
            let question = tokio::select! {
                question = enrolments.next() => question,
                question = renewals.next() => question,
            };
            let Some(question) = question else { return };
            match question.subject.clone() {
                BusSubject::Enrol(enrolment) => {
                    question.answer(&self.enrol(enrolment, &question).await).await;
                }
                BusSubject::Renew(location) => {
                    renewed.retain(|_, at| at.elapsed() < BETWEEN_RENEWALS);
                    if renewed.insert(location.clone(), Instant::now()).is_none() {
                        question.answer(&self.renew(&location).await).await;
                    }
                }
                _ => {}
            }
        }
    }

    async fn enrol(&self, enrolment: Id, question: &BusRequest) -> BusReply<EnrolmentGrant> {
        let Ok(request) = serde_json::from_slice::<EnrolmentRequest>(&question.payload) else {
            return BusReply::Refused("the request cannot be read".into());
        };
        let EnrolmentRequest { user_key: user, sealing_key: sealing } = request;
        if !is_user_key(&user) || !sealing::is_public_key(&sealing) {
            return BusReply::Refused("one of the keys is not valid".into());
        }
        match self.try_enrol(enrolment, &LocationKeys { user, sealing }).await {
            Ok(answer) => answer,
            Err(error) => unavailable(&error),
        }
    }

    async fn try_enrol(
        &self,
        enrolment: Id,
        keys: &LocationKeys,
    ) -> Result<BusReply<EnrolmentGrant>, MainError> {
        let now = self.clock.now();
        let transaction = self.databases.main.begin().await?;
        let Some(location) = probe_locations::enrol(&transaction, enrolment, keys, now).await? else {
            let reason = "this enrolment is unknown, has been used, or has expired; \
                          watchkeeper location invite makes a new one";
            return Ok(BusReply::Refused(reason.into()));
        };
        let token = match self.token(&location.code, &keys.user) {
            Ok(token) => token,
            Err(reason) => return Ok(BusReply::Refused(reason)),
        };
        transaction.commit().await?;
        tracing::info!(location = %location.code, "location enrolled");
        self.counters.enrolled.add(1);
        self.enrolled.notify_one();
        Ok(BusReply::Granted(EnrolmentGrant { code: location.code.to_string(), name: location.name, token }))
    }

    async fn renew(&self, code: &LocationCode) -> BusReply<RenewalGrant> {
        let stored = match probe_locations::get(self.databases.main.reader(), code).await {
            Ok(stored) => stored,
            Err(error) => return unavailable(&error),
        };
        let machine = stored.filter(|stored| stored.is_enabled).and_then(|stored| stored.machine);
        let Some(machine) = machine else {
            return BusReply::Refused("this location is no longer in use".into());
        };
        match self.token(code, &machine.keys.user) {
            Ok(token) => BusReply::Granted(RenewalGrant { token }),
            Err(reason) => BusReply::Refused(reason),
        }
    }

    fn token(&self, code: &LocationCode, user_key: &str) -> Result<String, String> {
        let (user, now) = (BusUser::Location(code.clone()), self.clock.now());
        let token = self.issuer.issue(&user, user_key, now, Some(now.plus_ms(LOCATION_TOKEN_MS)));
        token.map_err(|error| {
            tracing::error!(%error, "cannot sign the token of a location");
            "the token cannot be signed".to_owned()
        })
    }
}

fn unavailable<T>(error: &MainError) -> BusReply<T> {
    tracing::warn!(%error, "cannot process a request of a location: the main database is unavailable");
    BusReply::Refused("the service is not available at the moment; ask again".into())
}
