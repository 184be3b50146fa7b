//! One check of the DNS records of a custom domain (contract 4.15): whether it points here, and whether its owner wants that.
//!
//! The operator's name servers are asked, without a cache. Unanswered questions do not count against the domain. A server
//! that fails for the domain and answers for the target is evidence that the domain's zone is broken.

use std::time::Duration;

use hickory_proto::op::ResponseCode;
use hickory_proto::rr::Name;
use tokio::time::Instant;

use crate::model::domain::{DomainProblem, Sight};
use crate::model::domain_names::WantedRecords;
use crate::probe::dns::{Reply, aliases, ask, texts};
use crate::probe::spec::{DnsCheck, DnsRecord};
use crate::probe::toolbox::Toolbox;

/// The longest time of one check: a client waits for it.
const LOOK_TIME: Duration = Duration::from_secs(5);

/// The result of one question.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Seen {
    /// The requested records, and the names that aliases led to.
    Records(Vec<String>, Vec<String>),
    /// There is an answer, but its signatures are invalid.
    BadSignature,
    /// The server reported a failure.
    Failure,
    /// There was no answer.
    Nothing,
}

/// The answers to all questions.
struct Answers {
    cname: Seen,
    v4: Seen,
    v6: Seen,
    txt: Seen,
    target_v4: Seen,
    target_v6: Seen,
}

/// Checks once. Takes a few seconds at most.
pub async fn look(wanted: &WantedRecords, toolbox: &Toolbox) -> Sight {
    let deadline = Instant::now() + LOOK_TIME;
    let see = |name: &str, record: DnsRecord| {
        let name = Name::from_ascii(name);
        async move {
            match name {
                Ok(mut name) => {
                    name.set_fqdn(true);
                    see(&DnsCheck { name, record }, toolbox, deadline).await
                }
                // Names of this length cannot exist.
                Err(_) => Seen::Records(Vec::new(), Vec::new()),
            }
        }
    };
    let (cname, v4, v6, txt, target_v4, target_v6) = tokio::join!(
        see(&wanted.hostname, DnsRecord::Cname),
        see(&wanted.hostname, DnsRecord::A),
        see(&wanted.hostname, DnsRecord::Aaaa),
        see(&wanted.txt_name, DnsRecord::Txt),
        see(&wanted.cname_target, DnsRecord::A),
        see(&wanted.cname_target, DnsRecord::Aaaa),
    );
    Answers { cname, v4, v6, txt, target_v4, target_v6 }.judge(wanted)
}

async fn see(check: &DnsCheck, toolbox: &Toolbox, deadline: Instant) -> Seen {
    match ask(check, false, toolbox, deadline).await {
        Reply::Answer(message) => Seen::Records(texts(check, &message), aliases(&check.name, &message)),
        Reply::Refusal(ResponseCode::ServFail) => match ask(check, true, toolbox, deadline).await {
            Reply::Answer(_) => Seen::BadSignature,
            Reply::Refusal(_) => Seen::Failure,
            Reply::Silence => Seen::Nothing,
        },
        Reply::Refusal(_) | Reply::Silence => Seen::Nothing,
    }
}

impl Answers {
    fn judge(self, wanted: &WantedRecords) -> Sight {
        if [&self.cname, &self.v4, &self.v6, &self.txt].contains(&&Seen::BadSignature) {
            return Sight::Wrong(DomainProblem::Dnssec);
        }
        let servers_are_well =
            [&self.target_v4, &self.target_v6].iter().any(|seen| matches!(seen, Seen::Records(..)));
        let read = |seen: Seen| match seen {
            Seen::Records(records, aliases) => Some((records, aliases)),
            Seen::Failure if servers_are_well => Some((Vec::new(), Vec::new())),
            Seen::Failure | Seen::Nothing | Seen::BadSignature => None,
        };
        let (cname, v4, v6) = (read(self.cname), read(self.v4), read(self.v6));
        let (target_v4, target_v6) = (read(self.target_v4), read(self.target_v6));
        match direction([cname, v4, v6], [target_v4, target_v6], &wanted.cname_target) {
            Sight::Right => match read(self.txt) {
                None => Sight::Nothing,
                Some((texts, _)) if texts.contains(&wanted.txt_value) => Sight::Right,
                Some(_) => Sight::Wrong(DomainProblem::OwnershipMissing),
            },
            otherwise => otherwise,
        }
    }
}

type Found = Option<(Vec<String>, Vec<String>)>;

