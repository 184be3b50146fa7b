//! The catalogue entry of `http`.

use super::addressing::{IP_VERSION, SMART_DUALSTACK};
use super::entry::{
    CheckTypeDefinition, ConditionField, ConditionKind, ConfigField, ConfigFieldKind, DefaultCondition,
    FieldParameter,
};
use super::operators::{CONTAINING, NUMERIC, RESPONSE_TIME, TEXTUAL};
use crate::model::check::{CheckStatus, CheckType};
use crate::probe::fact::Fact;
use crate::probe::header::HEADERS_MAX;
use crate::probe::operator::Operator;

pub(super) static DEFINITION: CheckTypeDefinition = CheckTypeDefinition {
    check_type: CheckType::Http,
    label: "HTTP",
    description: "Sends an HTTP request to a URL and checks the response.",
    target_required: true,
    fields: FIELDS,
    condition_fields: CONDITION_FIELDS,
    default_conditions: &[STATUS_CODE],
    always_conditions: &[STATUS_CODE],
    by_subtype: None,
    interval: None,
};

/// Applied in addition to stored conditions: a service with a condition on another field only would otherwise
/// be `up` at a 500.
const STATUS_CODE: DefaultCondition = DefaultCondition {
    field: Fact::StatusCode.as_str(),
    operator: Operator::Gte,
    value: 400,
    status: CheckStatus::Down,
};

const FIELDS: &[ConfigField] = &[
    ConfigField {
        name: "method",
        kind: ConfigFieldKind::Select {
            options: &["GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS"],
            default: "GET",
        },
        label: "Method",
        required: false,
        secret: false,
        help: None,
    },
    ConfigField {
        name: "headers",
        kind: ConfigFieldKind::KeyValueArray { max_entries: HEADERS_MAX },
        label: "Request headers",
        required: false,
        secret: true,
        help: Some(
            "Sent with the request, but not when a redirect leads to another origin. Values are never shown again.",
        ),
    },
    ConfigField {
        name: "auth",
        kind: ConfigFieldKind::Auth,
        label: "Authentication",
        required: false,
        secret: false,
        help: Some(
            "Replaces a configured header of the same name. Not sent when a redirect leads to another origin.",
        ),
    },
    ConfigField {
        name: "body",
        kind: ConfigFieldKind::Textarea { max_length: 65_536 },
        label: "Request body",
        required: false,
        secret: false,
        help: Some("Sent with POST, PUT and PATCH only."),
    },
    ConfigField {
        name: "follow_redirects",
        kind: ConfigFieldKind::Boolean { default: true },
        label: "Follow redirects",
        required: false,
        secret: false,
        help: Some("At most 10 redirects are followed; then the check fails."),
    },
    ConfigField {
        name: "verify_ssl",
        kind: ConfigFieldKind::Boolean { default: true },
        label: "Verify the certificate",
        required: false,
        secret: false,
        help: Some("When switched off, expired, untrusted and foreign certificates are accepted."),
    },
    IP_VERSION,
    SMART_DUALSTACK,
];

const CONDITION_FIELDS: &[ConditionField] = &[
    ConditionField::plain(
        Fact::StatusCode,
        "Status code",
        ConditionKind::Number,
        &[
            Operator::Eq,
            Operator::Neq,
            Operator::Gt,
            Operator::Gte,
            Operator::Lt,
            Operator::Lte,
            Operator::In,
            Operator::NotIn,
        ],
    ),
    RESPONSE_TIME,
    ConditionField::plain(Fact::Body, "Response body", ConditionKind::String, CONTAINING),
    ConditionField {
        field: "json",
        label: "JSON value",
        kind: ConditionKind::Json,
        operators: &[
            Operator::Eq,
            Operator::Neq,
            Operator::Gt,
            Operator::Gte,
            Operator::Lt,
            Operator::Lte,
            Operator::Contains,
            Operator::NotContains,
        ],
        unit: None,
        parametric: Some(FieldParameter {
            prefix: "json.",
            key_label: "Path",
            key_placeholder: "checks.0.status",
            key_help: "Keys separated by dots; digits index lists, # is the length of a list.",
        }),
    },
    ConditionField {
        field: "header",
        label: "Response header",
        kind: ConditionKind::Header,
        operators: TEXTUAL,
        unit: None,
        parametric: Some(FieldParameter {
            prefix: "header.",
            key_label: "Name",
            key_placeholder: "content-type",
            key_help: "Name of the response header; upper and lower case are the same.",
        }),
    },
    ConditionField::plain(Fact::RedirectsFollowed, "Redirects followed", ConditionKind::Number, NUMERIC),
    ConditionField::plain(Fact::ContentLength, "Content length", ConditionKind::Number, NUMERIC)
        .measured_in("bytes"),
    ConditionField::plain(Fact::Protocol, "Protocol version", ConditionKind::String, TEXTUAL),
    ConditionField::plain(Fact::FinalUrl, "Final URL", ConditionKind::String, TEXTUAL),
];
