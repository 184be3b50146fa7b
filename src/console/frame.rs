//! The frame of every document: head, navigation, and the parts that all documents share.

use askama::Template;

use crate::console::console_texts::ConsoleTexts;
use crate::console::static_files::{passkey_script_address, script_address, style_address};
use crate::console::visit::UserVisit;
use crate::model::access::Permission;

/// A section of the console.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ConsoleSection {
    Overview,
    Services,
    Incidents,
    Maintenances,
    Statuspages,
    Oncall,
    Channels,
    Policies,
    Sla,
    Locations,
    Engine,
    Settings,
}

/// A section in the navigation.
struct SectionEntry {
    section: ConsoleSection,
    /// The path below `/console`.
    path: &'static str,
    /// Name of its text, without `nav-`.
    name: &'static str,
    /// What a user needs to see it.
    permission: Option<Permission>,
    /// The key after `g` that leads to it.
    key: &'static str,
}

const fn entry(
    section: ConsoleSection,
    path: &'static str,
    name: &'static str,
    permission: Option<Permission>,
    key: &'static str,
) -> SectionEntry {
    SectionEntry { section, path, name, permission, key }
}

const SECTIONS: [SectionEntry; 12] = [
    entry(ConsoleSection::Overview, "", "overview", None, "o"),
    entry(ConsoleSection::Services, "/services", "services", Some(Permission::ServicesView), "s"),
    entry(ConsoleSection::Incidents, "/incidents", "incidents", Some(Permission::IncidentsView), "i"),
    entry(
        ConsoleSection::Maintenances,
        "/maintenances",
        "maintenances",
        Some(Permission::MaintenancesView),
        "m",
    ),
    entry(ConsoleSection::Statuspages, "/statuspages", "statuspages", Some(Permission::StatuspagesView), "p"),
    entry(ConsoleSection::Oncall, "/oncall", "oncall", Some(Permission::OncallView), "d"),
    entry(ConsoleSection::Channels, "/channels", "channels", Some(Permission::NotificationChannelsView), "c"),
    entry(ConsoleSection::Policies, "/policies", "policies", Some(Permission::IncidentPoliciesView), "r"),
    entry(ConsoleSection::Sla, "/sla", "sla", Some(Permission::SlaTargetsView), "a"),
    entry(ConsoleSection::Locations, "/locations", "locations", Some(Permission::ServicesView), "l"),
    entry(ConsoleSection::Engine, "/engine", "engine", Some(Permission::EngineView), "e"),
    entry(ConsoleSection::Settings, "/settings", "settings", None, "t"),
];

/// A link in the navigation.
pub(super) struct NavLink {
    pub(super) path: &'static str,
    pub(super) text: String,
    pub(super) key: &'static str,
    pub(super) is_current: bool,
}

/// The parts that all documents share.
pub(super) struct ConsoleFrame {
    pub(super) texts: ConsoleTexts,
    /// Title of the document.
    pub(super) title: String,
    pub(super) style: String,
    pub(super) script: String,
    /// Address of the script for passkeys, if the document has forms for them.
    pub(super) passkey_script: Option<String>,
    /// Links to the sections that the user may see; empty for documents without a user.
    pub(super) sections: Vec<NavLink>,
    /// Name of the user.
    pub(super) user: Option<String>,
    /// Whether single letters are shortcuts.
    pub(super) has_shortcuts: bool,
    /// A message about the last action.
    pub(super) notice: Option<String>,
    /// True if only the content is asked for, without the parts that all documents share.
    pub(super) is_content_only: bool,
}

impl ConsoleFrame {
    /// The frame of a document of a section.
    pub(super) fn of(visit: &UserVisit, section: ConsoleSection, title: String) -> Self {
        let texts = visit.texts;
        let seen = SECTIONS.iter().filter(|entry| entry.permission.is_none_or(|one| visit.may(one)));
        let link = |entry: &SectionEntry| NavLink {
            path: entry.path,
            text: texts.text(&format!("nav-{}", entry.name)),
            key: entry.key,
            is_current: entry.section == section,
        };
        let notice = visit.visit.query.text("done");
        let notice = (!notice.is_empty()
            && notice.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-'))
        .then(|| texts.text_or(&format!("done-{notice}"), ""))
        .filter(|text| !text.is_empty());
        Self {
            texts,
            title,
            style: style_address(),
            script: script_address(),
            passkey_script: None,
            sections: seen.map(link).collect(),
            user: Some(visit.signed_in.user.name.clone()),
            has_shortcuts: visit.signed_in.user.has_shortcuts,
            notice,
            is_content_only: visit.visit.is_live(),
        }
    }

    /// The frame of a document for somebody who is not signed in.
    pub(super) fn without_user(texts: ConsoleTexts, title: String) -> Self {
        Self {
            texts,
            title,
            style: style_address(),
            script: script_address(),
            passkey_script: None,
            sections: Vec::new(),
            user: None,
            has_shortcuts: false,
            notice: None,
            is_content_only: false,
        }
    }

    /// The same, with the script for passkeys.
    pub(super) fn with_passkeys(self) -> Self {
        Self { passkey_script: Some(passkey_script_address()), ..self }
    }

    /// The text with this name.
    pub(super) fn text(&self, name: &str) -> String {
        self.texts.text(name)
    }
}

/// A document with a message only, such as an error.
#[derive(Template)]
#[template(path = "kit/message.html")]
pub(super) struct MessageDocument {
    pub(super) frame: ConsoleFrame,
    pub(super) message: String,
}
