//! DNS checks (contract 4.2.4 `dns`, 4.8 `dns_*`) against a name server with scripted responses.

use std::time::Duration;

use hickory_proto::op::ResponseCode;
use rstest::rstest;
use serde_json::{Value, json};
use tokio::time::Instant;
use watchkeeper::model::check::{CheckOutcome, CheckStatus, CheckType, ErrorCode, LocalFault};
use watchkeeper::probe::spec::CheckSpec;
use watchkeeper::probe::toolbox::{Toolbox, ToolboxConfig};

use crate::support::dns_server::{
    Answer, DnsServer, EdnsRefusal, OddPart, address, alias, mx, ns, record, txt,
};
use crate::support::server::{Server, closed_address};
use crate::support::{UP, condition, down, measure, spec, verdict};

fn asking(servers: &[std::net::SocketAddr]) -> Toolbox {
    let config = ToolboxConfig { dns_servers: servers.to_vec(), ..ToolboxConfig::default() };
    Toolbox::new(config).unwrap()
}

fn dns(target: &str, config: &Value) -> CheckSpec {
    let mut spec = spec(CheckType::Dns, target, config);
    spec.timeout = Duration::from_secs(1);
    spec
}

/// True if a condition is met by the server's response for `a.test`.
async fn is_met(dns_type: &str, answer: Answer, field: &str, operator: &str, value: &Value) -> bool {
    let server = DnsServer::start([("a.test", answer)]).await;
    let conditions = [condition(field, operator, value)];
    let check = dns("a.test", &json!({"dns_type": dns_type, "conditions": conditions}));
    let measured = measure(&check, &asking(&[server.address])).await;
    assert!(measured.response_time.is_some());
    verdict(&measured) == down(ErrorCode::ConditionFailed)
}

/// RFC 6891, section 7: a server without EDNS is queried without it.
#[rstest]
#[case(EdnsRefusal::Code(ResponseCode::FormErr))]
#[case(EdnsRefusal::Code(ResponseCode::NotImp))]
#[case(EdnsRefusal::Code(ResponseCode::ServFail))]
#[case(EdnsRefusal::Code(ResponseCode::Refused))]
#[case(EdnsRefusal::Code(ResponseCode::NXDomain))]
#[case(EdnsRefusal::Code(ResponseCode::NoError))]
#[case(EdnsRefusal::BareHeader)]
#[case(EdnsRefusal::BadVersion)]
#[case(EdnsRefusal::BadCookie)]
#[case(EdnsRefusal::Garbage)]
#[case(EdnsRefusal::Silence)]
#[tokio::test]
async fn a_server_without_edns_is_queried_without_it(#[case] refusal: EdnsRefusal) {
    let server = DnsServer::start([("a.test", Answer::Plain(refusal, vec![address("192.0.2.1")]))]).await;
    let mut check = dns("a.test", &json!({}));
    check.timeout = Duration::from_secs(3);
    assert_eq!(verdict(&measure(&check, &asking(&[server.address])).await), UP);
    let asked = server.questions().into_iter().filter(|name| name == "a.test.").count();
    // A server that is slow to answer is asked more often.
    assert!(asked >= 2, "{asked}");
}

#[rstest]
#[case(Answer::Code(ResponseCode::NotImp), "The name server answered: NOTIMP")]
#[case(Answer::Garbage, "The name server's answer cannot be read")]
#[tokio::test]
async fn a_failure_message_describes_the_response(#[case] answer: Answer, #[case] message: &str) {
    let server = DnsServer::start([("a.test", answer)]).await;
    let measured = measure(&dns("a.test", &json!({})), &asking(&[server.address])).await;
    assert_eq!(&*measured.failure.unwrap().message, message);
}

