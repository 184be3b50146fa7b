//! A status page for visitors: plain values for the templates, which escape all values.
//!
//! Hidden components are removed before a template gets the values.

use askama::Template;

use crate::clock::Timestamp;
use crate::model::component::status::ComponentStatus;
use crate::model::translated_text::TranslatedText;
use crate::pages::appearance::PageAppearance;
use crate::pages::page_texts::PageTexts;

#[derive(Template)]
#[template(path = "page.html")]
pub(super) struct PublicPage {
    pub(super) words: &'static PageTexts,
    pub(super) appearance: PageAppearance,
    /// Links to the page in its other languages; empty if there is only one language.
    pub(super) languages: Vec<LanguageLink>,
    pub(super) head: PageHead,
    pub(super) name: String,
    /// URL of the logo. The dark logo requires a light one.
    pub(super) logo: Option<String>,
    pub(super) logo_dark: Option<String>,
    /// Size of the logo: `small`, `medium` or `large`.
    pub(super) logo_size: &'static str,
    pub(super) overall: StatusBadge,
    /// Time of the shown data; set while later data cannot be read.
    pub(super) as_of: Option<DisplayTime>,
    pub(super) entries: Vec<ComponentEntry>,
    pub(super) incidents: Vec<PageAnnouncement>,
    pub(super) maintenances: Vec<PageAnnouncement>,
    pub(super) imprint: Option<String>,
    pub(super) privacy: Option<String>,
}

/// The contents of the HTML head.
pub(super) struct PageHead {
    /// Language code.
    pub(super) locale: String,
    /// Writing direction: `ltr` or `rtl`.
    pub(super) direction: &'static str,
    pub(super) title: String,
    pub(super) description: Option<String>,
    pub(super) is_indexable: bool,
    /// URL of the icon.
    pub(super) icon: Option<String>,
    /// URL of the shared style sheet.
    pub(super) style: String,
    /// URL of the page's own style sheet, if it has one.
    pub(super) own_style: Option<String>,
}

/// A link to the page in another language.
pub(super) struct LanguageLink {
    pub(super) address: String,
    /// Language code.
    pub(super) locale: String,
    pub(super) is_current: bool,
}

/// A plain page with a title and one sentence.
#[derive(Template)]
#[template(path = "message.html")]
pub(super) struct MessagePage {
    /// Inline style: a host without a page does not serve style sheets.
    pub(super) style: &'static str,
    pub(super) title: &'static str,
    pub(super) text: &'static str,
}

/// A status as text; its colour adds no further information.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct StatusBadge {
    /// Class of the badge in the style sheet.
    pub(super) class: &'static str,
    pub(super) text: &'static str,
}

/// A component, or a group with its members.
#[derive(Debug, PartialEq, Eq, Template)]
#[template(path = "entry.html")]
pub(super) struct ComponentEntry {
    pub(super) name: String,
    pub(super) description: Option<String>,
    pub(super) badge: StatusBadge,
    /// Text that names the reason why the service is unreachable.
    pub(super) because_of: Option<String>,
    pub(super) is_group: bool,
    pub(super) is_open: bool,
    pub(super) children: Vec<Self>,
}

/// An incident or a maintenance.
pub(super) struct PageAnnouncement {
    pub(super) title: String,
    /// Status of the announcement; `None` for a notice, which has no progress.
    pub(super) state: Option<&'static str>,
    /// Start of the announcement; `end` is set for a maintenance with a planned end.
    pub(super) start: DisplayTime,
    pub(super) end: Option<DisplayTime>,
    pub(super) has_open_end: bool,
    /// Visible names of the affected services.
    pub(super) affected: Vec<String>,
    /// Timeline entries, newest first.
    pub(super) updates: Vec<AnnouncementUpdate>,
}

/// An entry of a timeline.
pub(super) struct AnnouncementUpdate {
    pub(super) state: Option<&'static str>,
    pub(super) at: DisplayTime,
    /// Text of the entry as HTML that is safe to show.
    pub(super) message: String,
}

/// A moment, as readable and as machine-readable text.
pub(super) struct DisplayTime {
    pub(super) exact: String,
    pub(super) text: String,
}

