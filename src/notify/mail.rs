//! Sends mails to a mail server: one over a connection of its own, or several over a connection that stays open. Each
//! connection passes the egress gate.
//!
//! Each command has the timeout of RFC 5321 (4.5.3.2), so that a server which scans mails or greets late is not treated
//! as failed. Connection and TLS are those of HTTP requests to other channels. With STARTTLS, a server that does not
//! encrypt receives neither password nor mail. A refusal gets its scope here (the channel, a recipient, the mail); the
//! consequences are decided elsewhere.

mod conversation;

use std::fmt;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use tokio::time::timeout;

use crate::config::limits::MailLimits;
use crate::egress::outbound::{ExchangeFailure, OutboundClient, TimeoutStage};
use crate::model::notification::delivery::FaultOwner;
use crate::notify::kinds::{MailCredentials, MailEncryption, OutgoingMail};
use crate::notify::mail::conversation::{NoReply, SmtpConversation, SmtpReply, SmtpStream};

/// Time limit of the `QUIT` command, whose result does not matter.
const LEAVE: Duration = Duration::from_secs(1);
/// Reply code: the server ends the conversation, after any command (RFC 5321, 3.8).
const CLOSING: u16 = 421;
/// Reply code: the server waits for the credentials (RFC 4954, 4).
const CHALLENGE: u16 = 334;

/// The reason why a mail was not accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MailFailed {
    /// The connection failed or was lost, or the server did not reply in time.
    Lost {
        /// The scope of the failure.
        owner: FaultOwner,
        /// The kind of the failure.
        failed: ExchangeFailure,
    },
    /// The server refuses the mail, or does not speak SMTP.
    Answer {
        /// The scope of the refusal.
        owner: FaultOwner,
        /// The code of the reply, if there was a valid one.
        status_code: Option<u16>,
        /// The text of the reply.
        detail: String,
        /// True if the refusal is final.
        is_final: bool,
    },
    /// The mail was sent completely, but no reply came: the server may have accepted it.
    Unconfirmed,
}

impl MailFailed {
    fn of_channel(failed: ExchangeFailure) -> Self {
        Self::Lost { owner: FaultOwner::Channel, failed }
    }

    fn refusal(detail: &str) -> Self {
        let detail = detail.to_owned();
        Self::Answer { owner: FaultOwner::Channel, status_code: None, detail, is_final: false }
    }
}

/// Sends a mail to its server; returns the server's answer.
pub(super) async fn deliver(
    outbound: &OutboundClient,
    mail: &OutgoingMail,
    limits: &MailLimits,
) -> Result<String, MailFailed> {
    let mut connection = MailConnection::open(outbound, mail, limits).await?;
    let taken = connection.send(mail, limits).await?;
    // The server has the mail; the result of `QUIT` does not matter.
    connection.close().await;
    Ok(taken)
}

/// A conversation with a mail server over which several mails are sent.
pub struct MailConnection {
    conversation: SmtpConversation<Box<dyn SmtpStream>>,
}

impl fmt::Debug for MailConnection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MailConnection").finish_non_exhaustive()
    }
}

impl MailConnection {
    /// Connects to the server of a mail, and logs in if the mail has credentials.
    ///
    /// # Errors
    /// The reason for which no mail can be sent.
    pub async fn open(
        outbound: &OutboundClient,
        mail: &OutgoingMail,
        limits: &MailLimits,
    ) -> Result<Self, MailFailed> {
        let (mut conversation, offered) = open(outbound, mail, limits).await?;
        if let Some(user) = &mail.credentials {
            log_in(&mut conversation, user, &offered, limits).await?;
        }
        Ok(Self { conversation })
    }

    /// Sends a mail; returns the server's answer.
    ///
    /// # Errors
    /// The reason for which the mail was not accepted. After an answer about the mail or its recipients, the next mail can
    /// be sent when [`MailConnection::reset`] has succeeded.
    pub async fn send(&mut self, mail: &OutgoingMail, limits: &MailLimits) -> Result<String, MailFailed> {
        let conversation = &mut self.conversation;
        let refused = address(conversation, mail, limits).await?;
        let of_mail = |no_reply| lost(FaultOwner::Message, no_reply);
        let go_on = conversation.ask("DATA", limits.data_command).await.map_err(of_mail)?;
        if go_on.code != 354 {
            return Err(refused_by(FaultOwner::Message, &go_on));
        }
        conversation.send_mail(&mail.body, limits.data_block).await.map_err(of_mail)?;
        let taken = conversation.hear(limits.final_dot).await.map_err(|_| MailFailed::Unconfirmed)?;
        if !taken.is_positive() {
            return Err(refused_by(FaultOwner::Message, &taken));
        }
        Ok([refused, vec![taken.text()]].concat().join("; "))
    }

