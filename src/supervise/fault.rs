//! Faults that a test asks for: the next member of a kind that is asked whether it is alive panics, freezes or blocks.
//!
//! There is no other way to see what supervision does to a real process. Only debug builds take faults from outside.

use crate::supervise::{Supervisor, lock};

/// The fault that is to happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Fault {
    /// It panics.
    Panic = 1,
    /// It never takes a message again.
    Freeze = 2,
    /// It blocks its thread.
    Block = 3,
}

impl Fault {
    pub(super) fn from_code(code: u8) -> Option<Self> {
        [Self::Panic, Self::Freeze, Self::Block].into_iter().find(|fault| *fault as u8 == code)
    }
}

impl Supervisor {
    /// Asks for a fault of the kind with this name; whether there is such a kind.
    pub fn inject(&self, kind: &str, fault: Fault) -> bool {
        let kinds = lock(&self.0.kinds);
        let found = kinds.get(kind);
        found.inspect(|state| state.inject(fault)).is_some()
    }

    /// Takes `panic KIND`, `freeze KIND` or `block KIND` from `WATCHKEEPER_INJECT_FAULT`.
    #[cfg(debug_assertions)]
    pub fn inject_from_environment(&self) {
        let Ok(text) = std::env::var("WATCHKEEPER_INJECT_FAULT") else { return };
        let fault = |word| match word {
            "panic" => Some(Fault::Panic),
            "freeze" => Some(Fault::Freeze),
            "block" => Some(Fault::Block),
            _ => None,
        };
        let wanted = text.split_once(' ').and_then(|(word, kind)| Some((fault(word)?, kind)));
        if !wanted.is_some_and(|(fault, kind)| self.inject(kind, fault)) {
            tracing::warn!(text, "no such fault");
        }
    }
}
