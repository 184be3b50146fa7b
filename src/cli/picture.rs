//! Draws a check as a small picture: the verdict, and a bar per phase.

use std::fmt::Write as _;

use crate::cli::printable::printable;
use crate::model::check::{CheckOutcome, CheckStatus, LocalFault, Measurement, Micros};

/// Number of cells that the whole duration of a check fills.
const BAR_CELLS: f64 = 32.0;
const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];

/// Draws an outcome; with ANSI colours when `colours`.
pub(super) fn draw(target: &str, outcome: &CheckOutcome, colours: bool) -> String {
    let target = &printable(target);
    match outcome {
        CheckOutcome::Measured(measurement) => draw_measurement(target, measurement, colours),
        CheckOutcome::Unmeasured(trouble) => {
            let sign = paint("?", "33", colours);
            format!(
                "{sign} {target}: this machine could not check ({}){}\n",
                trouble.as_str(),
                way_out(*trouble)
            )
        }
    }
}

/// Returns advice for the operator, which is appended to the name of the fault; empty if there is none.
const fn way_out(trouble: LocalFault) -> &'static str {
    match trouble {
        LocalFault::NotPermitted => {
            ": ICMP needs root, CAP_NET_RAW, or a group of this user in net.ipv4.ping_group_range"
        }
        LocalFault::NoDescriptors => ": raise the limit of open files",
        LocalFault::ResolverUnavailable => ": no name server answers; name others with --probe-dns-servers",
        _ => "",
    }
}

fn draw_measurement(target: &str, measurement: &Measurement, colours: bool) -> String {
    let (sign, colour) = match measurement.status {
        CheckStatus::Up => ("✓", "32"),
        CheckStatus::Degraded => ("!", "33"),
        CheckStatus::Down => ("✗", "31"),
    };
    let mut text = paint(&format!("{sign} {}", measurement.status.as_str()), colour, colours);
    // Writing to a `String` cannot fail.
    let _ = write!(text, "  {target}");
    if let Some(code) = measurement.status_code {
        let _ = write!(text, "  {code}");
    }
    if let Some(response_time) = measurement.response_time {
        let _ = write!(text, "  {}", milliseconds(response_time));
    }
    text.push('\n');
    if let Some(failure) = &measurement.failure {
        let _ = writeln!(text, "  {}: {}", failure.code.as_str(), printable(&failure.message));
    }
    draw_phases(&mut text, measurement, colour, colours);
    text
}

/// Draws the phases. Each bar starts where the one before ended, as on a timeline.
fn draw_phases(text: &mut String, measurement: &Measurement, colour: &str, colours: bool) {
    let timings = &measurement.timings;
    let phases = [
        ("dns", timings.dns),
        ("connect", timings.connect),
        ("tls", timings.tls),
        ("ttfb", timings.ttfb),
        ("transfer", timings.transfer),
    ];
    let sum: f64 = phases.iter().filter_map(|(_, phase)| *phase).map(|phase| f64::from(phase.get())).sum();
    let whole = timings.total.map_or(sum, |total| f64::from(total.get())).max(sum).max(1.0);
    let mut elapsed = 0.0;
    for (name, phase) in phases {
        let Some(phase) = phase else { continue };
        let width = f64::from(phase.get());
        let bar = bar(elapsed / whole * BAR_CELLS, width / whole * BAR_CELLS);
        let _ = writeln!(text, "  {name:<8} {:>11}  {}", milliseconds(phase), paint(&bar, colour, colours));
        elapsed += width;
    }
    if let Some(total) = timings.total {
        let _ = writeln!(text, "  {:<8} {:>11}", "total", milliseconds(total));
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "cells of a terminal line")]
fn bar(start: f64, width: f64) -> String {
    let eighths = (width * 8.0).round().max(1.0) as usize;
    let blank = " ".repeat(start.round() as usize);
    format!("{blank}{}{}", "█".repeat(eighths / 8), EIGHTHS[eighths % 8])
}

fn milliseconds(phase: Micros) -> String {
    format!("{:.3} ms", f64::from(phase.get()) / 1_000.0)
}

/// Returns the text, in an ANSI colour if `colours` is true.
pub(super) fn paint(text: &str, colour: &str, colours: bool) -> String {
    if colours { format!("\u{1b}[{colour}m{text}\u{1b}[0m") } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use super::*;
    use crate::model::check::{ErrorCode, LocalFault, PhaseTimings};

    #[test]
    fn phases_are_drawn_in_sequence() {
        let measurement = Measurement {
            status: CheckStatus::Up,
            response_time: NonZeroU32::new(4_000),
            timings: PhaseTimings {
                connect: NonZeroU32::new(1_000),
                ttfb: NonZeroU32::new(3_000),
                total: NonZeroU32::new(4_000),
                ..PhaseTimings::default()
            },
            status_code: Some(200),
            failure: None,
        };
        let picture = draw("http://x/", &CheckOutcome::Measured(measurement), false);
        let expected = "✓ up  http://x/  200  4.000 ms\n  \
            connect     1.000 ms  ████████\n  \
            ttfb        3.000 ms          ████████████████████████\n  \
            total       4.000 ms\n";
        assert_eq!(picture, expected);
    }

    #[test]
    fn a_failure_shows_its_reason_and_a_local_fault_is_not_down() {
        let down =
            Measurement::unanswered(ErrorCode::ConnectRefused, "Connection refused", PhaseTimings::default());
        let picture = draw("x:1", &CheckOutcome::Measured(down), false);
        assert_eq!(picture, "✗ down  x:1\n  connect_refused: Connection refused\n");
        let picture = draw("x", &CheckOutcome::Unmeasured(LocalFault::NotPermitted), false);
        assert_eq!(
            picture,
            "? x: this machine could not check (not_permitted): ICMP needs root, CAP_NET_RAW, or a group of this user in \
            net.ipv4.ping_group_range\n"
        );
    }
}
