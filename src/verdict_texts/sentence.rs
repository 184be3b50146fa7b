//! The sentence that explains the status of a service: what it is, since when, and why.
//!
//! What people see comes first: an override, a pause or a maintenance; then what was measured.

use crate::clock::Timestamp;
use crate::model::ballot::VoteAbsence;
use crate::model::check::CheckType;
use crate::model::history::{ChangeCause, MeasuredStatus};
use crate::model::service::{PauseReason, ServicePause};
use crate::model::verdict::Verdict;
use crate::verdict_texts::facts::{
    AbsentOwner, RunningMaintenance, RunningRetry, StatedStatus, UnreachableReason, VerdictFacts,
};
use crate::verdict_texts::heartbeat_clauses::ping_clauses;
use crate::verdict_texts::phrase_book::{PhraseBook, PhraseValue, capitalised};
use crate::verdict_texts::rule_words::recovery_words;
use crate::verdict_texts::status_words::{measured_word, stated_word, verdict_word};
use crate::verdict_texts::vote_clauses::{absence_clauses, vote_clauses};

/// A certificate is named if it ends within this time, in milliseconds.
const CERTIFICATE_SOON_MS: i64 = 14 * 24 * 3_600_000;

/// The sentence about the status of a service.
pub(super) fn sentence(book: &PhraseBook<'_>, facts: &VerdictFacts) -> String {
    let decision = facts
        .stated
        .as_ref()
        .map(|stated| override_clause(book, stated))
        .or_else(|| facts.pause.map(|pause| pause_clause(book, pause)))
        .or_else(|| facts.maintenance.as_ref().map(|running| maintenance_clause(book, running)));
    let text = match decision {
        None if facts.check_type == CheckType::Manual => book.text("set-by-hand"),
        None => measured_clause(book, facts),
        Some(decision) if facts.is_measured() => {
            let measured = measured_clause(book, facts);
            let measured = PhraseValue::text("measured", &measured);
            book.filled("decided", &[PhraseValue::text("decision", &decision), measured])
        }
        Some(decision) => match facts.pause.filter(|_| facts.stated.is_some()) {
            Some(pause) => format!("{decision}; {}", pause_clause(book, pause)),
            None => decision,
        },
    };
    format!("{}.", capitalised(&text))
}

fn override_clause(book: &PhraseBook<'_>, stated: &StatedStatus) -> String {
    let (status, since) = (stated_word(book, stated.status), book.dated("since", stated.at));
    let period = period(book, since, stated.until);
    book.filled(
        "stated",
        &[
            PhraseValue::text("by", &stated.by),
            PhraseValue::text("status", &status),
            PhraseValue::text("period", &period),
            PhraseValue::text("reason", &stated.reason),
        ],
    )
}

fn pause_clause(book: &PhraseBook<'_>, pause: ServicePause) -> String {
    book.dated(
        match pause.reason {
            PauseReason::Manual => "paused",
            PauseReason::PlanLimit => "paused-by-plan",
        },
        pause.at,
    )
}

fn maintenance_clause(book: &PhraseBook<'_>, running: &RunningMaintenance) -> String {
    let period = period(book, book.dated("since", running.since), running.until);
    let values = [PhraseValue::text("title", &running.title), PhraseValue::text("period", &period)];
    book.filled("in-maintenance", &values)
}

fn period(book: &PhraseBook<'_>, since: String, until: Option<Timestamp>) -> String {
    match until {
        Some(until) => format!("{since}, {}", book.until(until)),
        None => since,
    }
}

/// The measured status with its reasons; begins with a small letter and has no full stop.
fn measured_clause(book: &PhraseBook<'_>, facts: &VerdictFacts) -> String {
    if let Some(absence) = facts.owner_absence {
        return owner_clause(book, facts, absence);
    }
    if !facts.is_configured {
        return book.text("not-configured");
    }
    let reasons = reasons(book, facts);
    let head = head(book, facts);
    if reasons.is_empty() { head } else { format!("{head}: {}", reasons.join("; ")) }
}

fn owner_clause(book: &PhraseBook<'_>, facts: &VerdictFacts, absence: AbsentOwner) -> String {
    let away = match absence.since {
        Some(since) => book.dated("owner-away-since", since),
        None => book.text("owner-away"),
    };
    match facts.since.filter(|_| facts.measured != MeasuredStatus::Unknown) {
        Some(since) => {
            let status = join(&measured_word(book, facts.measured), &book.dated("since", since));
            format!("{away}; {}", book.naming("recorded-last", "status", &status))
        }
        None => away,
    }
}

