//! Figures of a report of the engine, by the names of their members.

/// A figure of a report.
pub(super) struct MemberFigure {
    /// Name of the member.
    pub(super) member: &'static str,
    /// Name of its text, without `field-`.
    pub(super) text: &'static str,
    /// Unit, with a blank before it; empty without one.
    pub(super) unit: &'static str,
}
