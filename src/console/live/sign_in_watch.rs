//! Ends the stream of a browser soon after its user is not signed in any more, or may see something else.
//!
//! The stream says only that something has changed, but a sign-in that was ended should leave nothing open.

use std::sync::Arc;
use std::time::Duration;

use crate::clock::guard::ClockGuard;
use crate::console::visit::UserVisit;
use crate::model::console_user::ConsoleUser;
use crate::store::{Databases, MainError, console_sessions, console_users};

/// Time between two checks of the sign-in. With the time that a check takes, a stream ends within ten seconds.
const CHECK_EVERY: Duration = Duration::from_secs(7);

/// The sign-in by which a stream was opened.
pub(in crate::console) struct SignInWatch {
    databases: Databases,
    guard: Arc<ClockGuard>,
    user: ConsoleUser,
    /// Database key of the session; `None` if a proxy has signed the user in.
    session: Option<i64>,
}

impl SignInWatch {
    /// Creates the watch for the user of a request.
    pub(in crate::console) fn of(visit: &UserVisit) -> Self {
        let state = visit.visit.state();
        Self {
            databases: state.databases.clone(),
            guard: Arc::clone(&state.guard),
            user: visit.signed_in.user.clone(),
            session: visit.signed_in.session.as_ref().map(|session| session.key),
        }
    }

    /// Waits until the session has ended, or the user was deleted, or has another role or access scope.
    pub(in crate::console) async fn ended(self) {
        loop {
            tokio::time::sleep(CHECK_EVERY).await;
            match self.is_valid().await {
                Ok(true) => {}
                Ok(false) => return,
                // A database that fails does not say that the sign-in has ended.
                Err(error) => tracing::debug!(%error, "cannot read the sign-in of an open screen"),
            }
        }
    }

    async fn is_valid(&self) -> Result<bool, MainError> {
        let main = self.databases.main.reader();
        if let Some(key) = self.session {
            let session = console_sessions::by_key(main, key).await?;
            let now = self.guard.judged_now().best;
            if !session.is_some_and(|session| session.is_valid(now)) {
                return Ok(false);
            }
        }
        let present = console_users::by_key(main, self.user.key).await?;
        let is_same =
            |user: ConsoleUser| user.role == self.user.role && user.access_scope == self.user.access_scope;
        Ok(present.is_some_and(is_same))
    }
}
