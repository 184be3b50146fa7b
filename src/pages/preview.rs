//! A page inside of another document, for those who edit it: also before it is published.
//!
//! It is read from the databases each time, and shows the whole page to everybody who asks; who may see it is decided by the
//! caller.

use crate::model::language::choose;
use crate::model::statuspage::Statuspage;
use crate::model::statuspage::word::PageColorScheme;
use crate::pages::calendar_month::CalendarMonth;
use crate::pages::frame::PageChoices;
use crate::pages::page_server::PageServer;
use crate::pages::show;
use crate::pages::stylesheets::{SHARED_STYLE, own_style};
use crate::representation::Representation;
use crate::store::MainError;

/// Choices for a preview.
#[derive(Clone, Copy, Debug)]
pub struct PreviewOptions<'a> {
    /// The languages of the reader, as in `Accept-Language`.
    pub languages: &'a str,
    /// The colours; `None`: those of the page.
    pub appearance: Option<PageColorScheme>,
    /// Path of the folder with the style sheets `style.css` and `own.css`, without a slash at its end.
    pub folder: &'a str,
}

/// A page could not be shown in a preview.
#[derive(Debug, thiserror::Error)]
pub enum PreviewError {
    /// The database fails.
    #[error(transparent)]
    Store(#[from] MainError),
    /// The template cannot be rendered.
    #[error(transparent)]
    Template(#[from] askama::Error),
}

impl PageServer {
    /// Renders a page for a frame; `None` if its organisation has been deleted meanwhile.
    ///
    /// # Errors
    /// When the database fails, or the template cannot be rendered.
    pub async fn preview(
        &self,
        page: Statuspage,
        options: PreviewOptions<'_>,
    ) -> Result<Option<Vec<u8>>, PreviewError> {
        let Some(snapshot) = self.reader().gather(page, None).await? else { return Ok(None) };
        let languages = snapshot.languages();
        let chosen = choose(options.languages, &languages.supported, &languages.default);
        let choices = PageChoices {
            locale: chosen.unwrap_or(languages.default),
            appearance: options.appearance,
            as_of: None,
            is_export: true,
        };
        let month = CalendarMonth::of(self.clock.now());
        Ok(Some(show::preview(&snapshot, &choices, month, options.folder)?))
    }
}

/// Returns the style sheet that all pages share.
#[must_use]
pub fn shared_sheet() -> &'static Representation {
    &SHARED_STYLE
}

/// Returns the style sheet of one page: its colours, and its owner's rules.
#[must_use]
pub fn own_sheet(page: &Statuspage) -> Representation {
    Representation::new(own_style(page))
}
