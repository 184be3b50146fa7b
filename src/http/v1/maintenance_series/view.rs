//! Series as clients see them. Lists leave out pages, next occurrences and skipped occurrences, which require the calendar
//! of each series.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use crate::clock::Timestamp;
use crate::http::kit::error::ApiError;
use crate::http::kit::languages::AnswerLanguage;
use crate::http::kit::view::to_json;
use crate::http::openapi::shape::{
    ApiSchema, enum_of, id, list_of, string_or_null, timestamp, timestamp_or_null, translations,
};
use crate::http::v1::announcement::AuthorView;
use crate::http::v1::maintenances::view::{created_by, shown_kind, status as maintenance_status};
use crate::http::v1::named::NamedView;
use crate::id::Id;
use crate::model::maintenance::Maintenance;
use crate::model::maintenance::series::{MaintenanceSeries, SeriesStatus};
use crate::model::recurrence::Occurrence;
use crate::model::service::NamedService;
use crate::model::translated_text::TranslatedText;
use crate::store::StoreConnection;
use crate::store::maintenances::links::NamedPage;
use crate::store::maintenances::series::{links, occurrences};

/// Number of occurrences shown of each series.
const SHOWN: usize = 10;

/// A single series.
#[derive(Serialize, ToSchema)]
pub(super) struct SeriesView<'a> {
    #[serde(flatten)]
    #[schema(inline)]
    row: SeriesRowView<'a>,
    /// The status pages that were chosen for the series.
    statuspages: Vec<NamedView<'a>>,
    /// The next ten occurrences that are not skipped. The very next one, and those of the next 30 days, have a maintenance.
    next_occurrences: Vec<OccurrenceView>,
    /// The starts of future occurrences that were cancelled or deleted, as given by the rule.
    #[schema(schema_with = timestamps)]
    skipped: Vec<Timestamp>,
}

/// A series in a list.
#[derive(Serialize, ToSchema)]
pub(super) struct SeriesRowView<'a> {
    #[schema(schema_with = id)]
    id: Id,
    title: &'a str,
    #[schema(schema_with = translations)]
    title_translations: &'a TranslatedText,
    #[schema(schema_with = message, required)]
    message: Option<&'a str>,
    #[schema(schema_with = translations_or_null, required)]
    message_translations: Option<&'a TranslatedText>,
    #[schema(schema_with = shown_kind)]
    r#type: &'static str,
    #[schema(schema_with = status)]
    status: &'static str,
    recurrence: RecurrenceRuleView<'a>,
    /// Start of the first window.
    #[schema(schema_with = timestamp)]
    scheduled_start: Timestamp,
    /// End of the first window.
    #[schema(schema_with = timestamp)]
    scheduled_end: Timestamp,
    auto_start: bool,
    auto_complete: bool,
    notify_announcement: bool,
    notify_24h: bool,
    notify_1h: bool,
    notify_start: bool,
    notify_complete: bool,
    #[schema(schema_with = timestamp)]
    created_at: Timestamp,
    #[schema(schema_with = created_by, required)]
    created_by: Option<AuthorView<'a>>,
    services: Vec<NamedView<'a>>,
}

/// A recurrence rule and its time zone.
#[derive(Serialize, ToSchema)]
#[schema(as = RecurrenceRule)]
pub(super) struct RecurrenceRuleView<'a> {
    /// The rule in the form of RFC 5545, as it was sent.
    rrule: &'a str,
    /// A name of the IANA time zone database.
    time_zone: &'static str,
}

/// A future or running occurrence.
#[derive(Serialize, ToSchema)]
#[schema(as = MaintenanceOccurrence)]
pub(super) struct OccurrenceView {
    /// The start of the occurrence as given by the rule.
    #[schema(schema_with = timestamp)]
    occurrence: Timestamp,
    #[schema(schema_with = timestamp)]
    scheduled_start: Timestamp,
    #[schema(schema_with = timestamp_or_null, required)]
    scheduled_end: Option<Timestamp>,
    #[schema(schema_with = maintenance_id, required)]
    maintenance_id: Option<Id>,
    #[schema(schema_with = occurrence_status, required)]
    status: Option<&'static str>,
}

impl<'a> SeriesRowView<'a> {
    fn of(series: &'a MaintenanceSeries, services: &'a [NamedService], languages: &AnswerLanguage) -> Self {
        let (window, notices) = (series.recurrence.window(), series.notices);
        Self {
            id: series.id,
            title: languages.text(&series.title),
            title_translations: &series.title,
            message: series.message.as_ref().map(|message| languages.text(message)),
            message_translations: series.message.as_ref(),
            r#type: series.kind.as_str(),
            status: series.status.as_str(),
            recurrence: RecurrenceRuleView {
                rrule: series.recurrence.rule.as_str(),
                time_zone: series.recurrence.zone.name(),
            },
            scheduled_start: window.start,
            scheduled_end: window.end,
            auto_start: series.auto_start,
            auto_complete: series.auto_complete,
            notify_announcement: notices.announcement,
            notify_24h: notices.day_before,
            notify_1h: notices.hour_before,
            notify_start: notices.start,
            notify_complete: notices.complete,
            created_at: series.created_at,
            created_by: series.created_by.as_ref().map(AuthorView::from),
            services: services.iter().map(|service| NamedView::new(service.id, &service.name)).collect(),
        }
    }

