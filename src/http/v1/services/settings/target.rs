//! Reads the `target` of a service in a body (contract 4.3.2), and reports the rule that it breaks. `probe` defines which
//! targets are valid.

use crate::http::kit::fields::{BodyFields, FieldPatch};
use crate::http::kit::rule::FieldRule;
use crate::model::check::CheckType;
use crate::probe::catalogue::definition;
use crate::probe::target::{TargetFormError, parse_target};

/// Returns the target after a write to `stored`; `None` also when it was refused and an error added. If the check type needs
/// a target, it is missing when it is null or blank, or when none is sent and none stored.
#[must_use]
pub fn read_target(body: &BodyFields<'_>, check_type: CheckType, stored: Option<&str>) -> Option<String> {
    let sent = body.nullable_text("target", 1..=usize::MAX);
    if let FieldPatch::Value(text) = &sent
        && let Err(form) = parse_target(check_type, text)
    {
        body.refuse("target", rule(form));
        return None;
    }
    let was_refused =
        matches!(sent, FieldPatch::Absent) && !matches!(body.nullable("target"), FieldPatch::Absent);
    let target = sent.or_stored(stored.map(str::to_owned));
    if target.is_none() && definition(check_type).target_required && !was_refused {
        body.refuse("target", FieldRule::Required);
    }
    target
}

const fn rule(form: TargetFormError) -> FieldRule {
    match form {
        TargetFormError::Url => FieldRule::TargetUrl,
        TargetFormError::HostPort => FieldRule::TargetHostPort,
        TargetFormError::HostName => FieldRule::TargetHostName,
        TargetFormError::HostOrAddress => FieldRule::TargetHost,
        TargetFormError::Length => FieldRule::MaxLength(2048),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::{Value, json};

    use super::*;
    use crate::http::kit::field_errors::FieldErrors;
    use crate::http::kit::fields::ErrorCollector;

    const OLD: Option<&str> = Some("https://old.example");

    /// Contract 4.3.2: the row `target`.
    #[rstest]
    #[case(CheckType::Http, json!({}), None, Err(FieldRule::Required))]
    #[case(CheckType::Http, json!({"target": null}), OLD, Err(FieldRule::Required))]
    #[case(CheckType::Http, json!({"target": " "}), OLD, Err(FieldRule::Required))]
    #[case(CheckType::Http, json!({}), OLD, Ok(OLD))]
    #[case(CheckType::Http, json!({"target": " https://new.example/ "}), OLD, Ok(Some("https://new.example/")))]
    #[case(CheckType::Http, json!({"target": 7}), None, Err(FieldRule::String))]
    #[case(CheckType::Http, json!({"target": "new.example"}), OLD, Err(FieldRule::TargetUrl))]
    #[case(CheckType::Tcp, json!({"target": "new.example"}), None, Err(FieldRule::TargetHostPort))]
    #[case(CheckType::Dns, json!({"target": "new.example:53"}), None, Err(FieldRule::TargetHostName))]
    #[case(CheckType::Icmp, json!({"target": "[::1]"}), None, Err(FieldRule::TargetHost))]
    #[case(CheckType::Ssl, json!({"target": "https://new.example"}), None, Err(FieldRule::TargetHostName))]
    #[case(CheckType::Heartbeat, json!({"target": "free text"}), None, Ok(Some("free text")))]
    #[case(CheckType::Heartbeat, json!({"target": null}), Some("free text"), Ok(None))]
    #[case(CheckType::Manual, json!({}), None, Ok(None))]
    #[case(CheckType::Manual, json!({"target": ""}), Some("free text"), Ok(None))]
    #[case(CheckType::Manual, json!({"target": "free text"}), None, Ok(Some("free text")))]
    #[case(CheckType::Manual, json!({"target": "x".repeat(2049)}), None, Err(FieldRule::MaxLength(2048)))]
    fn a_target_has_the_form_of_its_type(
        #[case] check_type: CheckType,
        #[case] body: Value,
        #[case] stored: Option<&str>,
        #[case] expected: Result<Option<&str>, FieldRule>,
    ) {
        let errors = ErrorCollector::default();
        let body = BodyFields::new(body.as_object().unwrap(), "", &errors);
        let target = read_target(&body, check_type, stored);
        let result = errors.into_inner().into_result(target);
        assert_eq!(
            result,
            expected.map(|target| target.map(str::to_owned)).map_err(|rule| FieldErrors::of("target", rule))
        );
    }
}