/// Judges whether the domain leads to the target.
fn direction([cname, v4, v6]: [Found; 3], targets: [Found; 2], cname_target: &str) -> Sight {
    let is_seen = cname.is_some() && v4.is_some() && v6.is_some();
    let target = cname_target.trim_end_matches('.').to_ascii_lowercase();
    let mut names = Vec::new();
    if let Some((records, aliases)) = cname {
        names.extend(records.into_iter().chain(aliases));
    }
    let mut addresses = Vec::new();
    for (records, aliases) in [v4, v6].into_iter().flatten() {
        addresses.extend(records);
        names.extend(aliases);
    }
    if names.contains(&target) {
        return Sight::Right;
    }
    let is_target_seen = targets.iter().all(Option::is_some);
    let right: Vec<String> = targets.into_iter().flatten().flat_map(|(records, _)| records).collect();
    let leads_there = !addresses.is_empty() && addresses.iter().all(|address| right.contains(address));
    if !is_seen || (!addresses.is_empty() && !is_target_seen) {
        Sight::Nothing
    } else if leads_there {
        Sight::Right
    } else if names.is_empty() && addresses.is_empty() {
        Sight::Wrong(DomainProblem::NoRecords)
    } else {
        Sight::Wrong(DomainProblem::WrongTarget)
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    const EDGE: &str = "edge.example.net";
    const VALUE: &str = "value";

    fn records(records: &[&str], aliases: &[&str]) -> Seen {
        let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        Seen::Records(owned(records), owned(aliases))
    }

    fn none() -> Seen {
        records(&[], &[])
    }

    /// An edge with two addresses, a domain that leads there by CNAME, and its TXT record.
    fn right() -> Answers {
        Answers {
            cname: records(&[EDGE], &[]),
            v4: records(&["192.0.2.1"], &[EDGE]),
            v6: records(&[], &[EDGE]),
            txt: records(&["other", VALUE], &[]),
            target_v4: records(&["192.0.2.1", "192.0.2.2"], &[]),
            target_v6: records(&["2001:db8::1"], &[]),
        }
    }

    /// The same by address.
    fn by_address(v4: &[&str], v6: &[&str]) -> Answers {
        Answers { cname: none(), v4: records(v4, &[]), v6: records(v6, &[]), ..right() }
    }

    const NO_RECORDS: Sight = Sight::Wrong(DomainProblem::NoRecords);
    const WRONG: Sight = Sight::Wrong(DomainProblem::WrongTarget);
    const UNOWNED: Sight = Sight::Wrong(DomainProblem::OwnershipMissing);
    const DNSSEC: Sight = Sight::Wrong(DomainProblem::Dnssec);

    /// Contract 4.15, `last_error_code`.
    #[rstest]
    #[case(right(), Sight::Right)]
    #[case(Answers { v4: none(), v6: none(), target_v4: none(), target_v6: none(), ..right() }, Sight::Right)]
    #[case(Answers { cname: records(&["cdn.example.org"], &[]), ..right() }, Sight::Right)]
    #[case(by_address(&["192.0.2.1"], &[]), Sight::Right)]
    #[case(by_address(&["192.0.2.2"], &["2001:db8::1"]), Sight::Right)]
    #[case(by_address(&["192.0.2.1", "192.0.2.9"], &[]), WRONG)]
    #[case(by_address(&["192.0.2.1"], &["2001:db8::9"]), WRONG)]
    #[case(by_address(&["198.51.100.1"], &[]), WRONG)]
    #[case(Answers { cname: records(&["elsewhere.example"], &[]), ..by_address(&[], &[]) }, WRONG)]
    #[case(by_address(&[], &[]), NO_RECORDS)]
    #[case(Answers { txt: none(), ..by_address(&[], &[]) }, NO_RECORDS)]
    #[case(Answers { txt: none(), ..right() }, UNOWNED)]
    #[case(Answers { txt: records(&["valu", "VALUE"], &[]), ..right() }, UNOWNED)]
    #[case(Answers { txt: Seen::BadSignature, ..right() }, DNSSEC)]
    #[case(Answers { cname: Seen::BadSignature, v4: Seen::BadSignature, v6: Seen::BadSignature, ..right() }, DNSSEC)]
    fn a_domain_is_judged_by_its_records(#[case] answers: Answers, #[case] sight: Sight) {
        check(answers, sight);
    }

    /// Our own trouble is never the domain's.
    #[rstest]
    #[case(Answers { txt: Seen::Nothing, ..right() }, Sight::Nothing)]
    #[case(Answers { cname: none(), v4: Seen::Nothing, v6: none(), ..right() }, Sight::Nothing)]
    #[case(Answers { cname: none(), v4: Seen::Nothing, v6: none(), txt: none(), ..right() }, Sight::Nothing)]
    #[case(Answers { target_v6: Seen::Nothing, ..by_address(&["198.51.100.1"], &[]) }, Sight::Nothing)]
    #[case(
        Answers { cname: Seen::Failure, v4: Seen::Failure, v6: Seen::Failure, txt: Seen::Failure, ..right() },
        NO_RECORDS
    )]
    #[case(
        Answers {
            cname: Seen::Failure,
            v4: Seen::Failure,
            v6: Seen::Failure,
            txt: Seen::Failure,
            target_v4: Seen::Failure,
            target_v6: Seen::Failure,
        },
        Sight::Nothing
    )]
    #[case(Answers { cname: Seen::Nothing, ..right() }, Sight::Right)]
    fn what_was_not_seen_is_not_held_against_a_domain(#[case] answers: Answers, #[case] sight: Sight) {
        check(answers, sight);
    }

    fn check(answers: Answers, sight: Sight) {
        let wanted = WantedRecords {
            hostname: "status.example.com".into(),
            cname_target: EDGE.into(),
            txt_name: "_status-verify.status.example.com".into(),
            txt_value: VALUE.into(),
        };
        assert_eq!(answers.judge(&wanted), sight);
    }
}
