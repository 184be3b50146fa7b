//! A name server on loopback, UDP and TCP, with scripted responses.
//!
//! Names without a script are refused, which is a sign of life. It ends when it is dropped.

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex};

use hickory_proto::op::{Edns, Message, MessageType, ResponseCode};
use hickory_proto::rr::rdata::{CNAME, MX, NS, TXT};
use hickory_proto::rr::{Name, RData, Record, RecordType};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, UdpSocket};
use tokio::task::JoinHandle;

/// Reaction of the server to a query for a name.
#[derive(Clone, Debug)]
pub(crate) enum Answer {
    /// The records of the queried type, and aliases.
    Records(Vec<RData>),
    /// All of these, whatever their names and the query.
    Verbatim(Vec<Record>),
    /// An error, or with `NoError` an empty answer.
    Code(ResponseCode),
    /// Nothing, ever.
    Silence,
    /// "Truncated" over UDP, the records over TCP.
    Truncated(Vec<RData>),
    /// "Truncated" over UDP; over TCP the records, and additional data that was not queried.
    TruncatedBeside(OddPart, Vec<RData>),
    /// A message with another id and a wrong record first, then the true one.
    WrongIdFirst(Vec<RData>),
    /// An answer to another question first, then the true one.
    WrongQuestionFirst(Vec<RData>),
    /// Bytes that are no message first, then the true one.
    GarbageFirst(Vec<RData>),
    /// Bytes that are no message.
    Garbage,
    /// The records, and additional data that was not queried.
    Beside(OddPart, Vec<RData>),
    /// The records for a question without EDNS; this for one with it.
    Plain(EdnsRefusal, Vec<RData>),
}

/// Records that are added to a message as they are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OddPart {
    /// The section: its count is at this byte of the header.
    pub(crate) count_at: usize,
    /// By so much the count is raised.
    pub(crate) count: u8,
    /// The records.
    pub(crate) bytes: &'static [u8],
}

impl OddPart {
    fn added_to(self, message: &Message) -> Vec<u8> {
        let mut message = message.to_vec().unwrap();
        message[self.count_at + 1] += self.count;
        message.extend_from_slice(self.bytes);
        message
    }
}

/// Response of a server without EDNS (RFC 6891, section 7, and observed behaviour).
#[derive(Clone, Copy, Debug)]
pub(crate) enum EdnsRefusal {
    /// This code, with the question.
    Code(ResponseCode),
    /// A header that says FORMERR, and nothing else.
    BareHeader,
    /// BADVERS, half of which is in an OPT record.
    BadVersion,
    /// BADCOOKIE, half of which is in an OPT record.
    BadCookie,
    /// Bytes that are no message.
    Garbage,
    /// Nothing, ever.
    Silence,
}

/// A name server that runs until it is dropped.
#[derive(Debug)]
pub(crate) struct DnsServer {
    /// Address of the server.
    pub(crate) address: SocketAddr,
    questions: Arc<Mutex<Vec<String>>>,
    tasks: [JoinHandle<()>; 2],
}

/// Received queries.
struct Script {
    answers: HashMap<Name, Answer>,
    default: Answer,
}

impl DnsServer {
    /// Answers these names, and refuses others.
    pub(crate) async fn start<'a>(answers: impl IntoIterator<Item = (&'a str, Answer)>) -> Self {
        Self::with_default(answers, Answer::Code(ResponseCode::Refused)).await
    }

    /// Hears everything and answers nothing.
    pub(crate) async fn silent() -> Self {
        Self::with_default([], Answer::Silence).await
    }

    async fn with_default<'a>(answers: impl IntoIterator<Item = (&'a str, Answer)>, default: Answer) -> Self {
        let answers = answers.into_iter().map(|(text, answer)| (name(text), answer));
        let script = Arc::new(Script { answers: answers.collect(), default });
        let (udp, tcp) = bind().await;
        let questions = Arc::default();
        Self {
            address: udp.local_addr().unwrap(),
            tasks: [
                tokio::spawn(serve_udp(udp, Arc::clone(&script), Arc::clone(&questions))),
                tokio::spawn(serve_tcp(tcp, script)),
            ],
            questions,
        }
    }

    /// The names that were queried over UDP, in order.
    pub(crate) fn questions(&self) -> Vec<String> {
        self.questions.lock().unwrap().clone()
    }
}

impl Drop for DnsServer {
    fn drop(&mut self) {
        for task in &self.tasks {
            task.abort();
        }
    }
}

/// A fully qualified name.
pub(crate) fn name(text: &str) -> Name {
    let mut name = Name::from_ascii(text).unwrap();
    name.set_fqdn(true);
    name
}

/// Data of an A or AAAA record.
pub(crate) fn address(text: &str) -> RData {
    match text.parse().unwrap() {
        IpAddr::V4(address) => RData::A(address.into()),
        IpAddr::V6(address) => RData::AAAA(address.into()),
    }
}

/// Data of an alias.
pub(crate) fn alias(text: &str) -> RData {
    RData::CNAME(CNAME(name(text)))
}

/// Data of an MX record.
pub(crate) fn mx(preference: u16, host: &str) -> RData {
    RData::MX(MX::new(preference, name(host)))
}

/// Data of an NS record.
pub(crate) fn ns(host: &str) -> RData {
    RData::NS(NS(name(host)))
}

