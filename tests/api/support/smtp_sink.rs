//! A mail server in clear on loopback with scripted replies: to each recipient, and to the dot that ends a mail.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;

/// Behaviour of the server.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SmtpConduct {
    /// The reply to a recipient.
    pub(crate) recipient: fn(&str) -> &'static str,
    /// Reply to the end of a mail with this text; `None` closes the connection without a reply.
    pub(crate) end: fn(&str) -> Option<(Duration, &'static str)>,
}

impl Default for SmtpConduct {
    fn default() -> Self {
        Self { recipient: |_| "250 OK", end: |_| Some((Duration::ZERO, "250 Taken")) }
    }
}

/// A mail that was sent to its end.
#[derive(Clone, Debug)]
pub(crate) struct SentMail {
    /// The recipients that the server took.
    pub(crate) recipients: Vec<String>,
    /// Headers and parts.
    pub(crate) text: String,
    /// The time at which all of it was there.
    pub(crate) at: Instant,
}

impl SentMail {
    /// The value of a header on a single line.
    pub(crate) fn header(&self, name: &str) -> &str {
        let mut lines = self.text.lines().filter_map(|line| line.split_once(": "));
        lines.find(|(known, _)| *known == name).map_or("", |(_, value)| value)
    }
}

/// The server; it ends when it is dropped.
pub(crate) struct SmtpSink {
    address: SocketAddr,
    sent: Arc<Mutex<Vec<SentMail>>>,
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl SmtpSink {
    pub(crate) fn with(conduct: SmtpConduct) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (sent, is_over) = (Arc::new(Mutex::default()), Arc::new(AtomicBool::new(false)));
        let (kept, over) = (Arc::clone(&sent), Arc::clone(&is_over));
        let thread = std::thread::spawn(move || {
            while let Ok((stream, _)) = listener.accept() {
                if over.load(Ordering::SeqCst) {
                    return;
                }
                let kept = Arc::clone(&kept);
                std::thread::spawn(move || converse(&stream, conduct, &kept));
            }
        });
        Self { address, sent, is_over, thread: Some(thread) }
    }

    /// The settings of a channel that sends to this address by it.
    pub(crate) fn settings(&self, to: &str) -> Value {
        json!({"host": "127.0.0.1", "port": self.address.port(), "encryption": "none",
            "from": "status@example.org", "to": [to]})
    }

    /// The variables of a server that sends mails to subscribers by it.
    pub(crate) fn variables(&self) -> Vec<(&'static str, String)> {
        mail_variables(self.address.port())
    }

    /// The mails that were sent to their end, taken or not.
    pub(crate) fn sent(&self) -> Vec<SentMail> {
        self.sent.lock().unwrap().clone()
    }

    /// The number of mails that were sent to their end.
    pub(crate) fn count(&self) -> usize {
        self.sent.lock().unwrap().len()
    }

    /// Those for this recipient.
    pub(crate) fn sent_to(&self, recipient: &str) -> Vec<SentMail> {
        self.sent()
            .into_iter()
            .filter(|mail| mail.recipients.iter().any(|known| known == recipient))
            .collect()
    }
}

impl Drop for SmtpSink {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::SeqCst);
        // Wakes the thread.
        let _ = TcpStream::connect(self.address);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// The variables of a server that sends mails to subscribers through this port of 127.0.0.1.
pub(crate) fn mail_variables(port: u16) -> Vec<(&'static str, String)> {
    vec![
        ("WATCHKEEPER_MAIL__SMTP_HOST", "127.0.0.1".to_owned()),
        ("WATCHKEEPER_MAIL__PORT", port.to_string()),
        ("WATCHKEEPER_MAIL__ENCRYPTION", "none".to_owned()),
        ("WATCHKEEPER_MAIL__FROM", "status@example.org".to_owned()),
        ("WATCHKEEPER_MAIL__COMPLAINTS", "abuse@example.org".to_owned()),
    ]
}

fn converse(stream: &TcpStream, conduct: SmtpConduct, sent: &Mutex<Vec<SentMail>>) -> Option<()> {
    stream.set_read_timeout(Some(Duration::from_secs(60))).ok()?;
    let mut reader = BufReader::new(stream);
    let say = |text: &str| { stream }.write_all(format!("{text}\r\n").as_bytes()).ok();
    let mut recipients = Vec::new();
    say("220 sink")?;
    loop {
        let line = read_line(&mut reader)?;
        let word = line.get(..4).unwrap_or(&line).to_ascii_uppercase();
        match word.as_str() {
            "RCPT" => {
                let address = line.split(['<', '>']).nth(1).unwrap_or_default();
                let reply = (conduct.recipient)(address);
                if reply.starts_with('2') {
                    recipients.push(address.to_owned());
                }
                say(reply)?;
            }
            "DATA" => {
                say("354 Go on")?;
                let mut text = String::new();
                loop {
                    let line = read_line(&mut reader)?;
                    if line == "." {
                        break;
                    }
                    text += &line;
                    text.push('\n');
                }
                let mail =
                    SentMail { recipients: recipients.clone(), text: text.clone(), at: Instant::now() };
                sent.lock().unwrap().push(mail);
                let (wait, reply) = (conduct.end)(&text)?;
                let until = Instant::now() + wait;
                while Instant::now() < until {
                    std::thread::park_timeout(wait);
                }
                say(reply)?;
            }
            "MAIL" | "RSET" => {
                recipients.clear();
                say("250 OK")?;
            }
            "QUIT" => {
                say("221 Bye")?;
                return Some(());
            }
            _ => say("250 OK")?,
        }
    }
}

fn read_line(reader: &mut BufReader<&TcpStream>) -> Option<String> {
    let mut line = String::new();
    (reader.read_line(&mut line).ok()? > 0).then(|| line.trim_end_matches(['\r', '\n']).to_owned())
}
