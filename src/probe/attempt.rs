//! A running attempt: its deadline, and a stopwatch for the phases.
//!
//! An unfinished phase has no time. With redirects, each phase is the sum over all hops.

use std::time::Duration;

use tokio::time::Instant;

use crate::egress::PermittedAddress;
use crate::model::check::{Micros, PhaseTimings, micros};

#[derive(Debug)]
pub(crate) struct RunningAttempt {
    start: Instant,
    /// The time at which the attempt times out.
    pub(crate) deadline: Instant,
    /// Address of the latest connection; `None` before the first one.
    pub(crate) peer: Option<PermittedAddress>,
    mark: Instant,
    phases: PhaseDurations,
}

#[derive(Debug, Default)]
struct PhaseDurations {
    dns: Option<Duration>,
    connect: Option<Duration>,
    tls: Option<Duration>,
    ttfb: Option<Duration>,
    transfer: Option<Duration>,
}

/// A phase that ends when the next one begins.
#[derive(Clone, Copy, Debug)]
pub(crate) enum AttemptPhase {
    Dns,
    Connect,
    Tls,
}

impl RunningAttempt {
    pub(crate) fn start(timeout: Duration) -> Self {
        let start = Instant::now();
        Self { start, deadline: start + timeout, peer: None, mark: start, phases: PhaseDurations::default() }
    }

    /// Ends a phase. Its duration is counted from the end of the previous phase.
    pub(crate) fn finish(&mut self, phase: AttemptPhase) {
        let now = Instant::now();
        let slot = match phase {
            AttemptPhase::Dns => &mut self.phases.dns,
            AttemptPhase::Connect => &mut self.phases.connect,
            AttemptPhase::Tls => &mut self.phases.tls,
        };
        add(slot, now - self.mark);
        self.mark = now;
    }

    /// Records a response: the request was sent completely at `sent`, the response started at `first_byte`.
    pub(crate) fn responded(&mut self, sent: Instant, first_byte: Instant) {
        add(&mut self.phases.ttfb, first_byte.saturating_duration_since(sent));
        self.mark = first_byte;
    }

    /// Records that the response ends now.
    pub(crate) fn transferred(&mut self) {
        let now = Instant::now();
        add(&mut self.phases.transfer, now - self.mark);
        self.mark = now;
    }

    /// Time from the start of the attempt to the end of its last finished phase.
    pub(crate) fn response_time(&self) -> Micros {
        micros(self.mark - self.start)
    }

    /// Timings of an attempt whose target answered: the total ends with the last phase.
    pub(crate) fn answered(&self) -> PhaseTimings {
        self.timings(self.mark)
    }

    /// Timings of an attempt that ends now, in the middle of a phase.
    pub(crate) fn timings_until_now(&self) -> PhaseTimings {
        self.timings(Instant::now())
    }

    fn timings(&self, end: Instant) -> PhaseTimings {
        PhaseTimings {
            dns: self.phases.dns.map(micros),
            connect: self.phases.connect.map(micros),
            tls: self.phases.tls.map(micros),
            ttfb: self.phases.ttfb.map(micros),
            transfer: self.phases.transfer.map(micros),
            total: Some(micros(end - self.start)),
        }
    }
}

fn add(phase: &mut Option<Duration>, elapsed: Duration) {
    *phase = Some(phase.unwrap_or_default() + elapsed);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn phases_of_all_hops_add_up_to_the_total() {
        let mut attempt = RunningAttempt::start(Duration::from_secs(1));
        for _ in 0..2 {
            for (phase, ms) in [(AttemptPhase::Dns, 1), (AttemptPhase::Connect, 2), (AttemptPhase::Tls, 4)] {
                tokio::time::advance(Duration::from_millis(ms)).await;
                attempt.finish(phase);
            }
            let sent = Instant::now();
            tokio::time::advance(Duration::from_millis(8)).await;
            attempt.responded(sent, Instant::now());
            tokio::time::advance(Duration::from_millis(16)).await;
            attempt.transferred();
        }
        tokio::time::advance(Duration::from_millis(500)).await;
        let ms = |us: u64| Some(micros(Duration::from_millis(us)));
        let timings = attempt.answered();
        assert_eq!((timings.dns, timings.connect, timings.tls), (ms(2), ms(4), ms(8)));
        assert_eq!((timings.ttfb, timings.transfer, timings.total), (ms(16), ms(32), ms(62)));
        assert_eq!(attempt.timings_until_now().total, ms(562));
    }
}
