//! The parts of a page to which no document leads: they have the same paths on every page, and below every component.

use crate::id::Id;
use crate::pages::badge_route::BadgeRoute;
use crate::pages::feeds::{FeedFormat, FeedRoute};
use crate::pages::screen::PageScreen;
use crate::pages::snapshot::PageLanguages;
use crate::pages::status_json::StatusDocument;

/// The document that lists the components.
pub(super) const COMPONENTS: StatusDocument = StatusDocument::Components;

/// Returns the paths of the fixed parts of a page. The page need not have all of them.
pub(super) fn of_page(languages: &PageLanguages) -> Vec<String> {
    let mut paths: Vec<String> = ["/robots.txt", "/sitemap.xml", "/widget.js"].map(str::to_owned).into();
    paths.extend(StatusDocument::ALL.into_iter().map(StatusDocument::path));
    for base in bases(languages) {
        paths.push(format!("{base}/"));
        paths.push(format!("{base}/embed"));
        paths.extend(feeds(&base, None));
        paths.extend(BadgeRoute::all(None).map(|badge| format!("{base}{}", badge.path())));
    }
    paths
}

/// Returns the paths of the fixed parts of a component.
pub(super) fn of_component(languages: &PageLanguages, id: Id) -> Vec<String> {
    let mut paths = Vec::new();
    for base in bases(languages) {
        paths.push(format!("{base}{}", PageScreen::Component(id).path()));
        paths.extend(feeds(&base, Some(id)));
        paths.extend(BadgeRoute::all(Some(id.as_str())).map(|badge| format!("{base}{}", badge.path())));
    }
    paths
}

fn feeds(base: &str, component: Option<Id>) -> impl Iterator<Item = String> {
    FeedFormat::ALL.into_iter().map(move |format| format!("{base}{}", FeedRoute { format, component }.path()))
}

/// Returns the starts of the paths: one without a language, and one for each language if there are several.
fn bases(languages: &PageLanguages) -> Vec<String> {
    let several = languages.supported.iter().filter(|_| languages.supported.len() > 1);
    std::iter::once(String::new()).chain(several.map(|locale| format!("/{locale}"))).collect()
}
