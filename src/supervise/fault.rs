//! Faults that a test requests: the next member of a kind that is asked whether it is alive panics, freezes or blocks.
//!
//! This is the only way to test supervision on a real process. Only debug builds take faults from outside.

use crate::supervise::{Supervisor, lock};

/// A fault to inject into an actor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum InjectedFault {
    /// The actor panics.
    Panic = 1,
    /// It never processes a message again.
    Freeze = 2,
    /// It blocks its thread.
    Block = 3,
}

impl InjectedFault {
    pub(super) fn from_code(code: u8) -> Option<Self> {
        [Self::Panic, Self::Freeze, Self::Block].into_iter().find(|fault| *fault as u8 == code)
    }
}

impl Supervisor {
    /// Requests a fault of the kind with this name; returns false if there is no such kind.
    pub fn inject(&self, kind: &str, fault: InjectedFault) -> bool {
        let kinds = lock(&self.0.kinds);
        let found = kinds.get(kind);
        found.inspect(|state| state.inject(fault)).is_some()
    }

    /// Reads `panic KIND`, `freeze KIND` or `block KIND` from `WATCHKEEPER_INJECT_FAULT`.
    #[cfg(debug_assertions)]
    pub fn inject_from_environment(&self) {
        let Ok(text) = std::env::var("WATCHKEEPER_INJECT_FAULT") else { return };
        let fault = |word| match word {
            "panic" => Some(InjectedFault::Panic),
            "freeze" => Some(InjectedFault::Freeze),
            "block" => Some(InjectedFault::Block),
            _ => None,
        };
        let wanted = text.split_once(' ').and_then(|(word, kind)| Some((fault(word)?, kind)));
        if !wanted.is_some_and(|(fault, kind)| self.inject(kind, fault)) {
            tracing::warn!(fault = text, "unknown fault ignored");
        }
    }
}
