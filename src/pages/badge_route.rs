//! The addresses of badges, and what each badge says.

use url::form_urlencoded;

use crate::clock::Timestamp;
use crate::history_figures::response_series::ResponseSeries;
use crate::model::component::status::ComponentStatus;
use crate::pages::badge::{BadgeImage, BadgeStyle};
use crate::pages::bars::DAYS;
use crate::pages::overall_state::OverallState;
use crate::pages::page_texts::{PageTexts, TextValue};
use crate::pages::snapshot::{PageComponent, PageSnapshot};
use crate::stats::service_days::{ServiceDays, thousandths};
use crate::stats::uptime::Availability;

const FOLDER: &str = "/badge/";
const COMPONENTS: &str = "/components/";
/// Days of an uptime for which the address names none.
const DAYS_DEFAULT: i64 = 30;
/// Uptimes in thousandths of a per cent from which a badge has the colour of a status; below the last one, that of a major
/// outage.
const UPTIME_TONES: [(i64, ComponentStatus); 3] = [
    (99_900, ComponentStatus::Operational),
    (99_000, ComponentStatus::Degraded),
    (95_000, ComponentStatus::PartialOutage),
];

/// The value that a badge shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BadgeKind {
    /// The present status.
    Status,
    /// The uptime of the last days.
    Uptime,
    /// The response time of a component in the last day.
    Response,
}

/// The form of a badge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BadgeFormat {
    /// An SVG image.
    Svg,
    /// JSON for shields.io.
    Shields,
}

impl BadgeKind {
    const ALL: [Self; 3] = [Self::Status, Self::Uptime, Self::Response];

    const fn name(self) -> &'static str {
        match self {
            Self::Status => "status",
            Self::Uptime => "uptime",
            Self::Response => "response",
        }
    }
}

impl BadgeFormat {
    const ALL: [Self; 2] = [Self::Svg, Self::Shields];

    /// Returns the ending of the path.
    const fn ending(self) -> &'static str {
        match self {
            Self::Svg => "svg",
            Self::Shields => "shields.json",
        }
    }
}

/// A badge that a path names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BadgeRoute<'a> {
    /// Id of the component; `None` = the whole page.
    pub(super) component: Option<&'a str>,
    pub(super) kind: BadgeKind,
    pub(super) format: BadgeFormat,
}

/// What the query of an address says about a badge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct BadgeQuery {
    /// Label in place of the name of the page or component.
    pub(super) label: Option<String>,
    pub(super) style: BadgeStyle,
    /// Number of days of an uptime.
    pub(super) days: i64,
    /// True for the median of response times, false for the 95th percentile.
    pub(super) is_median: bool,
}

/// What badges show of the past, apart from the snapshot.
#[derive(Clone, Copy, Debug)]
pub(super) struct BadgePast<'a> {
    pub(super) now: Timestamp,
    /// Response times of the last day; `None` if visitors see none.
    pub(super) day: Option<&'a ResponseSeries>,
}

impl Default for BadgeQuery {
    fn default() -> Self {
        Self { label: None, style: BadgeStyle::default(), days: DAYS_DEFAULT, is_median: false }
    }
}

impl<'a> BadgeRoute<'a> {
    /// Reads a path that names no language; `None` if it is not the path of a badge.
    pub(super) fn at(path: &'a str) -> Option<Self> {
        let (component, name) = match path.strip_prefix(FOLDER) {
            Some(name) => (None, name),
            None => {
                let (id, rest) = path.strip_prefix(COMPONENTS)?.split_once('/')?;
                (Some(id), rest.strip_prefix(&FOLDER[1..])?)
            }
        };
        let (name, ending) = name.split_once('.')?;
        let format = BadgeFormat::ALL.into_iter().find(|format| format.ending() == ending)?;
        let kind = BadgeKind::ALL.into_iter().find(|kind| kind.name() == name)?;
        Some(Self { component, kind, format })
    }

    /// Returns all badges of a component, or of the whole page.
    pub(super) fn all(component: Option<&'a str>) -> impl Iterator<Item = Self> {
        let of_kind = move |kind| BadgeFormat::ALL.map(|format| Self { component, kind, format });
        BadgeKind::ALL.into_iter().flat_map(of_kind)
    }

    /// Returns the path of the badge, without a language.
    pub(super) fn path(self) -> String {
        let folder = self.component.map_or_else(String::new, |id| format!("{COMPONENTS}{id}"));
        format!("{folder}{FOLDER}{}.{}", self.kind.name(), self.format.ending())
    }

