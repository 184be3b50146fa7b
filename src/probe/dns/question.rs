//! One question as bytes, with EDNS and without, and the test whether a message answers it.
//!
//! A message answers when id, question and kind are right, whatever its content. Anything else is a stray or a forgery
//! and is ignored.

use std::borrow::Cow;

use hickory_proto::op::{Edns, Message, MessageType, OpCode, Query, ResponseCode};
use hickory_proto::rr::RecordType;

use crate::egress::read_answer;
use crate::probe::spec::{DnsCheck, DnsRecord};

/// Largest answer that passes every path unfragmented (DNS Flag Day 2020); larger ones should come over TCP.
const OFFERED_BYTES: u16 = 1232;

const FORMERR: u16 = 1;
const SERVFAIL: u16 = 2;
const NOTIMP: u16 = 4;
const REFUSED: u16 = 5;
const BADVERS: u16 = 16;

/// Length of a message's header.
const HEADER_BYTES: usize = 12;
/// The bit of the third byte that is set in a response.
const RESPONSE: u8 = 0x80;

/// One question, ready to be sent to any number of servers.
pub(super) struct DnsQuestion {
    id: u16,
    query: Query,
    bytes: Vec<u8>,
    plain_bytes: Vec<u8>,
}

impl DnsQuestion {
    /// Creates a question with a random id. `None` when the name cannot be encoded, which never happens for a compiled
    /// check.
    pub(super) fn about(check: &DnsCheck) -> Option<Self> {
        Self::new(check, false)
    }

    /// Creates a question that is answered even if the answer's signatures are invalid (RFC 4035, section 3.2.2).
    pub(super) fn unvalidated(check: &DnsCheck) -> Option<Self> {
        Self::new(check, true)
    }

    fn new(check: &DnsCheck, checking_disabled: bool) -> Option<Self> {
        let query = Query::query(check.name.clone(), record_type(check.record));
        let mut message = Message::query();
        message.metadata.recursion_desired = true;
        message.metadata.checking_disabled = checking_disabled;
        message.add_query(query.clone());
        let plain_bytes = message.to_vec().ok()?;
        let mut edns = Edns::new();
        edns.set_max_payload(OFFERED_BYTES);
        message.set_edns(edns);
        Some(Self { id: message.metadata.id, query, bytes: message.to_vec().ok()?, plain_bytes })
    }

    /// The question in wire format.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The question without EDNS, for servers that do not know it.
    pub(super) fn plain_bytes(&self) -> &[u8] {
        &self.plain_bytes
    }

    /// Returns the response to this question in a message; `None` if the message is something else. An
    /// unreadable response counts if it has the question's id.
    pub(super) fn answer_in(&self, bytes: &[u8]) -> Option<DnsResponse> {
        if bytes.len() < HEADER_BYTES || bytes[..2] != self.id.to_be_bytes() {
            return None;
        }
        let Some(message) = read_answer(bytes) else {
            return (bytes[2] & RESPONSE != 0).then_some(DnsResponse::Unreadable);
        };
        let is_response = message.metadata.message_type == MessageType::Response
            && message.metadata.op_code == OpCode::Query;
        let repeats_question = match message.queries.as_slice() {
            [query] => *query == self.query,
            // Servers that refuse may omit the question.
            [] => !matches!(message.metadata.response_code, ResponseCode::NoError | ResponseCode::NXDomain),
            _ => false,
        };
        (is_response && repeats_question).then(|| DnsResponse::Answer(Box::new(message)))
    }
}

/// A message from a server.
#[derive(Debug)]
pub(super) enum DnsResponse {
    Answer(Box<Message>),
    Unreadable,
}

/// Returns true for a refusal, which may be due to EDNS only (RFC 6891, section 7, and observed servers).
pub(super) const fn is_refusal(message: &Message) -> bool {
    !matches!(message.metadata.response_code, ResponseCode::NoError | ResponseCode::NXDomain)
}

/// Returns true for an empty answer without EDNS, which may come from a server that does not support EDNS.
pub(super) const fn may_miss_edns(message: &Message) -> bool {
    message.answers.is_empty() && message.edns.is_none()
}

