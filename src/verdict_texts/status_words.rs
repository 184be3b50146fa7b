//! The words for statuses, and for the reasons why a location has no vote.

use crate::model::ballot::{VoteAbsence, VoteExclusion};
use crate::model::check::{CheckStatus, LocalFault};
use crate::model::history::MeasuredStatus;
use crate::model::service::OverrideStatus;
use crate::model::verdict::Verdict;
use crate::verdict_texts::phrase_book::PhraseBook;

/// The word for a measured status.
pub(super) fn measured_word(book: &PhraseBook<'_>, status: MeasuredStatus) -> String {
    book.text(match status {
        MeasuredStatus::Unknown => "unknown",
        MeasuredStatus::Up => "up",
        MeasuredStatus::Degraded => "degraded",
        MeasuredStatus::Down => "down",
        MeasuredStatus::NoData => "no-data",
    })
}

/// The word for a verdict.
pub(super) fn verdict_word(book: &PhraseBook<'_>, verdict: Verdict) -> String {
    measured_word(book, verdict.into())
}

/// The word for the vote of a location.
pub(super) fn vote_word(book: &PhraseBook<'_>, vote: CheckStatus) -> String {
    measured_word(
        book,
        match vote {
            CheckStatus::Up => MeasuredStatus::Up,
            CheckStatus::Degraded => MeasuredStatus::Degraded,
            CheckStatus::Down => MeasuredStatus::Down,
        },
    )
}

/// The word for the status of an override.
pub(super) fn stated_word(book: &PhraseBook<'_>, status: OverrideStatus) -> String {
    book.text(match status {
        OverrideStatus::Up => "up",
        OverrideStatus::Degraded => "degraded",
        OverrideStatus::Down => "down",
        OverrideStatus::Maintenance => "maintenance",
    })
}

/// The reason why a location has no vote, in a few words.
pub(super) fn absence_word(book: &PhraseBook<'_>, absence: VoteAbsence) -> String {
    book.text(match absence {
        VoteAbsence::NotChecked => "absent-not-checked",
        VoteAbsence::Stale => "absent-stale",
        VoteAbsence::Offline => "absent-offline",
        VoteAbsence::Excluded(VoteExclusion::Impaired(_)) => "absent-impaired",
        VoteAbsence::Excluded(VoteExclusion::Suspect) => "absent-suspect",
        VoteAbsence::Outdated => "absent-outdated",
        VoteAbsence::Withdrawn => "absent-withdrawn",
    })
}

/// The same reason with everything that is known about it.
pub(super) fn absence_details(book: &PhraseBook<'_>, absence: VoteAbsence) -> String {
    match absence {
        VoteAbsence::Excluded(VoteExclusion::Impaired(fault)) => {
            book.naming("impaired-because", "reason", &fault_words(book, fault))
        }
        VoteAbsence::Excluded(VoteExclusion::Suspect) => book.text("suspect-because"),
        absence => absence_word(book, absence),
    }
}

fn fault_words(book: &PhraseBook<'_>, fault: LocalFault) -> String {
    book.text(match fault {
        LocalFault::NoDescriptors => "fault-no-descriptors",
        LocalFault::NoPorts => "fault-no-ports",
        LocalFault::NoMemory => "fault-no-memory",
        LocalFault::NetworkDown => "fault-network-down",
        LocalFault::ResolverUnavailable => "fault-resolver-unavailable",
        LocalFault::NotPermitted => "fault-not-permitted",
        LocalFault::Overrun => "fault-overrun",
        LocalFault::Panicked => "fault-panicked",
        LocalFault::QueueFull => "fault-queue-full",
        LocalFault::LocationImpaired => "fault-location-impaired",
    })
}