    /// Returns the badge of a page in a language at this time; `None` if the page has no such badge for visitors.
    pub(super) fn badge(
        self,
        snapshot: &PageSnapshot,
        locale: &str,
        query: &BadgeQuery,
        past: &BadgePast<'_>,
    ) -> Option<BadgeImage> {
        let default = snapshot.languages().default;
        let component = match self.component {
            None => None,
            Some(id) => {
                let found = snapshot.components.iter().find(|one| one.component.id.as_str() == id)?;
                Some(found).filter(|one| one.status.is_some())
            }
        };
        if self.component.is_some() && component.is_none() {
            return None;
        }
        let name = component.map_or(&snapshot.page.name, |one| &one.component.name);
        let label = query.label.as_deref().unwrap_or_else(|| name.text(locale, &default));
        let words = PageTexts::of(locale);
        let image = match self.kind {
            BadgeKind::Status => {
                let overall = || OverallState::of_page(snapshot).status;
                let status = component.and_then(|one| one.status).unwrap_or_else(overall);
                BadgeImage::new(label, &words.component(status), status)
            }
            BadgeKind::Uptime => {
                let known = known_days(snapshot, component);
                if known.is_empty() && component.is_some_and(|one| !one.component.show_uptime_bars) {
                    return None;
                }
                uptime_badge(label, &known, query.days, past.now, &words)
            }
            BadgeKind::Response => {
                component?.days.as_ref()?;
                response_badge(label, past.day, query.is_median, &words)
            }
        };
        Some(BadgeImage { style: query.style, ..image })
    }
}

/// Returns the days of a component, of the members of a group, or of the whole page, as far as visitors see them.
fn known_days<'a>(snapshot: &'a PageSnapshot, component: Option<&PageComponent>) -> Vec<&'a ServiceDays> {
    let is_within = |one: &PageComponent| {
        let Some(top) = component else { return true };
        let mut at = Some(one.component.key);
        while let Some(key) = at {
            if key == top.component.key {
                return true;
            }
            at = snapshot
                .components
                .iter()
                .find(|one| one.component.key == key)
                .and_then(|one| one.component.parent);
        }
        false
    };
    let visible = snapshot.components.iter().filter(|one| one.status.is_some() && is_within(one));
    visible.filter_map(|one| one.days.as_deref()).collect()
}

fn response_badge(
    label: &str,
    day: Option<&ResponseSeries>,
    is_median: bool,
    words: &PageTexts,
) -> BadgeImage {
    let (name, time) = match day {
        Some(day) if is_median => ("p50", day.p50_us),
        Some(day) => ("p95", day.p95_us),
        None => ("", None),
    };
    match time {
        None => BadgeImage::new(label, &words.text("unmeasured"), ComponentStatus::Unknown),
        Some(us) => {
            let message = format!("{} ({name})", words.milliseconds(us));
            BadgeImage::new(label, &message, ComponentStatus::Operational)
        }
    }
}

fn uptime_badge(
    label: &str,
    known: &[&ServiceDays],
    days: i64,
    now: Timestamp,
    words: &PageTexts,
) -> BadgeImage {
    let mut sum = Availability::default();
    for service in known {
        let found = service.availability(days, now);
        sum.up_ms += found.up_ms;
        sum.down_ms += found.down_ms;
    }
    let Some(uptime) = thousandths(sum.up_ms, sum.up_ms + sum.down_ms) else {
        return BadgeImage::new(label, &words.text("unmeasured"), ComponentStatus::Unknown);
    };
    let tone = UPTIME_TONES.into_iter().find(|(from, _)| uptime >= *from);
    let tone = tone.map_or(ComponentStatus::MajorOutage, |(_, tone)| tone);
    let message = words.filled("uptime", &[TextValue::text("percent", &words.percent(uptime))]);
    BadgeImage::new(label, &message, tone)
}

