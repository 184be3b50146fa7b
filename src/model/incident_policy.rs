//! Incident policies: the rules that decide which outages become incidents, after which time and with which severity,
//! and when such an incident is resolved.
//!
//! The policies of an organisation have an order; only the first policy that matches a service counts. A policy with a
//! tag matches the services that carry the tag; a policy without a tag matches every service.

use std::ops::RangeInclusive;

use crate::clock::Timestamp;
use crate::id::Id;
use crate::model::incident::{Impact, Severity};
use crate::model::word_enum::words;

/// Permitted number of characters of a name.
pub const NAME_LENGTH: RangeInclusive<usize> = 1..=255;
/// Maximum number of policies of an organisation.
pub const POLICIES_MAX: usize = 100;
/// Permitted seconds that an outage must last before it becomes an incident, or a recovery before the incident is
/// resolved.
pub const PATIENCE_SECONDS: RangeInclusive<u32> = 0..=86_400;
/// Permitted seconds within which failures become one incident.
pub const GROUP_WINDOW_SECONDS: RangeInclusive<u32> = 0..=3_600;
/// Maximum number of tag keys that group failures.
pub const GROUP_TAG_KEYS_MAX: usize = 5;

words! {
    /// The kinds of outages that incidents distinguish.
    #[derive(PartialOrd, Ord)]
    pub enum OutageKind {
        /// The service is flapping.
        Unstable,
        /// The service works, but badly.
        Degraded,
        /// The service does not work.
        Down,
    }
}

impl OutageKind {
    /// The impact on the service (contract 4.9).
    #[must_use]
    pub const fn impact(self) -> Impact {
        match self {
            Self::Unstable | Self::Degraded => Impact::Degraded,
            Self::Down => Impact::MajorOutage,
        }
    }
}

words! {
    /// The rule that decides which failures become one incident if they start close together.
    pub enum GroupBy {
        /// Each outage has an incident of its own.
        None,
        /// Failures of a service and of the services that depend on it are one incident.
        Parent,
        /// Failures of services that carry a common tag are one incident.
        Tags,
        /// Failures of services with a common dependency or a common tag are one incident.
        ParentOrTags,
    }
}

impl GroupBy {
    /// Parses a current word, or one of the former words `tag` and `tag_or_parent`; `None` for another word.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        match word {
            "tag" => Some(Self::Tags),
            "tag_or_parent" => Some(Self::ParentOrTags),
            _ => word.parse().ok(),
        }
    }

    /// Returns true if services with a common tag belong together.
    #[must_use]
    pub const fn considers_tags(self) -> bool {
        matches!(self, Self::Tags | Self::ParentOrTags)
    }

    /// Returns true if services with a common parent belong together.
    #[must_use]
    pub const fn considers_parents(self) -> bool {
        matches!(self, Self::Parent | Self::ParentOrTags)
    }

    /// Returns the rule that groups by common tags in addition.
    #[must_use]
    pub const fn with_tags(self) -> Self {
        match self {
            Self::None | Self::Tags => Self::Tags,
            Self::Parent | Self::ParentOrTags => Self::ParentOrTags,
        }
    }
}

/// The tag that a service must carry for a policy to match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyTag {
    /// Key of the row.
    pub key: i64,
    /// The id that clients see.
    pub id: Id,
    /// Text of the tag: `key:value`, or `key` alone.
    pub label: String,
}

/// The rules of a policy for outages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IncidentRules {
    /// Seconds that an outage must last before it becomes an incident.
    pub open_after_seconds: u32,
    /// Seconds that all services must work again before the incident is resolved; `None` = members resolve it.
    pub resolve_after_seconds: Option<u32>,
    /// The severity of an incident about a service that is down; `None` = no incident.
    pub down_severity: Option<Severity>,
    /// The severity of an incident about a service that is degraded; `None` = no incident.
    pub degraded_severity: Option<Severity>,
    /// The severity of an incident about a service that is flapping; `None` = no incident.
    pub unstable_severity: Option<Severity>,
    /// True if status pages show the incident from the start.
    pub publish: bool,
    /// The rule that decides which failures become one incident.
    pub group_by: GroupBy,
    /// Keys of the tags that group failures, in lower case and without duplicates; empty = any tag.
    pub group_by_tag_keys: Vec<String>,
    /// Seconds within which failures become one incident.
    pub group_window_seconds: u32,
}

