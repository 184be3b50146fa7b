//! The query of a list of services, such as `status:down tag:env:prod name~shop sort:-since`.
//!
//! A service is in the list if it passes all filters; within a filter one of the values is enough. A query written by
//! [`Display`](fmt::Display) is parsed to the same query (`query_parser`).

use std::fmt;

use crate::model::check::CheckType;
use crate::model::service::ServiceStatus;
use crate::model::tag::TagName;
use crate::model::word_enum::words;

/// A query of a list of services.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct FleetQuery {
    /// The filters, all of which a service must pass.
    pub filters: Vec<FleetFilter>,
    /// The order of the list.
    pub sort: FleetSort,
    /// Key of the tags by whose values the services are grouped; `None` = no groups.
    pub group: Option<String>,
}

/// One filter of a query.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FleetFilter {
    /// True if the services that meet the condition are left out.
    pub is_negated: bool,
    /// The condition.
    pub condition: FilterCondition,
}

/// A condition on a service. A list of values is met by one of them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum FilterCondition {
    /// `status:`: the effective status is one of these; `up` includes `operational`.
    Status(Vec<ServiceStatus>),
    /// `tag:`: the service has one of these tags. A key alone is the tag without a value, as in `GET /v1/services`.
    Tag(Vec<TagName>),
    /// `type:`: the check type is one of these.
    CheckType(Vec<CheckType>),
    /// `in:`: one of these locations (codes in lower case) checks the service.
    Location(Vec<String>),
    /// `is:`: one of these marks is set.
    Mark(Vec<ServiceMark>),
    /// `has:incident`: an open incident affects the service.
    OpenIncident,
    /// `since>`: the service has had its status for longer than this number of milliseconds.
    LongerThan(i64),
    /// `since<`: the service has had its status for less than this number of milliseconds.
    ShorterThan(i64),
    /// `uptime>`: the uptime over 30 days is above this number of millionths.
    UptimeAbove(u32),
    /// `uptime<`: the uptime over 30 days is below this number of millionths.
    UptimeBelow(u32),
    /// A text that occurs in the service, without case.
    Text(TextFilter),
    /// A filter of which no value is known: it finds nothing, also if it is negated.
    Unknown(UnknownFilter),
}

/// A filter as it was entered, of which no value is known.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct UnknownFilter {
    /// The key, such as `status`.
    pub key: String,
    /// The operator behind the key.
    pub operator: char,
    /// The value, without quotes.
    pub value: String,
}

/// A text to search for, without case.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TextFilter {
    /// The part of the service that is searched.
    pub place: TextPlace,
    /// The text, not empty.
    pub text: String,
}

/// The parts of a service that can be searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TextPlace {
    /// Name or target.
    Anywhere,
    /// `name~`: only the name.
    Name,
    /// `target~`: only the target.
    Target,
}

words! {
    /// Marks of a service, independent of its status.
    pub enum ServiceMark {
        /// The status changes too often.
        Flapping,
        /// A person or the plan has paused the service, whatever status is shown.
        Paused,
        /// A maintenance in progress covers the service, whatever status is shown.
        Maintenance,
        /// Nobody is alerted about the service, because a maintenance in progress covers it: a planned one, or one by which
        /// somebody has silenced the service.
        Silenced,
        /// Every open incident that affects the service is acknowledged, and there is at least one.
        Acknowledged,
        /// No node monitors the service at present.
        Unwatched,
    }
}

/// The order of a list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct FleetSort {
    /// The field by which services are sorted.
    pub field: SortField,
    /// True for the reverse order.
    pub is_descending: bool,
}

words! {
    /// The fields by which services are sorted.
    #[derive(Default)]
    pub enum SortField {
        /// The worst status first, then by name. The reverse order turns only the statuses around.
        #[default]
        Status,
        /// The name, without case.
        Name,
        /// The time for which services have had their status, shortest first. Those without such a time come last, in either
        /// order.
        Since,
    }
}

