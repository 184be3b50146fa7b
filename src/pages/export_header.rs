//! The name of the header of requests for parts of an export, and of their answers.

/// Name of the header. An answer that is a part of an export has it too.
pub const EXPORT_HEADER: &str = "watchkeeper-export";
