//! The entries of feeds: incidents and maintenances, newest change first.

use crate::clock::Timestamp;
use crate::model::service::ServiceKey;
use crate::pages::announcements::AnnouncementNames;
use crate::pages::feeds::feed_route::FeedChoices;
use crate::pages::page_texts::{PageTexts, TextValue};
use crate::pages::screen::PageScreen;
use crate::pages::snapshot::{PageComponent, PageHistory};
use crate::store::announcements::{AnnouncementEntry, StoredAnnouncement};
use crate::texts::markdown;

/// An entry of a feed.
pub(super) struct FeedEntry {
    /// Stable id.
    pub(super) id: String,
    /// URL of the incident or maintenance.
    pub(super) url: String,
    pub(super) title: String,
    pub(super) published: Timestamp,
    pub(super) updated: Timestamp,
    /// HTML that is safe to show.
    pub(super) html: String,
    /// `incident` or `maintenance`, and the present state.
    pub(super) tags: Vec<&'static str>,
}

impl FeedEntry {
    /// Time of publication as RSS writes it (RFC 822 with four digits for the year).
    pub(super) fn published_822(&self) -> String {
        self.published.format("%a, %d %b %Y %H:%M:%S GMT")
    }
}

/// Reads the entries of a page, or of one component.
pub(super) struct EntryReader<'a> {
    pub(super) history: &'a PageHistory,
    pub(super) choices: &'a FeedChoices<'a>,
    pub(super) names: AnnouncementNames<'a>,
    words: PageTexts,
    component: Option<&'a PageComponent>,
}

impl<'a> EntryReader<'a> {
    pub(super) fn new(
        history: &'a PageHistory,
        component: Option<&'a PageComponent>,
        choices: &'a FeedChoices<'a>,
    ) -> Self {
        let names = AnnouncementNames::of(&history.page, choices.locale);
        Self { history, choices, names, words: PageTexts::of(choices.locale), component }
    }

    pub(super) fn page_name(&self) -> String {
        self.names.text(&self.history.page.page.name)
    }

    /// Returns the title of the feed.
    pub(super) fn title(&self) -> String {
        let page = self.page_name();
        let name = match self.component {
            Some(one) => format!("{page} - {}", self.names.text(&one.component.name)),
            None => page,
        };
        self.words.filled("feed-title", &[TextValue::text("name", &name)])
    }

    /// Returns the id of the feed with this path and query.
    pub(super) fn feed_id(&self, address: &str) -> String {
        self.id(&format!("{}{address}", self.history.page.page.id))
    }

    /// Returns a stable id (RFC 4151). The host below which all pages are does not change with the name of the page.
    fn id(&self, rest: &str) -> String {
        let year = &self.history.page.page.created_at.date()[..4];
        format!("tag:{},{year}:{rest}", self.choices.authority)
    }

    /// Returns true if the feed contains an announcement.
    pub(super) fn contains<S>(&self, announced: &StoredAnnouncement<S>) -> bool {
        let Some(one) = self.component else { return true };
        let is_affected = |service: ServiceKey| announced.ever_affected.binary_search(&service).is_ok();
        one.component.service.is_some_and(is_affected)
    }

    /// Returns the URL of a document of the page.
    pub(super) fn url(&self, screen: PageScreen) -> String {
        let language = self.choices.language_path(&self.history.page.languages().default);
        format!("{}{language}{}", self.history.page.url, screen.path())
    }

    /// Returns all entries, newest change first.
    pub(super) fn entries(&self) -> Vec<FeedEntry> {
        let mut found = Vec::new();
        for incident in self.history.incidents.iter().filter(|one| self.contains(one)) {
            let kind = EntryKind {
                name: "Incident",
                tags: vec!["incident", incident.status.as_str()],
                url: self.url(PageScreen::Incident(incident.id)),
            };
            self.add(&mut found, incident, &kind, |status| self.words.incident(status));
        }
        for maintenance in self.history.maintenances.iter().filter(|one| self.contains(one)) {
            let kind = EntryKind {
                name: "Maintenance",
                tags: vec!["maintenance", maintenance.status.as_str()],
                url: self.url(PageScreen::Maintenance(maintenance.id)),
            };
            self.add(&mut found, maintenance, &kind, |status| self.words.maintenance(status));
        }
        found.sort_by_key(|entry| std::cmp::Reverse(entry.updated));
        found
    }

