//! Findings of checks.

use serde::Serialize;

/// Result of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum FindingVerdict {
    /// Nothing is wrong.
    Fine,
    /// The checked part works, but may fail later.
    Warning,
    /// The check could not be made.
    Unknown,
    /// Something does not work.
    Problem,
}

impl FindingVerdict {
    /// Name of the verdict.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Fine => "fine",
            Self::Warning => "warning",
            Self::Unknown => "unknown",
            Self::Problem => "problem",
        }
    }
}

/// A finding of a check, in one line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DoctorFinding {
    /// Name of the checked part.
    pub check: &'static str,
    /// Judgement of the observation.
    pub verdict: FindingVerdict,
    /// The observation, as one line.
    #[serde(rename = "said")]
    pub observation: String,
    /// Next step for the operator; `None` if all is fine.
    pub advice: Option<String>,
}

impl DoctorFinding {
    /// Creates a finding with [`FindingVerdict::Fine`].
    #[must_use]
    pub fn fine(check: &'static str, observation: impl Into<String>) -> Self {
        Self { check, verdict: FindingVerdict::Fine, observation: observation.into(), advice: None }
    }

    /// Creates a finding with [`FindingVerdict::Warning`].
    #[must_use]
    pub fn warning(check: &'static str, observation: impl Into<String>, advice: impl Into<String>) -> Self {
        Self {
            check,
            verdict: FindingVerdict::Warning,
            observation: observation.into(),
            advice: Some(advice.into()),
        }
    }

    /// Creates a finding with [`FindingVerdict::Unknown`].
    #[must_use]
    pub fn unknown(check: &'static str, observation: impl Into<String>, advice: impl Into<String>) -> Self {
        Self {
            check,
            verdict: FindingVerdict::Unknown,
            observation: observation.into(),
            advice: Some(advice.into()),
        }
    }

    /// Creates a finding with [`FindingVerdict::Problem`].
    #[must_use]
    pub fn problem(check: &'static str, observation: impl Into<String>, advice: impl Into<String>) -> Self {
        Self {
            check,
            verdict: FindingVerdict::Problem,
            observation: observation.into(),
            advice: Some(advice.into()),
        }
    }
}

/// Returns a number with the name of what is counted: "1 hour", "2 hours".
#[must_use]
pub fn counted(number: u64, one: &str) -> String {
    if number == 1 { format!("1 {one}") } else { format!("{number} {one}s") }
}
