//! Draws a simulation: two bars with one axis, the figures side by side, and the reliability.

use crate::cli::printable::printable;
use crate::cli::simulate::answer::{PeriodOutcome, SimulationReply};
use crate::cli::simulate::bar::BarScale;
use crate::cli::table::{self, ColumnAlignment, TableCell};
use crate::clock::Timestamp;

const BEFORE: &str = "before  ";
const AFTER: &str = "after   ";
/// The allowed numbers of cells of a bar, whatever the width of the terminal.
const CELLS: std::ops::RangeInclusive<usize> = 20..=400;

/// Draws a simulation.
///
/// # Errors
///
/// When a time in the server's response is invalid.
pub(super) fn draw(simulation: &SimulationReply, columns: usize, colours: bool) -> anyhow::Result<String> {
    let cells = columns.saturating_sub(BEFORE.len()).clamp(*CELLS.start(), *CELLS.end());
    let scale = BarScale { from: time(&simulation.period.from)?, to: time(&simulation.period.to)?, cells };
    let bar = |account: &PeriodOutcome| -> anyhow::Result<String> {
        let times = account.status_changes.iter().map(|change| time(&change.at));
        Ok(scale.bar(account, &times.collect::<anyhow::Result<Vec<_>>>()?, colours))
    };
    let mut lines = vec![
        format!("{} to {} (UTC)", shown(scale.from), shown(scale.to)),
        String::new(),
        format!("{BEFORE}{}", bar(&simulation.before)?),
        format!("{AFTER}{}", bar(&simulation.after)?),
        format!("{}{}", " ".repeat(BEFORE.len()), scale.axis()),
        String::new(),
    ];
    lines.extend(figures(simulation, colours));
    lines.push(String::new());
    lines.push(locations(simulation));
    lines.push(trust(simulation));
    Ok(lines.join("\n") + "\n")
}

fn figures(simulation: &SimulationReply, colours: bool) -> Vec<String> {
    let head =
        [("", ColumnAlignment::Left), ("before", ColumnAlignment::Right), ("after", ColumnAlignment::Right)];
    let (before, after) = (&simulation.before, &simulation.after);
    let row = |name: &str, of: fn(&PeriodOutcome) -> String| {
        let (before, after) = (of(before), of(after));
        let is_changed = before != after;
        vec![TableCell::of(name), TableCell::of(before), TableCell::of(after).painted("1", is_changed)]
    };
    let rows = vec![
        row("uptime", |account| {
            account.uptime_percentage.map_or_else(|| "no data".into(), |percent| format!("{percent:.3} %"))
        }),
        row("outages", |account| account.outages.to_string()),
        row("down", |account| duration(account.down_seconds)),
        row("degraded", |account| duration(account.degraded_seconds)),
        row("no data", |account| duration(account.no_data_seconds)),
        row("incidents", |account| account.incidents.len().to_string()),
        row("opened after", |account| account.detection_seconds.map_or_else(|| "-".into(), duration)),
    ];
    table::draw(head, rows, colours)
}

fn locations(simulation: &SimulationReply) -> String {
    let one = |location: &crate::cli::simulate::answer::LocationResults| {
        let left_out = if location.used { "" } else { ", left out" };
        format!("{} ({}{left_out})", printable(&location.code), location.results)
    };
    let all: Vec<String> = simulation.locations.iter().map(one).collect();
    format!("{} results: {}", simulation.results, all.join(", "))
}

fn trust(simulation: &SimulationReply) -> String {
    let fidelity = &simulation.fidelity;
    let Some(agreement) = fidelity.agreement_percentage else {
        return "Neither the record nor the replay has a status for this period.".into();
    };
    let differing = duration(fidelity.differing_seconds);
    format!(
        "A replay by the present settings agrees with the record for {agreement:.3} % of the known time ({differing} do not)."
    )
}

/// Formats a duration by its two largest parts: `3d 4h`, `5m 10s`, `1.7s`.
fn duration(seconds: f64) -> String {
    if seconds < 60.0 {
        let text = format!("{seconds:.1}");
        return format!("{}s", text.strip_suffix(".0").unwrap_or(&text));
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a few million seconds")]
    let whole = seconds.round() as u64;
    let parts = [(86_400, 'd', 3_600, 'h'), (3_600, 'h', 60, 'm'), (60, 'm', 1, 's')];
    let (large, name, small, other) =
        parts.into_iter().find(|(large, ..)| whole >= *large).unwrap_or((60, 'm', 1, 's'));
    match whole % large / small {
        0 => format!("{}{name}", whole / large),
        rest => format!("{}{name} {rest}{other}", whole / large),
    }
}

pub(super) fn time(text: &str) -> anyhow::Result<Timestamp> {
    let at = chrono::DateTime::parse_from_rfc3339(text)?;
    Ok(Timestamp::from_ms(at.timestamp_millis()))
}

fn shown(at: Timestamp) -> String {
    at.to_string().get(..16).unwrap_or_default().replace('T', " ")
}

#[cfg(test)]
mod tests;
