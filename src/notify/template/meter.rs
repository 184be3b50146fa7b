//! The work that filling a template may take: steps and bytes, counted as they are spent.
//!
//! The language has no way to compute without end; this bounds what is left: loops inside each other and long texts that pass
//! through many filters. Each part of the syntax tree that is visited is a step, and each byte that is read or written by
//! an operation counts, so that what one step costs does not depend on the length of a text.

use super::error::TemplateProblem;

/// Most steps.
pub const STEPS_MAX: u32 = 100_000;
/// Most bytes that operations read and write, the filled template among them.
pub const WORK_BYTES_MAX: usize = 2 * 1_024 * 1_024;

/// What is left of the work that may be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkMeter {
    steps: u32,
    bytes: usize,
}

impl Default for WorkMeter {
    fn default() -> Self {
        Self { steps: STEPS_MAX, bytes: WORK_BYTES_MAX }
    }
}

impl WorkMeter {
    /// Steps that are left.
    #[must_use]
    pub const fn steps(&self) -> u32 {
        self.steps
    }

    /// Bytes that are left.
    #[must_use]
    pub const fn bytes(&self) -> usize {
        self.bytes
    }

    /// Spends one step.
    ///
    /// # Errors
    /// When none is left.
    pub(super) fn spend_step(&mut self) -> Result<(), TemplateProblem> {
        self.steps = self.steps.checked_sub(1).ok_or(TemplateProblem::TooMuchWork)?;
        Ok(())
    }

    /// Spends bytes.
    ///
    /// # Errors
    /// When fewer are left.
    pub(super) fn spend_bytes(&mut self, count: usize) -> Result<(), TemplateProblem> {
        self.bytes = self.bytes.checked_sub(count).ok_or(TemplateProblem::TooMuchWork)?;
        Ok(())
    }
}
