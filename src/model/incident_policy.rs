//! Incident policies: for which outages the program opens an incident, when, with which severity, and when it resolves
//! it.
//!
//! The policies of an organisation have an order; only the first one that matches a service counts. One for a tag
//! matches the services that carry it, one without matches all.

use std::ops::RangeInclusive;

use crate::clock::Timestamp;
use crate::id::Id;
use crate::model::incident::{Impact, Severity};
use crate::model::word_enum::words;

/// Permitted number of characters of a name.
pub const NAME_LENGTH: RangeInclusive<usize> = 1..=255;
/// Maximum number of policies of an organisation.
pub const POLICIES_MAX: usize = 100;
/// Seconds for which an outage may have to last, or a recovery.
pub const PATIENCE_SECONDS: RangeInclusive<u32> = 0..=86_400;
/// Seconds within which failures are one.
pub const GROUP_WINDOW_SECONDS: RangeInclusive<u32> = 0..=3_600;
/// Maximum number of tag keys that group failures.
pub const GROUP_TAG_KEYS_MAX: usize = 5;

words! {
    /// The kinds of outages that incidents distinguish.
    #[derive(PartialOrd, Ord)]
    pub enum OutageKind {
        /// It changes between up and not up too often to be either.
        Unstable,
        /// It works, but badly.
        Degraded,
        /// It does not work.
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
    /// The failures that become one incident, if they come close together.
    pub enum GroupBy {
        /// Each outage has an incident of its own.
        None,
        /// Those of services that depend on the same one, and of that one.
        Parent,
        /// Those of services that carry a common tag.
        Tags,
        /// By a common dependency or a common tag.
        ParentOrTags,
    }
}

impl GroupBy {
    /// Reads a present word, or one of those that clients used before: `tag` and `tag_or_parent`.
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

    /// The same, with tags added.
    #[must_use]
    pub const fn with_tags(self) -> Self {
        match self {
            Self::None | Self::Tags => Self::Tags,
            Self::Parent | Self::ParentOrTags => Self::ParentOrTags,
        }
    }
}

/// The tag of a policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyTag {
    /// Key of the row.
    pub key: i64,
    /// The id that clients see.
    pub id: Id,
    /// `key:value`, or `key` alone.
    pub label: String,
}

/// The rules of a policy for outages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IncidentRules {
    /// Seconds that an outage lasts before it becomes an incident.
    pub open_after_seconds: u32,
    /// Seconds that everything works again before the incident is resolved; `None` = members resolve it.
    pub resolve_after_seconds: Option<u32>,
    /// The severity of an incident about a service that is down; `None` = no incident.
    pub down_severity: Option<Severity>,
    /// The same for one that is degraded.
    pub degraded_severity: Option<Severity>,
    /// The same for one that is unstable.
    pub unstable_severity: Option<Severity>,
    /// True if status pages show the incident from the start.
    pub publish: bool,
    /// The failures that become one incident.
    pub group_by: GroupBy,
    /// Keys of the tags that group failures, in lower case and each once; empty = any tag.
    pub group_by_tag_keys: Vec<String>,
    /// Seconds within which they do.
    pub group_window_seconds: u32,
}

impl Default for IncidentRules {
    /// The default: an internal incident at once for outages that are down or unstable, resolved after a minute,
    /// because a short return is no end. Tags group nothing: one that most services carry would hide an unrelated
    /// outage in the incident of another.
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
    /// The severity of an incident about such an outage; `None` = there is none.
    #[must_use]
    pub const fn severity(&self, kind: OutageKind) -> Option<Severity> {
        match kind {
            OutageKind::Down => self.down_severity,
            OutageKind::Degraded => self.degraded_severity,
            OutageKind::Unstable => self.unstable_severity,
        }
    }

    /// Milliseconds that an outage lasts before it becomes an incident.
    #[must_use]
    pub fn open_after_ms(&self) -> i64 {
        i64::from(self.open_after_seconds) * 1_000
    }

    /// Milliseconds that everything works again before the incident is resolved.
    #[must_use]
    pub fn resolve_after_ms(&self) -> Option<i64> {
        self.resolve_after_seconds.map(|seconds| i64::from(seconds) * 1_000)
    }

    /// The time at which an incident is resolved whose services all work since `recovered_at`; `None` = members
    /// resolve it.
    #[must_use]
    pub fn resolves_at(&self, recovered_at: Timestamp) -> Option<Timestamp> {
        self.resolve_after_ms().map(|ms| recovered_at.plus_ms(ms))
    }

    /// Returns true if services that carry the same tag with this key (the same value, or both none) belong together.
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
    /// Its position in the order, from 1.
    pub position: i32,
    /// 1..255 characters.
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
    /// Returns true if the policy is for a service with these tags (keys of rows).
    #[must_use]
    pub fn matches(&self, tags: &[i64]) -> bool {
        self.tag.as_ref().is_none_or(|tag| tags.contains(&tag.key))
    }
}

/// The policy that decides for a service with these tags: the first one in the order that matches.
#[must_use]
pub fn first_match<'a>(policies: &'a [IncidentPolicy], tags: &[i64]) -> Option<&'a IncidentPolicy> {
    policies.iter().filter(|policy| policy.matches(tags)).min_by_key(|policy| policy.position)
}

/// The policy that decides for services with these tags together: the first one in the order that matches any of them.
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

    /// The tags of the service, and the policy of (1: tag 7), (2: tag 8), (3: all).
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

    /// The tags of several services, and the policy of (1: tag 7), (2: tag 8), (3: all) that decides for them together.
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

    /// Contract 4.9: measured down is a major outage, degraded is degraded.
    #[test]
    fn the_kind_of_an_outage_is_its_impact() {
        assert_eq!(OutageKind::Down.impact(), Impact::MajorOutage);
        assert_eq!(OutageKind::Degraded.impact(), Impact::Degraded);
        assert!(OutageKind::Down > OutageKind::Degraded && OutageKind::Degraded > OutageKind::Unstable);
    }
}
