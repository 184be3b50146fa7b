//! Parser for a name server's message that tolerates unrelated records.
//!
//! As in glibc, an unrequested record is harmless: additional and authority records, odd types and classes are skipped
//! without being parsed. Only the header, the question and the requested records must be readable.

use hickory_proto::op::{Edns, Header, Message};
use hickory_proto::rr::rdata::TXT;
use hickory_proto::rr::{DNSClass, Name, RData, Record, RecordData as _, RecordType};
use hickory_proto::serialize::binary::{BinDecodable as _, BinDecoder};

/// Longest datagram that is read completely. Servers may send more than was offered.
pub(crate) const DATAGRAM_MAX_BYTES: usize = 16 * 1024;

/// Parses a message: its answers of the requested type and its aliases, its SOA record, and whether it supports
/// EDNS. `None` when the answers cannot be read.
pub(crate) fn read_answer(bytes: &[u8]) -> Option<Message> {
    let mut decoder = BinDecoder::new(bytes);
    let Header { metadata, counts } = Header::read(&mut decoder).ok()?;
    let mut message = Message::new(metadata.id, metadata.message_type, metadata.op_code);
    message.metadata = metadata;
    message.queries = Message::read_queries(&mut decoder, counts.queries.into()).ok()?;
    let is_whole = read_answers(&mut decoder, counts.answers, &mut message)?;
    if is_whole && read_authorities(&mut decoder, counts.authorities, &mut message).is_some() {
        read_edns(&mut decoder, counts.additionals, &mut message);
    }
    Some(message)
}

/// Reads the answers. `Some(false)` means that they end early in a message that is marked as truncated; `None`
/// that they cannot be read.
fn read_answers(decoder: &mut BinDecoder<'_>, count: u16, message: &mut Message) -> Option<bool> {
    let asked = message.queries.first().map(|query| query.query_type);
    let mut is_spoiled = false;
    for _ in 0..count {
        let Some(found) = FoundRecord::next(decoder) else {
            return message.metadata.truncation.then_some(false);
        };
        if found.is_in(&[asked, Some(RecordType::CNAME)]) {
            match found.read(decoder) {
                Some(record) => message.answers.push(record),
                None => is_spoiled = true,
            }
        }
    }
    let has_asked = message.answers.iter().any(|record| Some(record.record_type()) == asked);
    (has_asked || !is_spoiled).then_some(true)
}

/// Reads the SOA record, which contains the TTL of a negative answer. `None` when the records end early.
fn read_authorities(decoder: &mut BinDecoder<'_>, count: u16, message: &mut Message) -> Option<()> {
    for _ in 0..count {
        let found = FoundRecord::next(decoder)?;
        if found.is_in(&[Some(RecordType::SOA)]) {
            message.authorities.extend(found.read(decoder));
        }
    }
    Some(())
}

/// Reads the half of the response code in an OPT record (RFC 6891, section 6.1.3); its options are not read.
fn read_edns(decoder: &mut BinDecoder<'_>, count: u16, message: &mut Message) {
    let found =
        (0..count).map_while(|_| FoundRecord::next(decoder)).find(|found| found.kind == RecordType::OPT);
    if let Some(found) = found {
        message.metadata.merge_response_code(found.ttl.to_be_bytes()[0]);
        message.set_edns(Edns::new());
    }
}

/// A record whose data are not parsed yet.
struct FoundRecord {
    start: u16,
    kind: RecordType,
    class: DNSClass,
    ttl: u32,
}

impl FoundRecord {
    /// Reads the frame of the next record. `None` when the bytes end within it.
    fn next(decoder: &mut BinDecoder<'_>) -> Option<Self> {
        let start = u16::try_from(decoder.index()).ok()?;
        Name::read(decoder).ok()?;
        let kind = decoder.read_u16().ok()?.unverified();
        let class = decoder.read_u16().ok()?.unverified();
        let ttl = decoder.read_u32().ok()?.unverified();
        let length = decoder.read_u16().ok()?.unverified();
        decoder.read_slice(length.into()).ok()?;
        Some(Self { start, kind: kind.into(), class: class.into(), ttl })
    }

    /// Returns true for records of the Internet class of one of these types.
    fn is_in(&self, kinds: &[Option<RecordType>]) -> bool {
        self.class == DNSClass::IN && kinds.contains(&Some(self.kind))
    }

    /// Parses the record. A TXT record without any string is an empty text.
    fn read(&self, decoder: &BinDecoder<'_>) -> Option<Record> {
        let mut record = Record::read(&mut decoder.clone(self.start)).ok()?;
        if record.data.is_update() {
            if self.kind != RecordType::TXT {
                return None;
            }
            record.data = RData::TXT(TXT::new(Vec::new()));
        }
        Some(record)
    }
}
