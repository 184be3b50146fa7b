//! Findings of a check, shown below its picture: the fields that conditions of a service can test.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use crate::cli::printable::printable;
use crate::probe::finding::{CheckFinding, FindingValue};

/// Common prefix of all field names.
const METADATA: &str = "metadata.";

/// Returns one line per finding; a list has one line per entry.
pub(super) fn draw(findings: &[CheckFinding]) -> String {
    let mut text = String::new();
    let mut line = |name: &str, value: &str| {
        // Writing to a `String` cannot fail.
        let _ = writeln!(text, "  {name:<28} {}", printable(value));
    };
    for CheckFinding { field, value } in findings {
        match value {
            FindingValue::Number(number) => line(field, &number.to_string()),
            FindingValue::Text(value) => line(field, value),
            FindingValue::List(values) if values.is_empty() => line(field, "none"),
            FindingValue::List(values) => {
                for (index, value) in values.iter().enumerate() {
                    line(if index == 0 { field } else { "" }, value);
                }
            }
        }
    }
    text
}

/// Returns the findings as JSON: an object whose keys are the names without `metadata.`.
pub(super) fn to_json(findings: &[CheckFinding]) -> Value {
    let entry = |CheckFinding { field, value }: &CheckFinding| {
        let value = match value {
            FindingValue::Number(number) => json!(number),
            FindingValue::Text(text) => json!(text),
            FindingValue::List(texts) => json!(texts),
        };
        (field.strip_prefix(METADATA).unwrap_or(field).to_owned(), value)
    };
    Value::Object(findings.iter().map(entry).collect::<Map<_, _>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_finding_has_its_line_and_its_key() {
        let list = |texts: &[&str]| FindingValue::List(texts.iter().map(|text| (*text).to_owned()).collect());
        let findings = [
            CheckFinding { field: "metadata.days_until_expiry", value: FindingValue::Number(13.0) },
            CheckFinding { field: "metadata.issuer", value: FindingValue::Text("CN=a\u{1b}[31m".into()) },
            CheckFinding { field: "metadata.dns_names", value: list(&["a.test", "b.test"]) },
            CheckFinding { field: "metadata.ips", value: list(&[]) },
        ];
        let expected = "  metadata.days_until_expiry   13\n  \
            metadata.issuer              CN=a\\u001b[31m\n  \
            metadata.dns_names           a.test\n  \
            \u{20}                            b.test\n  \
            metadata.ips                 none\n";
        assert_eq!(draw(&findings), expected);
        let expected = json!({
            "days_until_expiry": 13.0, "issuer": "CN=a\u{1b}[31m", "dns_names": ["a.test", "b.test"], "ips": [],
        });
        assert_eq!(to_json(&findings), expected);
    }
}
