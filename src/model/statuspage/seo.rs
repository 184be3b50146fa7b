//! The settings of a status page for search engines and link previews (contract 4.13.1, `seo`).
//!
//! The block is replaced as a whole: members that a client leaves out get their defaults.

use std::ops::RangeInclusive;

use serde_json::{Value, json};

use crate::model::statuspage::word::ImageAppearance;
use crate::model::translated_text::TranslatedText;

/// Permitted number of characters of the title, per language.
pub const TITLE_LENGTH: RangeInclusive<usize> = 1..=70;
/// Permitted number of characters of the description, per language.
pub const DESCRIPTION_LENGTH: RangeInclusive<usize> = 1..=160;
/// Permitted number of characters of the second line of the preview image, per language.
pub const IMAGE_SUBTITLE_LENGTH: RangeInclusive<usize> = 1..=90;

/// Settings for search engines and link previews: the `seo` block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeoSettings {
    /// Title of the page for search engines, by language; `None` = default.
    pub title: Option<TranslatedText>,
    /// Description of the page for search engines, by language; `None` = default.
    pub description: Option<TranslatedText>,
    /// Second line of the preview image, by language; `None` = default.
    pub image_subtitle: Option<TranslatedText>,
    /// Colours of the preview image.
    pub image_appearance: ImageAppearance,
    /// True if search engines may list the page.
    pub indexable: bool,
    /// True if previews show the current status.
    pub live_status: bool,
    /// True if incidents have their own preview images.
    pub event_images: bool,
}

impl Default for SeoSettings {
    fn default() -> Self {
        Self {
            title: None,
            description: None,
            image_subtitle: None,
            image_appearance: ImageAppearance::Auto,
            indexable: true,
            live_status: true,
            event_images: true,
        }
    }
}

/// The stored block cannot be read by this version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the seo block cannot be read")]
pub struct SeoSettingsError;

impl SeoSettings {
    /// Returns the block in the form in which it is stored.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let texts =
            |text: &Option<TranslatedText>| text.as_ref().map_or_else(|| json!({}), TranslatedText::to_json);
        json!({
            "title": texts(&self.title),
            "description": texts(&self.description),
            "image_subtitle": texts(&self.image_subtitle),
            "image_appearance": self.image_appearance.as_str(),
            "indexable": self.indexable,
            "live_status": self.live_status,
            "event_images": self.event_images,
        })
    }

    /// Parses the output of [`SeoSettings::to_json`].
    ///
    /// # Errors
    /// If a member is missing or has an invalid value.
    pub fn from_stored(stored: &str) -> Result<Self, SeoSettingsError> {
        let stored: Value = serde_json::from_str(stored).map_err(|_| SeoSettingsError)?;
        let text = |key: &str| match stored[key].as_object() {
            Some(texts) if texts.is_empty() => Ok(None),
            Some(_) => {
                TranslatedText::from_stored(&stored[key].to_string()).map(Some).map_err(|_| SeoSettingsError)
            }
            None => Err(SeoSettingsError),
        };
        let flag = |key: &str| stored[key].as_bool().ok_or(SeoSettingsError);
        let appearance = stored["image_appearance"].as_str().and_then(|word| word.parse().ok());
        Ok(Self {
            title: text("title")?,
            description: text("description")?,
            image_subtitle: text("image_subtitle")?,
            image_appearance: appearance.ok_or(SeoSettingsError)?,
            indexable: flag("indexable")?,
            live_status: flag("live_status")?,
            event_images: flag("event_images")?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_settings_are_read_back() {
        let seo = SeoSettings {
            title: Some(TranslatedText::single("en", "Shop")),
            image_appearance: ImageAppearance::Dark,
            indexable: false,
            ..SeoSettings::default()
        };
        for seo in [seo, SeoSettings::default()] {
            assert_eq!(SeoSettings::from_stored(&seo.to_json().to_string()), Ok(seo));
        }
        for unreadable in ["", "{}", "[]", r#"{"title": 1}"#] {
            assert_eq!(SeoSettings::from_stored(unreadable), Err(SeoSettingsError));
        }
    }
}
