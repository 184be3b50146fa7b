//! What messengers, social networks and search engines read from the head of a document: the members of the Open Graph
//! protocol (<https://ogp.me>).

use crate::pages::card::CardContent;
use crate::pages::card_route::{self, CardSubject};
use crate::pages::page_texts::PageTexts;
use crate::pages::snapshot::{PageHistory, PageSnapshot};

/// Values of the elements in `social.html`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SocialTags {
    pub(super) site: String,
    pub(super) title: String,
    pub(super) description: Option<String>,
    /// Absolute URL of the document.
    pub(super) url: String,
    /// Language in the spelling of Open Graph, such as `pt_BR`.
    pub(super) locale: String,
    /// The other languages of the document.
    pub(super) alternates: Vec<String>,
    /// Absolute URL of the preview image.
    pub(super) image: String,
    /// Text in place of the image.
    pub(super) image_text: String,
}

impl SocialTags {
    /// Returns the tags of a document with this title and URL, which shows the preview image of the page.
    pub(super) fn of(snapshot: &PageSnapshot, words: &PageTexts, title: &str, url: &str) -> Self {
        let (page, languages, locale) = (&snapshot.page, snapshot.languages(), words.locale());
        let card = card_route::of_page(snapshot, words);
        let description = page.seo.description.as_ref();
        let others = languages.supported.iter().filter(|other| *other != locale);
        Self {
            title: title.to_owned(),
            description: description
                .map(|text| text.text(locale, &languages.default).to_owned())
                .or_else(|| card.state.as_ref().map(|state| state.sentence.clone())),
            url: url.to_owned(),
            locale: locale.replace('-', "_"),
            alternates: others.map(|other| other.replace('-', "_")).collect(),
            image: format!("{}{}", snapshot.url, CardSubject::Page.path(&card, locale)),
            image_text: text_of(&card),
            site: page.name.text(locale, &languages.default).to_owned(),
        }
    }

    /// Replaces the preview image of the page by that of an incident or a maintenance, if it has one.
    pub(super) fn show_event(&mut self, history: &PageHistory, words: &PageTexts, subject: CardSubject) {
        if let Some(card) = card_route::of_event(history, words) {
            self.description = card.state.as_ref().map(|state| state.sentence.clone());
            self.image = format!("{}{}", history.page.url, subject.path(&card, words.locale()));
            self.image_text = text_of(&card);
        }
    }
}

/// Returns the text in place of an image.
fn text_of(card: &CardContent) -> String {
    let sentence = card.state.as_ref().map(|state| format!("{}: {}", card.headline, state.sentence));
    sentence.unwrap_or_else(|| card.headline.clone())
}
