//! Connections to the mail server that stay open, so that a mail costs no new connection, TLS handshake and login.

use std::cell::RefCell;
use std::time::Duration;

use tokio::time::Instant;

use crate::config::limits::MailLimits;
use crate::egress::outbound::OutboundClient;
use crate::model::notification::delivery::FaultOwner;
use crate::notify::kinds::OutgoingMail;
use crate::notify::mail::{MailConnection, MailFailed};

/// The time for which an unused connection is kept. Servers close them after some minutes.
const IDLE: Duration = Duration::from_secs(20);

/// Open connections that no mail uses at the moment.
#[derive(Debug, Default)]
pub(super) struct MailPool {
    idle: RefCell<Vec<IdleConnection>>,
}

#[derive(Debug)]
struct IdleConnection {
    connection: MailConnection,
    since: Instant,
}

impl MailPool {
    /// Sends a mail over an open connection, or over a new one. If the server has closed an open connection before it got the
    /// mail, the mail is sent over a new one.
    pub(super) async fn send(
        &self,
        outbound: &OutboundClient,
        mail: &OutgoingMail,
        limits: &MailLimits,
    ) -> Result<String, MailFailed> {
        if let Some(mut connection) = self.take() {
            let result = connection.send(mail, limits).await;
            if !matches!(
                result,
                Err(MailFailed::Lost { owner: FaultOwner::Channel, .. }
                    | MailFailed::Answer { owner: FaultOwner::Channel, .. })
            ) {
                self.give_back(connection, &result, limits).await;
                return result;
            }
        }
        let mut connection = MailConnection::open(outbound, mail, limits).await?;
        let result = connection.send(mail, limits).await;
        self.give_back(connection, &result, limits).await;
        result
    }

    /// Sends `QUIT` over connections that nobody has used for a while.
    pub(super) async fn close_idle(&self) {
        let is_old = |one: &mut IdleConnection| one.since.elapsed() >= IDLE;
        let old: Vec<IdleConnection> = self.idle.borrow_mut().extract_if(.., is_old).collect();
        for one in old {
            one.connection.close().await;
        }
    }

    fn take(&self) -> Option<MailConnection> {
        self.idle.borrow_mut().pop().map(|one| one.connection)
    }

    /// Keeps a connection over which another mail can be sent.
    async fn give_back(
        &self,
        mut connection: MailConnection,
        result: &Result<String, MailFailed>,
        limits: &MailLimits,
    ) {
        let is_usable = match result {
            Ok(_) => true,
            Err(MailFailed::Answer { owner: FaultOwner::Recipient | FaultOwner::Message, .. }) => {
                connection.reset(limits).await
            }
            Err(_) => false,
        };
        if is_usable {
            self.idle.borrow_mut().push(IdleConnection { connection, since: Instant::now() });
        }
    }
}
