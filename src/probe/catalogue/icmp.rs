//! The catalogue entry of `icmp`.

use super::addressing::{IP_VERSION, SMART_DUALSTACK};
use super::entry::{CheckTypeDefinition, ConditionField, ConditionKind, DefaultCondition};
use super::operators::{NUMERIC, ORDERED, RESPONSE_TIME};
use crate::model::check::{CheckStatus, CheckType};
use crate::probe::fact::Fact;
use crate::probe::operator::Operator;

pub(super) static DEFINITION: CheckTypeDefinition = CheckTypeDefinition {
    check_type: CheckType::Icmp,
    label: "Ping",
    description: "Sends three ICMP echo requests to a host and waits for the replies.",
    target_required: true,
    fields: &[IP_VERSION, SMART_DUALSTACK],
    condition_fields: &[
        RESPONSE_TIME,
        ConditionField::plain(Fact::MaxRttMs, "Longest round trip", ConditionKind::Number, ORDERED)
            .measured_in("ms"),
        ConditionField::plain(Fact::PacketLossPct, "Packet loss", ConditionKind::Number, NUMERIC)
            .measured_in("%"),
        ConditionField::plain(Fact::PacketsReceived, "Packets received", ConditionKind::Number, NUMERIC),
    ],
    default_conditions: &[DefaultCondition {
        field: Fact::PacketLossPct.as_str(),
        operator: Operator::Gt,
        value: 0,
        status: CheckStatus::Degraded,
    }],
    always_conditions: &[],
    by_subtype: None,
    interval: None,
};
