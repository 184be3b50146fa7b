//! The frame of every HTML document of a page: head, header, and footer with the links to other languages and appearances.

use crate::clock::Timestamp;
use crate::model::asset::AssetKind;
use crate::model::statuspage::word::PageColorScheme;
use crate::model::translated_text::TranslatedText;
use crate::pages::appearance::PageAppearance;
use crate::pages::display_time::DisplayTime;
use crate::pages::feeds::{FeedFormat, FeedRoute};
use crate::pages::page_texts::PageTexts;
use crate::pages::screen::PageScreen;
use crate::pages::script;
use crate::pages::snapshot::PageSnapshot;
use crate::pages::social::SocialTags;
use crate::pages::stylesheets;

/// The choices on which a visitor's document depends.
#[derive(Clone, Debug)]
pub(super) struct PageChoices {
    pub(super) locale: String,
    pub(super) appearance: Option<PageColorScheme>,
    /// Time of the snapshot; set while no later snapshot can be read, and in an export.
    pub(super) as_of: Option<Timestamp>,
    /// True for a static copy of the page, which has no parts that need the server.
    pub(super) is_export: bool,
}

/// The parts that all documents of a page share.
pub(super) struct PageFrame {
    pub(super) words: PageTexts,
    pub(super) appearance: PageAppearance,
    /// Links to the document in the other languages; empty if there is only one.
    pub(super) languages: Vec<LanguageLink>,
    pub(super) head: PageHead,
    /// Name of the page.
    pub(super) name: String,
    /// URLs of the logos; a dark logo requires a light one.
    pub(super) logo: Option<String>,
    pub(super) logo_dark: Option<String>,
    /// `small`, `medium` or `large`.
    pub(super) logo_size: &'static str,
    /// Time of the shown data, set while later data cannot be read, and in an export.
    pub(super) as_of: Option<DisplayTime>,
    /// True for a static copy of the page.
    pub(super) is_export: bool,
    /// Start of the paths of all documents in this language, without a slash at its end.
    pub(super) base: String,
    /// True for the document at the root of the page.
    pub(super) is_home: bool,
    /// Path of the form to subscribe, if visitors can.
    pub(super) subscribe: Option<String>,
    pub(super) imprint: Option<String>,
    pub(super) privacy: Option<String>,
}

/// The contents of the document's head.
pub(super) struct PageHead {
    /// Language code.
    pub(super) locale: String,
    /// `ltr` or `rtl`.
    pub(super) direction: &'static str,
    pub(super) title: String,
    pub(super) description: Option<String>,
    pub(super) is_indexable: bool,
    /// The public URL of the page, without a slash at its end.
    pub(super) origin: String,
    /// Path of the document, without a language.
    pub(super) path: String,
    /// The public URL of the document in this language.
    pub(super) canonical: String,
    /// Address of the script.
    pub(super) script: String,
    /// True for a document in a frame, which has no script and opens its links in new tabs.
    pub(super) is_framed: bool,
    /// Links to the feeds in this language.
    pub(super) feeds: Vec<FeedLink>,
    pub(super) social: SocialTags,
    /// URL of the icon.
    pub(super) icon: Option<String>,
    /// Address of the shared style sheet.
    pub(super) style: String,
    /// Address of the page's own style sheet, if it has one.
    pub(super) own_style: Option<String>,
}

/// A link to a feed.
pub(super) struct FeedLink {
    pub(super) address: String,
    pub(super) content_type: &'static str,
}

/// A link to the document in another language.
pub(super) struct LanguageLink {
    pub(super) address: String,
    /// Language code.
    pub(super) locale: String,
    pub(super) is_current: bool,
}

impl PageFrame {
    /// Creates the frame of a document. `title` is the title of its content; `None` for the document at the root.
    pub(super) fn of(
        snapshot: &PageSnapshot,
        choices: &PageChoices,
        screen: PageScreen,
        title: Option<&str>,
    ) -> Self {
        let PageSnapshot { page, .. } = snapshot;
        let languages = snapshot.languages();
        let text = |text: &TranslatedText| text.text(&choices.locale, &languages.default).to_owned();
        let file = |kind: AssetKind| snapshot.files.get(&kind).map(|hash| format!("/assets/{hash}"));
        let logo = file(AssetKind::Logo).filter(|_| page.shows.logo);
        let name = text(&page.name);
        let has_choice = languages.supported.len() > 1;
        let path = screen.path();
        let links = languages.supported.iter().filter(|_| has_choice).map(|locale| LanguageLink {
            address: format!("/{locale}{path}"),
            is_current: *locale == choices.locale,
            locale: locale.clone(),
        });
        let base = if has_choice { format!("/{}", choices.locale) } else { String::new() };
        let own_title = page.seo.title.as_ref().map_or_else(|| name.clone(), text);
        let words = PageTexts::of(&choices.locale);
        let title = title.map_or_else(|| own_title.clone(), |title| format!("{title} · {own_title}"));
        let canonical = format!("{}{base}{path}", snapshot.url);
        Self {
            appearance: PageAppearance::of(page, choices.appearance, &words),
            languages: links.collect(),
            head: PageHead {
                locale: choices.locale.clone(),
                direction: words.direction(),
                social: SocialTags::of(snapshot, &words, &title, &canonical),
                title,
                description: page.seo.description.as_ref().map(text),
                is_indexable: page.seo.indexable,
                script: script::address(),
                is_framed: false,
                feeds: feeds(&base, screen),
                origin: snapshot.url.clone(),
                path,
                canonical,
                icon: file(AssetKind::Favicon),
                style: stylesheets::shared_address(),
                own_style: stylesheets::own_address(page),
            },
            words,
            name,
            logo_dark: file(AssetKind::LogoDark).filter(|_| logo.is_some()),
            logo,
            logo_size: page.logo_size.as_str(),
            as_of: choices.as_of.map(DisplayTime::from),
            is_export: choices.is_export,
            subscribe: (snapshot.takes_subscribers && !choices.is_export)
                .then(|| format!("{base}/subscribe")),
            base,
            is_home: screen == PageScreen::Current,
            imprint: page.imprint_url.clone(),
            privacy: page.privacy_policy_url.clone(),
        }
    }
}

impl PageFrame {
    /// Changes the frame for a document inside of another one: no script and no choices, the style sheets in `folder`, and
    /// links that open the public page with this URL.
    pub(super) fn move_into_frame(&mut self, url: &str, folder: &str) {
        self.base = format!("{url}{}", self.base);
        self.head.is_framed = true;
        self.head.style = format!("{folder}/style.css");
        self.head.own_style = self.head.own_style.take().map(|_| format!("{folder}/own.css"));
        self.languages.clear();
        self.appearance.choices.clear();
    }

    /// Returns the words for the time of the shown state: an export does not call it the present one.
    pub(super) fn present(&self) -> String {
        let as_of = self.as_of.as_ref().filter(|_| self.is_export);
        as_of.map_or_else(|| self.words.text("still"), |as_of| as_of.text.clone())
    }
}

/// Returns links to the feeds of the page, or of the component that the document shows.
fn feeds(base: &str, screen: PageScreen) -> Vec<FeedLink> {
    let component = if let PageScreen::Component(id) = screen { Some(id) } else { None };
    let link = |format: FeedFormat| FeedLink {
        address: format!("{base}{}", FeedRoute { format, component }.path()),
        content_type: format.media_type(),
    };
    FeedFormat::ALL.into_iter().map(link).collect()
}
