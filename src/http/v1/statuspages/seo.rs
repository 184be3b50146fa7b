//! Reads the `seo` block of a body (contract 4.13.2). A sent block replaces the stored one, and missing members get their
//! defaults. Texts are in the languages that the page offers.

use std::ops::RangeInclusive;

use crate::http::kit::field::BodyField;
use crate::http::kit::fields::BodyFields;
use crate::http::kit::rule::FieldRule;
use crate::http::kit::translated::{TextLanguages, read_texts};
use crate::model::statuspage::seo::{DESCRIPTION_LENGTH, IMAGE_SUBTITLE_LENGTH, SeoSettings, TITLE_LENGTH};
use crate::model::statuspage::word::ImageAppearance;
use crate::model::translated_text::TranslatedText;

/// The members of the block.
const KEYS: [&str; 7] = [
    "title",
    "description",
    "image_subtitle",
    "image_appearance",
    "indexable",
    "live_status",
    "event_images",
];

/// Reads the block. An invalid member adds an error, and gets its default.
pub(super) fn read_seo(field: &BodyField<'_>, languages: TextLanguages<'_>) -> Option<SeoSettings> {
    let fields = field.object()?;
    let text = |name, length| read_text(&fields, name, length, languages);
    let (title, description) = (text("title", TITLE_LENGTH), text("description", DESCRIPTION_LENGTH));
    let image_subtitle = text("image_subtitle", IMAGE_SUBTITLE_LENGTH);
    let appearance = fields.optional("image_appearance").and_then(|field| field.word(ImageAppearance::WORDS));
    let flag = |name| fields.optional(name).and_then(|field| field.boolean()).unwrap_or(true);
    let (indexable, live_status, event_images) =
        (flag("indexable"), flag("live_status"), flag("event_images"));
    fields.refuse_unknown(&KEYS);
    Some(SeoSettings {
        title,
        description,
        image_subtitle,
        image_appearance: appearance.and_then(|word| word.parse().ok()).unwrap_or(ImageAppearance::Auto),
        indexable,
        live_status,
        event_images,
    })
}

/// Reads an object with one text per language; `{}` and null mean no text.
fn read_text(
    fields: &BodyFields<'_>,
    name: &str,
    length: RangeInclusive<usize>,
    languages: TextLanguages<'_>,
) -> Option<TranslatedText> {
    let field = fields.skippable(name)?;
    let texts = field.object()?;
    texts.each().next()?;
    let translated = read_texts(&field, &length, languages);
    for (locale, text) in texts.each() {
        let is_clean = text.value().as_str().is_none_or(|text| !text.trim().contains(char::is_control));
        if !is_clean {
            texts.refuse(locale, FieldRule::String);
        }
    }
    translated
}
