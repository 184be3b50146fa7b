//! Announcements of a status page to its visitors: published incidents and all maintenances, current and past ones.
//!
//! The model decides which page shows which announcement ([`ChosenPages`]). Each query runs once for all
//! announcements. Texts are read only for announcements that the page shows.

mod incidents;
mod maintenances;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::future::Future;

use crate::store::connection::StoreConnection;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QuerySelect};
use watchkeeper_entities::service;

use crate::clock::Timestamp;
use crate::id::Id;
use crate::model::announcement::ChosenPages;
use crate::model::incident::{AffectedService, IncidentStatus, Severity};
use crate::model::maintenance::MaintenanceStatus;
use crate::model::service::ServiceKey;
use crate::model::time_range::TimeRange;
use crate::model::translated_text::TranslatedText;
use crate::store::error::MainError;
use crate::store::page_window::PageWindow;

/// Number of services per statement, far below the limit of bound values.
const SERVICES_PER_STATEMENT: usize = 1_000;
/// Number of candidates per statement, far below the limit of bound values.
const CANDIDATES_PER_STATEMENT: u64 = 200;
/// Maximum number of current announcements of a kind that a page shows.
const MOST: usize = 200;

/// An incident or a maintenance; `S` is its state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredAnnouncement<S> {
    /// Public id, used by the API.
    pub id: Id,
    /// Title, by language.
    pub title: TranslatedText,
    /// The services whose names may appear in a title that the engine generated; `None` if a person wrote the title.
    pub may_name: Option<Vec<AffectedService>>,
    /// State of the incident or maintenance.
    pub status: S,
    /// False for a notice, which has no stages of work: visitors see no state.
    pub has_progress: bool,
    /// Start; for a maintenance, the planned one.
    pub start: Timestamp,
    /// Planned end of a maintenance; `None` for an incident or an open end.
    pub end: Option<Timestamp>,
    /// Actual end; `None` until the incident or maintenance has ended.
    pub ended_at: Option<Timestamp>,
    /// Severity of an incident; `None` for a maintenance.
    pub severity: Option<Severity>,
    /// Time of creation.
    pub created_at: Timestamp,
    /// Time of the last change.
    pub updated_at: Timestamp,
    /// Services that the announcement affects at the moment, sorted by name.
    pub services: Vec<TouchedService>,
    /// All services that the announcement has ever affected, ascending.
    pub ever_affected: Vec<ServiceKey>,
    /// The public timeline, oldest first.
    pub entries: Vec<AnnouncementEntry<S>>,
}

/// A service that an announcement affects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TouchedService {
    /// Database key.
    pub key: ServiceKey,
    /// Display name of the service.
    pub name: String,
}

/// An entry of a timeline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnnouncementEntry<S> {
    /// Public id, used by the API.
    pub id: Id,
    /// The state of the incident or maintenance from this entry on.
    pub status: S,
    /// Text of the entry, by language.
    pub message: TranslatedText,
    /// Time at which the entry was written.
    pub at: Timestamp,
}

/// The status page for which announcements are read.
#[derive(Clone, Debug)]
pub struct ShowingPage {
    /// Database key of the organisation.
    pub organisation: i64,
    /// Database key of the page.
    pub statuspage: i64,
    /// Database keys of the services with a visible component.
    pub services: HashSet<ServiceKey>,
}

/// Open published incidents that the page shows, latest first.
pub async fn incidents(
    connection: &dyn StoreConnection,
    page: &ShowingPage,
) -> Result<Vec<StoredAnnouncement<IncidentStatus>>, MainError> {
    announced::<incidents::IncidentAnnouncements>(connection, page).await
}

/// The `most` latest published incidents of a selection that the page shows, open or resolved, latest first.
pub async fn past_incidents(
    connection: &dyn StoreConnection,
    page: &ShowingPage,
    selection: AnnouncementSelection,
    most: usize,
) -> Result<Vec<StoredAnnouncement<IncidentStatus>>, MainError> {
    latest::<incidents::IncidentAnnouncements>(connection, page, selection, most).await
}

