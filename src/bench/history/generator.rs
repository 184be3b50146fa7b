//! Realistic results of a series, reproducible by seed.
//!
//! Phases of a healthy target are log-normal around its own medians, which drift slowly and follow the time of day;
//! occasionally it is degraded or down for minutes to an hour, and sometimes only a retry succeeds. Durations, codes
//! and texts are composed as the probes do it. Speed of generation matters more than statistical independence.

use std::f64::consts::TAU;
use std::num::NonZeroU32;

use crate::clock::{DAY_MS, Timestamp};
use crate::model::check::{CheckFailure, CheckStatus, ErrorCode, Measurement, Micros, PhaseTimings};
use crate::model::service::ProbeRole;
use crate::store::history::blocks::CheckEntry;

/// Timeout of every generated check.
const TIMEOUT_US: f64 = 10_000_000.0;
/// Milliseconds between a failed attempt and the next one.
const RETRY_MS: i64 = 1_000;
/// Share of the time in outages. An outage lasts 2 to 60 minutes (log-uniform; `MEAN_STRETCH_MS` on average).
const OUTAGE_SHARE: f64 = 0.005;
/// Share of the time in degraded periods.
const DEGRADED_SHARE: f64 = 0.005;
const MEAN_STRETCH_MS: f64 = 17.0 * 60_000.0;
/// Share of single attempts that fail although the target is healthy.
const FLAKE_SHARE: f64 = 0.002;

/// Kind of a check, which determines its phases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckProfile {
    /// Name resolution, connection, TLS, first byte, body.
    Http,
    /// Name resolution and connection.
    Tcp,
    /// One question.
    Dns,
    /// Three echo requests.
    Icmp,
}

impl CheckProfile {
    /// Returns a profile for this seed, in a typical mix: most services are web sites.
    #[must_use]
    pub const fn of_seed(seed: u64) -> Self {
        match SplitMix64(seed).peek() % 100 {
            0..70 => Self::Http,
            70..85 => Self::Tcp,
            85..93 => Self::Icmp,
            _ => Self::Dns,
        }
    }
}

