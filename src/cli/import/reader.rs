//! Reads the lines of a file: CSV with a header (RFC 4180) or one JSON object per line.
//!
//! Every line comes with its number and its end position, so that an import can report errors and resume. An unreadable
//! line does not end the file.

use std::borrow::Cow;
use std::io::{self, BufRead, BufReader, Read};

use csv::{ByteRecord, ReaderBuilder, Terminator};
use serde_json::Value;

use crate::cli::import::column::{ImportColumn, LineFields};

/// Longest line of JSON, in bytes.
const LINE_MAX_BYTES: u64 = 1 << 20;

/// The format of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum ImportFormat {
    Csv,
    #[value(name = "jsonl")]
    JsonLines,
}

/// The position of a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct LinePosition {
    /// Line number, counted from 1; for a record of several lines, the number of its first line.
    pub(super) line: u64,
    /// Bytes from the start of the file to the end of the line.
    pub(super) end: u64,
}

/// Reads all lines. `each` is called with the position and the fields or the error of a line, and returns whether to
/// continue.
///
/// # Errors
/// When the file cannot be read, or its header is invalid.
pub(super) fn read(
    format: ImportFormat,
    file: impl Read,
    ignores_unknown: bool,
    mut each: impl FnMut(LinePosition, Result<&LineFields<'_>, String>) -> bool,
) -> anyhow::Result<()> {
    match format {
        ImportFormat::Csv => read_csv(file, ignores_unknown, &mut each),
        ImportFormat::JsonLines => read_json_lines(BufReader::new(file), ignores_unknown, &mut each),
    }
}

type Each<'a> = &'a mut dyn FnMut(LinePosition, Result<&LineFields<'_>, String>) -> bool;

fn read_csv(file: impl Read, ignores_unknown: bool, each: Each<'_>) -> anyhow::Result<()> {
    let mut reader = ReaderBuilder::new()
        .flexible(true)
        .terminator(Terminator::Any(b'\n'))
        .buffer_capacity(1 << 16)
        .from_reader(file);
    // A carriage return before the terminator is trimmed as white space. If it were a terminator, the line feed after it
    // would count towards the next line.
    let columns = header(reader.byte_headers()?, ignores_unknown)?;
    let mut record = ByteRecord::new();
    while reader.read_byte_record(&mut record)? {
        let line = record.position().map_or(0, csv::Position::line);
        let position = LinePosition { line, end: reader.position().byte() };
        let fields = csv_fields(&columns, &record);
        if !each(position, fields.as_ref().map_err(String::clone)) {
            break;
        }
    }
    Ok(())
}

fn header(names: &ByteRecord, ignores_unknown: bool) -> anyhow::Result<Vec<Option<ImportColumn>>> {
    let mut columns = Vec::new();
    for name in names {
        let name = String::from_utf8_lossy(name);
        let name = name.trim_start_matches('\u{feff}').trim();
        let column = ImportColumn::named(name);
        if column.is_none() && !ignores_unknown {
            anyhow::bail!("line 1: the column {}", ImportColumn::unknown(name));
        }
        if column.is_some() && columns.contains(&column) {
            anyhow::bail!("line 1: the column '{name}' is there twice; once is allowed");
        }
        columns.push(column);
    }
    for needed in [ImportColumn::Service, ImportColumn::Time, ImportColumn::Status] {
        if !columns.contains(&Some(needed)) {
            anyhow::bail!("line 1: there is no column '{}'; the first line names the columns", needed.name());
        }
    }
    Ok(columns)
}

fn csv_fields<'a>(
    columns: &[Option<ImportColumn>],
    record: &'a ByteRecord,
) -> Result<LineFields<'a>, String> {
    if record.len() != columns.len() {
        return Err(format!("there are {} fields; the header names {} columns", record.len(), columns.len()));
    }
    let mut fields = LineFields::default();
    for (column, text) in columns.iter().zip(record) {
        let Some(column) = column else { continue };
        let text = std::str::from_utf8(text).map_err(|_| format!("{} is not UTF-8", column.name()))?;
        fields.set(*column, Cow::Borrowed(text));
    }
    Ok(fields)
}

fn read_json_lines(mut file: impl BufRead, ignores_unknown: bool, each: Each<'_>) -> anyhow::Result<()> {
    let mut position = LinePosition::default();
    let mut text = Vec::new();
    loop {
        text.clear();
        let length = file.by_ref().take(LINE_MAX_BYTES).read_until(b'\n', &mut text)? as u64;
        if length == 0 {
            return Ok(());
        }
        let is_cut = length == LINE_MAX_BYTES && text.last() != Some(&b'\n');
        let rest = if is_cut { skip_line(&mut file)? } else { 0 };
        position = LinePosition { line: position.line + 1, end: position.end + length + rest };
        if text.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        let fields = if is_cut {
            Err(format!("the line is longer than {LINE_MAX_BYTES} bytes"))
        } else {
            json_fields(&text, ignores_unknown)
        };
        if !each(position, fields.as_ref().map_err(String::clone)) {
            return Ok(());
        }
    }
}

/// Skips the rest of the line; returns its length in bytes.
fn skip_line(file: &mut impl BufRead) -> io::Result<u64> {
    file.skip_until(b'\n').map(|skipped| skipped as u64)
}

