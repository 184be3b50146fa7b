//! What a check has found.

use serde::Serialize;

/// The result of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Nothing is wrong.
    Fine,
    /// It works, and may not always.
    Warning,
    /// The check could not be made.
    Unknown,
    /// Something does not work.
    Problem,
}

impl Verdict {
    /// Its word.
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

/// What a check has found, in one line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The subject of the check.
    pub check: &'static str,
    /// Whether that is fine.
    pub verdict: Verdict,
    /// What was seen.
    pub said: String,
    /// What to do next; `None` when it is fine.
    pub advice: Option<String>,
}

impl Finding {
    /// Nothing is wrong.
    #[must_use]
    pub fn fine(check: &'static str, said: impl Into<String>) -> Self {
        Self { check, verdict: Verdict::Fine, said: said.into(), advice: None }
    }

    /// It works, and may not always.
    #[must_use]
    pub fn warning(check: &'static str, said: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { check, verdict: Verdict::Warning, said: said.into(), advice: Some(advice.into()) }
    }

    /// The check could not be made.
    #[must_use]
    pub fn unknown(check: &'static str, said: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { check, verdict: Verdict::Unknown, said: said.into(), advice: Some(advice.into()) }
    }

    /// Something does not work.
    #[must_use]
    pub fn problem(check: &'static str, said: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { check, verdict: Verdict::Problem, said: said.into(), advice: Some(advice.into()) }
    }
}
