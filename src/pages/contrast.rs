//! The colours of the pages can be read: text against what it stands on, in both schemes.

const LIGHT: &str = include_str!("templates/style.css");
const DARK: &str = include_str!("templates/dark.css");

/// The contrast that text of any size needs (WCAG 2.2, success criterion 1.4.3).
const LEAST: f64 = 4.5;

/// The channels of a colour variable, 0 to 255.
fn colour(sheet: &str, name: &str) -> [u8; 3] {
    let rest = sheet.split_once(&format!("--{name}: #")).unwrap().1;
    [0, 2, 4].map(|at| u8::from_str_radix(&rest[at..at + 2], 16).unwrap())
}

/// Relative luminance, 0 to 1 (WCAG 2.2).
fn luminance(colour: [u8; 3]) -> f64 {
    let [red, green, blue] = colour.map(|channel| {
        let value = f64::from(channel) / 255.0;
        if value <= 0.040_45 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
    });
    0.2126f64.mul_add(red, 0.7152f64.mul_add(green, 0.0722 * blue))
}

fn contrast(one: [u8; 3], other: [u8; 3]) -> f64 {
    let (one, other) = (luminance(one), luminance(other));
    (one.max(other) + 0.05) / (one.min(other) + 0.05)
}

#[test]
fn contrast_is_that_of_the_guidelines() {
    assert!((contrast([0; 3], [255; 3]) - 21.0).abs() < 1e-9);
    assert!((contrast([0x77; 3], [255; 3]) - 4.478).abs() < 0.001);
}

#[test]
fn every_text_can_be_read_on_its_ground() {
    for (scheme, sheet) in [("light", LIGHT), ("dark", DARK)] {
        for ground in ["ground", "card"] {
            for text in ["ink", "soft", "accent", "good", "fair", "bad", "work", "none"] {
                let found = contrast(colour(sheet, text), colour(sheet, ground));
                assert!(found >= LEAST, "{scheme}: {text} on {ground} has {found:.2}");
            }
        }
    }
}