/// Endless results of one service at one location, oldest first.
#[derive(Clone, Debug)]
pub struct ResultSeries {
    random: SplitMix64,
    profile: CheckProfile,
    interval_ms: i64,
    scheduled_at: Timestamp,
    /// Typical durations of a healthy check in microseconds: dns, connect, tls, ttfb, transfer.
    medians_us: [f64; 5],
    /// Time of day at which the target is slowest, as a fraction of the day.
    rush_hour: f64,
    /// Natural logarithm of the slow drift.
    drift: f64,
    weather: TargetHealth,
    weather_until: Timestamp,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TargetHealth {
    Fine,
    Slow,
    Out(OutageCause),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OutageCause {
    Refuses,
    Unreachable,
    Silent,
    Broken(u16),
}

/// Standard deviation of the logarithm of each phase.
const SIGMAS: [f64; 5] = [0.4, 0.1, 0.1, 0.3, 0.5];

impl ResultSeries {
    /// Creates a series of results from `start` on, one per `interval_ms`.
    #[must_use]
    pub fn new(seed: u64, profile: CheckProfile, interval_ms: u32, start: Timestamp) -> Self {
        let mut random = SplitMix64(seed);
        let typical = [2_000.0, 20_000.0, 40_000.0, 80_000.0, 3_000.0];
        let medians_us = typical.map(|median: f64| median * (0.25 * random.normal()).exp());
        Self {
            profile,
            interval_ms: i64::from(interval_ms.max(1)),
            scheduled_at: start,
            medians_us,
            rush_hour: random.unit(),
            drift: 0.0,
            weather: TargetHealth::Fine,
            weather_until: start,
            random,
        }
    }

    /// Skips the results of the next `pause_ms` milliseconds.
    pub fn skip_ms(&mut self, pause_ms: i64) {
        self.scheduled_at = self.scheduled_at.plus_ms(pause_ms);
    }

    /// Changes the state of the target at random; the rates give outages and degraded periods their share of the time.
    fn change_weather(&mut self) {
        if self.scheduled_at < self.weather_until {
            return;
        }
        self.weather = TargetHealth::Fine;
        let stretches = f64::from(u32::try_from(self.interval_ms).unwrap_or(u32::MAX)) / MEAN_STRETCH_MS;
        let chance = self.random.unit();
        if chance < stretches * OUTAGE_SHARE {
            let causes = [
                OutageCause::Refuses,
                OutageCause::Silent,
                OutageCause::Silent,
                OutageCause::Unreachable,
                OutageCause::Broken(500),
                OutageCause::Broken(503),
            ];
            self.weather = TargetHealth::Out(causes[self.random.below(6)]);
        } else if chance < stretches * (OUTAGE_SHARE + DEGRADED_SHARE) {
            self.weather = TargetHealth::Slow;
        } else {
            return;
        }
        let minutes = 2.0 * 30_f64.powf(self.random.unit());
        self.weather_until = self.scheduled_at.plus_ms(i64::from(whole(minutes * 60_000.0)));
    }

    /// Returns the durations of the phases of a successful check, in microseconds.
    fn durations(&mut self) -> [u32; 5] {
        self.drift = 0.999 * self.drift + 0.001 * self.random.normal();
        let of_day = self.scheduled_at.ms().rem_euclid(DAY_MS);
        let of_day = f64::from(u32::try_from(of_day).unwrap_or_default()) / 86_400_000.0;
        let rush = 1.0 + 0.06 * ((of_day - self.rush_hour) * TAU).cos();
        let slow = if self.weather == TargetHealth::Slow { 6.0 } else { 1.0 };
        let factors = [1.0, 1.0, 1.0, rush * slow, rush];
        std::array::from_fn(|phase| {
            let spread = (SIGMAS[phase] * self.random.normal() + self.drift).exp();
            whole(self.medians_us[phase] * factors[phase] * spread)
        })
    }

    fn measurement(&mut self) -> Measurement {
        let durations = self.durations();
        match (self.weather, self.profile) {
            (TargetHealth::Out(OutageCause::Broken(code)), CheckProfile::Http) => {
                self.broken(durations, code)
            }
            (TargetHealth::Out(cause), _) => self.unanswered(durations, cause),
            (TargetHealth::Slow, _) => slow(self.answered(durations)),
            (TargetHealth::Fine, _) => self.answered(durations),
        }
    }

    fn answered(&mut self, durations: [u32; 5]) -> Measurement {
        let [dns, connect, tls, ttfb, transfer] = durations;
        let timings = |phases: [u32; 5], overhead: u32| {
            let [dns, connect, tls, ttfb, transfer] = phases.map(NonZeroU32::new);
            let total = NonZeroU32::new(phases.iter().sum::<u32>() + overhead);
            PhaseTimings { dns, connect, tls, ttfb, transfer, total }
        };
        let mut response_time = None;
        let timings = match self.profile {
            CheckProfile::Http => timings([dns, connect, tls, ttfb, transfer], 30 + self.below(91)),
            CheckProfile::Tcp => timings([dns, connect, 0, 0, 0], self.below(2)),
            CheckProfile::Dns => timings([connect, 0, 0, 0, 0], self.below(2)),
            CheckProfile::Icmp => {
                response_time = NonZeroU32::new(connect);
                let trips = 3 * connect + self.below(3);
                timings([0; 5], trips + 100 + self.below(200))
            }
        };
        Measurement {
            status: CheckStatus::Up,
            response_time: response_time.or(timings.total),
            timings,
            status_code: (self.profile == CheckProfile::Http).then_some(200),
            failure: None,
        }
    }

    fn broken(&mut self, durations: [u32; 5], code: u16) -> Measurement {
        let message = format!("Condition met: status_code gte 500 (measured {code})");
        Measurement {
            status: CheckStatus::Down,
            status_code: Some(code),
            failure: Some(Box::new(CheckFailure::new(ErrorCode::ConditionFailed, message))),
            ..self.answered(durations)
        }
    }

    /// Returns a failed measurement with the durations of the phases before the failed one, and the total.
    fn unanswered(&mut self, [dns, connect, tls, ..]: [u32; 5], cause: OutageCause) -> Measurement {
        let timed_out = whole(TIMEOUT_US) + 200 + self.below(3_000);
        let has_name = self.profile != CheckProfile::Icmp;
        let (code, message, total) = match (cause, self.profile) {
            (_, CheckProfile::Icmp) => (ErrorCode::IcmpNoReply, "No echo reply", timed_out),
            (_, CheckProfile::Dns) => {
                (ErrorCode::DnsTimeout, "The name server did not answer in time", timed_out)
            }
            (OutageCause::Refuses, _) => (ErrorCode::ConnectRefused, "Connection refused", dns + connect),
            (OutageCause::Unreachable, _) => {
                (ErrorCode::ConnectUnreachable, "No route to the host", dns + 400)
            }
            (OutageCause::Broken(_), CheckProfile::Http) => {
                (ErrorCode::HttpTimeout, "No response in time", timed_out)
            }
            _ => (ErrorCode::ConnectTimeout, "Connecting timed out", timed_out),
        };
        let connects = code == ErrorCode::HttpTimeout;
        let timings = PhaseTimings {
            dns: micros(dns).filter(|_| has_name && self.profile != CheckProfile::Dns),
            connect: micros(connect).filter(|_| connects),
            tls: micros(tls).filter(|_| connects),
            total: micros(total),
            ..PhaseTimings::default()
        };
        Measurement::unanswered(code, message, timings)
    }

    /// Returns the delay of the deciding attempt in milliseconds, and its number. A target that is down fails twice.
    fn attempt(&mut self) -> (i64, u8) {
        let late = match self.below(1_000) {
            0..3 => i64::from(self.below(400)),
            3..30 => i64::from(self.below(20)),
            _ => i64::from(self.below(4)),
        };
        let attempt = match self.weather {
            TargetHealth::Out(_) => 3,
            _ if self.random.unit() < FLAKE_SHARE => 2 + u8::from(self.below(4) == 0),
            _ => 1,
        };
        let retries = i64::from(attempt) - 1;
        (late + retries * (RETRY_MS + i64::from(self.below(120))), attempt)
    }

    fn below(&mut self, limit: u32) -> u32 {
        u32::try_from(self.random.next() % u64::from(limit.max(1))).unwrap_or_default()
    }
}

impl Iterator for ResultSeries {
    type Item = CheckEntry;

    fn next(&mut self) -> Option<CheckEntry> {
        self.change_weather();
        let (late_ms, attempt) = self.attempt();
        let measurement = self.measurement();
        let scheduled_at = self.scheduled_at;
        self.scheduled_at = scheduled_at.plus_ms(self.interval_ms);
        // Checks of a series never overlap: the next one is due after this one has started.
        let late_ms = late_ms.min(self.interval_ms - 1);
        let checked_at = scheduled_at.plus_ms(late_ms);
        Some(CheckEntry { checked_at, scheduled_at, attempt, role: ProbeRole::Full, measurement })
    }
}

fn slow(mut answered: Measurement) -> Measurement {
    let ms = answered.response_time.map_or(0.0, |us| f64::from(us.get()) / 1000.0);
    let message = format!("Condition met: response_time_ms gt 400 (measured {ms})");
    answered.status = CheckStatus::Degraded;
    answered.failure = Some(Box::new(CheckFailure::new(ErrorCode::ConditionFailed, message)));
    answered
}

const fn micros(us: u32) -> Option<Micros> {
    NonZeroU32::new(us)
}

/// Returns whole microseconds, at least one, because a measured time is never zero.
fn whole(us: f64) -> u32 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "clamped to the range before"
    )]
    let us = us.clamp(1.0, 1e9) as u32;
    us
}

