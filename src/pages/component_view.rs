//! The components of a page for a visitor: the overall status and the tree of components.
//!
//! Hidden components are removed before a template sees anything.

use crate::id::Id;
use crate::model::component::status::ComponentStatus;
use crate::model::translated_text::TranslatedText;
use crate::pages::bars::{DAYS, UptimeBar};
use crate::pages::overall_state::OverallState;
use crate::pages::page_texts::{PageTexts, TextValue};
use crate::pages::view::{ComponentEntry, EntryBar, StatusBadge};
use crate::stats::service_days::ServiceDays;

/// All of the time, in thousandths of a per cent.
const WHOLE: i64 = 100_000;

/// A stored component with its current status.
#[derive(Clone, Debug)]
pub(super) struct ShownComponent<'a> {
    pub(super) id: Id,
    pub(super) key: i64,
    pub(super) parent: Option<i64>,
    pub(super) name: &'a TranslatedText,
    pub(super) description: Option<&'a TranslatedText>,
    /// Component status; `None` if hidden from visitors.
    pub(super) status: Option<ComponentStatus>,
    /// Set while its service is unreachable because of others: their names, as far as the page shows them.
    pub(super) because_of: Option<Vec<String>>,
    pub(super) is_group: bool,
    pub(super) hides_operational: bool,
    pub(super) is_open_at_first: bool,
    /// The past days; `None` if they are not shown or not known.
    pub(super) days: Option<&'a ServiceDays>,
}

/// The languages of a visitor: the chosen one, and the page's default.
#[derive(Clone, Debug)]
pub(super) struct VisitorLanguage<'a> {
    /// Start of the paths of all documents in the chosen language.
    pub(super) base: &'a str,
    pub(super) chosen: &'a str,
    pub(super) default: &'a str,
    pub(super) words: PageTexts,
    /// Date of the last day of the bars, in an export; `None` = today.
    pub(super) last_day: Option<String>,
}

impl VisitorLanguage<'_> {
    pub(super) fn text(&self, text: &TranslatedText) -> String {
        text.text(self.chosen, self.default).to_owned()
    }

    pub(super) fn badge(&self, status: ComponentStatus) -> StatusBadge {
        StatusBadge { class: status.as_str(), text: self.words.component(status) }
    }

    fn because_of(&self, names: &[String]) -> String {
        if names.is_empty() {
            return self.words.text("because-of-another");
        }
        self.words.naming("because-of", names)
    }

    /// Returns the badge at the top. Groups add nothing to their members.
    pub(super) fn overall(&self, parts: &[ShownComponent<'_>]) -> StatusBadge {
        let shown: Vec<ComponentStatus> =
            parts.iter().filter(|part| !part.is_group).filter_map(|part| part.status).collect();
        let overall = OverallState::of(&shown);
        StatusBadge { class: overall.status.as_str(), text: overall.sentence(&self.words) }
    }

    /// The tree of visible components; `parts` are in display order.
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

    pub(super) fn entry(
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
            id: part.id.to_string(),
            name: self.text(part.name),
            description: part.description.map(|text| self.text(text)),
            badge: self.badge(status),
            because_of: part.because_of.as_ref().map(|names| self.because_of(names)),
            is_group: part.is_group,
            is_open: part.is_open_at_first || is_trouble,
            children,
            bar: part.days.map(|days| self.bar(part, days)),
        }
    }

    fn bar(&self, part: &ShownComponent<'_>, days: &ServiceDays) -> EntryBar {
        let name = self.text(part.name);
        let words = &self.words;
        EntryBar {
            bar: UptimeBar::of(days),
            address: format!("{}/components/{}", self.base, part.id),
            label: words
                .filled("bar-label", &[TextValue::text("name", &name), TextValue::number("days", DAYS)]),
            uptime: days.uptime.map(|uptime| self.uptime(uptime, days.coverage)),
            oldest: words.filled("days-ago", &[TextValue::number("days", DAYS - 1)]),
            newest: self.last_day.clone().unwrap_or_else(|| words.text("today")),
        }
    }

    /// Returns the uptime, with its coverage if some time was not measured.
    fn uptime(&self, uptime: i64, coverage: i64) -> String {
        let (percent, covered) = (self.words.percent(uptime), self.words.percent(coverage));
        if coverage == WHOLE {
            return self.words.filled("uptime", &[TextValue::text("percent", &percent)]);
        }
        let values = [TextValue::text("percent", &percent), TextValue::text("coverage", &covered)];
        self.words.filled("uptime-with-coverage", &values)
    }
}

#[cfg(test)]
mod tests {
    use askama::Template as _;
    use rstest::rstest;

    use super::ComponentStatus::{
        Degraded, MajorOutage, Operational, PartialOutage, UnderMaintenance, Unknown,
    };
    use super::*;

    const READER: fn() -> VisitorLanguage<'static> = || VisitorLanguage {
        base: "",
        chosen: "en",
        default: "en",
        words: PageTexts::of("en"),
        last_day: None,
    };

    fn part<'a>(
        key: i64,
        parent: Option<i64>,
        name: &'a TranslatedText,
        status: Option<ComponentStatus>,
    ) -> ShownComponent<'a> {
        ShownComponent {
            id: Id::random(),
            key,
            parent,
            name,
            description: None,
            status,
            because_of: None,
            is_group: false,
            hides_operational: false,
            is_open_at_first: false,
            days: None,
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

    /// Columns: components at the top, components in a group, the heading.
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
        // The status of the group itself changes nothing.
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
