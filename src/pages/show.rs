//! Renders snapshots of a page as HTML documents for visitors, each in one language.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use askama::Template as _;

use crate::clock::{DAY_MS, Timestamp};
use crate::history_figures::response_chart::ResponseChart;
use crate::history_figures::response_series::ResponseSeries;
use crate::id::Id;
use crate::model::maintenance::MaintenanceStatus;
use crate::model::service::ServiceKey;
use crate::model::statuspage::Statuspage;
use crate::pages::announcement_view::AnnouncementRenderer;
use crate::pages::announcements::AnnouncementNames;
use crate::pages::calendar_month::CalendarMonth;
use crate::pages::component_view::{ShownComponent, VisitorLanguage};
use crate::pages::days_view;
use crate::pages::display_time::DisplayTime;
use crate::pages::figures_view;
use crate::pages::frame::{PageChoices, PageFrame};
use crate::pages::live::fragments::{PageFragment, PageFragments};
use crate::pages::page_texts::{PageTexts, TextValue};
use crate::pages::screen::PageScreen;
use crate::pages::service_figures::ServiceFigures;
use crate::pages::snapshot::{PageComponent, PageHistory, PageSnapshot};
use crate::pages::view::{
    AnnouncementPage, AnnouncementsFragment, ChartView, ComponentEntry, ComponentPage, GroupFragment,
    MonthPage, OverallFragment, PublicPage,
};
use crate::store::announcements::StoredAnnouncement;

/// Renders the present state of all components. `month` is the present month.
///
/// # Errors
/// When the template cannot be rendered.
pub(super) fn page(
    snapshot: &PageSnapshot,
    choices: &PageChoices,
    month: CalendarMonth,
) -> Result<Vec<u8>, askama::Error> {
    let frame = PageFrame::of(snapshot, choices, PageScreen::Current, None);
    public_page(snapshot, choices, month, frame)?.render().map(String::into_bytes)
}

/// Renders the present state of all components for a frame in another document: without a script, with the style sheets in
/// `folder`, and with links that lead to the public page.
///
/// # Errors
/// When the template cannot be rendered.
pub(super) fn preview(
    snapshot: &PageSnapshot,
    choices: &PageChoices,
    month: CalendarMonth,
    folder: &str,
) -> Result<Vec<u8>, askama::Error> {
    let mut frame = PageFrame::of(snapshot, choices, PageScreen::Current, None);
    frame.move_into_frame(&snapshot.url, folder);
    public_page(snapshot, choices, month, frame)?.render().map(String::into_bytes)
}

fn public_page(
    snapshot: &PageSnapshot,
    choices: &PageChoices,
    month: CalendarMonth,
    frame: PageFrame,
) -> Result<PublicPage, askama::Error> {
    let names = AnnouncementNames::of(snapshot, &choices.locale);
    let default = snapshot.languages().default;
    let reader = visitor(choices, &default, &frame.base);
    let parts = parts(snapshot, &names);
    let renderer = AnnouncementRenderer { words: &frame.words, names: &names, base: Some(&frame.base) };
    let mut page = PublicPage {
        revision: String::new(),
        overall: reader.overall(&parts),
        entries: reader.entries(&parts),
        incidents: snapshot.incidents.iter().map(|one| renderer.incident(one)).collect(),
        maintenances: snapshot.maintenances.iter().map(|one| renderer.maintenance(one)).collect(),
        history: snapshot.page.shows.incident_history.then(|| month_path(&frame.base, month)),
        frame,
    };
    page.revision = fragments(&page, access(&snapshot.page))?.revision().to_owned();
    Ok(page)
}

/// Renders the parts of the present state that change while the page is open.
///
/// # Errors
/// When a template cannot be rendered.
pub(super) fn live_fragments(
    snapshot: &PageSnapshot,
    choices: &PageChoices,
    month: CalendarMonth,
) -> Result<PageFragments, askama::Error> {
    let frame = PageFrame::of(snapshot, choices, PageScreen::Current, None);
    fragments(&public_page(snapshot, choices, month, frame)?, access(&snapshot.page))
}

/// Returns a number that changes when other visitors may see the page.
fn access(page: &Statuspage) -> u64 {
    let mut hasher = DefaultHasher::new();
    (page.access_type.as_str(), &page.password_hash, &page.email_whitelist).hash(&mut hasher);
    hasher.finish()
}

fn fragments(page: &PublicPage, access: u64) -> Result<PageFragments, askama::Error> {
    let PublicPage { frame, overall, incidents, maintenances, .. } = page;
    let announcements = AnnouncementsFragment { frame, incidents, maintenances };
    let mut found = vec![
        PageFragment { id: "overall".to_owned(), html: OverallFragment { overall }.render()? },
        PageFragment { id: "announcements".to_owned(), html: announcements.render()? },
    ];
    add_entries(&mut found, &page.entries)?;
    Ok(PageFragments::new(found, access))
}

fn add_entries(found: &mut Vec<PageFragment>, entries: &[ComponentEntry]) -> Result<(), askama::Error> {
    for entry in entries {
        let html = if entry.is_group { GroupFragment { entry }.render()? } else { entry.render()? };
        found.push(PageFragment { id: format!("c-{}", entry.id), html });
        add_entries(found, &entry.children)?;
    }
    Ok(())
}

