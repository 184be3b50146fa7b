//! Turns of the actors of each thread, by which the watchdog knows that a busy thread still makes progress.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use actix::ArbiterHandle;

thread_local! {
    static TURNS: RefCell<Option<Arc<AtomicU32>>> = const { RefCell::new(None) };
}

/// Counts the turns of the actors of a thread from now on; the count wraps around.
pub(super) fn count_turns(thread: &ArbiterHandle) -> Arc<AtomicU32> {
    let turns = Arc::new(AtomicU32::new(0));
    let counted = Arc::clone(&turns);
    // A thread that has ended has no turns.
    let _ = thread.spawn_fn(move || TURNS.set(Some(counted)));
    turns
}

/// Counts a turn of an actor of this thread.
pub(super) fn note_turn() {
    TURNS.with_borrow(|turns| {
        // Only this thread writes.
        turns
            .iter()
            .for_each(|turns| turns.store(turns.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed));
    });
}
