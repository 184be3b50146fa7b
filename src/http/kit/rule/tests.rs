//! Tests the texts of rules.

use rstest::rstest;

use super::*;

/// Contract 5.3: texts that contain values.
#[rstest]
#[case(FieldRule::MinLength(1), "Use at least 1 characters.")]
#[case(FieldRule::MaxLength(255), "Use at most 255 characters.")]
#[case(FieldRule::Min(30), "The smallest allowed value is 30.")]
#[case(FieldRule::Max(604_800), "The largest allowed value is 604800.")]
#[case(FieldRule::MinItems(1), "Send at least 1 entries.")]
#[case(FieldRule::MaxItems(50), "Send at most 50 entries.")]
#[case(FieldRule::SettingsBytes(262_144), "The stored settings may take at most 262144 bytes.")]
#[case(FieldRule::unknown_word(&["gt", "gte", "lt", "lte"]), "Unknown value. Allowed: gt, gte, lt, lte.")]
#[case(FieldRule::After("from"), "This time must be later than from.")]
#[case(FieldRule::NotBefore("started_at"), "This time must not be earlier than started_at.")]
#[case(
    FieldRule::UnknownId { kind: "status page", id: "rNSJxMbDTX2uHc08AiCqo".into() },
    "No status page with the ID rNSJxMbDTX2uHc08AiCqo exists."
)]
#[case(FieldRule::LocaleUnknown("fr".into()), "The organisation does not use the language fr.")]
#[case(FieldRule::LocaleDefault("en".into()), "A text in the default language (en) is required.")]
#[case(FieldRule::Probe("mars".into()), "No active location with the code mars exists.")]
#[case(
    FieldRule::TagUnknown("Zz93kfjw0dlqpx81mnrt5".into()),
    "No tag with the ID or name Zz93kfjw0dlqpx81mnrt5 exists."
)]
#[case(FieldRule::TagSystem("renamed"), "Tags set by the server agent cannot be renamed.")]
#[case(FieldRule::TagInUse("status page Shop".into()), "This tag is still in use: status page Shop.")]
#[case(
    FieldRule::ChannelInUse("Shop, Gold".into()),
    "Escalation policies tell this notification channel: Shop, Gold."
)]
#[case(FieldRule::ScopeInUse("CI, Bot".into()), "Tokens are confined to this access scope: CI, Bot.")]
#[case(FieldRule::TagQuota { limit: 200, usage: 200 }, "The plan allows 200 tags; 200 exist.")]
#[case(
    FieldRule::PublishQuota { limit: 5, usage: 5 },
    "The plan allows 5 published status pages; 5 are published."
)]
#[case(FieldRule::FileSize(2), "The file may have at most 2 MB.")]
#[case(FieldRule::FileType("ICO, PNG, SVG"), "Allowed file types: ICO, PNG, SVG.")]
#[case(
    FieldRule::TagKey,
    r#"Use 1 to 50 letters, digits, "_", "." or "-"; the first and the last must be a letter or digit."#
)]
fn a_rule_is_rendered_with_the_text_of_the_contract(#[case] rule: FieldRule, #[case] text: &str) {
    assert_eq!(rule.to_string(), text);
}
