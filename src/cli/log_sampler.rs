//! A limit for each kind of log line, so that a fault of many services does not fill the disk with lines, nor make the load
//! that causes it worse.
//!
//! A kind is one place of the code. Of each, the first [`LINES_MAX`] lines in [`WINDOW`] are written; the others are counted,
//! and one line says how many there were. Lines of the levels `debug` and `trace` are not limited.

use std::collections::HashMap;
use std::fmt;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use tokio::time::Instant;
use tracing::callsite::Identifier;
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Metadata};
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::layer::{Context, Filter};

/// Lines of one kind that are written in each [`WINDOW`].
const LINES_MAX: u32 = 200;
/// The time over which lines are counted.
const WINDOW: Duration = Duration::from_secs(10);

/// A filter of log lines. Clones share their counts.
#[derive(Clone, Debug, Default)]
pub(super) struct LogSampler(Arc<Mutex<HashMap<Identifier, LineWindow>>>);

/// The lines of one kind since the window began.
#[derive(Debug)]
struct LineWindow {
    began: Instant,
    lines: u32,
    /// The message of the lines; only of a kind of which lines were left out.
    message: String,
}

/// Lines of one kind that were not written.
#[derive(Debug, PartialEq, Eq)]
struct OmittedLines {
    message: String,
    count: u32,
}

impl LogSampler {
    /// Writes every second how many lines were left out; ends with the process.
    pub(super) fn report(&self) -> std::io::Result<()> {
        let sampler = self.clone();
        let report = move || {
            let (_never, second) = channel::<()>();
            while second.recv_timeout(Duration::from_secs(1)) == Err(RecvTimeoutError::Timeout) {
                for OmittedLines { message, count } in sampler.ended(Instant::now()) {
                    tracing::warn!(
                        message_of_lines = message,
                        count,
                        "more log lines of one kind were left out"
                    );
                }
            }
        };
        thread::Builder::new().name("log".into()).spawn(report).map(drop)
    }

    /// Counts a line; returns true if it is written. `message` is called for the first line that is left out.
    fn admit(&self, kind: Identifier, now: Instant, message: impl FnOnce() -> String) -> bool {
        let mut windows = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let fresh = || LineWindow { began: now, lines: 0, message: String::new() };
        let window = windows.entry(kind).or_insert_with(fresh);
        window.lines = window.lines.saturating_add(1);
        if window.lines == LINES_MAX + 1 {
            window.message = message();
        }
        window.lines <= LINES_MAX
    }

    /// Forgets the windows that have ended; returns the lines that were left out in them.
    fn ended(&self, now: Instant) -> Vec<OmittedLines> {
        let mut windows = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let ended = windows.extract_if(|_, window| now.duration_since(window.began) >= WINDOW);
        let omitted = ended.filter(|(_, window)| window.lines > LINES_MAX);
        omitted
            .map(|(_, window)| OmittedLines { message: window.message, count: window.lines - LINES_MAX })
            .collect()
    }
}

impl<S> Filter<S> for LogSampler {
    fn enabled(&self, _: &Metadata<'_>, _: &Context<'_, S>) -> bool {
        true
    }

    /// Says that this filter limits no level; without it, the limit of the other filter would not count.
    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(LevelFilter::TRACE)
    }

    fn event_enabled(&self, event: &Event<'_>, _: &Context<'_, S>) -> bool {
        let metadata = event.metadata();
        if *metadata.level() > Level::INFO {
            return true;
        }
        self.admit(metadata.callsite(), Instant::now(), || {
            let mut text = MessageText::default();
            event.record(&mut text);
            text.0
        })
    }
}

/// The message of an event.
#[derive(Default)]
struct MessageText(String);

impl Visit for MessageText {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        if field.name() == "message" {
            self.0 = format!("{value:?}");
        }
    }
}

#[cfg(test)]
mod tests {
    use tracing_subscriber::layer::SubscriberExt as _;
    use tracing_subscriber::{Layer as _, Registry};

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn lines_beyond_the_limit_are_counted() {
        let sampler = LogSampler::default();
        let lines = Arc::new(Mutex::new(Vec::new()));
        let counted = Arc::clone(&lines);
        let writer = move || LineWriter(Arc::clone(&counted));
        let layer = tracing_subscriber::fmt::layer().with_ansi(false).with_writer(writer);
        let subscriber = Registry::default().with(layer.with_filter(sampler.clone()));
        tracing::subscriber::with_default(subscriber, || {
            for service in 0..LINES_MAX + 50 {
                tracing::error!(service, "actor died");
                tracing::debug!("details");
            }
            tracing::error!("something else");
        });
        let lines = lines.lock().unwrap();
        let of = |text: &str| lines.iter().filter(|line: &&String| line.contains(text)).count();
        assert_eq!(of("actor died"), LINES_MAX as usize);
        assert_eq!((of("details"), of("something else")), (LINES_MAX as usize + 50, 1));
        let now = Instant::now();
        assert_eq!(sampler.ended(now), []);
        let omitted = OmittedLines { message: "actor died".into(), count: 50 };
        assert_eq!(sampler.ended(now + WINDOW), [omitted]);
        assert_eq!(sampler.ended(now + WINDOW), [], "a window is reported once");
    }

    struct LineWriter(Arc<Mutex<Vec<String>>>);

    impl std::io::Write for LineWriter {
        fn write(&mut self, line: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().push(String::from_utf8_lossy(line).into_owned());
            Ok(line.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
}