/// The start of the earliest published incident or maintenance of an organisation; `None` if there is none.
pub async fn first_start(
    connection: &dyn StoreConnection,
    organisation: i64,
) -> Result<Option<Timestamp>, MainError> {
    let first = incidents::first_start(connection, organisation).await?;
    let other = maintenances::first_start(connection, organisation).await?;
    Ok(first.into_iter().chain(other).min())
}

/// Running and planned maintenances that the page shows, earliest first.
pub async fn maintenances(
    connection: &dyn StoreConnection,
    page: &ShowingPage,
) -> Result<Vec<StoredAnnouncement<MaintenanceStatus>>, MainError> {
    announced::<maintenances::MaintenanceAnnouncements>(connection, page).await
}

/// The `most` latest maintenances of a selection that the page shows, in any state, latest first.
pub async fn past_maintenances(
    connection: &dyn StoreConnection,
    page: &ShowingPage,
    selection: AnnouncementSelection,
    most: usize,
) -> Result<Vec<StoredAnnouncement<MaintenanceStatus>>, MainError> {
    latest::<maintenances::MaintenanceAnnouncements>(connection, page, selection, most).await
}

/// Selects incidents or maintenances in any state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnnouncementSelection {
    /// All.
    All,
    /// Those that started in this range; maintenances by their planned start.
    StartedIn(TimeRange),
    /// The one with this id.
    Single(Id),
}

trait AnnouncementKind {
    type Status;

    /// Reads the current candidates of an organisation, in display order.
    fn candidates(
        connection: &dyn StoreConnection,
        organisation: i64,
    ) -> impl Future<Output = Result<AnnouncementCandidates, MainError>>;

    /// Reads a page of the candidates of a selection, in any state, latest first.
    fn latest_candidates(
        connection: &dyn StoreConnection,
        organisation: i64,
        selection: AnnouncementSelection,
        window: PageWindow,
    ) -> impl Future<Output = Result<AnnouncementCandidates, MainError>>;

    /// Reads titles, states and times of the announcements with these keys.
    fn heads(
        connection: &dyn StoreConnection,
        keys: &[i64],
    ) -> impl Future<Output = Result<HashMap<i64, StoredAnnouncement<Self::Status>>, MainError>>;

    /// Reads the timelines of the announcements with these keys, oldest entry first.
    fn entries(
        connection: &dyn StoreConnection,
        keys: &[i64],
    ) -> impl Future<Output = Result<Entries<Self::Status>, MainError>>;
}

/// Timeline entries, each with the key of its incident or maintenance.
type Entries<S> = Vec<(i64, AnnouncementEntry<S>)>;

/// The possible announcements of an organisation, and the facts that decide which of them a page shows.
struct AnnouncementCandidates {
    /// Keys of the incidents or maintenances in display order.
    keys: Vec<i64>,
    choices: Vec<PageChoice>,
    touches: Vec<ServiceMention>,
}

/// The choice of a page for an announcement.
struct PageChoice {
    announcement: i64,
    statuspage: i64,
}

/// The mention of a service by an announcement.
struct ServiceMention {
    announcement: i64,
    service: ServiceKey,
    /// True if the announcement still affects the service.
    is_affected: bool,
}

impl AnnouncementCandidates {
    /// The first `MOST` candidates that the page shows.
    fn shown_by(&self, page: &ShowingPage) -> Vec<i64> {
        let mut chosen: HashMap<i64, Vec<i64>> = HashMap::new();
        for choice in &self.choices {
            chosen.entry(choice.announcement).or_default().push(choice.statuspage);
        }
        let visible = self.touches.iter().filter(|touch| page.services.contains(&touch.service));
        let visible: HashSet<i64> = visible.map(|touch| touch.announcement).collect();
        let is_shown = |key: &i64| {
            let pages = chosen.get(key).into_iter().flatten().copied();
            ChosenPages::of(pages, page.statuspage).shows(visible.contains(key))
        };
        self.keys.iter().copied().filter(is_shown).take(MOST).collect()
    }
}

