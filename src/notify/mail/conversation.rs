//! The SMTP dialogue with a mail server (RFC 5321): commands, replies and the text of a mail, each with its timeout.
//!
//! The size of replies is limited here; their consequences are decided by the caller.

use std::io;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::time::timeout;

use crate::egress::outbound::{ExchangeFailure, TimeoutStage};

/// Maximum number of lines of a reply; [`REPLY_BYTES`] limits its size.
const LINES_MAX: usize = 1_000;
const REPLY_BYTES: usize = 64 * 1_024;
/// Number of bytes of a mail that are sent within one timeout (`data_block`).
const BLOCK_BYTES: usize = 16 * 1_024;

/// A connection to a mail server, plain or encrypted.
pub(super) trait SmtpStream: AsyncRead + AsyncWrite + Unpin {}

impl<S: AsyncRead + AsyncWrite + Unpin> SmtpStream for S {}

/// A conversation with a mail server.
pub(super) struct SmtpConversation<S> {
    stream: BufReader<S>,
}

/// A reply: its code and its lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SmtpReply {
    pub(super) code: u16,
    pub(super) lines: Vec<String>,
}

/// The reason why there is no reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NoReply {
    /// The connection was lost, or the time is over.
    Lost(ExchangeFailure),
    /// The received data are not a reply of SMTP.
    Nonsense(&'static str),
}

impl SmtpReply {
    /// Returns true if the reply code means success or "continue" (200 to 399).
    pub(super) const fn is_positive(&self) -> bool {
        matches!(self.code, 200..=399)
    }

    /// Returns the texts of all lines.
    pub(super) fn text(&self) -> String {
        self.lines.join(" ")
    }

    /// Returns the parameters of an extension of the server; `None` if the server does not offer it.
    pub(super) fn extension(&self, name: &str) -> Option<&str> {
        let offered = self.lines.iter().skip(1).find_map(|line| {
            let (word, more) = line.split_at_checked(name.len())?;
            let is_it = word.eq_ignore_ascii_case(name) && !more.starts_with(|c: char| c.is_alphanumeric());
            is_it.then_some(more)
        })?;
        Some(offered.trim_start_matches(['=', ' ']))
    }
}

impl<S: SmtpStream> SmtpConversation<S> {
    pub(super) fn new(stream: S) -> Self {
        Self { stream: BufReader::new(stream) }
    }

    /// Waits for a reply without sending a command: the greeting, or the reply to a mail.
    pub(super) async fn hear(&mut self, within: Duration) -> Result<SmtpReply, NoReply> {
        in_time(within, self.read_reply()).await
    }

    /// Sends a command and waits for its reply.
    pub(super) async fn ask(&mut self, command: &str, within: Duration) -> Result<SmtpReply, NoReply> {
        let asked = async {
            self.stream.write_all(format!("{command}\r\n").as_bytes()).await?;
            self.stream.flush().await?;
            self.read_reply().await
        };
        in_time(within, asked).await
    }

    /// Sends the text of a mail and the final dot, without waiting for the reply.
    pub(super) async fn send_mail(&mut self, text: &[u8], within: Duration) -> Result<(), NoReply> {
        for block in transparent(text).chunks(BLOCK_BYTES) {
            in_time(within, self.send(block)).await?;
        }
        in_time(within, self.send(b".\r\n")).await
    }

    /// Returns the connection, for an upgrade to TLS; `None` if the server has sent unrequested data.
    pub(super) fn into_stream(self) -> Option<S> {
        self.stream.buffer().is_empty().then(|| self.stream.into_inner())
    }

    async fn send(&mut self, bytes: &[u8]) -> Result<(), NoReply> {
        self.stream.write_all(bytes).await?;
        Ok(self.stream.flush().await?)
    }

    async fn read_reply(&mut self) -> Result<SmtpReply, NoReply> {
        let (mut lines, mut left) = (Vec::new(), REPLY_BYTES);
        while lines.len() < LINES_MAX && left > 0 {
            let mut line = Vec::new();
            (&mut self.stream).take(left as u64).read_until(b'\n', &mut line).await?;
            left -= line.len();
            if !line.ends_with(b"\n") {
                let is_cut_off = left > 0;
                let endless = NoReply::Nonsense("This is not an SMTP server");
                return Err(if is_cut_off { NoReply::Lost(ExchangeFailure::Closed) } else { endless });
            }
            let line = String::from_utf8_lossy(&line).trim_end().to_owned();
            if line.is_empty() && lines.is_empty() {
                continue; // Some servers begin with an empty line; other clients pass over it.
            }
            let code = line.get(..3).and_then(|code| code.parse::<u16>().ok());
            let code = code.filter(|code| (200..600).contains(code));
            let Some(code) = code else { return Err(NoReply::Nonsense("This is not an SMTP server")) };
            let goes_on = line.as_bytes().get(3) == Some(&b'-');
            lines.push(line.get(4..).unwrap_or_default().to_owned());
            if !goes_on {
                return Ok(SmtpReply { code, lines });
            }
        }
        Err(NoReply::Nonsense("The server's answer has no end"))
    }
}

impl From<io::Error> for NoReply {
    fn from(error: io::Error) -> Self {
        Self::Lost(ExchangeFailure::of_io(&error))
    }
}

