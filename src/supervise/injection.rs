//! Requests for a fault of a kind. Only debug builds take requests from outside.

use crate::supervise::Supervisor;
use crate::supervise::fault::InjectedFault;
use crate::supervise::lock::lock;

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
