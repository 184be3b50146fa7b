//! The recheck budget: how many checks per second may run early because the state of their services is uncertain.
//!
//! A pure structure, one per location and shard. A single service whose locations disagree is checked every second. When a large
//! host fails with thousands of services, all of them are uncertain at once; then a limited number of checks per second runs
//! early, per host and in total, and the others keep to their normal fast-recheck interval.

use std::collections::HashMap;

use crate::config::limits::EngineLimits;

/// Number of remembered hosts above which those with a full budget are removed.
const HOSTS: usize = 1_024;

/// The recheck budget of one location on one shard.
#[derive(Debug)]
pub(super) struct RecheckBudget {
    per_second: u64,
    per_host_and_second: u64,
    all: TokenBucket,
    /// Budget by host key; a host without an entry has its full budget.
    hosts: HashMap<u64, TokenBucket>,
}

/// Token bucket: refilled at `per_second`, holds one second's worth, counted in thousandths.
#[derive(Clone, Copy, Debug)]
struct TokenBucket {
    left: u64,
    at_ms: u64,
}

impl TokenBucket {
    const fn full(per_second: u64) -> Self {
        Self { left: per_second * 1_000, at_ms: 0 }
    }

    fn refill(&mut self, per_second: u64, now_ms: u64) {
        let passed_ms = now_ms.saturating_sub(self.at_ms);
        self.left = passed_ms.saturating_mul(per_second).saturating_add(self.left).min(per_second * 1_000);
        self.at_ms = now_ms;
    }

    const fn has_room(self) -> bool {
        self.left >= 1_000
    }
}

impl RecheckBudget {
    /// Creates a full budget.
    pub(super) fn new(limits: &EngineLimits) -> Self {
        let per_second = limits.hasty_checks_per_second.into();
        Self {
            per_second,
            per_host_and_second: limits.hasty_checks_per_host_and_second.into(),
            all: TokenBucket::full(per_second),
            hosts: HashMap::new(),
        }
    }

    /// Takes one check towards a host from the budget; returns false if it is used up. `now_ms` never decreases.
    pub(super) fn take(&mut self, host_key: u64, now_ms: u64) -> bool {
        self.all.refill(self.per_second, now_ms);
        if !self.all.has_room() {
            return false;
        }
        self.forget_calm_hosts(now_ms);
        let of_host = self.hosts.entry(host_key).or_insert(TokenBucket::full(self.per_host_and_second));
        of_host.refill(self.per_host_and_second, now_ms);
        if !of_host.has_room() {
            return false;
        }
        of_host.left -= 1_000;
        self.all.left -= 1_000;
        true
    }

    /// Removes hosts without a request for a second: their budget is full again.
    fn forget_calm_hosts(&mut self, now_ms: u64) {
        if self.hosts.len() >= HOSTS {
            self.hosts.retain(|_, host| now_ms.saturating_sub(host.at_ms) < 1_000);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn budget() -> RecheckBudget {
        RecheckBudget::new(&EngineLimits {
            hasty_checks_per_second: 20,
            hasty_checks_per_host_and_second: 5,
            ..EngineLimits::default()
        })
    }

    #[test]
    fn one_service_may_be_rechecked_every_second() {
        let mut budget = budget();
        assert!((0..1_000).all(|second| budget.take(7, second * 1_000)));
    }

    #[test]
    fn a_failing_host_leaves_budget_for_others() {
        let mut budget = budget();
        assert_eq!((0..1_000).filter(|_| budget.take(7, 0)).count(), 5);
        assert!(budget.take(8, 0));
        assert_eq!((0..1_000).filter(|_| budget.take(7, 1_000)).count(), 5, "a second later");
        assert_eq!((0..1_000).filter(|host| budget.take(100 + host, 1_000)).count(), 15, "and all together");
    }

    #[test]
    fn idle_hosts_are_forgotten() {
        let mut budget = RecheckBudget::new(&EngineLimits::default());
        for host in 0..100_000 {
            budget.take(host, host * 20);
        }
        assert!(budget.hosts.len() <= HOSTS, "{} hosts", budget.hosts.len());
    }

    proptest! {
        #[test]
        fn no_second_exceeds_two_allowances(asked in prop::collection::vec((0_u64..200, 0_u64..6), 1..400)) {
            let (mut budget, mut now_ms, mut taken) = (budget(), 0, Vec::new());
            for (wait_ms, host) in asked {
                now_ms += wait_ms;
                if budget.take(host, now_ms) {
                    taken.push((now_ms, host));
                }
            }
            for (at, host) in &taken {
                let second: Vec<_> = taken.iter().filter(|(other, _)| (*at..*at + 1_000).contains(other)).collect();
                prop_assert!(second.len() <= 40);
                prop_assert!(second.iter().filter(|(_, other)| other == host).count() <= 10);
            }
        }
    }
}