impl From<Timestamp> for DisplayTime {
    fn from(at: Timestamp) -> Self {
        let exact = at.to_string();
        let text = format!("{} {} UTC", &exact[..10], &exact[11..16]);
        Self { exact, text }
    }
}

/// A stored component with its current status.
#[derive(Clone, Debug)]
pub(super) struct ShownComponent<'a> {
    pub(super) key: i64,
    pub(super) parent: Option<i64>,
    pub(super) name: &'a TranslatedText,
    pub(super) description: Option<&'a TranslatedText>,
    /// Present status of the component; `None` if it is hidden from visitors.
    pub(super) status: Option<ComponentStatus>,
    /// Names of the causes that the page shows; set while the service of the component is unreachable.
    pub(super) because_of: Option<Vec<String>>,
    pub(super) is_group: bool,
    pub(super) hides_operational: bool,
    pub(super) is_open_at_first: bool,
}

/// The languages of a visitor: the negotiated language, and the page's default language.
#[derive(Clone, Copy, Debug)]
pub(super) struct VisitorLanguage<'a> {
    pub(super) chosen: &'a str,
    pub(super) default: &'a str,
    pub(super) words: &'static PageTexts,
}

impl VisitorLanguage<'_> {
    pub(super) fn text(&self, text: &TranslatedText) -> String {
        text.text(self.chosen, self.default).to_owned()
    }

    fn badge(&self, status: ComponentStatus) -> StatusBadge {
        StatusBadge { class: status.as_str(), text: self.words.component(status) }
    }

    fn because_of(&self, names: &[String]) -> String {
        if names.is_empty() {
            return self.words.because_of_another.to_owned();
        }
        format!("{} {}.", self.words.because_of, names.join(", "))
    }

    /// Returns the badge at the top of the page, with the worst status. "All well" is only shown if the status of every
    /// component is known (contract 7 no. 47). Groups are not counted in addition to their members.
    pub(super) fn overall(&self, parts: &[ShownComponent<'_>]) -> StatusBadge {
        let shown: Vec<ComponentStatus> =
            parts.iter().filter(|part| !part.is_group).filter_map(|part| part.status).collect();
        let any = |status: ComponentStatus| shown.contains(&status);
        let headings = [
            (ComponentStatus::MajorOutage, self.words.some_outage),
            (ComponentStatus::PartialOutage, self.words.some_partial_outage),
            (ComponentStatus::Degraded, self.words.some_trouble),
            (ComponentStatus::UnderMaintenance, self.words.some_work),
        ];
        let worst = headings.into_iter().find(|(status, _)| any(*status));
        let (status, text) = worst.unwrap_or_else(|| {
            match (any(ComponentStatus::Operational), any(ComponentStatus::Unknown)) {
                (true, false) => (ComponentStatus::Operational, self.words.all_well),
                (true, true) => (ComponentStatus::Unknown, self.words.some_unknown),
                (false, _) => (ComponentStatus::Unknown, self.words.all_unknown),
            }
        });
        StatusBadge { class: status.as_str(), text }
    }

    /// Returns the tree of visible components; `parts` must be in display order.
    pub(super) fn entries(&self, parts: &[ShownComponent<'_>]) -> Vec<ComponentEntry> {
        self.below(None, false, parts)
    }

    fn below(
        &self,
        parent: Option<i64>,
        hides_operational: bool,
        parts: &[ShownComponent<'_>],
    ) -> Vec<ComponentEntry> {
        let children = parts.iter().filter(|part| part.parent == parent);
        children
            .filter_map(|part| {
                let status = part.status?;
                let is_left_off = hides_operational && status == ComponentStatus::Operational;
                (!is_left_off).then(|| self.entry(part, status, parts))
            })
            .collect()
    }

    fn entry(
        &self,
        part: &ShownComponent<'_>,
        status: ComponentStatus,
        parts: &[ShownComponent<'_>],
    ) -> ComponentEntry {
        let is_trouble = !matches!(status, ComponentStatus::Operational | ComponentStatus::Unknown);
        let children = if part.is_group {
            self.below(Some(part.key), part.hides_operational, parts)
        } else {
            Vec::new()
        };
        ComponentEntry {
            name: self.text(part.name),
            description: part.description.map(|text| self.text(text)),
            badge: self.badge(status),
            because_of: part.because_of.as_ref().map(|names| self.because_of(names)),
            is_group: part.is_group,
            is_open: part.is_open_at_first || is_trouble,
            children,
        }
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::ComponentStatus::{
        Degraded, MajorOutage, Operational, PartialOutage, UnderMaintenance, Unknown,
    };
    use super::*;

    const READER: fn() -> VisitorLanguage<'static> =
        || VisitorLanguage { chosen: "en", default: "en", words: PageTexts::of("en") };

    fn part<'a>(
        key: i64,
        parent: Option<i64>,
        name: &'a TranslatedText,
        status: Option<ComponentStatus>,
    ) -> ShownComponent<'a> {
        ShownComponent {
            key,
            parent,
            name,
            description: None,
            status,
            because_of: None,
            is_group: false,
            hides_operational: false,
            is_open_at_first: false,
        }
    }

    #[test]
    fn hidden_components_and_healthy_children_of_quiet_groups_are_left_off() {
        let name = TranslatedText::single("en", "Shop");
        let parts = [
            ShownComponent {
                is_group: true,
                hides_operational: true,
                ..part(1, None, &name, Some(ComponentStatus::PartialOutage))
            },
            part(2, Some(1), &name, Some(ComponentStatus::Operational)),
            part(3, Some(1), &name, Some(ComponentStatus::MajorOutage)),
            part(4, Some(1), &name, None),
            part(5, None, &name, None),
            ShownComponent { is_group: true, ..part(6, None, &name, Some(ComponentStatus::Operational)) },
            part(7, Some(6), &name, Some(ComponentStatus::Operational)),
        ];
        let entries = READER().entries(&parts);
        let shape: Vec<_> = entries.iter().map(|entry| (entry.is_open, entry.children.len())).collect();
        assert_eq!(shape, [(true, 1), (false, 1)]);
        assert_eq!(READER().overall(&parts).class, "major_outage");
        assert_eq!(READER().overall(&[]).class, "unknown");
    }

    /// Columns: components outside of the group, components in the group, the heading.
    #[rstest]
    #[case(&[], &[], "unknown: Status unknown")]
    #[case(&[Unknown], &[], "unknown: Status unknown")]
    #[case(&[Operational], &[], "operational: All systems operational")]
    #[case(&[Operational], &[Operational], "operational: All systems operational")]
    #[case(&[Operational, Unknown], &[], "unknown: The status of some systems is unknown")]
    #[case(&[Operational], &[Operational, Unknown], "unknown: The status of some systems is unknown")]
    #[case(&[UnderMaintenance, Unknown], &[], "under_maintenance: Maintenance in progress")]
    #[case(&[UnderMaintenance], &[Degraded], "degraded: Some systems are degraded")]
    #[case(&[Degraded, Unknown], &[PartialOutage], "partial_outage: Some systems are partly down")]
    #[case(&[PartialOutage, Operational], &[MajorOutage], "major_outage: Some systems are down")]
    fn the_heading_does_not_claim_unknown_statuses_are_operational(
        #[case] top: &[ComponentStatus],
        #[case] inside: &[ComponentStatus],
        #[case] expected: &str,
    ) {
        let name = TranslatedText::single("en", "Shop");
        // The status of the group itself does not matter.
        let group = ShownComponent { is_group: true, ..part(1, None, &name, Some(Unknown)) };
        let at = |parent: Option<i64>, from: i64, statuses: &[ComponentStatus]| -> Vec<ShownComponent<'_>> {
            (from..).zip(statuses).map(|(key, status)| part(key, parent, &name, Some(*status))).collect()
        };
        let parts: Vec<ShownComponent<'_>> =
            std::iter::once(group).chain(at(None, 10, top)).chain(at(Some(1), 20, inside)).collect();
        let overall = READER().overall(&parts);
        assert_eq!(format!("{}: {}", overall.class, overall.text), expected);
    }

    #[test]
    fn hostile_names_are_text() {
        let name = TranslatedText::single("en", "<script>alert('&')</script>\"");
        let parts = [ShownComponent {
            is_group: true,
            description: Some(&name),
            ..part(1, None, &name, Some(ComponentStatus::Operational))
        }];
        let html = READER().entries(&parts)[0].render().unwrap();
        assert!(!html.contains("<script") && html.contains("&#60;script&#62;"), "{html}");
    }
}
