//! Colour contrast (WCAG 2.2): text of the pages is readable on its background, in both schemes, also in a colour that
//! an operator has chosen.

/// The contrast that text of any size needs (WCAG 2.2, success criterion 1.4.3).
const TEXT_CONTRAST: f64 = 4.5;
/// Number of steps from a colour to black or white.
const STEPS: u32 = 64;

/// Red, green and blue, 0 to 255 each.
type RgbColor = [u8; 3];

/// Colour scheme of the pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ColorScheme {
    /// Dark text on light backgrounds.
    Light,
    /// Light text on dark backgrounds.
    Dark,
}

impl ColorScheme {
    /// Backgrounds of text: the page and its cards, as in the style sheets.
    const fn grounds(self) -> [RgbColor; 2] {
        match self {
            Self::Light => [[0xf6, 0xf7, 0xf9], [0xff, 0xff, 0xff]],
            Self::Dark => [[0x12, 0x16, 0x1c], [0x1b, 0x21, 0x2a]],
        }
    }

    /// Returns the colour `#rrggbb`, or the nearest readable one on the way to black (or to white). `None` for other
    /// formats.
    pub(super) fn readable(self, color: &str) -> Option<String> {
        let color = parse(color)?;
        let end = if self == Self::Light { 0 } else { 255 };
        let mut tried = (0..=STEPS).map(|step| color.map(|channel| mixed(channel, end, step)));
        let found = tried.find(|tried| self.carries(*tried))?;
        let [red, green, blue] = found;
        Some(format!("#{red:02x}{green:02x}{blue:02x}"))
    }

    fn carries(self, text: RgbColor) -> bool {
        self.grounds().iter().all(|ground| contrast(text, *ground) >= TEXT_CONTRAST)
    }
}

/// A colour channel mixed with another value, `step` of [`STEPS`].
fn mixed(from: u8, to: u8, step: u32) -> u8 {
    let mixed = (u32::from(from) * (STEPS - step) + u32::from(to) * step) / STEPS;
    u8::try_from(mixed).unwrap_or(to)
}

fn parse(color: &str) -> Option<RgbColor> {
    let digits = color.strip_prefix('#').filter(|digits| digits.len() == 6)?;
    let channel = |at: usize| u8::from_str_radix(digits.get(at..at + 2)?, 16).ok();
    Some([channel(0)?, channel(2)?, channel(4)?])
}

/// Relative luminance, 0 to 1 (WCAG 2.2).
fn luminance(color: RgbColor) -> f64 {
    let [red, green, blue] = color.map(|channel| {
        let value = f64::from(channel) / 255.0;
        if value <= 0.040_45 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
    });
    0.2126f64.mul_add(red, 0.7152f64.mul_add(green, 0.0722 * blue))
}

fn contrast(one: RgbColor, other: RgbColor) -> f64 {
    let (one, other) = (luminance(one), luminance(other));
    (one.max(other) + 0.05) / (one.min(other) + 0.05)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    const SHEETS: [(ColorScheme, &str); 2] = [
        (ColorScheme::Light, include_str!("templates/style.css")),
        (ColorScheme::Dark, include_str!("templates/dark.css")),
    ];

    /// The value of a variable in a style sheet.
    fn variable(sheet: &str, name: &str) -> RgbColor {
        let value = sheet.split_once(&format!("--{name}: #")).unwrap().1;
        parse(&format!("#{}", &value[..6])).unwrap()
    }

    #[test]
    fn contrast_is_that_of_the_guidelines() {
        assert!((contrast([0; 3], [255; 3]) - 21.0).abs() < 1e-9);
        assert!((contrast([0x77; 3], [255; 3]) - 4.478).abs() < 0.001);
    }

    #[test]
    fn every_text_is_readable_on_its_background() {
        for (scheme, sheet) in SHEETS {
            assert_eq!(scheme.grounds(), ["ground", "card"].map(|name| variable(sheet, name)));
            let link = if scheme == ColorScheme::Light { "accent-light" } else { "accent-dark" };
            for text in ["ink", "soft", link, "good", "fair", "bad", "work", "none"] {
                assert!(scheme.carries(variable(sheet, text)), "{scheme:?}: {text}");
            }
        }
    }

    /// The reference of the API is on the ground of the browser, which is white or nearly black.
    #[test]
    fn links_of_the_api_reference_are_readable() {
        let sheet = include_str!("../http/openapi/templates/reference.css");
        let accents: Vec<&str> = sheet.split("--accent:").skip(1).map(|rest| &rest[..7]).collect();
        assert_eq!(accents.len(), 2, "one in light, one in dark");
        for (accent, ground) in accents.into_iter().zip([[0xff; 3], [0x12; 3]]) {
            assert!(contrast(parse(accent).unwrap(), ground) >= 4.5, "{accent}");
        }
    }

    /// The beginning of the rule of a selector, up to its end.
    fn rule<'a>(sheet: &'a str, selector: &str) -> &'a str {
        let start = sheet.find(&format!("\n{selector} {{")).unwrap();
        sheet[start..].split('}').next().unwrap()
    }

    /// On a phone a name breaks between its words, and the text beside it wraps first.
    #[test]
    fn long_names_do_not_break_within_words() {
        let (_, sheet) = SHEETS[0];
        assert!(!sheet.contains("anywhere"), "a word may be broken everywhere");
        assert!(rule(sheet, ".component, summary").contains("flex-wrap: wrap"));
        assert!(rule(sheet, ".name").contains("min-width: min(10rem, 100%)"));
    }

    /// The ring around a group that has the focus is not covered by its description.
    #[test]
    fn the_description_of_a_group_does_not_overlap_its_ring() {
        assert!(rule(SHEETS[0].1, "summary + .description").contains("margin-top: 0"));
    }

    /// Columns: the operator's colour, that of links in light, in dark.
    #[rstest]
    #[case::kept_in_light("#9f1239", "#9f1239", "#c46e86")]
    #[case::too_light("#ffdd00", "#837100", "#ffdd00")]
    #[case::white("#ffffff", "#6f6f6f", "#ffffff")]
    #[case::black("#000000", "#000000", "#878787")]
    fn link_colours_are_adjusted_until_they_are_readable(
        #[case] chosen: &str,
        #[case] light: &str,
        #[case] dark: &str,
    ) {
        for (scheme, expected) in [(ColorScheme::Light, light), (ColorScheme::Dark, dark)] {
            let found = scheme.readable(chosen).unwrap();
            assert!(scheme.carries(parse(&found).unwrap()), "{found}");
            assert_eq!(found, expected, "{scheme:?}");
        }
    }

    #[rstest]
    #[case("red")]
    #[case("#fff")]
    #[case("#ééé")]
    #[case("#12345g")]
    fn a_malformed_colour_is_refused(#[case] text: &str) {
        assert_eq!(ColorScheme::Light.readable(text), None);
    }
}
