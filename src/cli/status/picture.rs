//! Draws the status of several nodes in one picture: the partitions by owner, then a line per node, its queues, its
//! problems, and the locations.

use std::collections::BTreeMap;

use indicatif::HumanBytes;

use crate::cli::node_api::authority;
use crate::cli::picture::paint;
use crate::cli::printable::printable;
use crate::cli::status::answer::{Engine, Location, Ownership};
use crate::cli::status::node::Seen;
use crate::cli::table::{self, Cell, Side};

const PARTITIONS: usize = 64;
/// Signs of a partition without an owner, and of one whose owner is dead.
const UNOWNED: char = '·';
const ORPHANED: char = '×';

const BOLD: &str = "1";
const RED: &str = "31";
const YELLOW: &str = "33";
/// Colours of the nodes, in their order.
const COLOURS: [&str; 6] = ["36", "32", "35", "34", "96", "92"];

/// A node with a status.
struct Answered<'a> {
    seen: &'a Seen,
    engine: &'a Engine,
}

impl Answered<'_> {
    /// Name of the node; its address if it is alone.
    fn name(&self) -> &str {
        self.engine.ownership.as_ref().map_or_else(|| authority(&self.seen.url), |share| &share.node)
    }
}

/// Letters that stand for nodes in the picture of the partitions.
struct Letters(BTreeMap<String, (char, &'static str)>);

impl Letters {
    /// Assigns letters to all known nodes.
    fn of(answered: &[Answered<'_>]) -> Self {
        let known = answered.iter().filter_map(|one| one.engine.ownership.as_ref());
        let known = known.flat_map(|share| share.nodes.iter().map(|node| node.name.clone()));
        let mut letters: BTreeMap<String, (char, &str)> = known.map(|name| (name, (' ', ""))).collect();
        let marks = ('a'..='z').chain('A'..='Z').chain(std::iter::repeat('+'));
        let marks = marks.zip(COLOURS.into_iter().cycle());
        letters.values_mut().zip(marks).for_each(|(letter, mark)| *letter = mark);
        Self(letters)
    }

    fn get(&self, node: &str) -> (char, &'static str) {
        self.0.get(node).copied().unwrap_or((' ', ""))
    }
}

/// Draws the nodes; with ANSI colours when `colours`.
pub(super) fn draw(seen: &[Seen], now: &str, colours: bool) -> String {
    let answered: Vec<Answered<'_>> = seen
        .iter()
        .filter_map(|seen| Some(Answered { seen, engine: &seen.answer.as_ref().ok()?.engine }))
        .collect();
    let letters = Letters::of(&answered);
    let nodes = if seen.len() == 1 { "node answers" } else { "nodes answer" };
    let head = format!("{} of {} {nodes}", answered.len(), seen.len());
    let mut lines = vec![format!("{}  {now}", paint(&head, BOLD, colours))];
    let share = answered.iter().find_map(|one| one.engine.ownership.as_ref());
    lines.extend(share.into_iter().flat_map(|share| partitions(share, &letters, colours)));
    lines.push(String::new());
    lines.extend(nodes_table(seen, &letters, colours));
    if !answered.is_empty() {
        lines.push(String::new());
        lines.extend(queues_table(&answered, colours));
        let wrong = troubles(&answered);
        lines.extend((!wrong.is_empty()).then(String::new));
        lines.extend(wrong.iter().map(|line| paint(&printable(line), YELLOW, colours)));
        lines.push(String::new());
        lines.extend(locations_table(&answered, colours));
    }
    lines.join("\n") + "\n"
}

/// All partitions in one line, with a legend of the letters.
fn partitions(share: &Ownership, letters: &Letters, colours: bool) -> [String; 3] {
    let mut cells = [(UNOWNED, RED); PARTITIONS];
    let mut legend = Vec::new();
    for node in &share.nodes {
        let (letter, colour) = if node.is_living { letters.get(&node.name) } else { (ORPHANED, RED) };
        for number in node.numbers.iter().filter(|number| **number < PARTITIONS) {
            cells[*number] = (letter, colour);
        }
        let state = if node.is_living { "" } else { ", does not live" };
        let text = format!("{letter} {} {}{state}", printable(&node.name), node.numbers.len());
        legend.push(paint(&text, colour, colours));
    }
    if share.unowned > 0 {
        legend.push(paint(&format!("{UNOWNED} {} unowned", share.unowned), RED, colours));
    }
    let bar: String =
        cells.iter().map(|(letter, colour)| paint(&letter.to_string(), colour, colours)).collect();
    [String::new(), bar, legend.join("   ")]
}

fn nodes_table(seen: &[Seen], letters: &Letters, colours: bool) -> Vec<String> {
    let head = [
        ("", Side::Left),
        ("node", Side::Left),
        ("address", Side::Left),
        ("partitions", Side::Left),
        ("taken", Side::Right),
        ("of dead", Side::Right),
        ("released", Side::Right),
        ("lost", Side::Right),
        ("fenced", Side::Right),
        ("since", Side::Left),
    ];
    table::draw(head, seen.iter().map(|seen| node_row(seen, letters)).collect(), colours)
}

fn node_row(seen: &Seen, letters: &Letters) -> Vec<Cell> {
    let address = Cell::of(authority(&seen.url));
    let engine = match &seen.answer {
        Ok(answer) => &answer.engine,
        Err(problem) => {
            return vec![
                Cell::of(""),
                Cell::of("?"),
                address,
                Cell::of(problem.to_string()).painted(RED, true),
            ];
        }
    };
    let since = Cell::of(moment(&engine.started_at));
    let Some(share) = &engine.ownership else {
        let mut row = vec![Cell::of(""), Cell::of("–"), address, Cell::of("alone: all of them")];
        row.extend((0..5).map(|_| Cell::of("–")));
        row.push(since);
        return row;
    };
    let (letter, colour) = letters.get(&share.node);
    let leads = if share.leads { ", leads" } else { "" };
    let fenced = share.fenced_results + share.fenced_changes;
    vec![
        Cell::of(letter).painted(colour, true),
        Cell::of(&share.node).painted(colour, true),
        address,
        Cell::of(format!("{} of {PARTITIONS}{leads}", share.partitions)),
        Cell::number(share.taken),
        Cell::number(share.takeovers),
        Cell::number(share.released),
        Cell::number(share.lost).painted(YELLOW, share.lost > 0),
        Cell::number(fenced).painted(YELLOW, fenced > 0),
        since,
    ]
}

fn queues_table(answered: &[Answered<'_>], colours: bool) -> Vec<String> {
    let head = [
        ("queues", Side::Left),
        ("waiting", Side::Right),
        ("spool", Side::Right),
        ("late", Side::Right),
        ("bus", Side::Left),
        ("pending", Side::Right),
        ("lag", Side::Right),
        ("redelivered", Side::Right),
        ("refused", Side::Right),
    ];
    let row = |one: &Answered<'_>| {
        let queues = &one.engine.queues;
        let (bus, is_away) = match queues.bus_connected {
            None => ("none", false),
            Some(true) => ("connected", false),
            Some(false) => ("away", true),
        };
        vec![
            Cell::of(one.name()),
            Cell::number(queues.waiting_results),
            Cell::of(HumanBytes(queues.spool_bytes).to_string()).painted(YELLOW, queues.spool_bytes > 0),
            milliseconds(queues.lateness_p99_ms),
            Cell::of(bus).painted(RED, is_away),
            Cell::of(queues.pending_batches.map_or("–".into(), |batches| batches.to_string())),
            milliseconds(queues.lag_ms),
            Cell::number(queues.redelivered_batches),
            Cell::number(queues.refused_results).painted(YELLOW, queues.refused_results > 0),
        ]
    };
    table::draw(head, answered.iter().map(row).collect(), colours)
}

/// One line for each engine that takes no commands, for each of its warnings, and for each kind of actor that died or
/// froze.
fn troubles(answered: &[Answered<'_>]) -> Vec<String> {
    let mut lines = Vec::new();
    for one in answered {
        if !one.engine.is_alive {
            lines.push(format!("{}: the engine takes no commands", one.name()));
        }
        let warnings = &one.engine.warnings;
        lines.extend(warnings.iter().map(|warning| format!("{}: {warning}", one.name())));
        for actor in one.engine.actors.iter().filter(|actor| actor.restarts > 0) {
            let times = if actor.restarts == 1 { "once".into() } else { format!("{} times", actor.restarts) };
            let why = actor.last_error.as_deref().unwrap_or("nobody knows why");
            lines.push(format!("{}: {} was started again {times}: {why}", one.name(), actor.name));
        }
    }
    lines
}

/// Locations known to any of the nodes, each as seen by the first of them.
fn locations_table(answered: &[Answered<'_>], colours: bool) -> Vec<String> {
    let head = [
        ("location", Side::Left),
        ("status", Side::Left),
        ("waiting", Side::Right),
        ("spool", Side::Right),
        ("late", Side::Right),
    ];
    let mut known: BTreeMap<&str, &Location> = BTreeMap::new();
    for location in answered.iter().flat_map(|one| &one.engine.queues.locations) {
        known.entry(&location.code).or_insert(location);
    }
    let row = |location: &&Location| {
        let spool = location.spool_bytes;
        vec![
            Cell::of(&location.code),
            Cell::of(&location.status).painted(RED, location.status != "online"),
            Cell::of(location.waiting_results.map_or("–".into(), |waiting| waiting.to_string())),
            Cell::of(spool.map_or("–".into(), |bytes| HumanBytes(bytes).to_string()))
                .painted(YELLOW, spool.is_some_and(|bytes| bytes > 0)),
            milliseconds(location.lateness_p99_ms),
        ]
    };
    table::draw(head, known.values().map(row).collect(), colours)
}

/// A time in milliseconds, if known; highlighted above a second.
fn milliseconds(time_ms: Option<u64>) -> Cell {
    let text = time_ms.map_or("–".into(), |time_ms| format!("{time_ms} ms"));
    Cell::of(text).painted(YELLOW, time_ms.is_some_and(|time_ms| time_ms > 1_000))
}

/// A timestamp of the API, to the second and readable.
fn moment(timestamp: &str) -> String {
    timestamp.get(..19).unwrap_or(timestamp).replace('T', " ")
}

#[cfg(test)]
mod tests;
