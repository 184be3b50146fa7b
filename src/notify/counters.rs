//! Metrics of the courier for `/metrics`.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::model::notification::ChannelKind;
use crate::model::notification::delivery::DeliveryOutcome;
use crate::telemetry::{Exposition, MetricCollector};

/// Numbers of attempts and of waiting messages.
#[derive(Debug, Default)]
pub struct NotifyCounters {
    tries: Mutex<BTreeMap<(&'static str, &'static str), u64>>,
    /// Waiting messages; counted every few seconds.
    pub waiting: AtomicU64,
    /// Age of the oldest waiting message in seconds.
    pub oldest_seconds: AtomicU64,
    /// Channels with an open circuit.
    pub open_circuits: AtomicU64,
    /// Messages that were skipped because their rows cannot be read.
    pub unreadable: AtomicU64,
    /// Steps of escalations that were taken.
    pub steps: AtomicU64,
}

impl NotifyCounters {
    /// Counts the end of an attempt.
    pub fn note(&self, kind: ChannelKind, outcome: DeliveryOutcome) {
        let mut tries = self.tries.lock().unwrap_or_else(PoisonError::into_inner);
        *tries.entry((kind.as_str(), outcome.as_str())).or_default() += 1;
    }
}

impl MetricCollector for NotifyCounters {
    fn collect(&self, out: &mut Exposition) {
        let get = |number: &AtomicU64| number.load(Ordering::Relaxed);
        let tries = self.tries.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let mut counter = out.counter(
            "notification_tries_total",
            "Tries to deliver a message, by kind of channel and outcome.",
        );
        for ((kind, outcome), count) in tries {
            counter.labelled(&[("kind", kind), ("outcome", outcome)], count);
        }
        out.counter("escalation_steps_total", "Steps of escalation policies that were taken.")
            .value(get(&self.steps));
        out.counter("notifications_unreadable_total", "Messages left out because their rows cannot be read.")
            .value(get(&self.unreadable));
        out.gauge("notifications_waiting", "Messages that wait to be delivered.").value(get(&self.waiting));
        out.gauge("notifications_oldest_seconds", "Seconds since the oldest waiting message was written.")
            .value(get(&self.oldest_seconds));
        out.gauge("notification_circuits_open", "Channels that take nothing at the moment.")
            .value(get(&self.open_circuits));
    }
}