/// Renders a component or a group; `None` if visitors see none with this id.
///
/// # Errors
/// When the template cannot be rendered.
pub(super) fn component(
    snapshot: &PageSnapshot,
    choices: &PageChoices,
    id: Id,
    figures: &ServiceFigures,
) -> Result<Option<Vec<u8>>, askama::Error> {
    let names = AnnouncementNames::of(snapshot, &choices.locale);
    let parts = parts(snapshot, &names);
    let Some(part) = parts.iter().find(|part| part.id == id) else { return Ok(None) };
    let Some(status) = part.status else { return Ok(None) };
    let default = snapshot.languages().default;
    let name = names.text(part.name);
    let frame = PageFrame::of(snapshot, choices, PageScreen::Component(id), Some(&name));
    let reader = visitor(choices, &default, &frame.base);
    let page = ComponentPage {
        entry: reader.entry(part, status, &parts),
        days: part.days.map_or_else(Vec::new, |days| days_view::day_rows(&frame.words, days)),
        periods: part.days.map_or_else(Vec::new, |days| days_view::period_rows(&frame.words, days)),
        charts: figures.ranges.iter().filter_map(|one| chart(&frame.words, one)).collect(),
        locations: figures_view::location_rows(&frame.words, &figures.locations),
        agreements: figures_view::agreement_rows(&frame.words, &figures.agreements),
        frame,
    };
    page.render().map(|html| Some(html.into_bytes()))
}

/// Renders a month of the past. `present` is the present month.
///
/// # Errors
/// When the template cannot be rendered.
pub(super) fn month(
    history: &PageHistory,
    choices: &PageChoices,
    month: CalendarMonth,
    present: CalendarMonth,
) -> Result<Vec<u8>, askama::Error> {
    let title = month_name(&PageTexts::of(&choices.locale), month);
    let frame = PageFrame::of(&history.page, choices, PageScreen::Month(month), Some(&title));
    let names = AnnouncementNames::of(&history.page, &choices.locale);
    let renderer = AnnouncementRenderer { words: &frame.words, names: &names, base: Some(&frame.base) };
    let has_begun = |one: &&StoredAnnouncement<MaintenanceStatus>| {
        matches!(one.status, MaintenanceStatus::InProgress | MaintenanceStatus::Completed)
    };
    let past = history.maintenances.iter().filter(has_begun);
    let page = MonthPage {
        title,
        incidents: history.incidents.iter().map(|one| renderer.incident(one)).collect(),
        maintenances: past.map(|one| renderer.maintenance(one)).collect(),
        earlier: (month > history.first_month).then(|| month_path(&frame.base, month.previous())),
        later: (month < present).then(|| month_path(&frame.base, month.next())),
        frame,
    };
    page.render().map(String::into_bytes)
}

/// Renders the only incident or maintenance of a part of the past; `None` if there is none.
///
/// # Errors
/// When the template cannot be rendered.
pub(super) fn announcement(
    history: &PageHistory,
    choices: &PageChoices,
    screen: PageScreen,
) -> Result<Option<Vec<u8>>, askama::Error> {
    let words = PageTexts::of(&choices.locale);
    let names = AnnouncementNames::of(&history.page, &choices.locale);
    let renderer = AnnouncementRenderer { words: &words, names: &names, base: None };
    let incident = history.incidents.first().map(|one| renderer.incident(one));
    let found = incident.or_else(|| history.maintenances.first().map(|one| renderer.maintenance(one)));
    let Some(announcement) = found else { return Ok(None) };
    let mut frame = PageFrame::of(&history.page, choices, screen, Some(&announcement.title));
    if let Some(subject) = screen.card() {
        frame.head.social.show_event(history, &words, subject);
    }
    AnnouncementPage { frame, announcement }.render().map(|html| Some(html.into_bytes()))
}

fn chart(words: &PageTexts, series: &ResponseSeries) -> Option<ChartView> {
    let chart = ResponseChart::of(series)?;
    let time = |us: Option<u32>| us.map(|us| words.milliseconds(us));
    let (median, high) = (time(series.p50_us)?, time(series.p95_us)?);
    let days = series.range.length_ms / DAY_MS;
    let values = [TextValue::text("median", &median), TextValue::text("high", &high)];
    Some(ChartView {
        title: words.filled("last-days", &[TextValue::number("days", days)]),
        summary: words.filled("response-summary", &values),
        from: DisplayTime::from(series.from),
        chart,
    })
}

fn visitor<'a>(choices: &'a PageChoices, default: &'a str, base: &'a str) -> VisitorLanguage<'a> {
    VisitorLanguage {
        base,
        chosen: &choices.locale,
        default,
        words: PageTexts::of(&choices.locale),
        last_day: choices.as_of.filter(|_| choices.is_export).map(Timestamp::date),
    }
}

fn month_path(base: &str, month: CalendarMonth) -> String {
    format!("{base}{}", PageScreen::Month(month).path())
}

fn month_name(words: &PageTexts, month: CalendarMonth) -> String {
    let name = words.text(&format!("month-{}", month.number()));
    let year = month.year().to_string();
    words.filled("history-of", &[TextValue::text("month", &name), TextValue::text("year", &year)])
}

fn parts<'a>(snapshot: &'a PageSnapshot, names: &AnnouncementNames<'_>) -> Vec<ShownComponent<'a>> {
    snapshot.components.iter().map(|one| part(one, names)).collect()
}

fn part<'a>(one: &'a PageComponent, names: &AnnouncementNames<'_>) -> ShownComponent<'a> {
    let PageComponent { component, status, because_of, days, .. } = one;
    let causes = |keys: &Vec<ServiceKey>| {
        keys.iter().filter_map(|key| names.linked(*key)).map(str::to_owned).collect()
    };
    ShownComponent {
        id: component.id,
        key: component.key,
        parent: component.parent,
        name: &component.name,
        description: component.description.as_ref(),
        status: *status,
        because_of: because_of.as_ref().map(causes),
        is_group: component.is_group,
        hides_operational: component.hide_operational_children,
        is_open_at_first: component.default_open,
        days: days.as_deref(),
    }
}
