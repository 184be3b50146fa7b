//! Colour contrast (WCAG 2.2): texts of the pages are readable on their background, in both colour schemes, and also in a
//! colour that an operator has chosen.

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
    /// Returns the backgrounds of text, as in the style sheet: the page and its cards.
    const fn grounds(self) -> [RgbColor; 2] {
        match self {
            Self::Light => [[0xf6, 0xf7, 0xf9], [0xff, 0xff, 0xff]],
            Self::Dark => [[0x12, 0x16, 0x1c], [0x1b, 0x21, 0x2a]],
        }
    }

    /// Returns the colour `#rrggbb` if it is readable, or else the nearest readable one towards black (light scheme) or
    /// white (dark scheme). `None` for other formats.
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

/// Mixes a colour channel with another value, by `step` of [`STEPS`].
fn mixed(from: u8, to: u8, step: u32) -> u8 {
    let mixed = (u32::from(from) * (STEPS - step) + u32::from(to) * step) / STEPS;
    u8::try_from(mixed).unwrap_or(to)
}

fn parse(color: &str) -> Option<RgbColor> {
    let digits = color.strip_prefix('#').filter(|digits| digits.len() == 6)?;
    let channel = |at: usize| u8::from_str_radix(digits.get(at..at + 2)?, 16).ok();
    Some([channel(0)?, channel(2)?, channel(4)?])
}

