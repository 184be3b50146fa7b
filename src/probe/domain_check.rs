//! One check of the DNS records of a custom domain (contract 4.15): whether the domain leads to this product's
//! target, and whether its owner agrees to that.
//!
//! The operator's name servers are asked, without a cache. Unanswered questions do not count against the domain. A server
//! that fails for the domain and answers for the target is evidence that the domain's zone is broken.

use std::time::Duration;

use hickory_proto::op::ResponseCode;
use hickory_proto::rr::Name;
use tokio::time::Instant;

use crate::model::domain::{DomainProblem, DomainRecordsState};
use crate::model::domain_names::RequiredRecords;
use crate::probe::dns::{DnsLookupOutcome, aliases, ask, texts};
use crate::probe::spec::{DnsCheck, DnsRecord};
use crate::probe::toolbox::Toolbox;

/// Time limit of one check, for which a client waits.
const CHECK_TIME: Duration = Duration::from_secs(5);

/// The result of one question.
#[derive(Clone, Debug, PartialEq, Eq)]
enum DomainAnswer {
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
struct DomainAnswers {
    cname: DomainAnswer,
    v4: DomainAnswer,
    v6: DomainAnswer,
    txt: DomainAnswer,
    target_v4: DomainAnswer,
    target_v6: DomainAnswer,
}

/// Checks the DNS records of a domain once. Takes at most 5 seconds.
pub async fn check_domain(wanted: &RequiredRecords, toolbox: &Toolbox) -> DomainRecordsState {
    let deadline = Instant::now() + CHECK_TIME;
    let see = |name: &str, record: DnsRecord| {
        let name = Name::from_ascii(name);
        async move {
            match name {
                Ok(mut name) => {
                    name.set_fqdn(true);
                    ask_records(&DnsCheck { name, record }, toolbox, deadline).await
                }
                // Names of this length cannot exist.
                Err(_) => DomainAnswer::Records(Vec::new(), Vec::new()),
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
    DomainAnswers { cname, v4, v6, txt, target_v4, target_v6 }.judge(wanted)
}

async fn ask_records(check: &DnsCheck, toolbox: &Toolbox, deadline: Instant) -> DomainAnswer {
    match ask(check, false, toolbox, deadline).await {
        DnsLookupOutcome::Answer(message) => {
            DomainAnswer::Records(texts(check, &message), aliases(&check.name, &message))
        }
        DnsLookupOutcome::Refusal(ResponseCode::ServFail) => {
            match ask(check, true, toolbox, deadline).await {
                DnsLookupOutcome::Answer(_) => DomainAnswer::BadSignature,
                DnsLookupOutcome::Refusal(_) => DomainAnswer::Failure,
                DnsLookupOutcome::Silence => DomainAnswer::Nothing,
            }
        }
        DnsLookupOutcome::Refusal(_) | DnsLookupOutcome::Silence => DomainAnswer::Nothing,
    }
}

impl DomainAnswers {
    fn judge(self, wanted: &RequiredRecords) -> DomainRecordsState {
        if [&self.cname, &self.v4, &self.v6, &self.txt].contains(&&DomainAnswer::BadSignature) {
            return DomainRecordsState::Wrong(DomainProblem::Dnssec);
        }
        let servers_are_well =
            [&self.target_v4, &self.target_v6].iter().any(|seen| matches!(seen, DomainAnswer::Records(..)));
        let read = |seen: DomainAnswer| match seen {
            DomainAnswer::Records(records, aliases) => Some((records, aliases)),
            DomainAnswer::Failure if servers_are_well => Some((Vec::new(), Vec::new())),
            DomainAnswer::Failure | DomainAnswer::Nothing | DomainAnswer::BadSignature => None,
        };
        let (cname, v4, v6) = (read(self.cname), read(self.v4), read(self.v6));
        let (target_v4, target_v6) = (read(self.target_v4), read(self.target_v6));
        match direction([cname, v4, v6], [target_v4, target_v6], &wanted.cname_target) {
            DomainRecordsState::Right => match read(self.txt) {
                None => DomainRecordsState::Nothing,
                Some((texts, _)) if texts.contains(&wanted.txt_value) => DomainRecordsState::Right,
                Some(_) => DomainRecordsState::Wrong(DomainProblem::OwnershipMissing),
            },
            otherwise => otherwise,
        }
    }
}

type Found = Option<(Vec<String>, Vec<String>)>;

/// Judges whether the domain leads to the target.
fn direction([cname, v4, v6]: [Found; 3], targets: [Found; 2], cname_target: &str) -> DomainRecordsState {
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
        return DomainRecordsState::Right;
    }
    let is_target_seen = targets.iter().all(Option::is_some);
    let right: Vec<String> = targets.into_iter().flatten().flat_map(|(records, _)| records).collect();
    let leads_there = !addresses.is_empty() && addresses.iter().all(|address| right.contains(address));
    if !is_seen || (!addresses.is_empty() && !is_target_seen) {
        DomainRecordsState::Nothing
    } else if leads_there {
        DomainRecordsState::Right
    } else if names.is_empty() && addresses.is_empty() {
        DomainRecordsState::Wrong(DomainProblem::NoRecords)
    } else {
        DomainRecordsState::Wrong(DomainProblem::WrongTarget)
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    const EDGE: &str = "edge.example.net";
    const VALUE: &str = "value";

    fn records(records: &[&str], aliases: &[&str]) -> DomainAnswer {
        let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        DomainAnswer::Records(owned(records), owned(aliases))
    }

    fn none() -> DomainAnswer {
        records(&[], &[])
    }

    /// An edge with two addresses, a domain that leads there by CNAME, and its TXT record.
    fn right() -> DomainAnswers {
        DomainAnswers {
            cname: records(&[EDGE], &[]),
            v4: records(&["192.0.2.1"], &[EDGE]),
            v6: records(&[], &[EDGE]),
            txt: records(&["other", VALUE], &[]),
            target_v4: records(&["192.0.2.1", "192.0.2.2"], &[]),
            target_v6: records(&["2001:db8::1"], &[]),
        }
    }

    /// Answers for a domain without a CNAME, which leads to these addresses.
    fn by_address(v4: &[&str], v6: &[&str]) -> DomainAnswers {
        DomainAnswers { cname: none(), v4: records(v4, &[]), v6: records(v6, &[]), ..right() }
    }

    const NO_RECORDS: DomainRecordsState = DomainRecordsState::Wrong(DomainProblem::NoRecords);
    const WRONG: DomainRecordsState = DomainRecordsState::Wrong(DomainProblem::WrongTarget);
    const UNOWNED: DomainRecordsState = DomainRecordsState::Wrong(DomainProblem::OwnershipMissing);
    const DNSSEC: DomainRecordsState = DomainRecordsState::Wrong(DomainProblem::Dnssec);

    /// The problem that is reported as `last_error_code` (contract 4.15).
    #[rstest]
    #[case(right(), DomainRecordsState::Right)]
    #[case(DomainAnswers { v4: none(), v6: none(), target_v4: none(), target_v6: none(), ..right() }, DomainRecordsState::Right)]
    #[case(DomainAnswers { cname: records(&["cdn.example.org"], &[]), ..right() }, DomainRecordsState::Right)]
    #[case(by_address(&["192.0.2.1"], &[]), DomainRecordsState::Right)]
    #[case(by_address(&["192.0.2.2"], &["2001:db8::1"]), DomainRecordsState::Right)]
    #[case(by_address(&["192.0.2.1", "192.0.2.9"], &[]), WRONG)]
    #[case(by_address(&["192.0.2.1"], &["2001:db8::9"]), WRONG)]
    #[case(by_address(&["198.51.100.1"], &[]), WRONG)]
    #[case(DomainAnswers { cname: records(&["elsewhere.example"], &[]), ..by_address(&[], &[]) }, WRONG)]
    #[case(by_address(&[], &[]), NO_RECORDS)]
    #[case(DomainAnswers { txt: none(), ..by_address(&[], &[]) }, NO_RECORDS)]
    #[case(DomainAnswers { txt: none(), ..right() }, UNOWNED)]
    #[case(DomainAnswers { txt: records(&["valu", "VALUE"], &[]), ..right() }, UNOWNED)]
    #[case(DomainAnswers { txt: DomainAnswer::BadSignature, ..right() }, DNSSEC)]
    #[case(DomainAnswers { cname: DomainAnswer::BadSignature, v4: DomainAnswer::BadSignature, v6: DomainAnswer::BadSignature, ..right() }, DNSSEC)]
    fn a_domain_is_judged_by_its_records(
        #[case] answers: DomainAnswers,
        #[case] records_state: DomainRecordsState,
    ) {
        check(answers, records_state);
    }

    /// A question without an answer never counts against the domain.
    #[rstest]
    #[case(DomainAnswers { txt: DomainAnswer::Nothing, ..right() }, DomainRecordsState::Nothing)]
    #[case(DomainAnswers { cname: none(), v4: DomainAnswer::Nothing, v6: none(), ..right() }, DomainRecordsState::Nothing)]
    #[case(DomainAnswers { cname: none(), v4: DomainAnswer::Nothing, v6: none(), txt: none(), ..right() }, DomainRecordsState::Nothing)]
    #[case(DomainAnswers { target_v6: DomainAnswer::Nothing, ..by_address(&["198.51.100.1"], &[]) }, DomainRecordsState::Nothing)]
    #[case(
        DomainAnswers { cname: DomainAnswer::Failure, v4: DomainAnswer::Failure, v6: DomainAnswer::Failure, txt: DomainAnswer::Failure, ..right() },
        NO_RECORDS
    )]
    #[case(
        DomainAnswers {
            cname: DomainAnswer::Failure,
            v4: DomainAnswer::Failure,
            v6: DomainAnswer::Failure,
            txt: DomainAnswer::Failure,
            target_v4: DomainAnswer::Failure,
            target_v6: DomainAnswer::Failure,
        },
        DomainRecordsState::Nothing
    )]
    #[case(DomainAnswers { cname: DomainAnswer::Nothing, ..right() }, DomainRecordsState::Right)]
    fn records_that_were_not_received_do_not_count_as_missing(
        #[case] answers: DomainAnswers,
        #[case] records_state: DomainRecordsState,
    ) {
        check(answers, records_state);
    }

    fn check(answers: DomainAnswers, records_state: DomainRecordsState) {
        let wanted = RequiredRecords {
            hostname: "status.example.com".into(),
            cname_target: EDGE.into(),
            txt_name: "_status-verify.status.example.com".into(),
            txt_value: VALUE.into(),
        };
        assert_eq!(answers.judge(&wanted), records_state);
    }
}
