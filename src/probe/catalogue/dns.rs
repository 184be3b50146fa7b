//! The catalogue entry of `dns`: the one type whose conditions depend on a configuration field.

use super::entry::{
    CheckTypeDefinition, ConditionField, ConditionKind, ConfigField, ConfigFieldKind, DefaultCondition,
    SubtypeRules,
};
use super::operators::{CONTAINING, NUMERIC, RESPONSE_TIME, TEXTUAL};
use crate::model::check::{CheckStatus, CheckType};
use crate::probe::fact::Fact;
use crate::probe::operator::Operator;

pub(super) static DEFINITION: CheckTypeDefinition = CheckTypeDefinition {
    check_type: CheckType::Dns,
    label: "DNS record",
    description: "Asks a name server for the records of a name.",
    target_required: true,
    fields: &[ConfigField {
        name: "dns_type",
        kind: ConfigFieldKind::Select { options: &["A", "AAAA", "MX", "CNAME", "TXT", "NS"], default: "A" },
        label: "Record type",
        required: true,
        secret: false,
        help: Some("Names are shown without the trailing dot, MX records as \"10 mail.example.com\"."),
    }],
    condition_fields: CONDITION_FIELDS,
    default_conditions: &[none_of(Fact::IpCount)],
    always_conditions: &[],
    by_subtype: Some(&BY_SUBTYPE),
    interval: None,
};

const fn none_of(count: Fact) -> DefaultCondition {
    DefaultCondition { field: count.as_str(), operator: Operator::Eq, value: 0, status: CheckStatus::Down }
}

const fn count_of(count: Fact, label: &'static str) -> ConditionField {
    ConditionField::plain(count, label, ConditionKind::Number, NUMERIC)
}

const fn list_of(list: Fact, label: &'static str) -> ConditionField {
    ConditionField::plain(list, label, ConditionKind::Array, CONTAINING)
}

const CONDITION_FIELDS: &[ConditionField] = &[
    RESPONSE_TIME,
    count_of(Fact::IpCount, "Number of addresses"),
    count_of(Fact::NsCount, "Number of name servers"),
    count_of(Fact::MxCount, "Number of mail exchangers"),
    count_of(Fact::TxtCount, "Number of texts"),
    list_of(Fact::Ips, "Addresses"),
    list_of(Fact::NsRecords, "Name servers"),
    list_of(Fact::MxRecords, "Mail exchangers (\"10 mail.example.com\" or the host alone)"),
    list_of(Fact::TxtRecords, "Texts"),
    ConditionField::plain(Fact::Cname, "Canonical name", ConditionKind::String, TEXTUAL),
];

const RESPONSE_TIME_MS: &str = Fact::ResponseTimeMs.as_str();

const ADDRESSES: &[&str] = &[RESPONSE_TIME_MS, Fact::IpCount.as_str(), Fact::Ips.as_str()];

static BY_SUBTYPE: SubtypeRules = SubtypeRules {
    field: "dns_type",
    fields: &[
        ("A", ADDRESSES),
        ("AAAA", ADDRESSES),
        ("MX", &[RESPONSE_TIME_MS, Fact::MxCount.as_str(), Fact::MxRecords.as_str()]),
        ("CNAME", &[RESPONSE_TIME_MS, Fact::Cname.as_str()]),
        ("TXT", &[RESPONSE_TIME_MS, Fact::TxtCount.as_str(), Fact::TxtRecords.as_str()]),
        ("NS", &[RESPONSE_TIME_MS, Fact::NsCount.as_str(), Fact::NsRecords.as_str()]),
    ],
    defaults: &[
        ("MX", &[none_of(Fact::MxCount)]),
        ("CNAME", &[]),
        ("TXT", &[none_of(Fact::TxtCount)]),
        ("NS", &[none_of(Fact::NsCount)]),
    ],
};
