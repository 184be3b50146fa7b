//! Which parts of a page an export has. A new kind of part does not compile until it is decided here.

use crate::pages::route::PageRoute;

/// How an export treats a part of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ExportRule {
    /// An HTML document, in a folder of its own.
    Document,
    /// A file with the name that it has on the page.
    File,
    /// An uploaded file, whose name gets the ending of its media type.
    Upload,
    /// It needs the server.
    LeftOut,
}

impl ExportRule {
    pub(super) const fn of(route: &PageRoute<'_>) -> Self {
        match route {
            PageRoute::Localized(_) | PageRoute::Embed(_) => Self::Document,
            PageRoute::Robots
            | PageRoute::Sitemap
            | PageRoute::Widget
            | PageRoute::Style(_)
            | PageRoute::Script(_)
            | PageRoute::Document(_)
            | PageRoute::Feed(_)
            | PageRoute::Badge(_)
            | PageRoute::Card(_) => Self::File,
            PageRoute::File(_) => Self::Upload,
            PageRoute::Access(_)
            | PageRoute::Events(_)
            | PageRoute::Form { .. }
            | PageRoute::Moved(_)
            | PageRoute::Unknown => Self::LeftOut,
        }
    }
}
