//! Reads the body of the operation `extend` (contract 4.11.3).

use serde_json::{Map, Value};

use crate::clock::Timestamp;
use crate::http::kit::field_errors::FieldErrors;
use crate::http::kit::fields::{BodyFields, ErrorCollector, FieldPatch};
use crate::http::kit::rule::FieldRule;
use crate::http::kit::translated::read_nullable_translated;
use crate::model::access::Organisation;
use crate::model::maintenance::transition::MaintenanceExtension;
use crate::model::maintenance::{MESSAGE_LENGTH, MaintenanceWindow};

/// Reads the new window, with the present one as the default.
pub(super) fn read(
    body: &Map<String, Value>,
    stored: MaintenanceWindow,
    organisation: &Organisation,
    now: Timestamp,
) -> Result<MaintenanceExtension, FieldErrors> {
    // The start is read first, because the end is checked against it; but errors of the end are listed first.
    let later = ErrorCollector::default();
    let rest = BodyFields::new(body, "", &later);
    let start = rest.nullable("scheduled_start").read(|field| field.timestamp());
    let errors = ErrorCollector::default();
    let fields = BodyFields::new(body, "", &errors);
    if !fields.has("scheduled_end") {
        fields.refuse("scheduled_end", FieldRule::Required);
    }
    let later = later.into_inner();
    let start_is_sound = later.is_empty();
    let start = start.or_stored(None).unwrap_or(stored.start);
    let end = fields.nullable("scheduled_end").read(|field| {
        let end = field.timestamp()?;
        if start_is_sound && end <= start {
            return field.refuse(FieldRule::After("scheduled_start"));
        }
        if end <= now { field.refuse(FieldRule::NotPast) } else { Some(end) }
    });
    errors.extend(later);
    let message = read_nullable_translated(fields.nullable("message"), MESSAGE_LENGTH, organisation);
    let notifies = fields.optional("notify_subscribers").and_then(|field| field.boolean());
    let schedule = MaintenanceWindow { start, end: end.or_stored(None) };
    let message = match message {
        FieldPatch::Value(message) => Some(message),
        FieldPatch::Absent | FieldPatch::Null => None,
    };
    errors.into_inner().into_result(MaintenanceExtension {
        schedule,
        message,
        notifies: notifies.unwrap_or(false),
    })
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;
    use crate::id::Id;
    use crate::model::access::Plan;

    fn organisation() -> Organisation {
        Organisation {
            key: 1,
            id: Id::random(),
            name: "Example Ltd".into(),
            plan: Plan::Team,
            self_hosted: false,
            locales: vec!["en".into(), "de".into()],
            default_locale: "en".into(),
            created_at: Timestamp::from_ms(0),
        }
    }

    fn check(body: &Value) -> Result<MaintenanceExtension, Vec<(String, FieldRule)>> {
        let stored =
            MaintenanceWindow { start: Timestamp::from_ms(10_000), end: Some(Timestamp::from_ms(20_000)) };
        let read = read(body.as_object().unwrap(), stored, &organisation(), Timestamp::from_ms(30_000));
        read.map_err(|errors| errors.iter().map(|(path, rule)| (path.to_owned(), rule.clone())).collect())
    }

    /// Contract 4.11.3: an end that is later than both start and now, or no end.
    #[rstest]
    #[case(json!({"scheduled_end": null}), 10_000, None)]
    #[case(json!({"scheduled_end": null, "scheduled_start": null}), 10_000, None)]
    #[case(json!({"scheduled_end": "1970-01-01T00:00:31Z"}), 10_000, Some(31_000))]
    #[case(json!({"scheduled_end": "1970-01-01T00:00:41Z", "scheduled_start": "1970-01-01T00:00:40Z"}), 40_000, Some(41_000))]
    fn a_window_is_read(#[case] body: Value, #[case] start: i64, #[case] end: Option<i64>) {
        let read = check(&body).unwrap();
        let schedule =
            MaintenanceWindow { start: Timestamp::from_ms(start), end: end.map(Timestamp::from_ms) };
        assert_eq!(read, MaintenanceExtension { schedule, message: None, notifies: false });
    }

    #[rstest]
    #[case(json!({}), &[("scheduled_end", FieldRule::Required)])]
    #[case(json!({"scheduled_end": 7}), &[("scheduled_end", FieldRule::String)])]
    #[case(json!({"scheduled_end": "soon"}), &[("scheduled_end", FieldRule::Timestamp)])]
    #[case(json!({"scheduled_end": "1970-01-01T00:00:30Z"}), &[("scheduled_end", FieldRule::NotPast)])]
    #[case(json!({"scheduled_end": "1970-01-01T00:00:10Z"}), &[("scheduled_end", FieldRule::After("scheduled_start"))])]
    #[case(
        json!({"notify_subscribers": null, "message": 1, "scheduled_start": "soon", "scheduled_end": "1970-01-01"}),
        &[
            ("scheduled_end", FieldRule::NotPast),
            ("scheduled_start", FieldRule::Timestamp),
            ("message", FieldRule::String),
            ("notify_subscribers", FieldRule::NotNull),
        ]
    )]
    fn errors_are_in_the_order_of_the_table(#[case] body: Value, #[case] expected: &[(&str, FieldRule)]) {
        let expected: Vec<_> =
            expected.iter().map(|(path, rule)| ((*path).to_owned(), rule.clone())).collect();
        assert_eq!(check(&body), Err(expected));
    }

    #[test]
    fn the_message_is_trimmed_and_a_blank_one_is_none() {
        let read = |message: &str| {
            check(&json!({"scheduled_end": null, "message": message, "notify_subscribers": true})).unwrap()
        };
        assert_eq!(read(" Longer. ").message.unwrap().get("en"), Some("Longer."));
        assert_eq!((read(" ").message, read("").notifies), (None, true));
    }
}
