//! The colours and shapes of states where the style sheet of the pages does not apply: badges, preview images and frames.

use crate::model::component::status::ComponentStatus;
use crate::pages::contrast::ColorScheme;

/// The colours of a scheme, as `#rrggbb`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct StatePalette {
    pub(super) ground: &'static str,
    pub(super) card: &'static str,
    pub(super) ink: &'static str,
    pub(super) soft: &'static str,
    pub(super) line: &'static str,
    up: &'static str,
    fair: &'static str,
    down: &'static str,
    work: &'static str,
    none: &'static str,
}

const LIGHT: StatePalette = StatePalette {
    ground: "#f6f7f9",
    card: "#ffffff",
    ink: "#1b2430",
    soft: "#55606e",
    line: "#d9dee5",
    up: "#149f8a",
    fair: "#c17d02",
    down: "#ab0028",
    work: "#2c6aa7",
    none: "#808998",
};

const DARK: StatePalette = StatePalette {
    ground: "#12161c",
    card: "#1b212a",
    ink: "#edf1f6",
    soft: "#a9b4c2",
    line: "#323b47",
    up: "#6abda0",
    fair: "#fdd122",
    down: "#e92617",
    work: "#4470dd",
    none: "#7b8494",
};

impl StatePalette {
    /// Returns the colours of a scheme.
    pub(super) const fn of(scheme: ColorScheme) -> &'static Self {
        match scheme {
            ColorScheme::Light => &LIGHT,
            ColorScheme::Dark => &DARK,
        }
    }

    /// Returns the colour of a status.
    pub(super) const fn tone(&self, status: ComponentStatus) -> &'static str {
        match status {
            ComponentStatus::Operational => self.up,
            ComponentStatus::Degraded => self.fair,
            ComponentStatus::PartialOutage | ComponentStatus::MajorOutage => self.down,
            ComponentStatus::UnderMaintenance => self.work,
            ComponentStatus::Unknown => self.none,
        }
    }
}

/// Returns the colour of a status on which white text is readable.
pub(super) const fn text_ground(status: ComponentStatus) -> &'static str {
    match status {
        ComponentStatus::Operational => "#0f6b54",
        ComponentStatus::Degraded => "#855300",
        ComponentStatus::PartialOutage | ComponentStatus::MajorOutage => "#ab0028",
        ComponentStatus::UnderMaintenance => "#24588c",
        ComponentStatus::Unknown => "#55606e",
    }
}

/// Returns the shape of a status: an SVG path in a square of 16 by 16.
pub(super) const fn mark_path(status: ComponentStatus) -> &'static str {
    match status {
        ComponentStatus::Operational => "M8 0a8 8 0 1 1 0 16a8 8 0 1 1 0-16z",
        ComponentStatus::Degraded => "M8 .8L16 15.2H0z",
        ComponentStatus::PartialOutage => "M0 8h16v8H0z",
        ComponentStatus::MajorOutage => "M1 1h14v14H1z",
        ComponentStatus::UnderMaintenance => "M8 0l8 8-8 8-8-8z",
        ComponentStatus::Unknown => "M0 0h5.6v16H0zM10.4 0H16v16h-5.6z",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHEET: &str = concat!(include_str!("../html_kit/palette.css"), include_str!("templates/style.css"));

    /// Returns the value of a variable in the palette of the style sheet with this selector.
    fn variable(selector: &str, name: &str) -> &'static str {
        let palette = SHEET.split_once(selector).unwrap().1.split('}').next().unwrap();
        palette.split_once(&format!("--{name}: ")).unwrap().1.split(';').next().unwrap()
    }

    #[test]
    fn the_colours_are_those_of_the_style_sheet() {
        for (palette, selector) in [(&LIGHT, "\n:root {"), (&DARK, ":root[data-theme=\"dark\"] {")] {
            for (color, name) in [
                (palette.ground, "ground"),
                (palette.card, "card"),
                (palette.ink, "ink"),
                (palette.soft, "soft"),
                (palette.line, "line"),
                (palette.up, "up"),
                (palette.fair, "fair"),
                (palette.down, "down"),
                (palette.work, "work"),
                (palette.none, "hatch"),
            ] {
                assert_eq!(color, variable(selector, name), "{selector} {name}");
            }
        }
        for (status, name) in [
            (ComponentStatus::Operational, "up-text"),
            (ComponentStatus::Degraded, "fair-text"),
            (ComponentStatus::MajorOutage, "down-text"),
            (ComponentStatus::UnderMaintenance, "work-text"),
            (ComponentStatus::Unknown, "none-text"),
        ] {
            assert_eq!(text_ground(status), variable("\n:root {", name), "{name}");
        }
    }
}
