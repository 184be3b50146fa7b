//! A machine in another place whose clock is wrong: a location on a thread of this process, because no test sets the clock
//! of the machine.

use std::sync::Arc;
use std::thread::JoinHandle;

use actix::System;
use tokio::sync::oneshot;
use watchkeeper::agent::identity::LocationIdentity;
use watchkeeper::agent::{Agent, AgentParts};
use watchkeeper::app;
use watchkeeper::bus::messages::enrolment::JoinToken;
use watchkeeper::clock::Clock;
use watchkeeper::config::Config;
use watchkeeper::probe::prober::LocalProber;
use watchkeeper::supervise::Supervisor;

use crate::bus::now;

/// The location, which ends with this value.
pub(crate) struct WrongPlace {
    end: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl WrongPlace {
    /// A machine that joins as the location of this token, with a clock ahead by this number of milliseconds.
    pub(crate) fn joining(token: String, ahead_ms: i64) -> Self {
        let (end, ended) = oneshot::channel();
        let thread = std::thread::spawn(move || System::new().block_on(run(token, ahead_ms, ended)));
        Self { end: Some(end), thread: Some(thread) }
    }
}

impl Drop for WrongPlace {
    fn drop(&mut self) {
        drop(self.end.take());
        let ended = self.thread.take().map(JoinHandle::join);
        assert!(matches!(ended, Some(Ok(()))) || std::thread::panicking(), "the location panicked");
    }
}

async fn run(token: String, ahead_ms: i64, ended: oneshot::Receiver<()>) {
    let folder = tempfile::tempdir().unwrap();
    let config = Config { data_dir: folder.path().to_owned(), ..Config::default() };
    let token = JoinToken::parse(&token).unwrap();
    let identity = LocationIdentity::enrol(folder.path(), &token, &config.limits.bus).await.unwrap();
    let supervisor = Supervisor::default();
    let clock = Clock::driven(now().plus_ms(ahead_ms));
    let toolbox = app::toolbox(&config, &clock, None).unwrap();
    let prober = Arc::new(LocalProber::new(toolbox));
    let parts = AgentParts { config: &config, clock, supervisor: &supervisor, identity, prober };
    let agent = Agent::start(parts).await.unwrap();
    // The other end is dropped, nothing is sent.
    let _ = ended.await;
    agent.stop().await.unwrap();
}