    fn with(
        self,
        pages: &'a [NamedPage],
        ahead: UpcomingOccurrences,
        languages: &AnswerLanguage,
    ) -> SeriesView<'a> {
        let page = |page: &'a NamedPage| NamedView::new(page.id, languages.text(&page.name));
        SeriesView {
            row: self,
            statuspages: pages.iter().map(page).collect(),
            next_occurrences: ahead.next,
            skipped: ahead.skipped,
        }
    }
}

impl OccurrenceView {
    /// Creates the view of an occurrence, whose window users may have changed in its maintenance.
    fn of(window: Occurrence, standing: Option<&Maintenance>) -> Self {
        Self {
            occurrence: window.start,
            scheduled_start: standing.map_or(window.start, |standing| standing.schedule.start),
            scheduled_end: standing.map_or(Some(window.end), |standing| standing.schedule.end),
            maintenance_id: standing.map(|standing| standing.id),
            status: standing.map(|standing| standing.status.as_str()),
        }
    }
}

/// The calendar of a series from now on.
#[derive(Default)]
struct UpcomingOccurrences {
    next: Vec<OccurrenceView>,
    skipped: Vec<Timestamp>,
}

impl UpcomingOccurrences {
    async fn read(
        connection: &dyn StoreConnection,
        series: &MaintenanceSeries,
        now: Timestamp,
    ) -> Result<Self, ApiError> {
        let skips = occurrences::skips(connection, series.key).await?;
        if series.status == SeriesStatus::Cancelled {
            return Ok(Self::default());
        }
        let upcoming = series.recurrence.upcoming(now).filter(|window| !skips.contains(&window.start));
        let upcoming: Vec<Occurrence> = upcoming.take(SHOWN).collect();
        let from = upcoming.first().map(|window| window.start);
        let standing = occurrences::of(connection, series.key, from).await?;
        let standing: BTreeMap<i64, &Maintenance> = standing
            .iter()
            .filter_map(|maintenance| Some((maintenance.origin?.occurrence.ms(), maintenance)))
            .collect();
        let view = |window: Occurrence| OccurrenceView::of(window, standing.get(&window.start.ms()).copied());
        Ok(Self {
            next: upcoming.into_iter().map(view).collect(),
            skipped: skips.into_iter().filter(|skip| *skip > now).collect(),
        })
    }
}

/// Renders the series of a list.
pub(super) async fn rows(
    connection: &dyn StoreConnection,
    series: &[MaintenanceSeries],
    languages: &AnswerLanguage,
) -> Result<Vec<Value>, ApiError> {
    let keys: Vec<_> = series.iter().map(|series| series.key).collect();
    let services = links::services_of(connection, &keys).await?;
    let row = |series: &MaintenanceSeries| {
        let services = services.get(&series.key).map(Vec::as_slice).unwrap_or_default();
        to_json(&SeriesRowView::of(series, services, languages))
    };
    Ok(series.iter().map(row).collect())
}

/// Renders one series with its pages and its calendar.
pub(super) async fn one(
    connection: &dyn StoreConnection,
    series: &MaintenanceSeries,
    languages: &AnswerLanguage,
    now: Timestamp,
) -> Result<Value, ApiError> {
    let services = links::services_of(connection, &[series.key]).await?;
    let services = services.get(&series.key).map(Vec::as_slice).unwrap_or_default();
    let pages = links::statuspages_of(connection, series.key).await?;
    let ahead = UpcomingOccurrences::read(connection, series, now).await?;
    let row = SeriesRowView::of(series, services, languages);
    Ok(to_json(&row.with(&pages, ahead, languages)))
}

fn status() -> ApiSchema {
    let words = "`ended`: its rule has no future occurrence. `cancelled`: its last service was deleted.";
    enum_of(&SeriesStatus::ALL.map(SeriesStatus::as_str)).says(words)
}

fn message() -> ApiSchema {
    string_or_null().says("The first timeline entry of each maintenance. Null: generated.")
}

fn translations_or_null() -> ApiSchema {
    translations().nullable()
}

fn maintenance_id() -> ApiSchema {
    id().nullable().says("Null: not created yet.")
}

fn occurrence_status() -> ApiSchema {
    maintenance_status().nullable().says("The status of the maintenance.")
}

fn timestamps() -> ApiSchema {
    list_of(timestamp())
}