impl BadgeQuery {
    /// Reads a query string; unknown parts are ignored.
    pub(super) fn read(query: &str) -> Self {
        let mut found = Self::default();
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            match (&*name, &*value) {
                ("label", _) => found.label = Some(value.into_owned()),
                ("style", "flat") => found.style = BadgeStyle::Flat,
                ("style", "flat-square") => found.style = BadgeStyle::FlatSquare,
                ("p", "50") => found.is_median = true,
                ("p", "95") => found.is_median = false,
                ("days", days) => {
                    found.days = days.parse().map_or(DAYS_DEFAULT, |days: i64| days.clamp(1, DAYS));
                }
                _ => {}
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::clock::DAY_MS;
    use crate::stats::service_days::DayTimes;

    /// A service that was down for a part of the first of two days, in per mille.
    fn days(down: i64) -> ServiceDays {
        let down_ms = DAY_MS * down / 1_000;
        let first = DayTimes { day: 0, down_ms, up_ms: DAY_MS - down_ms, ..DayTimes::default() };
        ServiceDays {
            from: Timestamp::from_ms(0),
            first_day: 0,
            last_day: 1,
            troubled: if down == 0 { Vec::new() } else { vec![first] },
            uptime: None,
            coverage: 0,
            periods: Vec::new(),
        }
    }

    #[rstest]
    #[case(&[], 30, "No data", ComponentStatus::Unknown)]
    #[case(&[0], 30, "100 % uptime", ComponentStatus::Operational)]
    #[case(&[4], 30, "99.80 % uptime", ComponentStatus::Degraded)]
    #[case(&[4], 1, "100 % uptime", ComponentStatus::Operational)]
    #[case(&[0, 20], 30, "99.50 % uptime", ComponentStatus::Degraded)]
    #[case(&[100], 30, "95 % uptime", ComponentStatus::PartialOutage)]
    #[case(&[1_000], 30, "50 % uptime", ComponentStatus::MajorOutage)]
    fn a_badge_shows_the_uptime_of_the_last_days(
        #[case] down: &[i64],
        #[case] count: i64,
        #[case] message: &str,
        #[case] tone: ComponentStatus,
    ) {
        let services: Vec<ServiceDays> = down.iter().map(|down| days(*down)).collect();
        let known: Vec<&ServiceDays> = services.iter().collect();
        let now = Timestamp::from_ms(2 * DAY_MS);
        let badge = uptime_badge("Shop", &known, count, now, &PageTexts::of("en"));
        assert_eq!((badge.message.as_str(), badge.tone), (message, tone));
    }

    #[rstest]
    #[case("/badge/status.svg", Some("None Status Svg"))]
    #[case("/badge/status.shields.json", Some("None Status Shields"))]
    #[case("/components/abc/badge/response.svg", Some("Some(\"abc\") Response Svg"))]
    #[case("/badge/uptime.svg", Some("None Uptime Svg"))]
    #[case("/components/abc/badge/status.svg", Some("Some(\"abc\") Status Svg"))]
    #[case("/components/abc/badge/status.shields.json", Some("Some(\"abc\") Status Shields"))]
    #[case("/components/abc/status.svg", None)]
    #[case("/badge/status.png", None)]
    #[case("/badge/other.svg", None)]
    #[case("/badge/status", None)]
    #[case("/badge/", None)]
    fn a_path_names_a_badge(#[case] path: &str, #[case] expected: Option<&str>) {
        let found = BadgeRoute::at(path);
        let found = found.map(|found| format!("{:?} {:?} {:?}", found.component, found.kind, found.format));
        assert_eq!(found.as_deref(), expected);
    }

    #[rstest]
    #[case("", BadgeQuery::default())]
    #[case("style=flat", BadgeQuery::default())]
    #[case("style=plastic&other=1&days=x&p=99", BadgeQuery::default())]
    #[case("label=My+shop%21", BadgeQuery { label: Some("My shop!".into()), ..BadgeQuery::default() })]
    #[case("label=", BadgeQuery { label: Some(String::new()), ..BadgeQuery::default() })]
    #[case("label=%ff", BadgeQuery { label: Some("\u{fffd}".into()), ..BadgeQuery::default() })]
    #[case("style=flat-square", BadgeQuery { style: BadgeStyle::FlatSquare, ..BadgeQuery::default() })]
    #[case("days=7", BadgeQuery { days: 7, ..BadgeQuery::default() })]
    #[case("days=1000", BadgeQuery { days: 90, ..BadgeQuery::default() })]
    #[case("days=-1", BadgeQuery { days: 1, ..BadgeQuery::default() })]
    #[case("p=50", BadgeQuery { is_median: true, ..BadgeQuery::default() })]
    fn a_query_changes_a_badge(#[case] query: &str, #[case] expected: BadgeQuery) {
        assert_eq!(BadgeQuery::read(query), expected);
    }

    #[rstest]
    #[case(false, Some(42_900), "42 ms (p95)")]
    #[case(true, Some(42_900), "7 ms (p50)")]
    #[case(false, None, "No data")]
    fn a_badge_shows_the_response_time_of_a_day(
        #[case] is_median: bool,
        #[case] p95_us: Option<u32>,
        #[case] message: &str,
    ) {
        let range = crate::history_figures::response_series::RANGES[0];
        let from = Timestamp::from_ms(0);
        let day =
            ResponseSeries { range, from, buckets: Vec::new(), p50_us: Some(7_000), p95_us, p99_us: None };
        let badge = response_badge("Shop", Some(&day), is_median, &PageTexts::of("en"));
        assert_eq!(badge.message, message);
    }
}
