//! Responses of the targets of a scene: outcomes by location and time, read from text, and the prober that plays them.
//!
//! `a: 0 up, 60 down/2; b: 0 hang` means: seen from `a` the target is up from the start, and from second 60 on it is down
//! and takes 2 s to say so; from `b` it never answers. Nothing here knows the engine's rules.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::LocalBoxFuture;
use tokio::time::Instant;
use watchkeeper::engine::location::Prober;
use watchkeeper::model::check::{
    CheckFailure, CheckOutcome, CheckStatus, ErrorCode, LocalFault, Measurement, PhaseTimings, micros,
};
use watchkeeper::probe::spec::CheckSpec;

/// Behaviour of a target for a while.
#[derive(Clone, Copy, Debug)]
struct Behaviour {
    from: Duration,
    answer: Answer,
    takes: Duration,
}

#[derive(Clone, Copy, Debug)]
enum Answer {
    Says(CheckStatus),
    /// A local fault prevented the check.
    Trouble,
    /// The check never ends by itself.
    Hang,
    /// The code of the check panics.
    Panic,
}

/// Answers one location's checks by the script.
pub(crate) struct Scripted {
    behaviours: Vec<Behaviour>,
    origin: Instant,
}

impl Scripted {
    /// The probers of locations `a`, `b`, … as `script` says; seconds count from `origin`.
    pub(crate) fn cast(script: &str, origin: Instant) -> Vec<Arc<dyn Prober>> {
        let mut probers: Vec<Arc<dyn Prober>> = Vec::new();
        for (place, line) in script.split(';').enumerate() {
            let (code, behaviours) = line.split_once(':').expect("a location has a colon");
            assert_eq!(code.trim(), code_of(place), "locations are listed in order");
            let behaviours = behaviours.split(',').map(behaviour).collect();
            probers.push(Arc::new(Self { behaviours, origin }));
        }
        probers
    }

    fn now(&self) -> Behaviour {
        let elapsed = self.origin.elapsed();
        let known = self.behaviours.iter().take_while(|behaviour| behaviour.from <= elapsed);
        *known.last().expect("a script begins at second 0")
    }
}

impl Prober for Scripted {
    fn probe(&self, _: Arc<CheckSpec>) -> LocalBoxFuture<'static, CheckOutcome> {
        let Behaviour { answer, takes, .. } = self.now();
        async move {
            // Time of the scene, not of the machine: it passes at once.
            tokio::time::sleep(takes).await;
            match answer {
                Answer::Says(status) => {
                    let timings = PhaseTimings { total: Some(micros(takes)), ..PhaseTimings::default() };
                    CheckOutcome::Measured(Measurement { timings, ..measurement(status) })
                }
                Answer::Trouble => CheckOutcome::Unmeasured(LocalFault::NoPorts),
                Answer::Hang => std::future::pending().await,
                Answer::Panic => panic!("the scene wants this check to panic"),
            }
        }
        .boxed_local()
    }
}

/// The code of the location at this place: `a`, `b`, …
pub(crate) fn code_of(place: usize) -> String {
    char::from(b'a' + u8::try_from(place).expect("a scene has few locations")).to_string()
}

/// Measurement of a check with this status.
pub(crate) fn measurement(status: CheckStatus) -> Measurement {
    let failure = match status {
        CheckStatus::Up => None,
        CheckStatus::Degraded => Some(CheckFailure::new(ErrorCode::ConditionFailed, "slow")),
        CheckStatus::Down => Some(CheckFailure::new(ErrorCode::ConnectRefused, "Connection refused")),
    };
    Measurement {
        status,
        response_time: NonZeroU32::new(12_000).filter(|_| status != CheckStatus::Down),
        timings: PhaseTimings::default(),
        status_code: None,
        failure: failure.map(Box::new),
    }
}

fn behaviour(text: &str) -> Behaviour {
    let (from, rest) = text.trim().split_once(' ').expect("a time and an answer");
    let (word, takes) = rest.split_once('/').unwrap_or((rest, "0"));
    let answer = match word {
        "trouble" => Answer::Trouble,
        "hang" => Answer::Hang,
        "panic" => Answer::Panic,
        word => {
            let status = CheckStatus::ALL.into_iter().find(|status| status.as_str() == word);
            Answer::Says(status.expect("a known answer"))
        }
    };
    Behaviour { from: seconds(from), answer, takes: seconds(takes) }
}

/// A duration written in seconds.
pub(crate) fn seconds(text: &str) -> Duration {
    Duration::try_from_secs_f64(text.parse().expect("a number of seconds")).expect("a duration")
}
