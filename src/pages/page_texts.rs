//! Fixed texts of the pages, by language. Texts written by users have translations of their own.
//!
//! A language without texts is served in English.

use crate::model::component::status::ComponentStatus;
use crate::model::incident::IncidentStatus;
use crate::model::maintenance::MaintenanceStatus;

/// Fixed texts of one language.
#[derive(Debug)]
pub(super) struct PageTexts {
    pub(super) locale: &'static str,
    pub(super) operational: &'static str,
    pub(super) degraded: &'static str,
    pub(super) partial_outage: &'static str,
    pub(super) major_outage: &'static str,
    pub(super) under_maintenance: &'static str,
    pub(super) unknown: &'static str,
    /// Headings for the overall status, from all components operational to nothing known.
    pub(super) all_well: &'static str,
    pub(super) some_trouble: &'static str,
    pub(super) some_partial_outage: &'static str,
    pub(super) some_outage: &'static str,
    pub(super) some_work: &'static str,
    pub(super) some_unknown: &'static str,
    pub(super) all_unknown: &'static str,
    /// Text before the time of the shown data, if later data cannot be read.
    pub(super) as_of: &'static str,
    /// Text after that time, which tells why there is no later data.
    pub(super) outdated: &'static str,
    /// Heading of the links to other languages.
    pub(super) language: &'static str,
    /// Headings of the sections.
    pub(super) components: &'static str,
    pub(super) incidents: &'static str,
    pub(super) maintenances: &'static str,
    pub(super) affected: &'static str,
    pub(super) no_components: &'static str,
    /// Texts for an unreachable service: with the names of the causes, and for causes that the page does not show.
    pub(super) because_of: &'static str,
    pub(super) because_of_another: &'static str,
    /// States of incidents and maintenances.
    pub(super) investigating: &'static str,
    pub(super) identified: &'static str,
    pub(super) monitoring: &'static str,
    pub(super) resolved: &'static str,
    pub(super) scheduled: &'static str,
    pub(super) in_progress: &'static str,
    pub(super) completed: &'static str,
    pub(super) cancelled: &'static str,
    pub(super) open_end: &'static str,
    /// Texts of links.
    pub(super) imprint: &'static str,
    pub(super) privacy: &'static str,
    pub(super) skip: &'static str,
    /// Texts of the switch of the colour scheme: its heading, and its three positions.
    pub(super) appearance: &'static str,
    pub(super) like_system: &'static str,
    pub(super) light: &'static str,
    pub(super) dark: &'static str,
}

const ENGLISH: PageTexts = PageTexts {
    locale: "en",
    operational: "Operational",
    degraded: "Degraded",
    partial_outage: "Partial outage",
    major_outage: "Major outage",
    under_maintenance: "Under maintenance",
    unknown: "Unknown",
    all_well: "All systems operational",
    some_trouble: "Some systems are degraded",
    some_partial_outage: "Some systems are partly down",
    some_outage: "Some systems are down",
    some_work: "Maintenance in progress",
    some_unknown: "The status of some systems is unknown",
    all_unknown: "Status unknown",
    as_of: "As of",
    outdated: "later data cannot be read at the moment",
    language: "Language",
    components: "Systems",
    incidents: "Current incidents",
    maintenances: "Maintenance",
    affected: "Affected:",
    no_components: "Nothing is listed here yet.",
    because_of: "Cannot be reached because of",
    because_of_another: "Cannot be reached because of another system.",
    investigating: "Investigating",
    identified: "Identified",
    monitoring: "Monitoring",
    resolved: "Resolved",
    scheduled: "Scheduled",
    in_progress: "In progress",
    completed: "Completed",
    cancelled: "Cancelled",
    open_end: "open end",
    imprint: "Imprint",
    privacy: "Privacy",
    skip: "Skip to the content",
    appearance: "Appearance",
    like_system: "System",
    light: "Light",
    dark: "Dark",
};

