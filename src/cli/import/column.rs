//! The columns of a file: their names and values.

use std::borrow::Cow;

/// A column of CSV, or a key of a JSON line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub(super) enum Column {
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

/// Names of every column, in the order of the enum; the first is the one that is shown.
const NAMES: [(Column, &[&str]); COLUMNS] = [
    (Column::Service, &["service"]),
    (Column::Location, &["location", "probe"]),
    (Column::Time, &["time", "checked_at", "timestamp"]),
    (Column::Status, &["status"]),
    (Column::ScheduledAt, &["scheduled_at"]),
    (Column::Attempt, &["attempt"]),
    (Column::ResponseTime, &["response_time_ms"]),
    (Column::StatusCode, &["status_code"]),
    (Column::ErrorCode, &["error_code"]),
    (Column::ErrorMessage, &["error_message"]),
    (Column::Dns, &["dns", "dns_ms"]),
    (Column::Connect, &["connect", "connect_ms"]),
    (Column::Tls, &["tls", "tls_ms"]),
    (Column::Ttfb, &["ttfb", "ttfb_ms"]),
    (Column::Transfer, &["transfer", "transfer_ms"]),
    (Column::Total, &["total", "total_ms"]),
];

impl Column {
    /// The column with this name, ignoring case.
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
pub(super) struct Fields<'a>([Option<Cow<'a, str>>; COLUMNS]);

impl<'a> Fields<'a> {
    pub(super) fn set(&mut self, column: Column, text: Cow<'a, str>) {
        self.0[column as usize] = Some(text).filter(|text| !text.trim().is_empty());
    }

    pub(super) fn get(&self, column: Column) -> Option<&str> {
        self.0[column as usize].as_deref().map(str::trim)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_column_is_found_by_each_of_its_names() {
        for (place, (column, names)) in NAMES.iter().enumerate() {
            assert_eq!(*column as usize, place);
            for name in *names {
                assert_eq!(Column::named(&name.to_uppercase()), Some(*column));
            }
        }
        assert_eq!(Column::named("respons_time"), None);
    }
}