fn json_fields(text: &[u8], ignores_unknown: bool) -> Result<LineFields<'static>, String> {
    let value: Value = serde_json::from_slice(text).map_err(|error| format!("not valid JSON: {error}"))?;
    let Value::Object(object) = value else { return Err("a line must be a JSON object".into()) };
    let mut fields = LineFields::default();
    for (name, value) in object {
        match (ImportColumn::named(&name), value) {
            (_, Value::Null) => {}
            (Some(column), value) => fields.set(column, plain(column.name(), value)?),
            // Timings as the API returns them.
            (None, Value::Object(timings)) if name == "timings" => {
                for (name, value) in timings.into_iter().filter(|(_, value)| !value.is_null()) {
                    match ImportColumn::named(&name) {
                        Some(column) => fields.set(column, plain(column.name(), value)?),
                        None if ignores_unknown => {}
                        None => return Err(ImportColumn::unknown(&name)),
                    }
                }
            }
            (None, _) if ignores_unknown => {}
            (None, _) => return Err(ImportColumn::unknown(&name)),
        }
    }
    Ok(fields)
}

fn plain(name: &str, value: Value) -> Result<Cow<'static, str>, String> {
    match value {
        Value::String(text) => Ok(text.into()),
        Value::Number(number) => Ok(number.to_string().into()),
        Value::Bool(truth) => Ok(truth.to_string().into()),
        _ => Err(format!("{name} must be a string, a number, true, false or null")),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    /// Returns `line-end: service|time|status|error_message` for every line, or the error.
    fn lines(format: ImportFormat, text: &str, ignores_unknown: bool) -> Result<Vec<String>, String> {
        let mut seen = Vec::new();
        let each = |position: LinePosition, fields: Result<&LineFields<'_>, String>| {
            let complaint = fields.map_or_else(
                |problem| problem,
                |fields| {
                    let columns = [
                        ImportColumn::Service,
                        ImportColumn::Time,
                        ImportColumn::Status,
                        ImportColumn::ErrorMessage,
                    ];
                    columns.map(|column| fields.get(column).unwrap_or("-").to_owned()).join("|")
                },
            );
            seen.push(format!("{}-{}: {complaint}", position.line, position.end));
            true
        };
        read(format, text.as_bytes(), ignores_unknown, each).map_err(|error| error.to_string())?;
        Ok(seen)
    }

    #[rstest]
    #[case("service,time,status\na,1,up\nb,2,down\n", &["2-27: a|1|up|-", "3-36: b|2|down|-"])]
    #[case("\u{feff}Status,service,checked_at\r\nup,a,1\r\n", &["2-38: a|1|up|-"])]
    #[case(
        "service,time,status,error_message\na,1,down,\"one\ntwo, \"\"three\"\"\"\nb,2,up,\n",
        &["2-64: a|1|down|one\ntwo, \"three\"", "4-72: b|2|up|-"]
    )]
    #[case("service,time,status\na,1\nb,2,up", &["2-24: there are 2 fields; the header names 3 columns", "3-30: b|2|up|-"])]
    fn csv_is_read_by_its_header(#[case] text: &str, #[case] expected: &[&str]) {
        assert_eq!(lines(ImportFormat::Csv, text, false).unwrap(), expected);
    }

    #[rstest]
    #[case("", "line 1: there is no column 'service'; the first line names the columns")]
    #[case("service,time\n", "line 1: there is no column 'status'")]
    #[case("service,time,status,time\n", "line 1: the column 'time' is there twice")]
    #[case(
        "service,time,status,colour\n",
        "line 1: the column 'colour' is not known; allowed: service, location"
    )]
    fn an_unfit_header_is_refused(#[case] text: &str, #[case] problem: &str) {
        let complaint = lines(ImportFormat::Csv, text, false).unwrap_err();
        assert!(complaint.starts_with(problem), "{complaint}");
    }

    #[test]
    fn unknown_columns_can_be_ignored() {
        let csv = "service,colour,time,status\na,red,1,up\n";
        assert_eq!(lines(ImportFormat::Csv, csv, true).unwrap(), ["2-38: a|1|up|-"]);
        let json = "{\"service\":\"a\",\"colour\":{},\"time\":1,\"status\":true}\n";
        assert_eq!(lines(ImportFormat::JsonLines, json, true).unwrap(), ["1-51: a|1|true|-"]);
    }

    #[rstest]
    #[case("{\"service\":\"a\",\"time\":1.5,\"status\":\"up\"}", "a|1.5|up|-")]
    #[case("{\"service\":\"a\",\"time\":1,\"status\":false,\"error_message\":null}", "a|1|false|-")]
    #[case("{\"service\":\"a\",\"timings\":{\"dns\":1,\"tls\":null}}", "a|-|-|-")]
    #[case("{\"service\":[]}", "service must be a string, a number, true, false or null")]
    #[case("{\"timings\":{\"x\":1}}", "'x' is not known; allowed: service")]
    #[case("{\"colour\":1}", "'colour' is not known; allowed: service")]
    #[case("[]", "a line must be a JSON object")]
    #[case("{", "not valid JSON: EOF")]
    fn a_json_line_is_an_object(#[case] text: &str, #[case] expected: &str) {
        let text = format!("\n{text}\n");
        let seen = lines(ImportFormat::JsonLines, &text, false).unwrap();
        assert!(seen[0].starts_with(&format!("2-{}: {expected}", text.len())), "{seen:?}");
    }

    #[test]
    fn an_overlong_line_is_skipped() {
        let text = format!("{{\"service\":\"{}\"}}\n{{\"service\":\"b\"}}", "x".repeat(1 << 20));
        let seen = lines(ImportFormat::JsonLines, &text, false).unwrap();
        assert!(seen[0].ends_with("the line is longer than 1048576 bytes"), "{}", seen[0].len());
        assert_eq!(seen[1], format!("2-{}: b|-|-|-", text.len()));
    }
}
