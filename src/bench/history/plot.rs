//! The curve as an SVG file: two panels over the size of the history, with axes from zero.
//!
//! Hand-written: three lines and their axes need no library.

use crate::bench::history::curve_point::CurvePoint;

const WIDTH: f64 = 760.0;
const PANEL: f64 = 190.0;
const LEFT: f64 = 70.0;
const RIGHT: f64 = 24.0;
const TOP: f64 = 40.0;
const GAP: f64 = 56.0;
const COLOUR: &str = "#2563eb";

/// One panel of the drawing.
struct PlotPanel {
    title: &'static str,
    value: fn(&CurvePoint) -> f64,
}

const PANELS: [PlotPanel; 4] = [
    PlotPanel { title: "CPU per check, µs", value: |point| point.cpu_us },
    PlotPanel { title: "checks per second", value: |point| point.per_second },
    PlotPanel { title: "bytes per check on disk", value: |point| point.bytes_per_result },
    PlotPanel { title: "newest page of checks, p99, ms", value: |point| point.page_p99_us as f64 / 1e3 },
];

pub(super) fn draw(points: &[CurvePoint]) -> String {
    let height = TOP + PANELS.len() as f64 * (PANEL + GAP);
    let panels: String = PANELS.iter().enumerate().map(|(rank, panel)| panel.draw(rank, points)).collect();
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" font-family=\"sans-serif\" \
        font-size=\"13\"><rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n{panels}</svg>\n"
    )
}

impl PlotPanel {
    fn draw(&self, rank: usize, points: &[CurvePoint]) -> String {
        let top = TOP + rank as f64 * (PANEL + GAP);
        let most = nice(points.iter().map(self.value).fold(0.0, f64::max));
        let x = |point: &CurvePoint| across(points, point);
        let y = |value: f64| top + PANEL * (1.0 - value / most);
        let mut text = format!(
            "<text x=\"{LEFT}\" y=\"{:.1}\" font-weight=\"bold\">{}</text>\n",
            top - 10.0,
            self.title
        );
        for quarter in 0..=4 {
            let value = most * f64::from(quarter) / 4.0;
            text.push_str(&format!(
                "<line x1=\"{LEFT}\" x2=\"{:.1}\" y1=\"{y:.1}\" y2=\"{y:.1}\" stroke=\"#e5e7eb\"/>\
                <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>\n",
                WIDTH - RIGHT,
                LEFT - 8.0,
                y(value) + 4.0,
                number(value),
                y = y(value),
            ));
        }
        let coordinates: Vec<String> =
            points.iter().map(|point| format!("{:.1},{:.1}", x(point), y((self.value)(point)))).collect();
        text.push_str(&format!(
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{COLOUR}\" stroke-width=\"2\"/>\n",
            coordinates.join(" ")
        ));
        for point in points {
            let value = (self.value)(point);
            text.push_str(&format!(
                "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3.5\" fill=\"{COLOUR}\"/>\
                <text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>\
                <text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\" fill=\"#6b7280\">{} M</text>\n",
                y(value) - 9.0,
                number(value),
                top + PANEL + 18.0,
                point.millions(),
                x = x(point),
                y = y(value),
            ));
        }
        text
    }
}

/// Returns the horizontal position of a point on a logarithmic axis.
fn across(points: &[CurvePoint], point: &CurvePoint) -> f64 {
    let log = |point: &CurvePoint| point.millions().max(1e-6).ln();
    let (first, last) = (points.first().map_or(0.0, log), points.last().map_or(0.0, log));
    let part = if last > first { (log(point) - first) / (last - first) } else { 0.5 };
    LEFT + 30.0 + part * (WIDTH - LEFT - RIGHT - 60.0)
}

/// Rounds up to 1, 2, 4, 6 or 8 times a power of ten, with room for a label.
fn nice(value: f64) -> f64 {
    let room = (value * 1.15).max(1e-6);
    let power = 10_f64.powf(room.log10().floor());
    let steps = [1.0, 2.0, 4.0, 6.0, 8.0, 10.0];
    power * steps.into_iter().find(|step| step * power >= room).unwrap_or(10.0)
}

fn number(value: f64) -> String {
    if value >= 100.0 { format!("{value:.0}") } else { format!("{}", (value * 100.0).round() / 100.0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(millions: u64) -> CurvePoint {
        CurvePoint {
            results: millions * 1_000_000,
            cpu_us: 14.5,
            per_second: 61_234.0,
            bytes_per_result: 9.87,
            page_p99_us: 1_250,
        }
    }

    #[test]
    fn every_point_is_in_every_panel() {
        let svg = draw(&[point(1), point(10), point(100)]);
        assert_eq!(svg.matches("<circle").count(), 12, "{svg}");
        assert_eq!(svg.matches("<polyline").count(), 4);
        assert_eq!(svg.matches(">100 M<").count(), 4);
        assert!(svg.contains(">61234<") && svg.contains(">9.87<") && svg.contains(">1.25<"), "{svg}");
        assert!(quick_xml::Reader::from_str(&svg).into_inner().len() > 1_000);
    }

    #[test]
    fn axes_end_at_round_numbers_above_all_values() {
        assert_eq!([nice(9.87), nice(61_234.0), nice(0.8)], [20.0, 80_000.0, 1.0]);
    }
}