/// Records beside the answer are the fault of the name server alone, and glibc accepts the answer all the same.
#[rstest]
#[case::broken_option(10, 1, b"\0\0\x29\x04\xd0\0\0\0\0\0\x03\0\x08\0")]
#[case::two_opt_records(10, 2, b"\0\0\x29\x04\xd0\0\0\0\0\0\0\0\0\x29\x04\xd0\0\0\0\0\0\0")]
#[case::opt_of_a_name(10, 1, b"\xc0\x0c\0\x29\x04\xd0\0\0\0\0\0\0")]
#[case::opt_among_the_answers(6, 1, b"\0\0\x29\x04\xd0\0\0\0\0\0\0")]
#[case::broken_soa(8, 1, b"\0\0\x06\0\x01\0\0\0\0\0\x01\0")]
#[case::broken_caa(10, 1, b"\0\x01\x01\0\x01\0\0\0\0\0\x01\0")]
#[case::broken_naptr(10, 1, b"\0\0\x23\0\x01\0\0\0\0\0\x02\0\x01")]
#[case::broken_https(6, 1, b"\0\0\x41\0\x01\0\0\0\0\0\0")]
#[case::empty_txt(10, 1, b"\0\0\x10\0\x01\0\0\0\0\0\0")]
#[case::address_of_class_ch(10, 1, b"\0\0\x01\0\x03\0\0\0\0\0\x04\x7f\0\0\x01")]
#[case::address_of_five_bytes(6, 1, b"\xc0\x0c\0\x01\0\x01\0\0\0\0\0\x05\x7f\0\0\x01\0")]
#[case::fewer_than_counted(10, 1, b"")]
#[tokio::test]
async fn one_bad_record_does_not_invalidate_a_response(
    #[case] count_at: usize,
    #[case] count: u8,
    #[case] bytes: &'static [u8],
) {
    let part = OddPart { count_at, count, bytes };
    for over in [Answer::Beside, Answer::TruncatedBeside] {
        let answer = over(part, vec![address("127.0.0.1")]);
        assert!(is_met("A", answer.clone(), "metadata.ips", "contains", &json!("127.0.0.1")).await);
        assert_eq!(connected_by(answer.clone()).await, UP, "{answer:?}");
    }
}

/// The verdict of a check that needs the name.
async fn connected_by(answer: Answer) -> (CheckStatus, Option<ErrorCode>) {
    let target = Server::start(|_, _| async {}).await;
    let server = DnsServer::start([("a.test", answer)]).await;
    let check = spec(CheckType::Tcp, &format!("a.test:{}", target.address.port()), &json!({}));
    verdict(&measure(&check, &asking(&[server.address])).await)
}

/// Servers may send more than was offered.
#[rstest]
#[case(40)]
#[case(200)]
#[tokio::test]
async fn a_long_datagram_is_read_completely(#[case] addresses: usize) {
    let answer = Answer::Records(vec![address("127.0.0.1"); addresses]);
    assert!(is_met("A", answer.clone(), "metadata.ip_count", "eq", &json!(addresses)).await);
    assert_eq!(connected_by(answer).await, UP);
}

/// Contract 4.8: one row a code.
#[rstest]
#[case::nxdomain(Answer::Code(ResponseCode::NXDomain), "A", ErrorCode::DnsNxdomain)]
#[case::servfail(Answer::Code(ResponseCode::ServFail), "A", ErrorCode::DnsServfail)]
#[case::refused(Answer::Code(ResponseCode::Refused), "A", ErrorCode::DnsServfail)]
#[case::not_implemented(Answer::Code(ResponseCode::NotImp), "A", ErrorCode::DnsServfail)]
#[case::no_answer(Answer::Silence, "A", ErrorCode::DnsTimeout)]
#[case::garbage_only(Answer::Garbage, "A", ErrorCode::DnsServfail)]
#[case::no_address(Answer::Code(ResponseCode::NoError), "A", ErrorCode::DnsNoRecords)]
#[case::no_ipv6(Answer::Records(vec![address("192.0.2.1")]), "AAAA", ErrorCode::DnsNoRecords)]
#[case::no_mx(Answer::Code(ResponseCode::NoError), "MX", ErrorCode::DnsNoRecords)]
#[case::no_ns(Answer::Code(ResponseCode::NoError), "NS", ErrorCode::DnsNoRecords)]
#[case::no_txt(Answer::Code(ResponseCode::NoError), "TXT", ErrorCode::DnsNoRecords)]
#[case::alias_to_nowhere(Answer::Records(vec![alias("b.test")]), "A", ErrorCode::DnsNoRecords)]
#[case::alias_circle(
    Answer::Verbatim(vec![record("a.test", alias("b.test")), record("b.test", alias("a.test"))]),
    "A",
    ErrorCode::DnsNoRecords
)]
#[case::address_of_another_name(
    Answer::Verbatim(vec![record("b.test", address("192.0.2.1"))]),
    "A",
    ErrorCode::DnsNoRecords
)]
#[tokio::test]
async fn a_failing_name_is_down_with_its_code(
    #[case] answer: Answer,
    #[case] dns_type: &str,
    #[case] code: ErrorCode,
) {
    let server = DnsServer::start([("a.test", answer)]).await;
    let start = Instant::now();
    let measured = measure(&dns("a.test", &json!({"dns_type": dns_type})), &asking(&[server.address])).await;
    assert_eq!(verdict(&measured), down(code));
    assert!(start.elapsed() < Duration::from_millis(1250), "{:?}", start.elapsed());
    let answered = code == ErrorCode::DnsNoRecords;
    assert_eq!(measured.response_time.is_some(), answered);
    assert!(measured.timings.total.is_some());
}