impl Default for IncidentRules {
    /// The default rules: an unpublished incident is opened at once for a service that is down or flapping. It is
    /// resolved when all services have worked for a minute, because a short recovery often does not last. Tags do not
    /// group failures, because a tag that most services carry would put unrelated outages into one incident.
    fn default() -> Self {
        Self {
            open_after_seconds: 0,
            resolve_after_seconds: Some(60),
            down_severity: Some(Severity::Major),
            degraded_severity: None,
            unstable_severity: Some(Severity::Minor),
            publish: false,
            group_by: GroupBy::Parent,
            group_by_tag_keys: Vec::new(),
            group_window_seconds: 60,
        }
    }
}

impl IncidentRules {
    /// The severity of an incident about an outage of this kind; `None` = no incident.
    #[must_use]
    pub const fn severity(&self, kind: OutageKind) -> Option<Severity> {
        match kind {
            OutageKind::Down => self.down_severity,
            OutageKind::Degraded => self.degraded_severity,
            OutageKind::Unstable => self.unstable_severity,
        }
    }

    /// Milliseconds that an outage must last before it becomes an incident.
    #[must_use]
    pub fn open_after_ms(&self) -> i64 {
        i64::from(self.open_after_seconds) * 1_000
    }

    /// Milliseconds that all services must work again before the incident is resolved; `None` = members resolve it.
    #[must_use]
    pub fn resolve_after_ms(&self) -> Option<i64> {
        self.resolve_after_seconds.map(|seconds| i64::from(seconds) * 1_000)
    }

    /// The time at which an incident is resolved if all its services have worked since `recovered_at`; `None` = members
    /// resolve it.
    #[must_use]
    pub fn resolves_at(&self, recovered_at: Timestamp) -> Option<Timestamp> {
        self.resolve_after_ms().map(|ms| recovered_at.plus_ms(ms))
    }

    /// Returns true if services that carry the same tag with this key (with the same value, or without one) belong
    /// together.
    #[must_use]
    pub fn groups_by_tag(&self, key: &str) -> bool {
        let is_named = || self.group_by_tag_keys.iter().any(|named| named == key);
        self.group_by.considers_tags() && (self.group_by_tag_keys.is_empty() || is_named())
    }

    /// Milliseconds within which failures become one incident.
    #[must_use]
    pub fn group_window_ms(&self) -> i64 {
        i64::from(self.group_window_seconds) * 1_000
    }
}

/// A policy as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IncidentPolicy {
    /// Key of the row; 0 before it is stored.
    pub key: i64,
    /// The id that clients see.
    pub id: Id,
    /// Database key of the organisation that owns it.
    pub organisation: i64,
    /// Position in the order of the organisation's policies, from 1.
    pub position: i32,
    /// Display name, 1 to 255 characters.
    pub name: String,
    /// The tag that services must carry; `None` matches every service.
    pub tag: Option<PolicyTag>,
    /// Rules by which outages become incidents.
    pub rules: IncidentRules,
    /// Time of creation.
    pub created_at: Timestamp,
    /// Time of the last write by a client.
    pub updated_at: Timestamp,
}

impl IncidentPolicy {
    /// Returns true if the policy matches a service with these tags, given by database key.
    #[must_use]
    pub fn matches(&self, tags: &[i64]) -> bool {
        self.tag.as_ref().is_none_or(|tag| tags.contains(&tag.key))
    }
}

/// The policy that applies to a service with these tags: the first one in the order that matches.
#[must_use]
pub fn first_match<'a>(policies: &'a [IncidentPolicy], tags: &[i64]) -> Option<&'a IncidentPolicy> {
    policies.iter().filter(|policy| policy.matches(tags)).min_by_key(|policy| policy.position)
}

