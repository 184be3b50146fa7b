//! The documents of a status page for visitors: plain values for the templates, which escape all of them.

use askama::Template;

use crate::history_figures::response_chart::ResponseChart;
use crate::pages::bars::UptimeBar;
use crate::pages::display_time::DisplayTime;
use crate::pages::frame::PageFrame;

/// The present state of all components.
#[derive(Template)]
#[template(path = "page.html")]
pub(super) struct PublicPage {
    pub(super) frame: PageFrame,
    /// Hash of the fragments that may change while the page is open.
    pub(super) revision: String,
    pub(super) overall: StatusBadge,
    pub(super) entries: Vec<ComponentEntry>,
    pub(super) incidents: Vec<PageAnnouncement>,
    pub(super) maintenances: Vec<PageAnnouncement>,
    /// Path of the past; `None` if the page does not show it.
    pub(super) history: Option<String>,
}

/// The overall status as a fragment.
#[derive(Template)]
#[template(path = "overall.html")]
pub(super) struct OverallFragment<'a> {
    pub(super) overall: &'a StatusBadge,
}

/// The incidents and maintenances as a fragment.
#[derive(Template)]
#[template(path = "announcements.html")]
pub(super) struct AnnouncementsFragment<'a> {
    pub(super) frame: &'a PageFrame,
    pub(super) incidents: &'a [PageAnnouncement],
    pub(super) maintenances: &'a [PageAnnouncement],
}

/// The line of a group as a fragment.
#[derive(Template)]
#[template(path = "summary.html")]
pub(super) struct GroupFragment<'a> {
    pub(super) entry: &'a ComponentEntry,
}

/// A component with its past days, or a group with its members.
#[derive(Template)]
#[template(path = "component.html")]
pub(super) struct ComponentPage {
    pub(super) frame: PageFrame,
    pub(super) entry: ComponentEntry,
    /// The days, latest first.
    pub(super) days: Vec<DayRow>,
    /// The latest periods that were not up, latest first.
    pub(super) periods: Vec<PeriodRow>,
    /// The newest checks of locations, if the page shows them.
    pub(super) locations: Vec<LocationRow>,
    /// The agreed availabilities, if the page shows them.
    pub(super) agreements: Vec<AgreementRow>,
    /// Charts of response times, shortest range first.
    pub(super) charts: Vec<ChartView>,
}

/// A chart of response times.
#[derive(Debug)]
pub(super) struct ChartView {
    pub(super) chart: ResponseChart,
    /// Name of the range.
    pub(super) title: String,
    /// The median and the 95th percentile of the whole range.
    pub(super) summary: String,
    /// Start of the range.
    pub(super) from: DisplayTime,
}

/// The incidents and maintenances of a month.
#[derive(Template)]
#[template(path = "month.html")]
pub(super) struct MonthPage {
    pub(super) frame: PageFrame,
    /// Name of the month.
    pub(super) title: String,
    pub(super) incidents: Vec<PageAnnouncement>,
    pub(super) maintenances: Vec<PageAnnouncement>,
    /// Paths of the month before and after; `None` if there is nothing.
    pub(super) earlier: Option<String>,
    pub(super) later: Option<String>,
}

/// An incident or a maintenance at its own address.
#[derive(Template)]
#[template(path = "single.html")]
pub(super) struct AnnouncementPage {
    pub(super) frame: PageFrame,
    pub(super) announcement: PageAnnouncement,
}

/// A plain page with one sentence.
#[derive(Template)]
#[template(path = "message.html")]
pub(super) struct MessagePage {
    /// Inline style: a host without a page serves no files.
    pub(super) style: &'static str,
    pub(super) title: &'static str,
    pub(super) text: &'static str,
}

/// A status as text; its colour adds no information.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct StatusBadge {
    /// Class in the style sheet.
    pub(super) class: &'static str,
    pub(super) text: String,
}

/// A component, or a group with its members.
#[derive(Debug, PartialEq, Eq, Template)]
#[template(path = "entry.html")]
pub(super) struct ComponentEntry {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) description: Option<String>,
    pub(super) badge: StatusBadge,
    /// Text that names the cause of being unreachable.
    pub(super) because_of: Option<String>,
    pub(super) is_group: bool,
    pub(super) is_open: bool,
    pub(super) children: Vec<Self>,
    /// The past days; `None` if they are not shown or not known.
    pub(super) bar: Option<EntryBar>,
}

/// The past days of a component.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct EntryBar {
    pub(super) bar: UptimeBar,
    /// Path of the component's own document.
    pub(super) address: String,
    /// What the bar shows, for those who do not see it.
    pub(super) label: String,
    /// Uptime of the days; `None` if nothing was measured.
    pub(super) uptime: Option<String>,
    /// Texts below the ends of the bar.
    pub(super) oldest: String,
    pub(super) newest: String,
}

/// A day of a component.
#[derive(Debug)]
pub(super) struct DayRow {
    /// Date, as `2026-11-27`.
    pub(super) date: String,
    pub(super) badge: StatusBadge,
    /// Uptime in per cent; empty if nothing was measured.
    pub(super) uptime: String,
    /// Durations; empty for none.
    pub(super) down: String,
    pub(super) degraded: String,
    pub(super) maintenance: String,
    pub(super) unmeasured: String,
}

/// A period of a component.
#[derive(Debug)]
pub(super) struct PeriodRow {
    pub(super) badge: StatusBadge,
    pub(super) from: DisplayTime,
    /// `None` while it lasts.
    pub(super) to: Option<DisplayTime>,
    /// Length; empty while it lasts.
    pub(super) duration: String,
}

/// The newest check of a location.
#[derive(Debug)]
pub(super) struct LocationRow {
    pub(super) name: String,
    pub(super) badge: StatusBadge,
    pub(super) at: DisplayTime,
}

/// An agreed availability in its present period.
#[derive(Debug)]
pub(super) struct AgreementRow {
    pub(super) period: String,
    /// The availability so far; `None` if nothing was measured.
    pub(super) reached: Option<String>,
    pub(super) agreed: String,
    /// The downtime so far, and how much of it is permitted.
    pub(super) budget: String,
    /// The same in per cent, at most 100.
    pub(super) used_percent: i64,
    pub(super) badge: StatusBadge,
}

/// An incident or a maintenance.
pub(super) struct PageAnnouncement {
    pub(super) title: String,
    /// Path of its own document; `None` in that document.
    pub(super) address: Option<String>,
    /// State of the work, if there is one.
    pub(super) state: Option<String>,
    /// Start, and for a maintenance the planned end.
    pub(super) start: DisplayTime,
    pub(super) end: Option<DisplayTime>,
    pub(super) has_open_end: bool,
    /// Names of affected services.
    pub(super) affected: Vec<String>,
    /// Newest first.
    pub(super) updates: Vec<AnnouncementUpdate>,
}

/// An entry of a timeline.
pub(super) struct AnnouncementUpdate {
    pub(super) state: Option<String>,
    pub(super) at: DisplayTime,
    /// HTML that is safe to show.
    pub(super) message: String,
}