/// The status, its start, and what else is true of it.
fn head(book: &PhraseBook<'_>, facts: &VerdictFacts) -> String {
    let is_interrupted = facts.measured == MeasuredStatus::NoData;
    let status = match facts.verdict {
        Verdict::Unknown if is_interrupted => measured_word(book, MeasuredStatus::NoData),
        verdict if is_interrupted => book.naming("but-no-data", "status", &verdict_word(book, verdict)),
        verdict => verdict_word(book, verdict),
    };
    let since = facts.since.map(|since| book.dated("since", since));
    let status = since.map_or_else(|| status.clone(), |since| join(&status, &since));
    let unreachable = facts.unreachable.as_ref().map(|reason| unreachable_words(book, reason));
    let flapping = facts.is_flapping.then(|| flapping_words(book, facts));
    [Some(status), unreachable, flapping].into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn unreachable_words(book: &PhraseBook<'_>, reason: &UnreachableReason) -> String {
    match reason {
        UnreachableReason::ParentsDown(names) => {
            let count = PhraseValue::count("count", names.len());
            let names = book.list(&names.iter().map(String::as_str).collect::<Vec<_>>());
            book.filled("unreachable-because", &[count, PhraseValue::text("names", &names)])
        }
        UnreachableReason::HiddenParent => book.text("unreachable-hidden"),
        UnreachableReason::NotCheckedSince => book.text("unreachable-not-checked"),
    }
}

fn flapping_words(book: &PhraseBook<'_>, facts: &VerdictFacts) -> String {
    let rule = facts.rules.flapping;
    let values = [
        PhraseValue::number("changes", rule.changes.into()),
        PhraseValue::number("minutes", rule.minutes.into()),
    ];
    book.filled("flapping", &values)
}

/// The reasons for the measured status, one a clause.
fn reasons(book: &PhraseBook<'_>, facts: &VerdictFacts) -> Vec<String> {
    if let Some(heartbeat) = &facts.heartbeat {
        return ping_clauses(book, facts, heartbeat);
    }
    let mut clauses = if facts.measured == MeasuredStatus::NoData {
        gap_clauses(book, facts)
    } else if facts.verdict == Verdict::Unknown {
        unknown_clauses(book, facts)
    } else {
        vote_clauses(book, facts)
    };
    clauses.extend(absence_clauses(book, facts).into_iter().filter(|_| !is_new(facts)));
    if facts.is_recovering() {
        clauses.push(recovery_words(book, facts));
    } else if let Some(status) = coming_verdict(facts) {
        clauses.push(book.naming("not-recorded-yet", "status", &verdict_word(book, status)));
    }
    clauses.extend(facts.retries.iter().map(|retry| retry_clause(book, retry)));
    clauses.extend(certificate_clause(book, facts));
    clauses
}

/// The reasons why there is no data.
fn gap_clauses(book: &PhraseBook<'_>, facts: &VerdictFacts) -> Vec<String> {
    let last = last_check_at(facts).map(|at| book.dated("last-result", at));
    [Some(book.text("no-check-since")), last].into_iter().flatten().collect()
}

/// The reasons why the status is unknown, apart from locations without a vote.
fn unknown_clauses(book: &PhraseBook<'_>, facts: &VerdictFacts) -> Vec<String> {
    let has_newer = last_check_at(facts) > facts.since;
    let clause = match facts.cause {
        _ if facts.ballots.is_empty() => "checked-by-none",
        Some(ChangeCause::Paused) if !has_newer => "no-result-since-pause",
        Some(ChangeCause::Reconfigured) if !has_newer => "no-result-since-change",
        _ if is_new(facts) => "no-result-yet",
        _ => return last_check_at(facts).map(|at| book.dated("last-result", at)).into_iter().collect(),
    };
    vec![book.text(clause)]
}

/// True while no location has finished a check, and nothing prevents that.
fn is_new(facts: &VerdictFacts) -> bool {
    facts.ballots.iter().all(|ballot| ballot.absence() == Some(VoteAbsence::NotChecked))
}

fn last_check_at(facts: &VerdictFacts) -> Option<Timestamp> {
    facts.ballots.iter().filter_map(|ballot| Some(ballot.last_check.as_ref()?.checked_at)).max()
}

/// The verdict of the votes, if it is not the one that is shown: the newest checks are not judged yet.
fn coming_verdict(facts: &VerdictFacts) -> Option<Verdict> {
    let coming = facts.verdict_of_votes();
    let is_judged = coming == facts.verdict || coming == Verdict::Unknown;
    (!is_judged && facts.measured != MeasuredStatus::NoData).then_some(coming)
}

fn retry_clause(book: &PhraseBook<'_>, retry: &RunningRetry) -> String {
    book.filled(
        "retrying",
        &[
            PhraseValue::text("name", &retry.location),
            PhraseValue::count("attempt", retry.attempt.into()),
            PhraseValue::count("attempts", retry.attempts.into()),
        ],
    )
}

fn certificate_clause(book: &PhraseBook<'_>, facts: &VerdictFacts) -> Option<String> {
    let ends_at = facts.certificate_ends_at?;
    let left_ms = ends_at.ms_since(facts.now);
    if left_ms <= 0 {
        return Some(book.dated("certificate-ended", ends_at));
    }
    let (moment, left) = (book.moment(ends_at), book.remaining(ends_at));
    let values = [PhraseValue::text("moment", &moment), PhraseValue::text("duration", &left)];
    (left_ms <= CERTIFICATE_SOON_MS).then(|| book.filled("certificate-ends", &values))
}

fn join(status: &str, since: &str) -> String {
    format!("{status} {since}")
}
