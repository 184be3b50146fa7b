//! The queue of one location: bounded in total and for each host.
//!
//! A pure structure. At most `running` jobs run at once, at most `per_host` of them towards one host, at most `waiting`
//! wait; one more is refused. Jobs towards a busy host do not hold up the others.

use std::collections::{HashMap, VecDeque};

/// A job with a target host.
pub trait HostJob {
    /// Key of the host; equal for jobs towards the same host.
    fn host_key(&self) -> u64;
}

/// Numbers of jobs that a queue permits.
#[derive(Clone, Copy, Debug)]
pub struct CheckQueueLimits {
    /// Jobs that run at once.
    pub running: usize,
    /// Jobs that run at once towards one host.
    pub per_host: usize,
    /// Jobs that wait, at most.
    pub waiting: usize,
}

/// The answer to the offer of a job.
#[derive(Debug, PartialEq, Eq)]
pub enum OfferOutcome<J> {
    /// The job has to be started now.
    Start(J),
    /// The job waits in the queue.
    Wait,
    /// The queue is full; the job is returned.
    Refuse(J),
}

/// Running and waiting jobs, by host.
#[derive(Debug)]
pub struct CheckQueue<J> {
    limits: CheckQueueLimits,
    running: usize,
    waiting: usize,
    hosts: HashMap<u64, HostQueue<J>>,
    /// Jobs whose host has a free slot, while the queue has none.
    ready: VecDeque<J>,
}

#[derive(Debug)]
struct HostQueue<J> {
    running: usize,
    waiting: VecDeque<J>,
}

impl<J: HostJob> CheckQueue<J> {
    /// Creates an empty queue.
    #[must_use]
    pub fn new(limits: CheckQueueLimits) -> Self {
        Self { limits, running: 0, waiting: 0, hosts: HashMap::new(), ready: VecDeque::new() }
    }

    /// Offers a job to the queue.
    pub fn offer(&mut self, job: J) -> OfferOutcome<J> {
        let host =
            self.hosts.entry(job.host_key()).or_insert(HostQueue { running: 0, waiting: VecDeque::new() });
        let host_is_free = host.running < self.limits.per_host;
        if host_is_free && self.running < self.limits.running {
            host.running += 1;
            self.running += 1;
            return OfferOutcome::Start(job);
        }
        if self.waiting >= self.limits.waiting {
            self.drop_idle_host(job.host_key());
            return OfferOutcome::Refuse(job);
        }
        self.waiting += 1;
        if host_is_free {
            host.running += 1;
            self.ready.push_back(job);
        } else {
            host.waiting.push_back(job);
        }
        OfferOutcome::Wait
    }

    /// Records that a job towards this host has ended; returns the next job to start, if any.
    pub fn finish(&mut self, host_key: u64) -> Option<J> {
        self.running = self.running.saturating_sub(1);
        if let Some(host) = self.hosts.get_mut(&host_key) {
            host.running = host.running.saturating_sub(1);
            if let Some(job) = host.waiting.pop_front() {
                host.running += 1;
                self.ready.push_back(job);
            }
        }
        self.drop_idle_host(host_key);
        let next = self.ready.pop_front()?;
        self.waiting -= 1;
        self.running += 1;
        Some(next)
    }

    /// Removes and returns every waiting job.
    pub fn clear(&mut self) -> Vec<J> {
        self.waiting = 0;
        let hosts = std::mem::take(&mut self.hosts);
        let waiting = hosts.into_values().flat_map(|host| host.waiting);
        self.ready.drain(..).chain(waiting).collect()
    }

    /// Returns the number of running jobs.
    #[must_use]
    pub const fn running(&self) -> usize {
        self.running
    }

    /// Returns the number of waiting jobs.
    #[must_use]
    pub const fn waiting(&self) -> usize {
        self.waiting
    }

    fn drop_idle_host(&mut self, host_key: u64) {
        if self.hosts.get(&host_key).is_some_and(|host| host.running == 0 && host.waiting.is_empty()) {
            self.hosts.remove(&host_key);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    impl HostJob for (u64, u32) {
        fn host_key(&self) -> u64 {
            self.0
        }
    }

    const LIMITS: CheckQueueLimits = CheckQueueLimits { running: 3, per_host: 2, waiting: 2 };

    #[test]
    fn a_busy_host_does_not_delay_others() {
        let mut queue = CheckQueue::new(LIMITS);
        assert_eq!(queue.offer((1, 0)), OfferOutcome::Start((1, 0)));
        assert_eq!(queue.offer((1, 1)), OfferOutcome::Start((1, 1)));
        assert_eq!(queue.offer((1, 2)), OfferOutcome::Wait);
        assert_eq!(queue.offer((2, 3)), OfferOutcome::Start((2, 3)));
        assert_eq!(queue.offer((2, 4)), OfferOutcome::Wait);
        assert_eq!(queue.offer((3, 5)), OfferOutcome::Refuse((3, 5)));
        assert_eq!(queue.finish(2), Some((2, 4)));
        assert_eq!(queue.finish(1), Some((1, 2)));
        assert_eq!(queue.finish(1), None);
    }

    #[test]
    fn a_cleared_queue_starts_no_more_jobs() {
        let mut queue = CheckQueue::new(LIMITS);
        let offers = [(1, 0), (1, 1), (1, 2), (2, 3), (2, 4)].map(|job| queue.offer(job));
        assert_eq!(offers.iter().filter(|offer| **offer == OfferOutcome::Wait).count(), 2);
        assert_eq!(queue.clear().len(), 2);
        assert_eq!([queue.finish(1), queue.finish(2), queue.finish(1)], [None, None, None]);
        assert_eq!((queue.running(), queue.waiting()), (0, 0));
    }

    proptest! {
        #[test]
        fn limits_hold_and_every_accepted_job_starts_once(
            steps in prop::collection::vec((any::<bool>(), 0_u64..4), 1..200),
        ) {
            let mut queue = CheckQueue::new(LIMITS);
            let (mut running, mut accepted, mut started): (Vec<(u64, u32)>, usize, usize) = (Vec::new(), 0, 0);
            let per_host = |running: &[(u64, u32)], host: u64| running.iter().filter(|job| job.0 == host).count();
            for (number, (offers, host)) in (0_u32..).zip(steps) {
                if offers {
                    match queue.offer((host, number)) {
                        OfferOutcome::Start(job) => { running.push(job); accepted += 1; started += 1; }
                        OfferOutcome::Wait => accepted += 1,
                        OfferOutcome::Refuse(_) => {}
                    }
                } else if let Some(job) = running.pop().and_then(|done| queue.finish(done.0)) {
                    running.push(job);
                    started += 1;
                }
                prop_assert!(running.len() <= LIMITS.running && queue.waiting() <= LIMITS.waiting);
                prop_assert_eq!(queue.running(), running.len());
                prop_assert!((0..4).all(|host| per_host(&running, host) <= LIMITS.per_host));
            }
            while let Some(done) = running.pop() {
                if let Some(job) = queue.finish(done.0) { running.push(job); started += 1; }
            }
            prop_assert_eq!(started, accepted);
            prop_assert!(queue.hosts.is_empty());
        }
    }
}