/// Data of a TXT record in several strings.
pub(crate) fn txt(parts: &[&str]) -> RData {
    RData::TXT(TXT::new(parts.iter().map(ToString::to_string).collect()))
}

/// A record of a name.
pub(crate) fn record(owner: &str, data: RData) -> Record {
    Record::from_rdata(name(owner), 60, data)
}

/// The same port for both protocols.
async fn bind() -> (UdpSocket, TcpListener) {
    loop {
        let udp = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        if let Ok(tcp) = TcpListener::bind(udp.local_addr().unwrap()).await {
            return (udp, tcp);
        }
    }
}

async fn serve_udp(socket: UdpSocket, script: Arc<Script>, questions: Arc<Mutex<Vec<String>>>) {
    let mut datagram = [0; 512];
    loop {
        let (length, from) = socket.recv_from(&mut datagram).await.unwrap();
        let question = Message::from_vec(&datagram[..length]).unwrap();
        questions.lock().unwrap().push(question.queries[0].name.to_ascii());
        for answer in script.datagrams(&question) {
            socket.send_to(&answer, from).await.unwrap();
        }
    }
}

async fn serve_tcp(listener: TcpListener, script: Arc<Script>) {
    loop {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut question = vec![0; usize::from(stream.read_u16().await.unwrap())];
        stream.read_exact(&mut question).await.unwrap();
        let question = Message::from_vec(&question).unwrap();
        let answer = match script.answer(&question) {
            Answer::Truncated(data) => holding(&question, data).to_vec().unwrap(),
            Answer::TruncatedBeside(odd, data) => odd.added_to(&holding(&question, data)),
            other => panic!("asked over TCP for {other:?}"),
        };
        stream.write_u16(u16::try_from(answer.len()).unwrap()).await.unwrap();
        stream.write_all(&answer).await.unwrap();
    }
}

impl Script {
    fn answer(&self, question: &Message) -> &Answer {
        self.answers.get(&question.queries[0].name).unwrap_or(&self.default)
    }

    fn datagrams(&self, question: &Message) -> Vec<Vec<u8>> {
        let bytes = |message: Message| message.to_vec().unwrap();
        match self.answer(question) {
            Answer::Records(data) => vec![bytes(holding(question, data))],
            Answer::Verbatim(records) => {
                let mut message = response(question);
                message.answers = records.clone();
                vec![bytes(message)]
            }
            Answer::Code(code) => {
                let mut message = response(question);
                message.metadata.response_code = *code;
                vec![bytes(message)]
            }
            Answer::Silence => vec![],
            Answer::Truncated(_) | Answer::TruncatedBeside(..) => {
                let mut message = response(question);
                message.metadata.truncation = true;
                vec![bytes(message)]
            }
            Answer::WrongIdFirst(data) => {
                let mut forged = holding(question, &[address("192.0.2.66")]);
                forged.metadata.id ^= 0x5555;
                vec![bytes(forged), bytes(holding(question, data))]
            }
            Answer::WrongQuestionFirst(data) => {
                let mut forged = holding(question, &[address("192.0.2.66")]);
                forged.queries[0].name = name("elsewhere.test");
                vec![bytes(forged), bytes(holding(question, data))]
            }
            Answer::GarbageFirst(data) => vec![garbage(question), bytes(holding(question, data))],
            Answer::Garbage => vec![garbage(question)],
            Answer::Beside(odd, data) => vec![odd.added_to(&holding(question, data))],
            Answer::Plain(refusal, _) if question.edns.is_some() => refusal.datagrams(question),
            Answer::Plain(_, data) => vec![bytes(holding(question, data))],
        }
    }
}

impl EdnsRefusal {
    fn datagrams(self, question: &Message) -> Vec<Vec<u8>> {
        let mut message = response(question);
        match self {
            Self::Code(code) => message.metadata.response_code = code,
            Self::BareHeader => {
                message.metadata.response_code = ResponseCode::FormErr;
                message.queries.clear();
            }
            Self::BadVersion => {
                message.metadata.response_code = ResponseCode::BADVERS;
                message.set_edns(Edns::new());
            }
            Self::BadCookie => {
                message.metadata.response_code = ResponseCode::BADCOOKIE;
                message.set_edns(Edns::new());
            }
            Self::Garbage => return vec![garbage(question)],
            Self::Silence => return vec![],
        }
        vec![message.to_vec().unwrap()]
    }
}

/// Bytes with the right id that are no message.
fn garbage(question: &Message) -> Vec<u8> {
    [&question.metadata.id.to_be_bytes()[..], &[0xff; 40]].concat()
}

fn response(question: &Message) -> Message {
    let mut message = Message::response(question.metadata.id, question.metadata.op_code);
    message.metadata.message_type = MessageType::Response;
    message.queries.clone_from(&question.queries);
    message
}

/// A response with the matching records, and aliases.
fn holding(question: &Message, data: &[RData]) -> Message {
    let query = &question.queries[0];
    let is_wanted =
        |data: &&RData| data.record_type() == query.query_type || data.record_type() == RecordType::CNAME;
    let mut message = response(question);
    message.answers = data
        .iter()
        .filter(is_wanted)
        .map(|data| Record::from_rdata(query.name.clone(), 60, data.clone()))
        .collect();
    message
}