async fn in_time<T>(within: Duration, done: impl Future<Output = Result<T, NoReply>>) -> Result<T, NoReply> {
    timeout(within, done)
        .await
        .unwrap_or(Err(NoReply::Lost(ExchangeFailure::Timeout(TimeoutStage::Answering))))
}

/// Returns the text of a mail in wire format (RFC 5321, 4.5.2): a dot at the start of a line is doubled, and the last line
/// ends with CRLF.
fn transparent(text: &[u8]) -> Vec<u8> {
    let mut sent = Vec::with_capacity(text.len() + 64);
    for byte in text {
        if *byte == b'.' && (sent.is_empty() || sent.ends_with(b"\r\n")) {
            sent.push(b'.');
        }
        sent.push(*byte);
    }
    if !sent.ends_with(b"\r\n") {
        sent.extend_from_slice(b"\r\n");
    }
    sent
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use tokio::io::duplex;

    use super::*;

    const LONG: Duration = Duration::from_secs(60);
    const LONG_WORD: &str = match str::from_utf8(&[b'x'; 3_000]) {
        Ok(word) => word,
        Err(_) => "",
    };

    /// Returns the result of reading these data from a server that closes the connection after them.
    async fn reply_to(answer: &[u8]) -> Result<SmtpReply, NoReply> {
        let (client, mut server) = duplex(1_024 * 1_024);
        server.write_all(answer).await.unwrap();
        drop(server);
        SmtpConversation::new(client).hear(LONG).await
    }

    #[rstest]
    #[case::one_line("250 fine\r\n", 250, &["fine"])]
    #[case::several("250-mail\r\n250-SIZE 1\r\n250 AUTH PLAIN\r\n", 250, &["mail", "SIZE 1", "AUTH PLAIN"])]
    #[case::without_words("220\r\n", 220, &[""])]
    #[case::a_bare_line_feed("550 no\n", 550, &["no"])]
    #[case::an_empty_line_in_front("\r\n\n220 hi\r\n", 220, &["hi"])]
    #[case::many_lines(&["250-x\r\n".repeat(119), "250 x\r\n".into()].concat(), 250, &["x"; 120])]
    #[case::a_long_line(&format!("250-{LONG_WORD}\r\n250 SIZE\r\n"), 250, &[LONG_WORD, "SIZE"])]
    #[tokio::test]
    async fn a_reply_is_read(#[case] answer: &str, #[case] code: u16, #[case] lines: &[&str]) {
        let expected = SmtpReply { code, lines: lines.iter().map(ToString::to_string).collect() };
        assert_eq!(reply_to(answer.as_bytes()).await, Ok(expected));
    }

    #[rstest]
    #[case::nothing("", NoReply::Lost(ExchangeFailure::Closed))]
    #[case::half_a_line("250 fi", NoReply::Lost(ExchangeFailure::Closed))]
    #[case::half_a_reply("250-fine\r\n", NoReply::Lost(ExchangeFailure::Closed))]
    #[case::another_protocol("SSH-2.0-OpenSSH\r\n", NoReply::Nonsense("This is not an SMTP server"))]
    #[case::an_endless_line(&format!("2{}", "5".repeat(100_000)), NoReply::Nonsense("This is not an SMTP server"))]
    #[case::an_endless_reply(&"250-x\r\n".repeat(5_000), NoReply::Nonsense("The server's answer has no end"))]
    #[tokio::test]
    async fn failed_replies_are_classified(#[case] answer: &str, #[case] expected: NoReply) {
        assert_eq!(reply_to(answer.as_bytes()).await, Err(expected));
    }

    #[tokio::test(start_paused = true)]
    async fn a_silent_server_times_out() {
        let (client, _server) = duplex(64);
        let began = tokio::time::Instant::now();
        let reply = SmtpConversation::new(client).hear(LONG).await;
        assert_eq!(reply, Err(NoReply::Lost(ExchangeFailure::Timeout(TimeoutStage::Answering))));
        assert_eq!(began.elapsed(), LONG);
    }

    #[rstest]
    #[case("AUTH PLAIN LOGIN", "AUTH", Some("PLAIN LOGIN"))]
    #[case("auth=PLAIN", "AUTH", Some("PLAIN"))]
    #[case("STARTTLS", "STARTTLS", Some(""))]
    #[case("AUTHORITY", "AUTH", None)]
    #[case("SIZE 1", "AUTH", None)]
    fn an_extension_is_found(#[case] line: &str, #[case] name: &str, #[case] expected: Option<&str>) {
        let reply = SmtpReply { code: 250, lines: vec!["AUTH is my name".into(), line.into()] };
        assert_eq!(reply.extension(name), expected);
    }

    #[rstest]
    #[case("a\r\nb\r\n", "a\r\nb\r\n")]
    #[case(".a\r\n..b\r\nc.\r\n", "..a\r\n...b\r\nc.\r\n")]
    #[case("a\r\n.", "a\r\n..\r\n")]
    #[case("", "\r\n")]
    fn dots_are_doubled(#[case] text: &str, #[case] sent: &str) {
        assert_eq!(String::from_utf8(transparent(text.as_bytes())).unwrap(), sent);
    }
}