#[rstest]
#[case("A", vec![address("192.0.2.1")])]
#[case("AAAA", vec![address("2001:db8::1")])]
#[case("MX", vec![mx(10, "mail.test")])]
#[case("NS", vec![ns("ns1.test")])]
#[case("TXT", vec![txt(&["v=spf1 -all"])])]
#[case("CNAME", vec![alias("b.test")])]
#[case("CNAME", vec![])]
#[tokio::test]
async fn a_name_with_its_records_is_up(#[case] dns_type: &str, #[case] data: Vec<hickory_proto::rr::RData>) {
    let server = DnsServer::start([("a.test", Answer::Records(data))]).await;
    let measured = measure(&dns("a.test", &json!({"dns_type": dns_type})), &asking(&[server.address])).await;
    assert_eq!(verdict(&measured), UP);
    assert_eq!(measured.timings.dns, measured.timings.total);
    assert_eq!(measured.response_time, measured.timings.total);
    assert!(measured.timings.connect.is_none());
}

#[rstest]
#[case("A", vec![address("192.0.2.1"), address("192.0.2.2")], "metadata.ip_count", "eq", json!(2))]
#[case("A", vec![address("192.0.2.1")], "metadata.ips", "contains", json!("192.0.2.1"))]
#[case("AAAA", vec![address("2001:db8::1")], "metadata.ips", "contains", json!("2001:db8::1"))]
#[case("MX", vec![mx(10, "Mail.test"), mx(0, ".")], "metadata.mx_count", "eq", json!(2))]
#[case("MX", vec![mx(10, "Mail.test")], "metadata.mx_records", "contains", json!("10 mail.test"))]
#[case("MX", vec![mx(0, ".")], "metadata.mx_records", "contains", json!("0 ."))]
#[case("NS", vec![ns("ns1.test")], "metadata.ns_records", "contains", json!("ns1.test"))]
#[case("NS", vec![ns("ns1.test")], "metadata.ns_count", "lt", json!(2))]
#[case("TXT", vec![txt(&["v=DKIM1; ", "p=abc"])], "metadata.txt_records", "contains", json!("v=DKIM1; p=abc"))]
#[case("TXT", vec![txt(&[])], "metadata.txt_count", "eq", json!(1))]
#[case("TXT", vec![txt(&["a"])], "metadata.txt_count", "eq", json!(1))]
#[case("CNAME", vec![alias("B.test")], "metadata.cname", "eq", json!("b.test"))]
#[case("CNAME", vec![], "metadata.cname", "neq", json!("b.test"))]
#[case("A", vec![address("192.0.2.1")], "response_time_ms", "gt", json!(0))]
#[tokio::test]
async fn an_answer_becomes_facts(
    #[case] dns_type: &str,
    #[case] data: Vec<hickory_proto::rr::RData>,
    #[case] field: &str,
    #[case] operator: &str,
    #[case] value: Value,
) {
    assert!(is_met(dns_type, Answer::Records(data), field, operator, &value).await);
}