/// The policy that applies to several services together: the first one in the order that matches any of them. Each
/// element of `tags_of_services` has the tags of one service.
#[must_use]
pub fn first_match_of_any<'a>(
    policies: &'a [IncidentPolicy],
    tags_of_services: &[Vec<i64>],
) -> Option<&'a IncidentPolicy> {
    let matching = tags_of_services.iter().filter_map(|tags| first_match(policies, tags));
    matching.min_by_key(|policy| policy.position)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn policy(position: i32, tag: Option<i64>) -> IncidentPolicy {
        let at = Timestamp::from_ms(0);
        IncidentPolicy {
            key: position.into(),
            id: Id::random(),
            organisation: 1,
            position,
            name: "policy".into(),
            tag: tag.map(|key| PolicyTag { key, id: Id::random(), label: "env:prod".into() }),
            rules: IncidentRules::default(),
            created_at: at,
            updated_at: at,
        }
    }

    /// Columns: tags of the service; position of the policy that applies. Policy 1 is for tag 7, 2 for tag 8, 3 for all.
    #[rstest]
    #[case(&[], Some(3))]
    #[case(&[7], Some(1))]
    #[case(&[8], Some(2))]
    #[case(&[9, 8, 7], Some(1))]
    fn the_first_policy_that_matches_decides(#[case] tags: &[i64], #[case] expected: Option<i32>) {
        let policies = [policy(3, None), policy(2, Some(8)), policy(1, Some(7))];
        assert_eq!(first_match(&policies, tags).map(|policy| policy.position), expected);
        let bound = &policies[1..];
        assert_eq!(first_match(bound, &[]), None, "nothing matches all");
    }

    #[rstest]
    #[case::none(GroupBy::None, &[], false)]
    #[case::parent(GroupBy::Parent, &["team"], false)]
    #[case::any_tag(GroupBy::Tags, &[], true)]
    #[case::a_named_key(GroupBy::ParentOrTags, &["env", "team"], true)]
    #[case::another_key(GroupBy::Tags, &["env"], false)]
    fn incidents_are_grouped_by_the_named_tag_keys(
        #[case] group_by: GroupBy,
        #[case] keys: &[&str],
        #[case] expected: bool,
    ) {
        let group_by_tag_keys = keys.iter().map(|key| (*key).to_owned()).collect();
        let rules = IncidentRules { group_by, group_by_tag_keys, ..IncidentRules::default() };
        assert_eq!(rules.groups_by_tag("team"), expected);
    }

    #[rstest]
    #[case("none", Some(GroupBy::None))]
    #[case("parent", Some(GroupBy::Parent))]
    #[case("tags", Some(GroupBy::Tags))]
    #[case("parent_or_tags", Some(GroupBy::ParentOrTags))]
    #[case("tag", Some(GroupBy::Tags))]
    #[case("tag_or_parent", Some(GroupBy::ParentOrTags))]
    #[case("all", None)]
    fn former_spellings_are_read(#[case] word: &str, #[case] expected: Option<GroupBy>) {
        assert_eq!(GroupBy::from_word(word), expected);
    }

    /// Columns: tags of several services; position of the policy that applies to them together. Policy 1 is for tag 7, 2 for
    /// tag 8, 3 for all.
    #[rstest]
    #[case::no_service(vec![], None)]
    #[case::one(vec![vec![8]], Some(2))]
    #[case::the_first_of_several(vec![vec![], vec![8], vec![9, 7]], Some(1))]
    #[case::without_tags(vec![vec![], vec![9]], Some(3))]
    fn the_first_policy_that_matches_one_of_them_decides(
        #[case] tags: Vec<Vec<i64>>,
        #[case] expected: Option<i32>,
    ) {
        let policies = [policy(3, None), policy(2, Some(8)), policy(1, Some(7))];
        assert_eq!(first_match_of_any(&policies, &tags).map(|policy| policy.position), expected);
    }

    /// Contract 4.9: the impact on a service that is down is a major outage, that on a degraded service is `degraded`.
    #[test]
    fn the_kind_of_an_outage_is_its_impact() {
        assert_eq!(OutageKind::Down.impact(), Impact::MajorOutage);
        assert_eq!(OutageKind::Degraded.impact(), Impact::Degraded);
        assert!(OutageKind::Down > OutageKind::Degraded && OutageKind::Degraded > OutageKind::Unstable);
    }
}