    fn add<S: Copy>(
        &self,
        found: &mut Vec<FeedEntry>,
        announced: &StoredAnnouncement<S>,
        kind: &EntryKind,
        state: impl Fn(S) -> String,
    ) {
        let title = readable(&self.names.title(announced));
        let update = |entry: &AnnouncementEntry<S>| {
            let state = announced.has_progress.then(|| state(entry.status));
            update_html(entry.at, state, &markdown::to_html(&self.names.text(&entry.message)))
        };
        if self.choices.each_update {
            found.extend(announced.entries.iter().map(|entry| FeedEntry {
                id: self.id(&format!("Update/{}", entry.id)),
                url: format!("{}#{}", kind.url, entry.id),
                title: title.clone(),
                published: entry.at,
                updated: entry.at,
                html: readable(&update(entry)),
                tags: kind.tags.clone(),
            }));
            return;
        }
        let updated = announced.entries.iter().map(|entry| entry.at).max().unwrap_or(announced.created_at);
        let html: String = announced.entries.iter().rev().map(update).collect();
        found.push(FeedEntry {
            id: self.id(&format!("{}/{}", kind.name, announced.id)),
            url: kind.url.clone(),
            title,
            published: announced.created_at,
            updated,
            html: readable(&html),
            tags: kind.tags.clone(),
        });
    }
}

/// The parts in which entries about incidents and about maintenances differ.
struct EntryKind {
    /// Part of the id.
    name: &'static str,
    tags: Vec<&'static str>,
    url: String,
}

/// Returns an update in the form that programs know from other status pages: time, state, text.
fn update_html(at: Timestamp, state: Option<String>, message: &str) -> String {
    let time = at.format(
        "<p><small>%b <var data-var='date'>%d</var>, <var data-var='time'>%H:%M</var> UTC</small><br>",
    );
    let state = state.map_or_else(String::new, |state| format!("<strong>{}</strong> - ", escaped(&state)));
    let rest = message.strip_prefix("<p>").map_or_else(|| format!("</p>{message}"), str::to_owned);
    format!("{time}{state}{rest}")
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Replaces the characters that XML 1.0 cannot contain (section 2.2).
pub(super) fn readable(text: &str) -> String {
    let is_valid = |character: char| matches!(character, '\t' | '\n' | '\r' | '\u{20}'..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..);
    text.chars().map(|character| if is_valid(character) { character } else { '\u{fffd}' }).collect()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(Some("Resolved"), "<p>Done.</p>\n", "<strong>Resolved</strong> - Done.</p>\n")]
    #[case(Some("<b>"), "<ul></ul>", "<strong>&lt;b&gt;</strong> - </p><ul></ul>")]
    #[case(None, "<p>Done.</p>\n", "Done.</p>\n")]
    fn an_update_has_time_and_state(#[case] state: Option<&str>, #[case] message: &str, #[case] rest: &str) {
        let time =
            "<p><small>Nov <var data-var='date'>20</var>, <var data-var='time'>15:04</var> UTC</small><br>";
        let at = Timestamp::from_ms(1_795_187_051_000);
        assert_eq!(update_html(at, state.map(str::to_owned), message), format!("{time}{rest}"));
    }

    #[test]
    fn characters_that_xml_forbids_are_replaced() {
        assert_eq!(readable("a\u{0}\u{1b}b\n\u{ffff}ä😀"), "a\u{fffd}\u{fffd}b\n\u{fffd}ä😀");
    }
}