#[tokio::test]
async fn the_addresses_at_the_end_of_an_alias_chain_count() {
    let chain = vec![
        record("c.test", address("192.0.2.7")),
        record("a.test", alias("b.test")),
        record("b.test", alias("c.test")),
        record("d.test", address("192.0.2.66")),
    ];
    assert!(is_met("A", Answer::Verbatim(chain), "metadata.ips", "contains", &json!("192.0.2.7")).await);
}

#[tokio::test]
async fn a_condition_for_no_records_may_report_degraded() {
    let server = DnsServer::start([("a.test", Answer::Code(ResponseCode::NoError))]).await;
    let conditions =
        json!([{"field": "metadata.ip_count", "operator": "eq", "value": 0, "status": "degraded"}]);
    let check = dns("a.test", &json!({"conditions": conditions}));
    let measured = measure(&check, &asking(&[server.address])).await;
    let expected = (CheckStatus::Degraded, Some(ErrorCode::DnsNoRecords));
    assert_eq!(verdict(&measured), expected);
}

/// Reliability 18: wrong ids, wrong questions and garbage do not get in, and do not stop the true answer.
#[rstest]
#[case(Answer::WrongIdFirst(vec![address("192.0.2.1")]))]
#[case(Answer::WrongQuestionFirst(vec![address("192.0.2.1")]))]
#[case(Answer::GarbageFirst(vec![address("192.0.2.1")]))]
#[tokio::test]
async fn only_the_true_answer_counts(#[case] answer: Answer) {
    let value = json!("192.0.2.1");
    assert!(is_met("A", answer, "metadata.ips", "contains", &value).await);
}

#[tokio::test]
async fn a_truncated_answer_is_fetched_over_tcp() {
    let many: Vec<_> = (1..=200).map(|host| address(&format!("192.0.2.{host}"))).collect();
    let value = json!(200);
    assert!(is_met("A", Answer::Truncated(many), "metadata.ip_count", "eq", &value).await);
}

#[tokio::test]
async fn the_next_server_is_queried_when_one_fails() {
    let good = DnsServer::start([("a.test", Answer::Records(vec![address("192.0.2.1")]))]).await;
    let refusing = DnsServer::start([]).await;
    let silent = DnsServer::silent().await;
    for first in [refusing.address, closed_address().await, silent.address] {
        let toolbox = asking(&[first, good.address]);
        assert_eq!(verdict(&measure(&dns("a.test", &json!({})), &toolbox).await), UP, "{first}");
    }
}

#[tokio::test]
async fn a_definite_response_is_not_overruled() {
    let first = DnsServer::start([("a.test", Answer::Code(ResponseCode::NXDomain))]).await;
    let second = DnsServer::start([("a.test", Answer::Records(vec![address("192.0.2.1")]))]).await;
    let toolbox = asking(&[first.address, second.address]);
    let measured = measure(&dns("a.test", &json!({})), &toolbox).await;
    assert_eq!(verdict(&measured), down(ErrorCode::DnsNxdomain));
    assert!(second.questions().is_empty());
}

/// Reliability 10: a dead resolver is a local fault.
#[tokio::test]
async fn dead_name_servers_do_not_report_a_name_down() {
    let silent = DnsServer::silent().await;
    for server in [silent.address, closed_address().await] {
        let start = Instant::now();
        let outcome = watchkeeper::probe::run(&dns("a.test", &json!({})), &asking(&[server])).await;
        assert_eq!(outcome, CheckOutcome::Unmeasured(LocalFault::ResolverUnavailable));
        assert!(start.elapsed() < Duration::from_millis(1250), "{:?}", start.elapsed());
    }
}

/// A DNS check measures the server, not a cache.
#[tokio::test]
async fn every_check_sends_a_new_query() {
    let server = DnsServer::start([("a.test", Answer::Records(vec![address("192.0.2.1")]))]).await;
    let toolbox = asking(&[server.address]);
    for _ in 0..3 {
        assert_eq!(verdict(&measure(&dns("a.test", &json!({})), &toolbox).await), UP);
    }
    assert_eq!(server.questions(), ["a.test."; 3]);
}