async fn announced<K: AnnouncementKind>(
    connection: &dyn StoreConnection,
    page: &ShowingPage,
) -> Result<Vec<StoredAnnouncement<K::Status>>, MainError> {
    let candidates = K::candidates(connection, page.organisation).await?;
    read::<K>(connection, candidates.shown_by(page), candidates.touches).await
}

async fn latest<K: AnnouncementKind>(
    connection: &dyn StoreConnection,
    page: &ShowingPage,
    selection: AnnouncementSelection,
    most: usize,
) -> Result<Vec<StoredAnnouncement<K::Status>>, MainError> {
    let (mut shown, mut touches) = (Vec::new(), Vec::new());
    let mut window = PageWindow { offset: 0, limit: CANDIDATES_PER_STATEMENT };
    while shown.len() < most {
        let candidates = K::latest_candidates(connection, page.organisation, selection, window).await?;
        if candidates.keys.is_empty() {
            break;
        }
        shown.extend(candidates.shown_by(page));
        touches.extend(candidates.touches);
        window.offset += window.limit;
    }
    shown.truncate(most);
    read::<K>(connection, shown, touches).await
}

/// Reads the announcements with the keys `shown`, in this order.
async fn read<K: AnnouncementKind>(
    connection: &dyn StoreConnection,
    shown: Vec<i64>,
    touches: Vec<ServiceMention>,
) -> Result<Vec<StoredAnnouncement<K::Status>>, MainError> {
    if shown.is_empty() {
        return Ok(Vec::new());
    }
    let mut heads = K::heads(connection, &shown).await?;
    for (announcement, entry) in K::entries(connection, &shown).await? {
        if let Some(head) = heads.get_mut(&announcement) {
            head.entries.push(entry);
        }
    }
    for touch in &touches {
        if let Some(head) = heads.get_mut(&touch.announcement) {
            head.ever_affected.push(touch.service);
        }
    }
    for head in heads.values_mut() {
        head.ever_affected.sort_unstable();
    }
    // Of what is over, all services count.
    let is_over = |key: i64| heads.get(&key).is_some_and(|head| head.ended_at.is_some());
    let counts = |touch: &ServiceMention| touch.is_affected || is_over(touch.announcement);
    let affected: Vec<ServiceMention> = touches.into_iter().filter(counts).collect();
    for service in named(connection, &affected, &heads).await? {
        for touch in affected.iter().filter(|touch| touch.service == service.key) {
            if let Some(head) = heads.get_mut(&touch.announcement) {
                head.services.push(service.clone());
            }
        }
    }
    Ok(shown.iter().filter_map(|key| heads.remove(key)).collect())
}

/// The services, sorted by name, that the announcements in `heads` affect.
async fn named<S>(
    connection: &dyn StoreConnection,
    affected: &[ServiceMention],
    heads: &HashMap<i64, StoredAnnouncement<S>>,
) -> Result<Vec<TouchedService>, MainError> {
    let touching = affected.iter().filter(|touch| heads.contains_key(&touch.announcement));
    let keys: BTreeSet<ServiceKey> = touching.map(|touch| touch.service).collect();
    let keys: Vec<ServiceKey> = keys.into_iter().collect();
    let mut names: Vec<(ServiceKey, String)> = Vec::new();
    for some in keys.chunks(SERVICES_PER_STATEMENT) {
        let found = service::Entity::find()
            .select_only()
            .columns([service::Column::Id, service::Column::Name])
            .filter(service::Column::Id.is_in(some.iter().copied()));
        names.extend(found.into_tuple::<(ServiceKey, String)>().all(&connection).await?);
    }
    names.sort_by(|(key, name), (other_key, other_name)| (name, key).cmp(&(other_name, other_key)));
    Ok(names.into_iter().map(|(key, name)| TouchedService { key, name }).collect())
}

fn text(table: &'static str, stored: &str) -> Result<TranslatedText, MainError> {
    TranslatedText::from_stored(stored).map_err(|error| MainError::corrupt(table, &"text", &error))
}

fn public_id(table: &'static str, key: i64, stored: &str) -> Result<Id, MainError> {
    stored.parse().map_err(|error| MainError::corrupt(table, &key, &error))
}
