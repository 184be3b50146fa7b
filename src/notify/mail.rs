//! The conversation with a mail server: one connection through the gate, one mail.
//!
//! Each command has the time that RFC 5321 (4.5.3.2) gives it, so that a server which scans mails or greets late is no failure.
//! The connection and its TLS are those of every other message. With STARTTLS a server that does not encrypt hears neither
//! password nor mail. What a refusal is about (the channel, a recipient, the mail) is said here; what follows is not.

mod conversation;

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use tokio::time::timeout;

use crate::config::limits::MailLimits;
use crate::egress::outbound::{Failed, Outbound, Stage};
use crate::model::notification::delivery::FaultOwner;
use crate::notify::kinds::{Credentials, Encryption, OutgoingMail};
use crate::notify::mail::conversation::{NoReply, SmtpConversation, SmtpReply, SmtpStream};

/// The time that taking leave may take.
const LEAVE: Duration = Duration::from_secs(1);
/// The server ends the conversation, whatever it was asked (RFC 5321, 3.8).
const CLOSING: u16 = 421;
/// The server waits for what proves who speaks (RFC 4954, 4).
const CHALLENGE: u16 = 334;

/// The reasons why a mail was not taken.
pub(super) enum MailFailed {
    /// The connection failed or was lost, or the server's time has passed.
    Lost {
        /// What that is about.
        owner: FaultOwner,
        /// In what way.
        failed: Failed,
    },
    /// The server does not take it, or does not speak SMTP.
    Answer {
        /// What that is about.
        owner: FaultOwner,
        /// The code of the reply, if it was one.
        status_code: Option<u16>,
        /// In words.
        detail: String,
        /// True if it never will.
        is_final: bool,
    },
    /// The mail was sent to its end, and no reply came: the server may have taken it.
    Unconfirmed,
}

impl MailFailed {
    fn of_channel(failed: Failed) -> Self {
        Self::Lost { owner: FaultOwner::Channel, failed }
    }

    fn refusal(detail: &str) -> Self {
        let detail = detail.to_owned();
        Self::Answer { owner: FaultOwner::Channel, status_code: None, detail, is_final: false }
    }
}

/// Hands a mail to its server; returns what the server said.
pub(super) async fn deliver(
    outbound: &Outbound,
    mail: &OutgoingMail,
    limits: &MailLimits,
) -> Result<String, MailFailed> {
    let (mut conversation, offered) = open(outbound, mail, limits).await?;
    if let Some(user) = &mail.credentials {
        log_in(&mut conversation, (user, &offered), limits).await?;
    }
    let refused = address(&mut conversation, mail, limits).await?;
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
    // It has the mail; how it takes leave does not matter, nor for how long.
    let _ = timeout(LEAVE, conversation.ask("QUIT", LEAVE)).await;
    Ok([refused, vec![taken.text()]].concat().join("; "))
}

/// Names sender and recipients. Returns the words about recipients that the server does not take: the others get the mail without
/// them, since one mailbox that is full must not keep an alert from all. When it takes none, the mail may come again if one of
/// them may be taken later.
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

/// Connects, encrypts if that is wanted, and greets. Returns what the server offers as well.
async fn open(
    outbound: &Outbound,
    mail: &OutgoingMail,
    limits: &MailLimits,
) -> Result<(SmtpConversation<Box<dyn SmtpStream>>, SmtpReply), MailFailed> {
    let reached = timeout(limits.connect, outbound.reach(&mail.host, mail.port)).await;
    let stream =
        reached.unwrap_or(Err(Failed::Timeout(Stage::Connecting))).map_err(MailFailed::of_channel)?;
    let secure = async |stream| {
        let secured = timeout(limits.connect, outbound.secure(stream, &mail.host)).await;
        let secured = secured.unwrap_or(Err(Failed::Timeout(Stage::Connecting)));
        secured.map(|stream| Box::new(stream) as Box<dyn SmtpStream>).map_err(MailFailed::of_channel)
    };
    let stream = match mail.encryption {
        Encryption::None => Box::new(stream),
        Encryption::Tls => secure(stream).await?,
        Encryption::StartTls => {
            let mut in_clear = SmtpConversation::new(stream);
            let offered = greet(&mut in_clear, &mail.hello, limits).await?;
            if offered.extension("STARTTLS").is_none() {
                return Err(MailFailed::refusal("The server does not offer STARTTLS"));
            }
            ask(&mut in_clear, "STARTTLS", limits).await?;
            let Some(stream) = in_clear.into_stream() else {
                return Err(MailFailed::refusal("The server said more than it may before encryption"));
            };
            // A server greets once, in clear.
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

/// Says who speaks; to a server that knows no extensions as RFC 5321 (3.2) has it.
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

/// `AUTH` by PLAIN or LOGIN (RFC 4954).
async fn log_in<S: SmtpStream>(
    conversation: &mut SmtpConversation<S>,
    (user, offered): (&Credentials, &SmtpReply),
    limits: &MailLimits,
) -> Result<(), MailFailed> {
    let ways = offered.extension("AUTH").unwrap_or_default().to_ascii_uppercase();
    let is_offered = |way: &str| ways.split_ascii_whitespace().any(|offered| offered == way);
    let Credentials { username, password } = user;
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

/// Says a command on which everything depends.
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

/// What a reply means that refuses. Only the refusal of a recipient or of a mail is final: what a server says about the channel
/// (another password, no right to send) people mend on either side.
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
