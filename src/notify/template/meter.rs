//! The limit of work for filling a template: steps and bytes, counted as they are spent.
//!
//! The language has no unbounded computation, but nested loops and long texts that pass through many filters can be
//! expensive. Each visited node of the syntax tree is a step, and each byte that an operation reads or writes counts, so
//! that the cost of one step does not depend on the length of a text.

use super::error::TemplateProblem;

/// Maximum number of steps.
pub const STEPS_MAX: u32 = 100_000;
/// Maximum number of bytes that operations read and write, including the filled template.
pub const WORK_BYTES_MAX: usize = 2 * 1_024 * 1_024;

/// The remaining work for filling templates.
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
    /// Number of remaining steps.
    #[must_use]
    pub const fn steps(&self) -> u32 {
        self.steps
    }

    /// Number of remaining bytes.
    #[must_use]
    pub const fn bytes(&self) -> usize {
        self.bytes
    }

    /// Spends one step.
    ///
    /// # Errors
    ///
    /// When no step is left.
    pub(super) fn spend_step(&mut self) -> Result<(), TemplateProblem> {
        self.steps = self.steps.checked_sub(1).ok_or(TemplateProblem::TooMuchWork)?;
        Ok(())
    }

    /// Spends bytes.
    ///
    /// # Errors
    ///
    /// When fewer bytes are left.
    pub(super) fn spend_bytes(&mut self, count: usize) -> Result<(), TemplateProblem> {
        self.bytes = self.bytes.checked_sub(count).ok_or(TemplateProblem::TooMuchWork)?;
        Ok(())
    }
}
