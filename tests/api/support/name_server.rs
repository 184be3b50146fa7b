//! A name server on loopback whose answers can be changed while it runs. It ends with the process.
//!
//! Names without records do not exist.

use std::collections::HashMap;
use std::net::{SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use hickory_proto::op::{Message, MessageType, ResponseCode};
use hickory_proto::rr::rdata::{CNAME, TXT};
use hickory_proto::rr::{Name, RData, Record, RecordType};

/// Records of a name.
#[derive(Clone, Debug)]
enum Known {
    Records(Vec<RData>),
    /// Its signatures are invalid: it is returned only to clients that disable their validation.
    BadlySigned,
    Silent,
}

/// A name server.
#[derive(Clone, Debug)]
pub(crate) struct NameServer {
    pub(crate) address: SocketAddr,
    names: Arc<Mutex<HashMap<Name, Known>>>,
    is_dead: Arc<AtomicBool>,
}

/// The time for which a response may be cached.
const LIFETIME_SECONDS: u32 = 60;

impl NameServer {
    pub(crate) fn start() -> Self {
        Self::with_lifetime(LIFETIME_SECONDS)
    }

    /// A server whose responses may be cached for one second only.
    #[allow(dead_code, reason = "the tests of reliability ask")]
    pub(crate) fn start_short_lived() -> Self {
        Self::with_lifetime(1)
    }

    fn with_lifetime(seconds: u32) -> Self {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        let address = socket.local_addr().unwrap();
        let server = Self { address, names: Arc::default(), is_dead: Arc::default() };
        let (names, is_dead) = (Arc::clone(&server.names), Arc::clone(&server.is_dead));
        std::thread::spawn(move || {
            let mut datagram = [0; 1_232];
            while let Ok((length, from)) = socket.recv_from(&mut datagram) {
                let Ok(question) = Message::from_vec(&datagram[..length]) else { continue };
                let Some(mut answer) = answer(&question, &names.lock().unwrap()) else { continue };
                answer.answers.iter_mut().for_each(|record| record.ttl = seconds);
                if !is_dead.load(Ordering::SeqCst) {
                    let _ = socket.send_to(&answer.to_vec().unwrap(), from);
                }
            }
        });
        server
    }

    pub(crate) fn address_of(&self, host: &str, address: [u8; 4]) {
        self.add(host, RData::A(std::net::Ipv4Addr::from(address).into()));
    }

    pub(crate) fn alias(&self, host: &str, target: &str) {
        self.add(host, RData::CNAME(CNAME(name(target))));
    }

    pub(crate) fn text(&self, host: &str, text: &str) {
        self.add(host, RData::TXT(TXT::new(vec![text.to_owned()])));
    }

    pub(crate) fn sign_badly(&self, host: &str) {
        self.names.lock().unwrap().insert(name(host), Known::BadlySigned);
    }

    pub(crate) fn fall_silent_about(&self, host: &str) {
        self.names.lock().unwrap().insert(name(host), Known::Silent);
    }

    /// Stops or resumes all responses.
    #[allow(dead_code, reason = "the tests of reliability ask")]
    pub(crate) fn set_dead(&self, is_dead: bool) {
        self.is_dead.store(is_dead, Ordering::SeqCst);
    }

    fn add(&self, host: &str, data: RData) {
        let mut names = self.names.lock().unwrap();
        match names.entry(name(host)).or_insert_with(|| Known::Records(Vec::new())) {
            Known::Records(records) => records.push(data),
            other => *other = Known::Records(vec![data]),
        }
    }
}

fn name(text: &str) -> Name {
    let mut name = Name::from_ascii(text).unwrap();
    name.set_fqdn(true);
    name
}

/// The answer to a question, aliases followed; nothing when the server keeps silent.
fn answer(question: &Message, names: &HashMap<Name, Known>) -> Option<Message> {
    let query = question.queries.first()?;
    let mut message = Message::response(question.metadata.id, question.metadata.op_code);
    message.metadata.message_type = MessageType::Response;
    message.queries.clone_from(&question.queries);
    let mut owner = query.name.clone();
    for _ in 0..8 {
        match names.get(&owner) {
            None => {
                message.metadata.response_code = ResponseCode::NXDomain;
                break;
            }
            Some(Known::Silent) => return None,
            Some(Known::BadlySigned) => {
                if !question.metadata.checking_disabled {
                    message.metadata.response_code = ResponseCode::ServFail;
                }
                break;
            }
            Some(Known::Records(records)) => {
                let is_wanted = |data: &&RData| {
                    data.record_type() == query.query_type || data.record_type() == RecordType::CNAME
                };
                let found: Vec<_> = records.iter().filter(is_wanted).collect();
                message.answers.extend(
                    found
                        .iter()
                        .map(|data| Record::from_rdata(owner.clone(), LIFETIME_SECONDS, (**data).clone())),
                );
                match found.first() {
                    Some(RData::CNAME(target)) if query.query_type != RecordType::CNAME => {
                        owner.clone_from(&target.0);
                    }
                    _ => break,
                }
            }
        }
    }
    Some(message)
}
