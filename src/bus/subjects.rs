//! Every subject of the bus, and its parser. Other files have only patterns with wildcards.
//!
//! A token of a subject contains no `.`, but a location's code may: there it is written as `=` ([`token`]), which no code
//! contains. Keys of buckets are subjects too, below `$KV.<bucket>.`.

use std::fmt;
use std::str::FromStr;

use crate::id::Id;
use crate::model::location::LocationCode;
use crate::model::node::NodeName;
use crate::model::partition::Partition;

/// The stream of results on their way to the engine.
pub const RESULTS: &str = "WK_RESULTS";
/// The bucket of the definitions for locations.
pub const DEFINITIONS: &str = "wk_definitions";
/// The bucket of the locations' reports about themselves.
pub const PRESENCE: &str = "wk_presence";
/// The bucket of the owners of partitions, and of the nodes.
pub const LEASES: &str = "wk_leases";

/// Replaces `.` in a token; codes, ids and names never contain it.
const DOT: char = '=';

/// Subject of a message on the bus.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BusSubject {
    /// A batch of results of one partition, from a location. Stream [`RESULTS`].
    Results {
        /// Code of the sending location.
        location: LocationCode,
        /// Partition of the services in the batch.
        partition: Partition,
    },
    /// A machine with this enrolment asks to become a location (request and reply).
    Enrol(Id),
    /// A location asks for new credentials before the old ones expire (request and reply).
    Renew(LocationCode),
    /// A location asks for all its definitions from the start (request and reply).
    Follow(LocationCode),
    /// A request to a location to check services at once.
    CheckRequest(LocationCode),
    /// The delivery of definitions to a location.
    Delivery(LocationCode),
    /// A request to one engine node.
    Node(NodeName),
    /// The definition of one service for a location. Bucket [`DEFINITIONS`].
    Definition {
        /// The location that receives the definition.
        location: LocationCode,
        /// Partition of the service.
        partition: Partition,
        /// Public id of the service.
        service: Id,
    },
    /// The report of a location about itself. Bucket [`PRESENCE`].
    Presence(LocationCode),
    /// The owners of partitions. Bucket [`LEASES`].
    Ledger,
    /// The lease of a node; exists as long as the node lives. Bucket [`LEASES`].
    Living(NodeName),
}

impl BusSubject {
    /// Returns the key within the bucket; `None` for a subject without a bucket.
    #[must_use]
    pub fn key(&self) -> Option<String> {
        let text = self.to_string();
        let key = text.strip_prefix("$KV.")?.split_once('.')?.1;
        Some(key.to_owned())
    }
}

impl fmt::Display for BusSubject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Results { location, partition } => {
                write!(f, "wk.results.{}.{partition}", token(location))
            }
            Self::Enrol(enrolment) => write!(f, "wk.enrol.{enrolment}"),
            Self::Renew(location) => write!(f, "wk.renew.{}", token(location)),
            Self::Follow(location) => write!(f, "wk.follow.{}", token(location)),
            Self::CheckRequest(location) => write!(f, "wk.look.{}", token(location)),
            Self::Delivery(location) => write!(f, "wk.delivery.{}", token(location)),
            Self::Node(node) => write!(f, "wk.node.{node}"),
            Self::Definition { location, partition, service } => {
                write!(f, "$KV.{DEFINITIONS}.{}.{partition}.{service}", token(location))
            }
            Self::Presence(location) => write!(f, "$KV.{PRESENCE}.{}", token(location)),
            Self::Ledger => write!(f, "$KV.{LEASES}.ledger"),
            Self::Living(node) => write!(f, "$KV.{LEASES}.node.{node}"),
        }
    }
}

/// The text is not a subject of this program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a subject of this program")]
pub struct BusSubjectError;

impl FromStr for BusSubject {
    type Err = BusSubjectError;

    fn from_str(text: &str) -> Result<Self, BusSubjectError> {
        let tokens: Vec<&str> = text.split('.').collect();
        let subject = match tokens[..] {
            ["wk", "results", code, number] => {
                Self::Results { location: location(code)?, partition: partition(number)? }
            }
            ["wk", "enrol", id] => Self::Enrol(parsed(id)?),
            ["wk", "renew", code] => Self::Renew(location(code)?),
            ["wk", "follow", code] => Self::Follow(location(code)?),
            ["wk", "look", code] => Self::CheckRequest(location(code)?),
            ["wk", "delivery", code] => Self::Delivery(location(code)?),
            ["wk", "node", name] => Self::Node(parsed(name)?),
            ["$KV", DEFINITIONS, code, number, id] => Self::Definition {
                location: location(code)?,
                partition: partition(number)?,
                service: parsed(id)?,
            },
            ["$KV", PRESENCE, code] => Self::Presence(location(code)?),
            ["$KV", LEASES, "ledger"] => Self::Ledger,
            ["$KV", LEASES, "node", name] => Self::Living(parsed(name)?),
            _ => return Err(BusSubjectError),
        };
        Ok(subject)
    }
}

/// Encodes a location's code as one token.
#[must_use]
pub fn token(location: &LocationCode) -> String {
    location.as_str().replace('.', &DOT.to_string())
}

