//! A name server on loopback whose answers can be changed while it runs. It ends with the process.
//!
//! Names that it was told nothing about do not exist.

use std::collections::HashMap;
use std::net::{SocketAddr, UdpSocket};
use std::sync::{Arc, Mutex};

use hickory_proto::op::{Message, MessageType, ResponseCode};
use hickory_proto::rr::rdata::{CNAME, TXT};
use hickory_proto::rr::{Name, RData, Record, RecordType};

/// What the server knows of a name.
#[derive(Clone, Debug)]
enum Known {
    Records(Vec<RData>),
    /// Its signatures do not hold: it is told only to those who do not want them checked.
    BadlySigned,
    Silent,
}

/// A name server.
#[derive(Clone, Debug)]
pub(crate) struct NameServer {
    pub(crate) address: SocketAddr,
    names: Arc<Mutex<HashMap<Name, Known>>>,
}

impl NameServer {
    pub(crate) fn start() -> Self {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        let server = Self { address: socket.local_addr().unwrap(), names: Arc::default() };
        let names = Arc::clone(&server.names);
        std::thread::spawn(move || {
            let mut datagram = [0; 1_232];
            while let Ok((length, from)) = socket.recv_from(&mut datagram) {
                let Ok(question) = Message::from_vec(&datagram[..length]) else { continue };
                if let Some(answer) = answer(&question, &names.lock().unwrap()) {
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
                message
                    .answers
                    .extend(found.iter().map(|data| Record::from_rdata(owner.clone(), 60, (**data).clone())));
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
