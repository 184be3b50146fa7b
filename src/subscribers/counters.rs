//! Metrics of messages to subscribers for `/metrics`.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use crate::model::notification::delivery::DeliveryOutcome;
use crate::model::statuspage::word::SubscriberChannel;
use crate::telemetry::{Exposition, MetricCollector};

/// Numbers of attempts to deliver messages to subscribers.
#[derive(Debug, Default)]
pub struct SubscriberCounters {
    tries: Mutex<BTreeMap<(&'static str, &'static str), u64>>,
}

impl SubscriberCounters {
    /// Counts the end of an attempt.
    pub(super) fn note(&self, channel: SubscriberChannel, outcome: DeliveryOutcome) {
        let mut tries = self.tries.lock().unwrap_or_else(PoisonError::into_inner);
        *tries.entry((channel.as_str(), outcome.as_str())).or_default() += 1;
    }
}

impl MetricCollector for SubscriberCounters {
    fn collect(&self, out: &mut Exposition) {
        let tries = self.tries.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let mut counter = out.counter(
            "subscriber_tries_total",
            "Tries to deliver a message to a subscriber of a status page, by channel and outcome.",
        );
        for ((channel, outcome), count) in tries {
            counter.labelled(&[("channel", channel), ("outcome", outcome)], count);
        }
    }
}
