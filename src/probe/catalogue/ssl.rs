//! The catalogue entry of `ssl`.

use super::addressing::{IP_VERSION, SMART_DUALSTACK};
use super::entry::{CheckTypeDefinition, ConditionField, ConditionKind, DefaultCondition, IntervalBounds};
use super::operators::{CONTAINING, NUMERIC, TEXTUAL};
use crate::model::check::{CheckStatus, CheckType};
use crate::probe::fact::Fact;
use crate::probe::operator::Operator;

pub(super) static DEFINITION: CheckTypeDefinition = CheckTypeDefinition {
    check_type: CheckType::Ssl,
    label: "TLS certificate",
    description: "Reads the certificate chain of a host and checks its trust, names and dates.",
    target_required: true,
    fields: &[IP_VERSION, SMART_DUALSTACK],
    condition_fields: CONDITION_FIELDS,
    default_conditions: &[DefaultCondition {
        field: Fact::DaysUntilExpiry.as_str(),
        operator: Operator::Lt,
        value: 14,
        status: CheckStatus::Degraded,
    }],
    always_conditions: &[],
    by_subtype: None,
    interval: Some(IntervalBounds { default: 21_600, min: 3_600, max: 604_800 }),
};

const CONDITION_FIELDS: &[ConditionField] = &[
    ConditionField::plain(Fact::DaysUntilExpiry, "Days left", ConditionKind::Number, NUMERIC)
        .measured_in("days"),
    ConditionField::plain(Fact::ChainLength, "Certificates in the chain", ConditionKind::Number, NUMERIC),
    ConditionField::plain(Fact::Issuer, "Issuer", ConditionKind::String, TEXTUAL),
    ConditionField::plain(Fact::Subject, "Subject", ConditionKind::String, TEXTUAL),
    ConditionField::plain(Fact::CipherSuite, "Cipher suite", ConditionKind::String, TEXTUAL),
    ConditionField::plain(
        Fact::TlsVersion,
        "TLS version",
        ConditionKind::String,
        &[
            Operator::Eq,
            Operator::Neq,
            Operator::In,
            Operator::NotIn,
            Operator::Contains,
            Operator::NotContains,
        ],
    ),
    ConditionField::plain(Fact::DnsNames, "Names of the certificate", ConditionKind::Array, CONTAINING),
];
