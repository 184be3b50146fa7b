//! Tries of passwords: counted for the client and for the e-mail address, compared in constant time.
//!
//! Somebody who has got hold of a session, but not of the password, must not get lasting access by it: so a user who adds or
//! removes a passkey enters the present password again.

use std::net::IpAddr;

use sha2::{Digest as _, Sha256};
use tokio::time::Instant;

use crate::console::sessions::{SessionKeeper, SignInError};
use crate::console::visit::{ConsoleVisit, UserVisit};
use crate::model::password::Password;
use crate::pages::visitor_limiter::{CountedAttempt, network_of};

/// A try that was counted.
#[derive(Clone, Copy)]
pub(super) struct PasswordTry {
    client: CountedAttempt<IpAddr>,
    address: CountedAttempt<[u8; 32]>,
}

impl SessionKeeper {
    /// Counts a try of the password for an e-mail address.
    ///
    /// # Errors
    /// The time to wait, when there were too many.
    pub(super) fn begin_try(&self, visit: &ConsoleVisit, email: &str) -> Result<PasswordTry, SignInError> {
        let now = Instant::now();
        let client = self.clients.begin(network_of(visit.client), now).map_err(SignInError::TooMany)?;
        let address: [u8; 32] = Sha256::digest(email).into();
        let address = self.addresses.begin(address, now).map_err(SignInError::TooMany)?;
        Ok(PasswordTry { client, address })
    }

    /// Uncounts a try with the right password.
    pub(super) fn give_back(&self, counted: PasswordTry) {
        self.clients.give_back(counted.client);
        self.addresses.give_back(counted.address);
    }

    /// Checks the present password of a user. One who has none has nothing to enter, if this request was signed in by a proxy; a
    /// session that a passkey has begun is no proof.
    ///
    /// # Errors
    /// [`SignInError::Wrong`] for another password; the time to wait after too many.
    pub(super) async fn check_password(&self, visit: &UserVisit, entered: &str) -> Result<(), SignInError> {
        let user = &visit.signed_in.user;
        let Some(stored) = user.password_hash.clone() else {
            return if visit.signed_in.session.is_none() { Ok(()) } else { Err(SignInError::Wrong) };
        };
        let counted = self.begin_try(&visit.visit, &user.email)?;
        let entered = Password::new(entered.to_owned());
        let is_right = self.hashing.run(|| None, move || entered.fits(&stored)).await.unwrap_or_default();
        if !is_right {
            return Err(SignInError::Wrong);
        }
        self.give_back(counted);
        Ok(())
    }
}