/// The units of a duration, longest first, with their milliseconds.
pub(super) const DURATION_UNITS: [DurationUnit; 5] = [
    DurationUnit { letter: 'w', ms: 604_800_000 },
    DurationUnit { letter: 'd', ms: 86_400_000 },
    DurationUnit { letter: 'h', ms: 3_600_000 },
    DurationUnit { letter: 'm', ms: 60_000 },
    DurationUnit { letter: 's', ms: 1_000 },
];

/// A unit of a duration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DurationUnit {
    /// The letter behind the number.
    pub(super) letter: char,
    /// Milliseconds of one unit.
    pub(super) ms: i64,
}

impl fmt::Display for FleetQuery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let filters = self.filters.iter().map(ToString::to_string);
        let sort = (self.sort != FleetSort::default()).then(|| format!("sort:{}", self.sort));
        let group = self.group.as_ref().map(|key| format!("group:tag:{key}"));
        f.write_str(&filters.chain(sort).chain(group).collect::<Vec<_>>().join(" "))
    }
}

impl fmt::Display for FleetFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_negated {
            f.write_str("-")?;
        }
        self.condition.fmt(f)
    }
}

impl fmt::Display for FilterCondition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Status(statuses) => write!(f, "status:{}", list(statuses)),
            Self::Tag(tags) => write!(f, "tag:{}", list(tags)),
            Self::CheckType(types) => write!(f, "type:{}", list(types)),
            Self::Location(codes) => write!(f, "in:{}", list(codes)),
            Self::Mark(marks) => write!(f, "is:{}", list(marks)),
            Self::OpenIncident => f.write_str("has:incident"),
            Self::LongerThan(ms) => write!(f, "since>{}", duration(*ms)),
            Self::ShorterThan(ms) => write!(f, "since<{}", duration(*ms)),
            Self::UptimeAbove(ppm) => write!(f, "uptime>{}", percent(*ppm)),
            Self::UptimeBelow(ppm) => write!(f, "uptime<{}", percent(*ppm)),
            Self::Text(TextFilter { place: TextPlace::Name, text }) => write!(f, "name~{}", value(text)),
            Self::Text(TextFilter { place: TextPlace::Target, text }) => write!(f, "target~{}", value(text)),
            Self::Text(TextFilter { place: TextPlace::Anywhere, text }) => f.write_str(&word(text)),
            Self::Unknown(UnknownFilter { key, operator, value: text }) => {
                write!(f, "{key}{operator}{}", value(text))
            }
        }
    }
}

impl fmt::Display for FleetSort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", if self.is_descending { "-" } else { "" }, self.field)
    }
}

fn list(values: &[impl fmt::Display]) -> String {
    values.iter().map(|one| value(&one.to_string())).collect::<Vec<_>>().join(",")
}

/// A value behind an operator, in quotes if it would be read differently without.
fn value(text: &str) -> String {
    let is_special = |letter: char| letter.is_whitespace() || matches!(letter, '"' | '\\' | ',');
    if text.contains(is_special) { quoted(text) } else { text.to_owned() }
}

/// A word without an operator, in quotes if it would be read differently without.
fn word(text: &str) -> String {
    let is_operator = |letter| matches!(letter, ':' | '~' | '<' | '>');
    if text.starts_with('-') || text.contains(is_operator) { quoted(text) } else { value(text) }
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// Millionths as a percentage without superfluous zeros.
fn percent(ppm: u32) -> String {
    let text = format!("{}.{:04}", ppm / 10_000, ppm % 10_000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// A duration in its longest unit that divides it.
fn duration(ms: i64) -> String {
    let unit = DURATION_UNITS.into_iter().find(|unit| ms % unit.ms == 0);
    unit.map_or_else(|| format!("{}s", ms / 1_000), |unit| format!("{}{}", ms / unit.ms, unit.letter))
}
