//! The conversation with a mail server: one connection through the gate, one mail.
//!
//! lettre speaks SMTP; the connection and its TLS are ours, so the gate, the authorities and the clock are those of every other
//! message. With STARTTLS the first words are spoken here, and a server that does not encrypt hears neither password nor mail.

use std::fmt;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use lettre::transport::smtp::authentication::{Credentials, Mechanism};
use lettre::transport::smtp::client::{AsyncSmtpConnection, AsyncTokioStream};
use lettre::transport::smtp::commands::{Data, Mail, Rcpt};
use lettre::transport::smtp::extension::ClientId;
use tokio::io::{self, AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::egress::outbound::{Failed, Outbound};
use crate::notify::kinds::{Encryption, OutgoingMail};

/// Most lines of an answer, and most bytes of one of them, before encryption begins.
/// The time that taking leave may take.
const LEAVE: Duration = Duration::from_secs(1);
const LINES_MAX: usize = 100;
const LINE_BYTES: usize = 2_000;

/// The reasons why a mail was not taken.
pub(super) enum MailFailed {
    /// There was no conversation.
    Way(Failed),
    /// The server does not take it, or does not speak SMTP.
    Answer {
        /// What it said, if it said a number.
        status_code: Option<u16>,
        /// In words.
        detail: String,
        /// True if it never will.
        is_final: bool,
    },
}

impl From<Failed> for MailFailed {
    fn from(failed: Failed) -> Self {
        Self::Way(failed)
    }
}

impl From<io::Error> for MailFailed {
    fn from(_: io::Error) -> Self {
        Self::Way(Failed::Closed)
    }
}

impl From<lettre::transport::smtp::Error> for MailFailed {
    fn from(error: lettre::transport::smtp::Error) -> Self {
        let status_code = error.status().map(u16::from);
        Self::Answer { status_code, detail: error.to_string(), is_final: error.is_permanent() }
    }
}

/// Hands a mail to its server; returns what the server said.
pub(super) async fn deliver(outbound: &Outbound, mail: &OutgoingMail) -> Result<String, MailFailed> {
    let hello = ClientId::Domain(mail.hello.clone());
    let mut connection =
        AsyncSmtpConnection::connect_with_transport(open(outbound, mail).await?, &hello).await?;
    if let Some(user) = &mail.credentials {
        let credentials = Credentials::new(user.username.clone(), user.password.clone());
        connection.auth(&[Mechanism::Plain, Mechanism::Login], &credentials).await?;
    }
    let refused = address(&mut connection, mail).await?;
    connection.command(Data).await?;
    let answer = connection.message(&mail.body).await?;
    // It has the mail; how it takes leave does not matter, nor for how long.
    let _ = timeout(LEAVE, connection.quit()).await;
    let said = answer.message().collect::<Vec<_>>().join(" ");
    Ok([refused, vec![said]].concat().join("; "))
}

/// Names sender and recipients. Returns the words about recipients that the server does not take: the others get the mail without
/// them, since one mailbox that is full must not keep an alert from all. When it takes none, the mail may come again if one of
/// them may be taken later.
async fn address(
    connection: &mut AsyncSmtpConnection,
    mail: &OutgoingMail,
) -> Result<Vec<String>, MailFailed> {
    connection.command(Mail::new(mail.envelope.from().cloned(), Vec::new())).await?;
    let (mut refused, mut worst): (_, Option<lettre::transport::smtp::Error>) = (Vec::new(), None);
    for recipient in mail.envelope.to() {
        match connection.command(Rcpt::new(recipient.clone(), Vec::new())).await {
            Ok(_) => {}
            Err(error) if error.status().is_some() => {
                refused.push(format!("Not to {recipient}: {error}"));
                if worst.as_ref().is_none_or(|known| known.is_permanent()) {
                    worst = Some(error);
                }
            }
            Err(error) => return Err(error.into()),
        }
    }
    match worst {
        Some(error) if refused.len() == mail.envelope.to().len() => Err(error.into()),
        _ => Ok(refused),
    }
}

async fn open(outbound: &Outbound, mail: &OutgoingMail) -> Result<Box<dyn AsyncTokioStream>, MailFailed> {
    let stream = outbound.reach(&mail.host, mail.port).await?;
    let peer = stream.peer_addr()?;
    Ok(match mail.encryption {
        Encryption::None => Box::new(stream),
        Encryption::Tls => {
            Box::new(Conversation { greeting: b"", peer, inner: outbound.secure(stream, &mail.host).await? })
        }
        Encryption::StartTls => {
            let stream = begin_tls(stream, &mail.hello).await?;
            let inner = outbound.secure(stream, &mail.host).await?;
            // A server greets once, in clear; lettre waits for it.
            Box::new(Conversation { greeting: b"220 encrypted\r\n", peer, inner })
        }
    })
}

/// The words before encryption: greeting, `EHLO`, `STARTTLS`.
async fn begin_tls(stream: TcpStream, hello: &str) -> Result<TcpStream, MailFailed> {
    let mut stream = BufReader::new(stream);
    answer(&mut stream, 220).await?;
    stream.write_all(format!("EHLO {hello}\r\n").as_bytes()).await?;
    let offered = answer(&mut stream, 250).await?;
    if !offered.iter().any(|line| line.eq_ignore_ascii_case("STARTTLS")) {
        return Err(refusal(None, "The server does not offer STARTTLS"));
    }
    stream.write_all(b"STARTTLS\r\n").await?;
    answer(&mut stream, 220).await?;
    if !stream.buffer().is_empty() {
        return Err(refusal(None, "The server said more than it may before encryption"));
    }
    Ok(stream.into_inner())
}

/// The lines of an answer that must begin with this number.
async fn answer(stream: &mut BufReader<TcpStream>, expected: u16) -> Result<Vec<String>, MailFailed> {
    let mut lines = Vec::new();
    while lines.len() < LINES_MAX {
        let mut line = Vec::new();
        io::AsyncReadExt::take(&mut *stream, LINE_BYTES as u64).read_until(b'\n', &mut line).await?;
        let line = String::from_utf8_lossy(&line).trim_end().to_owned();
        let code = line.get(..3).and_then(|code| code.parse::<u16>().ok());
        let Some(code) = code else {
            return Err(if line.is_empty() {
                Failed::Closed.into()
            } else {
                refusal(None, "This is no SMTP server")
            });
        };
        if code != expected {
            return Err(refusal(Some(code), line.get(4..).unwrap_or_default()));
        }
        let is_last = line.as_bytes().get(3) != Some(&b'-');
        lines.push(line.get(4..).unwrap_or_default().to_owned());
        if is_last {
            return Ok(lines);
        }
    }
    Err(refusal(None, "The server's answer has no end"))
}

fn refusal(status_code: Option<u16>, detail: &str) -> MailFailed {
    let is_final = status_code.is_some_and(|code| (500..600).contains(&code));
    MailFailed::Answer { status_code, detail: detail.to_owned(), is_final }
}

/// A connection for lettre: what was said before is read first.
struct Conversation<S> {
    greeting: &'static [u8],
    peer: SocketAddr,
    inner: S,
}

impl<S> fmt::Debug for Conversation<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Conversation(..)")
    }
}

impl<S: AsyncRead + AsyncWrite + Send + Sync + Unpin> AsyncTokioStream for Conversation<S> {
    fn peer_addr(&self) -> io::Result<SocketAddr> {
        Ok(self.peer)
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Conversation<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.greeting.is_empty() {
            return Pin::new(&mut self.inner).poll_read(cx, buf);
        }
        let (now, later) = self.greeting.split_at(self.greeting.len().min(buf.remaining()));
        buf.put_slice(now);
        self.greeting = later;
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Conversation<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.inner).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(cx)
    }
}