/// Returns the relative luminance of a colour, from 0 to 1 (WCAG 2.2).
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

    const SHEET: &str = concat!(include_str!("../html_kit/palette.css"), include_str!("templates/style.css"));
    /// Selectors of the palettes; the last one is inside of a media query.
    const PALETTES: [(ColorScheme, &str); 3] = [
        (ColorScheme::Light, "\n:root {"),
        (ColorScheme::Dark, ":root[data-theme=\"dark\"] {"),
        (ColorScheme::Dark, ":root:not([data-theme]) {"),
    ];
    /// Variables with the colours of the states: up, degraded, outage, maintenance, no data.
    const STATES: [&str; 5] = ["up", "fair", "down", "work", "none"];
    /// The smallest distance between two states (OKLab) that people can distinguish at a glance.
    const STATE_DISTANCE: f64 = 0.12;
    /// The contrast that graphics need (WCAG 2.2, success criterion 1.4.11).
    const GRAPHIC_CONTRAST: f64 = 3.0;

    /// Returns the variables of a palette.
    fn palette(selector: &str) -> &'static str {
        SHEET.split_once(selector).unwrap().1.split('}').next().unwrap()
    }

    /// Returns the value of a variable in a palette.
    fn variable(palette: &str, name: &str) -> RgbColor {
        let value = palette.split_once(&format!("--{name}: #")).unwrap().1;
        parse(&format!("#{}", &value[..6])).unwrap()
    }

    #[test]
    fn contrast_is_that_of_the_guidelines() {
        assert!((contrast([0; 3], [255; 3]) - 21.0).abs() < 1e-9);
        assert!((contrast([0x77; 3], [255; 3]) - 4.478).abs() < 0.001);
    }

    #[test]
    fn every_text_is_readable_on_its_background() {
        for (scheme, selector) in PALETTES {
            let found = palette(selector);
            assert_eq!(scheme.grounds(), ["ground", "card"].map(|name| variable(found, name)));
            for text in ["ink", "soft", "up-text", "fair-text", "down-text", "work-text", "none-text"] {
                assert!(scheme.carries(variable(found, text)), "{selector} {text}");
            }
        }
        for (scheme, link) in [(ColorScheme::Light, "accent-light"), (ColorScheme::Dark, "accent-dark")] {
            assert!(scheme.carries(variable(palette(PALETTES[0].1), link)), "{link}");
        }
    }

    /// Kinds of colour vision, as matrices of Machado, Oliveira and Fernandes (2009) for severity 1, applied to linear
    /// light.
    const VISIONS: [(&str, [[f64; 3]; 3]); 4] = [
        ("normal", [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]),
        (
            "protan",
            [
                [0.152286, 1.052583, -0.204868],
                [0.114503, 0.786281, 0.099216],
                [-0.003882, -0.048116, 1.051998],
            ],
        ),
        (
            "deutan",
            [
                [0.367322, 0.860646, -0.227968],
                [0.280085, 0.672501, 0.047413],
                [-0.011820, 0.042940, 0.968881],
            ],
        ),
        (
            "tritan",
            [
                [1.255528, -0.076749, -0.178779],
                [-0.078411, 0.930809, 0.147602],
                [0.004733, 0.691367, 0.303900],
            ],
        ),
    ];

    /// Multiplies a matrix by a vector.
    fn product(matrix: [[f64; 3]; 3], vector: [f64; 3]) -> [f64; 3] {
        matrix.map(|row| row.iter().zip(vector).map(|(factor, value)| factor * value).sum())
    }

    /// Returns a colour as a person with this vision sees it, in OKLab (Ottosson 2020).
    fn seen(color: RgbColor, vision: [[f64; 3]; 3]) -> [f64; 3] {
        let linear = color.map(|channel| {
            let value = f64::from(channel) / 255.0;
            if value <= 0.040_45 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
        });
        let light = product(vision, linear).map(|value| value.clamp(0.0, 1.0));
        let cones = product(
            [
                [0.412_221_470_8, 0.536_332_536_3, 0.051_445_992_9],
                [0.211_903_498_2, 0.680_699_545_1, 0.107_396_956_6],
                [0.088_302_461_9, 0.281_718_837_6, 0.629_978_700_5],
            ],
            light,
        );
        product(
            [
                [0.210_454_255_3, 0.793_617_785_0, -0.004_072_046_8],
                [1.977_998_495_1, -2.428_592_205_0, 0.450_593_709_9],
                [0.025_904_037_1, 0.782_771_766_2, -0.808_675_766_0],
            ],
            cones.map(f64::cbrt),
        )
    }

    #[test]
    fn states_are_distinct_in_every_vision() {
        for (_, selector) in PALETTES {
            let found = palette(selector);
            for (name, vision) in VISIONS {
                for (index, one) in STATES.iter().enumerate() {
                    for other in &STATES[index + 1..] {
                        let (a, b) =
                            (seen(variable(found, one), vision), seen(variable(found, other), vision));
                        let squares: f64 = a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum();
                        let distance = squares.sqrt();
                        assert!(distance >= STATE_DISTANCE, "{selector} {name} {one} {other}: {distance:.3}");
                    }
                }
            }
        }
    }

    /// The state "no data" is recognised by its hatching, whose lines need the contrast.
    #[test]
    fn states_stand_out_from_the_ground() {
        for (scheme, selector) in PALETTES {
            let found = palette(selector);
            for state in ["up", "fair", "down", "work", "hatch"] {
                for ground in scheme.grounds() {
                    let ratio = contrast(variable(found, state), ground);
                    assert!(ratio >= GRAPHIC_CONTRAST, "{selector} {state}: {ratio:.2}");
                }
            }
        }
    }

    /// The API reference has the background of the browser, which is white or nearly black.
    #[test]
    fn links_of_the_api_reference_are_readable() {
        let sheet = include_str!("../http/openapi/templates/reference.css");
        let accents: Vec<&str> = sheet.split("--accent:").skip(1).map(|rest| &rest[..7]).collect();
        assert_eq!(accents.len(), 2, "one in light, one in dark");
        for (accent, ground) in accents.into_iter().zip([[0xff; 3], [0x12; 3]]) {
            assert!(contrast(parse(accent).unwrap(), ground) >= 4.5, "{accent}");
        }
    }

    /// Returns the rule of a selector without its closing brace.
    fn rule<'a>(sheet: &'a str, selector: &str) -> &'a str {
        let start = sheet.find(&format!("\n{selector} {{")).unwrap();
        sheet[start..].split('}').next().unwrap()
    }

    /// On a narrow screen a name breaks between words, and the text next to it wraps first.
    #[test]
    fn long_names_do_not_break_within_words() {
        let sheet = SHEET;
        assert!(!sheet.contains("anywhere"), "a word may be broken everywhere");
        assert!(rule(sheet, ".component, summary").contains("flex-wrap: wrap"));
        assert!(rule(sheet, ".name").contains("min-width: min(10rem, 100%)"));
    }

    /// The focus ring of a group is not covered by the description of the group.
    #[test]
    fn the_description_of_a_group_does_not_overlap_its_ring() {
        assert!(rule(SHEET, "summary + .description").contains("margin-top: 0"));
    }

    /// Columns: the operator's colour, the colour of links in the light scheme, and in the dark scheme.
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
