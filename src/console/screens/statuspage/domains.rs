//! The domains of a status page: the records that DNS must have, the present state with its reason, and what to do next.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use askama::Template;
use serde_json::Value;

use crate::console::answer;
use crate::console::console_texts::ConsoleTexts;
use crate::console::frame::{ConsoleFrame, ConsoleSection};
use crate::console::screen_error::ScreenError;
use crate::console::visit::UserVisit;
use crate::model::access::Permission;
use crate::model::domain::DomainProblem;

#[derive(Template)]
#[template(path = "screens/statuspage/domains.html")]
struct DomainsDocument {
    frame: ConsoleFrame,
    id: String,
    /// Name of the page.
    page: String,
    domains: Vec<DomainCard>,
    may_edit: bool,
}

/// A domain with its state.
struct DomainCard {
    id: String,
    hostname: String,
    tone: &'static str,
    status: String,
    /// Says why the domain has its status.
    reason: String,
    /// Says what to do next.
    next: String,
    records: [DnsRecordRow; 2],
    certificate: String,
    is_pending: bool,
}

/// A record that DNS must have.
struct DnsRecordRow {
    kind: &'static str,
    name: String,
    value: String,
}

/// Shows the domains of a page.
pub(in crate::console) async fn show(visit: &UserVisit, id: &str) -> Result<HttpResponse, ScreenError> {
    let page = visit.get(&format!("/v1/statuspages/{id}")).await?["data"].take();
    let body = visit.get(&format!("/v1/statuspages/{id}/custom-domains")).await?;
    let rows = body["data"].as_array().into_iter().flatten();
    let document = DomainsDocument {
        frame: ConsoleFrame::of(visit, ConsoleSection::Statuspages, visit.texts.text("title-domains")),
        page: text(&page["name"]),
        domains: rows.map(|domain| DomainCard::of(visit.texts, domain)).collect(),
        may_edit: visit.may(Permission::StatuspagesEdit),
        id: id.to_owned(),
    };
    Ok(answer::document(StatusCode::OK, document.render()?, &visit.visit.headers))
}

impl DomainCard {
    fn of(texts: ConsoleTexts, domain: &Value) -> Self {
        let status = text(&domain["status"]);
        let state = state_of(domain);
        let (hostname, target) = (text(&domain["hostname"]), text(&domain["cname_target"]));
        Self {
            id: text(&domain["id"]),
            tone: match status.as_str() {
                "active" => "operational",
                "failed" => "major_outage",
                _ => "degraded",
            },
            reason: texts.about(&format!("domain-reason-{state}"), &target),
            next: texts.text(&format!("domain-next-{state}")),
            records: [
                DnsRecordRow { kind: "CNAME", name: hostname.clone(), value: target },
                DnsRecordRow {
                    kind: "TXT",
                    name: text(&domain["txt_record_name"]),
                    value: text(&domain["txt_record_value"]),
                },
            ],
            certificate: certificate(texts, domain),
            is_pending: status == "pending_verification",
            status: texts.text(&format!("domain-{}", status.replace('_', "-"))),
            hostname,
        }
    }
}

/// Returns the word of the state of a domain: that of its problem, or `active`, or `unchecked`.
fn state_of(domain: &Value) -> String {
    let problem = domain["last_error_code"].as_str().filter(|code| DomainProblem::WORDS.contains(code));
    match (problem, domain["status"].as_str()) {
        (Some(problem), _) => problem.replace('_', "-"),
        (None, Some("active")) => "active".to_owned(),
        (None, _) => "unchecked".to_owned(),
    }
}

/// Returns the state of the certificate of a domain in words.
fn certificate(texts: ConsoleTexts, domain: &Value) -> String {
    let certificate = &domain["certificate"];
    let until = text(&certificate["not_after"]);
    match certificate["status"].as_str() {
        Some("active") => texts.about("certificate-until", until.get(..10).unwrap_or(&until)),
        Some("issuing") => texts.text("certificate-issuing"),
        Some("failed") => texts.about("certificate-failed", &text(&certificate["last_error"])),
        _ if domain["status"] == "active" => texts.text("certificate-elsewhere"),
        _ => texts.text("certificate-later"),
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    fn domain(status: &str, code: Option<&str>, certificate: &str) -> Value {
        json!({
            "id": "x", "hostname": "status.example.com", "status": status, "cname_target": "edge.example.net",
            "txt_record_name": "_status-verify.status.example.com", "txt_record_value": "k2Jd9",
            "last_error_code": code,
            "certificate": {"status": certificate, "not_after": "2027-01-31T00:00:00.000Z", "last_error": "port 80"},
        })
    }

    #[test]
    fn a_domain_says_which_records_dns_must_have() {
        let card = DomainCard::of(ConsoleTexts::of("en"), &domain("pending_verification", None, "none"));
        let lines: Vec<String> =
            card.records.iter().map(|row| format!("{} {} {}", row.kind, row.name, row.value)).collect();
        assert_eq!(
            lines,
            ["CNAME status.example.com edge.example.net", "TXT _status-verify.status.example.com k2Jd9",]
        );
        assert!(card.is_pending);
    }

    /// Every problem of the API has a reason and a next step in every language.
    #[rstest]
    fn every_state_is_explained(#[values("en", "de")] language: &str) {
        let texts = ConsoleTexts::of(language);
        let problems = DomainProblem::WORDS.iter().map(|word| domain("failed", Some(word), "none"));
        let others = [domain("pending_verification", None, "none"), domain("active", None, "active")];
        for domain in problems.chain(others) {
            let card = DomainCard::of(texts, &domain);
            for shown in [card.reason, card.next, card.status] {
                assert!(shown.contains(' ') || shown.len() < 15, "{language} {domain}: {shown}");
                assert!(!shown.starts_with("domain-"), "{language} {domain}: {shown}");
            }
        }
        let wrong = domain("pending_verification", Some("wrong_target"), "none");
        assert!(DomainCard::of(texts, &wrong).reason.contains("edge.example.net"));
    }

    #[rstest]
    #[case("active", "active", "2027-01-31")]
    #[case("active", "failed", "port 80")]
    #[case("active", "none", "proxy")]
    #[case("pending_verification", "none", "once the domain is active")]
    fn the_certificate_has_a_state(#[case] status: &str, #[case] state: &str, #[case] expected: &str) {
        let shown = certificate(ConsoleTexts::of("en"), &domain(status, None, state));
        assert!(shown.contains(expected), "{shown}");
    }
}
