//! The columns of a file: their names and values.

use std::borrow::Cow;

/// A column of CSV, or a key of a JSON line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub(super) enum ImportColumn {
    Service,
    Location,
    Time,
    Status,
    ScheduledAt,
    Attempt,
    ResponseTime,
    StatusCode,
    ErrorCode,
    ErrorMessage,
    Dns,
    Connect,
    Tls,
    Ttfb,
    Transfer,
    Total,
}

const COLUMNS: usize = 16;

/// Names of every column, in the order of the enum; the first name is shown in messages.
const NAMES: [(ImportColumn, &[&str]); COLUMNS] = [
    (ImportColumn::Service, &["service"]),
    (ImportColumn::Location, &["location", "probe"]),
    (ImportColumn::Time, &["time", "checked_at", "timestamp"]),
    (ImportColumn::Status, &["status"]),
    (ImportColumn::ScheduledAt, &["scheduled_at"]),
    (ImportColumn::Attempt, &["attempt"]),
    (ImportColumn::ResponseTime, &["response_time_ms"]),
    (ImportColumn::StatusCode, &["status_code"]),
    (ImportColumn::ErrorCode, &["error_code"]),
    (ImportColumn::ErrorMessage, &["error_message"]),
    (ImportColumn::Dns, &["dns", "dns_ms"]),
    (ImportColumn::Connect, &["connect", "connect_ms"]),
    (ImportColumn::Tls, &["tls", "tls_ms"]),
    (ImportColumn::Ttfb, &["ttfb", "ttfb_ms"]),
    (ImportColumn::Transfer, &["transfer", "transfer_ms"]),
    (ImportColumn::Total, &["total", "total_ms"]),
];

impl ImportColumn {
    /// Returns the column with this name, ignoring case.
    pub(super) fn named(name: &str) -> Option<Self> {
        let is_named = |names: &&[&str]| names.iter().any(|known| known.eq_ignore_ascii_case(name));
        NAMES.iter().find(|(_, names)| is_named(names)).map(|(column, _)| *column)
    }

    pub(super) const fn name(self) -> &'static str {
        NAMES[self as usize].1[0]
    }

    /// Returns the message about an unknown column.
    pub(super) fn unknown(name: &str) -> String {
        let allowed: Vec<&str> = NAMES.iter().map(|(_, names)| names[0]).collect();
        format!("'{name}' is not known; allowed: {} (or --ignore-unknown)", allowed.join(", "))
    }
}

/// Fields of one line; missing and empty ones are absent.
#[derive(Clone, Debug, Default)]
pub(super) struct LineFields<'a>([Option<Cow<'a, str>>; COLUMNS]);

impl<'a> LineFields<'a> {
    pub(super) fn set(&mut self, column: ImportColumn, text: Cow<'a, str>) {
        self.0[column as usize] = Some(text).filter(|text| !text.trim().is_empty());
    }

    pub(super) fn get(&self, column: ImportColumn) -> Option<&str> {
        self.0[column as usize].as_deref().map(str::trim)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_column_is_found_by_each_of_its_names() {
        for (index, (column, names)) in NAMES.iter().enumerate() {
            assert_eq!(*column as usize, index);
            for name in *names {
                assert_eq!(ImportColumn::named(&name.to_uppercase()), Some(*column));
            }
        }
        assert_eq!(ImportColumn::named("respons_time"), None);
    }
}
