//! Faults that a test requests: the next member of a kind that is asked whether it is alive panics, freezes or blocks.
//!
//! This is the only way to test supervision on a real process.

/// A fault to inject into an actor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum InjectedFault {
    /// The actor panics.
    Panic = 1,
    /// The actor never processes a message again.
    Freeze = 2,
    /// The actor answers, and never processes a message again.
    FreezeAfterwards = 4,
    /// The actor blocks its thread.
    Block = 3,
}

impl InjectedFault {
    pub(super) fn from_code(code: u8) -> Option<Self> {
        let all = [Self::Panic, Self::Freeze, Self::Block, Self::FreezeAfterwards];
        all.into_iter().find(|fault| *fault as u8 == code)
    }
}