/// The name of a response code (RFC 6895, section 2.3).
pub(super) fn code_name(code: ResponseCode) -> Cow<'static, str> {
    match u16::from(code) {
        FORMERR => Cow::Borrowed("FORMERR"),
        SERVFAIL => Cow::Borrowed("SERVFAIL"),
        NOTIMP => Cow::Borrowed("NOTIMP"),
        REFUSED => Cow::Borrowed("REFUSED"),
        BADVERS => Cow::Borrowed("BADVERS"),
        other => Cow::Owned(format!("code {other}")),
    }
}

const fn record_type(record: DnsRecord) -> RecordType {
    match record {
        DnsRecord::A => RecordType::A,
        DnsRecord::Aaaa => RecordType::AAAA,
        DnsRecord::Mx => RecordType::MX,
        DnsRecord::Cname => RecordType::CNAME,
        DnsRecord::Txt => RecordType::TXT,
        DnsRecord::Ns => RecordType::NS,
    }
}

#[cfg(test)]
mod tests {
    use hickory_proto::rr::Name;

    use super::*;

    fn question() -> DnsQuestion {
        DnsQuestion::about(&DnsCheck {
            name: Name::from_ascii("www.example.com.").unwrap(),
            record: DnsRecord::A,
        })
        .unwrap()
    }

    /// Returns true if a response made from the question, then changed by `change`, counts as an answer.
    fn answers(change: impl FnOnce(&mut Message)) -> bool {
        let question = question();
        let mut message = Message::from_vec(question.bytes()).unwrap();
        message.metadata.message_type = MessageType::Response;
        change(&mut message);
        matches!(question.answer_in(&message.to_vec().unwrap()), Some(DnsResponse::Answer(_)))
    }

    #[test]
    fn a_query_requests_recursion_and_offers_1232_bytes() {
        let message = Message::from_vec(question().bytes()).unwrap();
        assert!(message.metadata.recursion_desired);
        assert_eq!(message.max_payload(), 1232);
        assert_eq!(message.queries.len(), 1);
    }

    #[test]
    fn only_a_response_with_the_same_id_and_question_is_accepted() {
        assert!(answers(|_| {}));
        assert!(!answers(|message| message.metadata.id ^= 1));
        assert!(!answers(|message| message.metadata.message_type = MessageType::Query));
        assert!(!answers(|message| message.metadata.op_code = OpCode::Notify));
        assert!(!answers(|message| message.queries[0].query_type = RecordType::AAAA));
        assert!(!answers(|message| {
            message.queries[0].name = Name::from_ascii("www.example.org.").unwrap();
        }));
        assert!(!answers(|message| message.queries.clear()));
    }

    /// Resolvers that mix the case of names (RFC draft "0x20") send it back mixed.
    #[test]
    fn the_case_of_the_name_does_not_matter() {
        assert!(answers(|message| {
            message.queries[0].name = Name::from_ascii("WWW.eXample.com.").unwrap();
        }));
    }

    #[test]
    fn a_refusal_may_omit_the_question() {
        assert!(answers(|message| {
            message.queries.clear();
            message.metadata.response_code = ResponseCode::Refused;
        }));
    }

    #[test]
    fn the_plain_query_differs_only_in_edns() {
        let question = question();
        let mut message = Message::from_vec(question.bytes()).unwrap();
        let plain = Message::from_vec(question.plain_bytes()).unwrap();
        assert!(plain.edns.is_none());
        message.edns = None;
        assert_eq!(message, plain);
    }

    #[test]
    fn codes_have_the_names_of_the_specification() {
        let names = [1, 2, 4, 5, 16, 9].map(|code: u8| code_name(ResponseCode::from(code >> 4, code & 15)));
        assert_eq!(names, ["FORMERR", "SERVFAIL", "NOTIMP", "REFUSED", "BADVERS", "code 9"]);
    }

    #[test]
    fn malformed_packets_are_ignored() {
        let question = question();
        for length in 0..question.bytes().len() {
            assert!(question.answer_in(&question.bytes()[..length]).is_none());
        }
        assert!(question.answer_in(&[0xff; 512]).is_none());
    }
}
