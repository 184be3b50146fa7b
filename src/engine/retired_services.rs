//! The recently deleted services.
//!
//! A service may be deleted between the moment when its definition is read and the moment when it is applied;
//! the definition then arrives after the end. So the last revision of a retired service is remembered for at
//! least [`RETENTION`], which is longer than such a delay: no revision up to the last one starts the service
//! again.

use std::collections::HashMap;
use std::time::Duration;

use tokio::time::Instant;

use crate::id::Id;

/// The shortest time that an id is remembered.
const RETENTION: Duration = Duration::from_secs(600);

/// Last revisions in two generations: when the younger one becomes the elder, the previous elder is dropped.
#[derive(Debug)]
pub(super) struct RetiredServices {
    young: HashMap<Id, i64>,
    elder: HashMap<Id, i64>,
    since: Instant,
}

impl Default for RetiredServices {
    fn default() -> Self {
        Self { young: HashMap::new(), elder: HashMap::new(), since: Instant::now() }
    }
}

impl RetiredServices {
    /// Remembers that a service was deleted, and its last revision.
    pub(super) fn note(&mut self, id: Id, revision: i64) {
        if self.since.elapsed() >= RETENTION {
            self.elder = std::mem::take(&mut self.young);
            self.since = Instant::now();
        }
        let last = self.young.entry(id).or_insert(revision);
        *last = revision.max(*last);
    }

    /// Returns true if this revision of a service was read before the service was retired.
    pub(super) fn covers(&self, id: Id, revision: i64) -> bool {
        [&self.young, &self.elder].iter().any(|gone| gone.get(&id).is_some_and(|last| revision <= *last))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_retired_id_is_remembered_for_a_limited_time() {
        let [first, second, third] = [Id::random(), Id::random(), Id::random()];
        let mut retired = RetiredServices::default();
        tokio::time::advance(RETENTION - Duration::from_secs(1)).await;
        retired.note(first, 3);
        retired.note(first, 2);
        tokio::time::advance(RETENTION - Duration::from_secs(1)).await;
        retired.note(second, 1);
        let covered = |retired: &RetiredServices| [first, second, third].map(|id| retired.covers(id, 1));
        assert_eq!(covered(&retired), [true, true, false]);
        assert!(retired.covers(first, 3) && !retired.covers(first, 4));
        tokio::time::advance(RETENTION).await;
        retired.note(third, 1);
        assert_eq!(covered(&retired), [false, true, true]);
    }
}
