//! Decides when a queue in the main database is read again: an idle server does not ask it five times a second.

use std::time::Duration;

use tokio::time::Instant;

/// Time after which a queue is read in any case: messages become due with time, and a command may have written to the file.
const READ_AFTER: Duration = Duration::from_secs(1);

/// The last read of a queue that found nothing to do.
#[derive(Debug, Default)]
pub struct QueuePoll {
    empty: Option<EmptyRead>,
}

#[derive(Debug)]
struct EmptyRead {
    /// The number of commits before the read; `None` where other processes write as well.
    commits: Option<u64>,
    at: Instant,
}

impl QueuePoll {
    /// Returns true if a read may find something: the last one did, there was a commit since, or it was a second ago.
    /// `commits` is the number of commits to the database; `None` where other processes write as well.
    #[must_use]
    pub fn is_due(&self, commits: Option<u64>) -> bool {
        self.empty.as_ref().is_none_or(|empty| {
            commits.is_none() || commits != empty.commits || empty.at.elapsed() >= READ_AFTER
        })
    }

    /// Notes the result of a read. `commits` is the number from before the read.
    pub fn note(&mut self, has_found: bool, commits: Option<u64>) {
        self.empty = (!has_found).then(|| EmptyRead { commits, at: Instant::now() });
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    /// Columns: whether the last read found something, the commits at that read and now, milliseconds since.
    #[rstest]
    #[case::unchanged(false, Some(7), Some(7), 999, false)]
    #[case::a_second_later(false, Some(7), Some(7), 1_000, true)]
    #[case::a_commit(false, Some(7), Some(8), 0, true)]
    #[case::it_found_something(true, Some(7), Some(7), 0, true)]
    #[case::other_processes_write(false, None, None, 0, true)]
    #[tokio::test(start_paused = true)]
    async fn a_queue_is_read_when_something_may_have_come(
        #[case] has_found: bool,
        #[case] before: Option<u64>,
        #[case] now: Option<u64>,
        #[case] later_ms: u64,
        #[case] expected: bool,
    ) {
        let mut poll = QueuePoll::default();
        assert!(poll.is_due(before), "the first read");
        poll.note(has_found, before);
        tokio::time::advance(Duration::from_millis(later_ms)).await;
        assert_eq!(poll.is_due(now), expected);
    }
}