    /// Forgets a mail that was not accepted; returns false if the connection is of no more use.
    pub async fn reset(&mut self, limits: &MailLimits) -> bool {
        self.conversation.ask("RSET", limits.command).await.is_ok_and(|reply| reply.is_positive())
    }

    /// Sends `QUIT`.
    pub async fn close(mut self) {
        let _ = timeout(LEAVE, self.conversation.ask("QUIT", LEAVE)).await;
    }
}

/// Sends the sender and the recipients. Returns the replies about refused recipients. The other recipients get the mail
/// anyway, because one full mailbox must not keep an alert from all. If all are refused, the mail may be tried again when
/// one of the refusals is temporary.
async fn address<S: SmtpStream>(
    conversation: &mut SmtpConversation<S>,
    mail: &OutgoingMail,
    limits: &MailLimits,
) -> Result<Vec<String>, MailFailed> {
    let sender = mail.envelope.from().map(ToString::to_string).unwrap_or_default();
    ask(conversation, &format!("MAIL FROM:<{sender}>"), limits).await?;
    let (mut refused, mut worst): (_, Option<SmtpReply>) = (Vec::new(), None);
    for recipient in mail.envelope.to() {
        let reply = conversation.ask(&format!("RCPT TO:<{recipient}>"), limits.command).await;
        let reply = reply.map_err(|no_reply| lost(FaultOwner::Recipient, no_reply))?;
        if reply.code == CLOSING {
            return Err(refused_by(FaultOwner::Channel, &reply));
        }
        if !reply.is_positive() {
            refused.push(format!("Not to {recipient}: {}", in_words(&reply)));
            if worst.as_ref().is_none_or(|known| is_permanent(known.code)) {
                worst = Some(reply);
            }
        }
    }
    match worst {
        Some(reply) if refused.len() == mail.envelope.to().len() => {
            Err(refused_by(FaultOwner::Recipient, &reply))
        }
        _ => Ok(refused),
    }
}

/// Connects, encrypts if configured, and greets. Also returns the reply that lists the server's extensions.
async fn open(
    outbound: &OutboundClient,
    mail: &OutgoingMail,
    limits: &MailLimits,
) -> Result<(SmtpConversation<Box<dyn SmtpStream>>, SmtpReply), MailFailed> {
    let reached = timeout(limits.connect, outbound.reach(&mail.host, mail.port)).await;
    let stream = reached
        .unwrap_or(Err(ExchangeFailure::Timeout(TimeoutStage::Connecting)))
        .map_err(MailFailed::of_channel)?;
    let secure = async |stream| {
        let secured = timeout(limits.connect, outbound.secure(stream, &mail.host)).await;
        let secured = secured.unwrap_or(Err(ExchangeFailure::Timeout(TimeoutStage::Connecting)));
        secured.map(|stream| Box::new(stream) as Box<dyn SmtpStream>).map_err(MailFailed::of_channel)
    };
    let stream = match mail.encryption {
        MailEncryption::None => Box::new(stream),
        MailEncryption::Tls => secure(stream).await?,
        MailEncryption::StartTls => {
            let mut in_clear = SmtpConversation::new(stream);
            let offered = greet(&mut in_clear, &mail.hello, limits).await?;
            if offered.extension("STARTTLS").is_none() {
                return Err(MailFailed::refusal("The server does not offer STARTTLS"));
            }
            ask(&mut in_clear, "STARTTLS", limits).await?;
            let Some(stream) = in_clear.into_stream() else {
                return Err(MailFailed::refusal("The server said more than it may before encryption"));
            };
            // A server greets once, in plain text.
            let mut conversation = SmtpConversation::new(secure(stream).await?);
            let offered = hello(&mut conversation, &mail.hello, limits).await?;
            return Ok((conversation, offered));
        }
    };
    let mut conversation = SmtpConversation::new(stream);
    let offered = greet(&mut conversation, &mail.hello, limits).await?;
    Ok((conversation, offered))
}

