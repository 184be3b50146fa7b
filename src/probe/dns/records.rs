//! Extracts facts from an answer: the records of the requested type, at the end of the alias chain.
//!
//! Only records of the name count, not those that a server adds for other names. Names are in lower case and without
//! trailing dot, because servers return them in the case of the question.

use std::borrow::Cow;

use hickory_proto::op::Message;
use hickory_proto::rr::rdata::TXT;
use hickory_proto::rr::{Name, RData};

use crate::model::check::Micros;
use crate::probe::condition::Condition;
use crate::probe::fact::{Fact, FactSource};
use crate::probe::judgement::milliseconds;
use crate::probe::spec::{DnsCheck, DnsRecord};

/// Maximum length of an alias chain; also ends a loop.
const MAX_ALIASES: usize = 16;

/// The records of an answer.
pub(crate) struct DnsFacts {
    record: DnsRecord,
    response_time: Micros,
    items: Vec<String>,
}

impl DnsFacts {
    pub(super) fn read(check: &DnsCheck, message: &Message, response_time: Micros) -> Self {
        let owner = match check.record {
            DnsRecord::Cname => &check.name,
            _ => end_of_aliases(&check.name, message),
        };
        let records = message.answers.iter().filter(|record| record.name == *owner);
        Self {
            record: check.record,
            response_time,
            items: records.filter_map(|record| text_of(check.record, &record.data)).collect(),
        }
    }

    /// Returns true when the condition is met because there is no record at all.
    pub(super) fn counts_none(&self, condition: &Condition) -> bool {
        self.items.is_empty() && count_fact(self.record).is_some_and(|fact| condition.is_none_of(fact))
    }
}

impl FactSource for DnsFacts {
    fn number(&self, fact: Fact) -> Option<f64> {
        if fact == Fact::ResponseTimeMs {
            return Some(milliseconds(self.response_time));
        }
        let count = u32::try_from(self.items.len()).ok().map(f64::from);
        count.filter(|_| count_fact(self.record) == Some(fact))
    }

    fn text(&self, fact: Fact) -> Option<Cow<'_, str>> {
        let is_asked = fact == Fact::Cname && self.record == DnsRecord::Cname;
        let first = self.items.first().filter(|_| is_asked);
        first.map(|name| name.as_str().into())
    }

    fn list(&self, fact: Fact) -> Option<&[String]> {
        (list_fact(self.record) == Some(fact)).then_some(&self.items)
    }
}

const fn count_fact(record: DnsRecord) -> Option<Fact> {
    match record {
        DnsRecord::A | DnsRecord::Aaaa => Some(Fact::IpCount),
        DnsRecord::Mx => Some(Fact::MxCount),
        DnsRecord::Txt => Some(Fact::TxtCount),
        DnsRecord::Ns => Some(Fact::NsCount),
        DnsRecord::Cname => None,
    }
}

const fn list_fact(record: DnsRecord) -> Option<Fact> {
    match record {
        DnsRecord::A | DnsRecord::Aaaa => Some(Fact::Ips),
        DnsRecord::Mx => Some(Fact::MxRecords),
        DnsRecord::Txt => Some(Fact::TxtRecords),
        DnsRecord::Ns => Some(Fact::NsRecords),
        DnsRecord::Cname => None,
    }
}

/// The requested records, as texts.
pub(crate) fn texts(check: &DnsCheck, message: &Message) -> Vec<String> {
    DnsFacts::read(check, message, Micros::MIN).items
}

/// The targets of the aliases in this answer, in their order.
pub(crate) fn aliases(name: &Name, message: &Message) -> Vec<String> {
    chain(name, message).into_iter().skip(1).map(name_text).collect()
}

/// The last name of the alias chain in this answer.
fn end_of_aliases<'a>(name: &'a Name, message: &'a Message) -> &'a Name {
    chain(name, message).last().copied().unwrap_or(name)
}

/// The name and its aliases, in the order of the chain; at most `MAX_ALIASES` of them.
fn chain<'a>(name: &'a Name, message: &'a Message) -> Vec<&'a Name> {
    let alias_of = |name: &Name| {
        let mut records = message.answers.iter().filter(move |record| record.name == *name);
        records.find_map(|record| match &record.data {
            RData::CNAME(canonical) => Some(&canonical.0),
            _ => None,
        })
    };
    std::iter::successors(Some(name), |name| alias_of(name)).take(MAX_ALIASES + 1).collect()
}

fn text_of(record: DnsRecord, data: &RData) -> Option<String> {
    match (record, data) {
        (DnsRecord::A, RData::A(address)) => Some(address.0.to_string()),
        (DnsRecord::Aaaa, RData::AAAA(address)) => Some(address.0.to_string()),
        (DnsRecord::Mx, RData::MX(mx)) => Some(format!("{} {}", mx.preference, name_text(&mx.exchange))),
        (DnsRecord::Cname, RData::CNAME(canonical)) => Some(name_text(&canonical.0)),
        (DnsRecord::Ns, RData::NS(server)) => Some(name_text(&server.0)),
        (DnsRecord::Txt, RData::TXT(text)) => Some(joined(text)),
        _ => None,
    }
}

/// Joins the strings of a TXT record (RFC 7208, section 3.3).
fn joined(text: &TXT) -> String {
    let bytes: Vec<u8> = text.txt_data.iter().flat_map(|part| part.iter().copied()).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Returns the name in lower case, without trailing dot; the root is a dot.
fn name_text(name: &Name) -> String {
    let mut text = name.to_ascii();
    text.make_ascii_lowercase();
    if text.len() > 1 && text.ends_with('.') {
        text.pop();
    }
    text
}