const GERMAN: PageTexts = PageTexts {
    locale: "de",
    operational: "In Betrieb",
    degraded: "Beeinträchtigt",
    partial_outage: "Teilausfall",
    major_outage: "Ausfall",
    under_maintenance: "In Wartung",
    unknown: "Unbekannt",
    all_well: "Alle Systeme in Betrieb",
    some_trouble: "Einige Systeme sind beeinträchtigt",
    some_partial_outage: "Einige Systeme sind teilweise ausgefallen",
    some_outage: "Einige Systeme sind ausgefallen",
    some_work: "Wartungsarbeiten laufen",
    some_unknown: "Der Status einiger Systeme ist unbekannt",
    all_unknown: "Status unbekannt",
    as_of: "Stand:",
    outdated: "neuere Daten können gerade nicht gelesen werden",
    language: "Sprache",
    components: "Systeme",
    incidents: "Aktuelle Störungen",
    maintenances: "Wartungsarbeiten",
    affected: "Betroffen:",
    no_components: "Hier ist noch nichts aufgeführt.",
    because_of: "Nicht erreichbar wegen",
    because_of_another: "Nicht erreichbar wegen eines anderen Systems.",
    investigating: "In Untersuchung",
    identified: "Ursache gefunden",
    monitoring: "Unter Beobachtung",
    resolved: "Behoben",
    scheduled: "Geplant",
    in_progress: "Läuft",
    completed: "Abgeschlossen",
    cancelled: "Abgesagt",
    open_end: "Ende offen",
    imprint: "Impressum",
    privacy: "Datenschutz",
    skip: "Zum Inhalt",
    appearance: "Darstellung",
    like_system: "System",
    light: "Hell",
    dark: "Dunkel",
};

const FRENCH: PageTexts = PageTexts {
    locale: "fr",
    operational: "Opérationnel",
    degraded: "Dégradé",
    partial_outage: "Panne partielle",
    major_outage: "Panne majeure",
    under_maintenance: "En maintenance",
    unknown: "Inconnu",
    all_well: "Tous les systèmes sont opérationnels",
    some_trouble: "Certains systèmes sont dégradés",
    some_partial_outage: "Certains systèmes sont partiellement en panne",
    some_outage: "Certains systèmes sont en panne",
    some_work: "Maintenance en cours",
    some_unknown: "L’état de certains systèmes est inconnu",
    all_unknown: "État inconnu",
    as_of: "État au",
    outdated: "des données plus récentes ne peuvent pas être lues pour le moment",
    language: "Langue",
    components: "Systèmes",
    incidents: "Incidents en cours",
    maintenances: "Maintenance",
    affected: "Concerné :",
    no_components: "Rien n’est encore listé ici.",
    because_of: "Inaccessible à cause de",
    because_of_another: "Inaccessible à cause d’un autre système.",
    investigating: "En cours d’analyse",
    identified: "Identifié",
    monitoring: "Sous surveillance",
    resolved: "Résolu",
    scheduled: "Prévu",
    in_progress: "En cours",
    completed: "Terminé",
    cancelled: "Annulé",
    open_end: "fin ouverte",
    imprint: "Mentions légales",
    privacy: "Confidentialité",
    skip: "Aller au contenu",
    appearance: "Apparence",
    like_system: "Système",
    light: "Clair",
    dark: "Sombre",
};

impl PageTexts {
    /// Returns the texts of this language, or of its main language, such as `de` for `de-AT`; else the English ones.
    pub(super) fn of(locale: &str) -> &'static Self {
        let language = locale.split('-').next().unwrap_or_default();
        let known: [&'static Self; 3] = [&ENGLISH, &GERMAN, &FRENCH];
        known.into_iter().find(|words| words.locale.eq_ignore_ascii_case(language)).unwrap_or(&ENGLISH)
    }

    /// Returns the name of a component status.
    pub(super) const fn component(&self, status: ComponentStatus) -> &'static str {
        match status {
            ComponentStatus::Operational => self.operational,
            ComponentStatus::Degraded => self.degraded,
            ComponentStatus::PartialOutage => self.partial_outage,
            ComponentStatus::MajorOutage => self.major_outage,
            ComponentStatus::UnderMaintenance => self.under_maintenance,
            ComponentStatus::Unknown => self.unknown,
        }
    }

    /// Returns the name of an incident's status.
    pub(super) const fn incident(&self, status: IncidentStatus) -> &'static str {
        match status {
            IncidentStatus::Investigating => self.investigating,
            IncidentStatus::Identified => self.identified,
            IncidentStatus::Monitoring => self.monitoring,
            IncidentStatus::Resolved => self.resolved,
        }
    }

    /// Returns the name of a maintenance's status.
    pub(super) const fn maintenance(&self, status: MaintenanceStatus) -> &'static str {
        match status {
            MaintenanceStatus::Scheduled => self.scheduled,
            MaintenanceStatus::InProgress => self.in_progress,
            MaintenanceStatus::Completed => self.completed,
            MaintenanceStatus::Cancelled => self.cancelled,
        }
    }
}
