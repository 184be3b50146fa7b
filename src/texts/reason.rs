//! Describes in one line for members why a service is in trouble: target, error, since when, and which locations observed
//! it.
//!
//! Codes and texts of errors are English in every language, as in the check history.

use crate::model::access::Organisation;
use crate::model::outage_evidence::{OutageEvidence, duration, moment, seconds_between};
use crate::model::translated_text::TranslatedText;
use crate::texts::{GeneratedText, shortened};

/// Maximum number of characters of a target in a line; longer targets are cut.
const TARGET_LENGTH: usize = 200;
/// Maximum number of services that a timeline entry names.
const LINES_MAX: usize = 10;

/// Facts about the trouble of one service, to be shown in one line.
#[derive(Clone, Copy, Debug)]
pub struct OutageReason<'a> {
    /// The name of the service.
    pub service: &'a str,
    /// Evidence that the service is in trouble.
    pub evidence: &'a OutageEvidence,
    /// The end of the trouble, in Unix milliseconds; `None` while it lasts.
    pub recovered_at: Option<i64>,
    /// The time at which the line is written, in Unix milliseconds.
    pub at: i64,
}

impl OutageReason<'_> {
    /// Returns the line in a language, or in English if there is no file for the language.
    #[must_use]
    pub fn written_in(&self, language: &str) -> String {
        let say =
            |name: &'static str, note: &str| GeneratedText::new(name).with_note(note).written_in(language);
        let Self { service, evidence, recovered_at, at } = *self;
        let target = evidence.target.as_deref().map(|target| cut(target, TARGET_LENGTH));
        let target = target.map(|target| format!(" ({target})")).unwrap_or_default();
        let failure = evidence.last_failure.as_ref();
        let lasted = duration(seconds_between(evidence.since, recovered_at.unwrap_or(at)));
        let lasts = if recovered_at.is_some() { "reason-lasted" } else { "reason-lasts" };
        let since = say("reason-since", &moment(evidence.since, at));
        let since = format!("{since}, {}", say(lasts, &lasted));
        let mut parts = vec![match failure.map(|failure| failure.error()) {
            Some(error) => format!("{error}, {since}"),
            None => since,
        }];
        let mut list = |name: &'static str, names: &[String]| {
            if !names.is_empty() {
                parts.push(say(name, &names.join(", ")));
            }
        };
        if let Some(failure) = failure {
            list("reason-seen", &failure.failing_locations);
            list("reason-unseen", &failure.other_locations);
        }
        list("reason-depends", &evidence.depends_on);
        format!("{}{target}: {}", shortened(service), parts.join("; "))
    }
}

/// Returns a timeline entry with the reasons of some services, in the languages of the organisation. Only the first services
/// have a line. `count` is the number of services of the entry. `None` when no reason is known.
#[must_use]
pub fn entry(
    reasons: &[OutageReason<'_>],
    count: usize,
    organisation: &Organisation,
) -> Option<TranslatedText> {
    if reasons.is_empty() {
        return None;
    }
    let named = &reasons[..reasons.len().min(LINES_MAX)];
    let more = count.saturating_sub(named.len());
    Some(GeneratedText::composed(organisation, |language| {
        let mut lines: Vec<String> = named.iter().map(|reason| reason.written_in(language)).collect();
        if more > 0 {
            lines.push(GeneratedText::new("reason-more").with_other_count(more).written_in(language));
        }
        lines.join("\n")
    }))
}

fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::model::outage_evidence::LastFailure;

    const AT_MS: i64 = 1_700_000_000_000;

    fn evidence(others: &[&str], depends_on: &[&str]) -> OutageEvidence {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        OutageEvidence {
            since: AT_MS,
            target: Some("https://shop.example/".into()),
            depends_on: owned(depends_on),
            last_failure: Some(LastFailure {
                at: AT_MS + 1_000,
                error_code: "connect_refused".into(),
                error_message: "Connection refused".into(),
                status_code: None,
                failing_locations: owned(&["Frankfurt", "Oslo"]),
                other_locations: owned(others),
            }),
        }
    }

    /// Columns: the language, the time of recovery, and the line.
    #[rstest]
    #[case::lasting(
        "en",
        None,
        "Shop (https://shop.example/): connect_refused, Connection refused, since 22:13:20 UTC, for 2 min 5 s; seen by Frankfurt, Oslo; not by Paris; depends on Gateway"
    )]
    #[case::over("en", Some(AT_MS + 61_000), "Shop (https://shop.example/): connect_refused, Connection refused, since 22:13:20 UTC, over after 1 min 1 s; seen by Frankfurt, Oslo; not by Paris; depends on Gateway")]
    #[case::german(
        "de",
        None,
        "Shop (https://shop.example/): connect_refused, Connection refused, seit 22:13:20 UTC, 2 min 5 s lang; gesehen von Frankfurt, Oslo; nicht von Paris; hängt ab von Gateway"
    )]
    #[case::no_file(
        "fr",
        None,
        "Shop (https://shop.example/): connect_refused, Connection refused, since 22:13:20 UTC, for 2 min 5 s; seen by Frankfurt, Oslo; not by Paris; depends on Gateway"
    )]
    fn a_line_contains_the_reason(
        #[case] language: &str,
        #[case] recovered_at: Option<i64>,
        #[case] expected: &str,
    ) {
        let evidence = evidence(&["Paris"], &["Gateway"]);
        let reason = OutageReason { service: "Shop", evidence: &evidence, recovered_at, at: AT_MS + 125_000 };
        assert_eq!(reason.written_in(language), expected);
    }

    #[test]
    fn unknown_evidence_is_left_out() {
        let bare = OutageEvidence { since: AT_MS, target: None, depends_on: Vec::new(), last_failure: None };
        let reason = OutageReason { service: "Shop", evidence: &bare, recovered_at: None, at: AT_MS };
        assert_eq!(reason.written_in("en"), "Shop: since 22:13:20 UTC, for 0 s");
        let located = evidence(&[], &[]);
        let reason = OutageReason { evidence: &located, ..reason };
        assert!(reason.written_in("en").ends_with("; seen by Frankfurt, Oslo"));
    }
}