#[derive(Clone, Copy, Debug)]
struct SplitMix64(u64);

impl SplitMix64 {
    const GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;

    const fn peek(self) -> u64 {
        let mut mixed = self.0.wrapping_add(Self::GAMMA);
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    const fn next(&mut self) -> u64 {
        let next = self.peek();
        self.0 = self.0.wrapping_add(Self::GAMMA);
        next
    }

    fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next() % limit.max(1) as u64).unwrap_or_default()
    }

    /// Returns a number in [0, 1).
    fn unit(&mut self) -> f64 {
        let [a, b, c, d, ..] = self.next().to_le_bytes();
        f64::from(u32::from_le_bytes([a, b, c, d])) / (f64::from(u32::MAX) + 1.0)
    }

    /// Returns a number of the standard normal distribution (Box-Muller).
    fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.unit()).ln()).sqrt();
        radius * (TAU * self.unit()).cos()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(profile: CheckProfile) -> Vec<CheckEntry> {
        ResultSeries::new(7, profile, 60_000, Timestamp::from_ms(1_790_000_000_000)).take(20_000).collect()
    }

    #[test]
    fn the_same_seed_gives_the_same_results() {
        assert_eq!(series(CheckProfile::Http), series(CheckProfile::Http));
    }

    #[test]
    fn a_series_is_mostly_up_and_sorted_like_that_of_a_probe() {
        for profile in [CheckProfile::Http, CheckProfile::Tcp, CheckProfile::Dns, CheckProfile::Icmp] {
            let entries = series(profile);
            assert!(entries.is_sorted_by(|a, b| a.checked_at < b.checked_at));
            let up = entries.iter().filter(|entry| entry.measurement.status == CheckStatus::Up).count();
            assert!((19_000..20_000).contains(&up), "{profile:?}: {up} up");
            for CheckEntry { measurement, .. } in entries {
                assert_eq!(measurement.status == CheckStatus::Up, measurement.failure.is_none());
                assert!(measurement.timings.total.is_some());
            }
        }
    }
}