/// Decodes a location's code from a token.
pub fn location(token: &str) -> Result<LocationCode, BusSubjectError> {
    let code = token.replace(DOT, ".");
    if token.contains('.') { Err(BusSubjectError) } else { parsed(&code) }
}

/// Pattern of the results of one partition, from all locations.
#[must_use]
pub fn results_of_partition(partition: Partition) -> String {
    format!("wk.results.*.{partition}")
}

/// Pattern of the leases of all nodes.
#[must_use]
pub fn living() -> String {
    format!("$KV.{LEASES}.node.*")
}

/// Pattern of all definitions of one location.
#[must_use]
pub fn definitions_of(location: &LocationCode) -> String {
    format!("$KV.{DEFINITIONS}.{}.>", token(location))
}

/// Returns the name of the stream behind a bucket.
#[must_use]
pub fn stream_of(bucket: &str) -> String {
    format!("KV_{bucket}")
}

/// Pattern of every key of a bucket, as a subject.
#[must_use]
pub fn keys_of(bucket: &str) -> String {
    format!("$KV.{bucket}.>")
}

/// Parses a partition: digits without a sign or a leading zero, so that it has one spelling.
fn partition(text: &str) -> Result<Partition, BusSubjectError> {
    let partition = Partition::new(parsed(text)?).ok_or(BusSubjectError)?;
    if partition.to_string() == text { Ok(partition) } else { Err(BusSubjectError) }
}

fn parsed<T: FromStr>(text: &str) -> Result<T, BusSubjectError> {
    text.parse().map_err(|_| BusSubjectError)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn partitions() -> impl Strategy<Value = Partition> {
        any::<i64>().prop_map(Partition::of)
    }

    fn codes() -> impl Strategy<Value = LocationCode> {
        "[a-z0-9][a-z0-9._-]{0,31}".prop_map(|text| text.parse().unwrap())
    }

    fn ids() -> impl Strategy<Value = Id> {
        "[A-Za-z0-9_-]{21}".prop_map(|text| text.parse().unwrap())
    }

    fn subjects() -> impl Strategy<Value = BusSubject> {
        let node = "[a-z0-9][a-z0-9_-]{0,31}".prop_map(|text| BusSubject::Node(text.parse().unwrap()));
        prop_oneof![
            (codes(), partitions())
                .prop_map(|(location, partition)| BusSubject::Results { location, partition }),
            ids().prop_map(BusSubject::Enrol),
            codes().prop_map(BusSubject::Renew),
            codes().prop_map(BusSubject::Follow),
            codes().prop_map(BusSubject::CheckRequest),
            codes().prop_map(BusSubject::Delivery),
            node,
            (codes(), partitions(), ids()).prop_map(|(location, partition, service)| {
                BusSubject::Definition { location, partition, service }
            }),
            codes().prop_map(BusSubject::Presence),
        ]
    }

    proptest! {
        #[test]
        fn a_subject_reads_back_as_itself(subject in subjects()) {
            let text = subject.to_string();
            prop_assert_eq!(text.parse(), Ok(subject.clone()));
            prop_assert!(text.split('.').all(|token| !token.is_empty() && !token.contains(['*', '>', ' '])));
        }

        #[test]
        fn two_locations_never_share_a_token(one in codes(), other in codes()) {
            prop_assert_eq!(token(&one) == token(&other), one == other);
            prop_assert_eq!(location(&token(&one)), Ok(one));
        }

        /// Every text is parsed or refused; a parsed one has the same spelling again.
        #[test]
        fn every_subject_has_one_spelling(text in "(wk|[$]KV)([.][a-z_]{0,14}){0,2}([.][a-z0-9=+.]{0,4}){0,3}") {
            if let Ok(subject) = text.parse::<BusSubject>() {
                prop_assert_eq!(subject.to_string(), text);
            }
        }
    }

    #[test]
    fn a_dot_in_a_code_makes_no_further_token() {
        let dotted: LocationCode = "eu.fra-1".parse().unwrap();
        let subject = BusSubject::Results { location: dotted.clone(), partition: Partition::of(7) };
        assert_eq!(subject.to_string(), "wk.results.eu=fra-1.7");
        assert_eq!(definitions_of(&dotted), "$KV.wk_definitions.eu=fra-1.>");
        assert_eq!(BusSubject::Presence(dotted).key().as_deref(), Some("eu=fra-1"));
    }

    #[test]
    fn a_foreign_subject_is_refused() {
        for text in [
            "",
            "wk",
            "wk.results.fra",
            "wk.results.fra.64",
            "wk.results.fra.07",
            "wk.results.fra.+7",
            "wk.results.*.1",
            "wk.results.=fra.1",
            "wk.results.eu.fra.1",
            "$KV.wk_leases.0",
            "$KV.wk_definitions.fra.0.short",
            "wk.enrol.x",
            "_INBOX.location.fra.1",
        ] {
            assert_eq!(text.parse::<BusSubject>(), Err(BusSubjectError), "{text}");
        }
    }
}