async fn greet<S: SmtpStream>(
    conversation: &mut SmtpConversation<S>,
    name: &str,
    limits: &MailLimits,
) -> Result<SmtpReply, MailFailed> {
    let greeting = conversation.hear(limits.greeting).await.map_err(of_channel)?;
    positive(greeting)?;
    hello(conversation, name, limits).await
}

/// Sends `EHLO`, or `HELO` to a server without extensions (RFC 5321, 3.2).
async fn hello<S: SmtpStream>(
    conversation: &mut SmtpConversation<S>,
    name: &str,
    limits: &MailLimits,
) -> Result<SmtpReply, MailFailed> {
    let reply = conversation.ask(&format!("EHLO {name}"), limits.command).await.map_err(of_channel)?;
    if is_permanent(reply.code) {
        return ask(conversation, &format!("HELO {name}"), limits).await;
    }
    positive(reply)
}

/// Logs in by `AUTH PLAIN` or `AUTH LOGIN` (RFC 4954).
async fn log_in<S: SmtpStream>(
    conversation: &mut SmtpConversation<S>,
    user: &MailCredentials,
    offered: &SmtpReply,
    limits: &MailLimits,
) -> Result<(), MailFailed> {
    let ways = offered.extension("AUTH").unwrap_or_default().to_ascii_uppercase();
    let is_offered = |way: &str| ways.split_ascii_whitespace().any(|offered| offered == way);
    let MailCredentials { username, password } = user;
    if is_offered("PLAIN") {
        let token = BASE64.encode(format!("\0{username}\0{password}"));
        let reply = ask(conversation, &format!("AUTH PLAIN {token}"), limits).await?;
        if reply.code == CHALLENGE {
            ask(conversation, &token, limits).await?;
        }
    } else if is_offered("LOGIN") {
        ask(conversation, "AUTH LOGIN", limits).await?;
        ask(conversation, &BASE64.encode(username), limits).await?;
        ask(conversation, &BASE64.encode(password), limits).await?;
    } else {
        return Err(MailFailed::refusal("The server offers neither AUTH PLAIN nor AUTH LOGIN"));
    }
    Ok(())
}

/// Sends a command whose failure ends the conversation.
async fn ask<S: SmtpStream>(
    conversation: &mut SmtpConversation<S>,
    command: &str,
    limits: &MailLimits,
) -> Result<SmtpReply, MailFailed> {
    positive(conversation.ask(command, limits.command).await.map_err(of_channel)?)
}

fn positive(reply: SmtpReply) -> Result<SmtpReply, MailFailed> {
    if reply.is_positive() { Ok(reply) } else { Err(refused_by(FaultOwner::Channel, &reply)) }
}

fn of_channel(no_reply: NoReply) -> MailFailed {
    lost(FaultOwner::Channel, no_reply)
}

fn lost(owner: FaultOwner, no_reply: NoReply) -> MailFailed {
    match no_reply {
        NoReply::Lost(failed) => MailFailed::Lost { owner, failed },
        NoReply::Nonsense(detail) => MailFailed::refusal(detail),
    }
}

/// Converts a refusing reply. Only the refusal of a recipient or of a mail is final: a refusal that concerns the channel
/// (wrong password, no right to send) may be fixed by the user or on the server.
fn refused_by(owner: FaultOwner, reply: &SmtpReply) -> MailFailed {
    let is_about_channel = matches!(reply.code, CLOSING | 530 | 534 | 535 | 538);
    let owner = if is_about_channel { FaultOwner::Channel } else { owner };
    let is_final = is_permanent(reply.code) && owner != FaultOwner::Channel;
    MailFailed::Answer { owner, status_code: Some(reply.code), detail: in_words(reply), is_final }
}

const fn is_permanent(code: u16) -> bool {
    matches!(code, 500..=599)
}

fn in_words(reply: &SmtpReply) -> String {
    let kind = if is_permanent(reply.code) { "permanent" } else { "transient" };
    format!("{kind} error ({}): {}", reply.code, reply.text())
}
