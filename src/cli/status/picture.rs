//! Draws the status of several nodes in one picture: the partitions by owner, then a line per node, its queues, its
//! problems, and the locations.

use std::collections::BTreeMap;

use indicatif::HumanBytes;

use crate::cli::node_api::authority;
use crate::cli::picture::paint;
use crate::cli::printable::printable;
use crate::cli::status::answer::{EngineStatus, LocationQueueStatus, OwnershipStatus};
use crate::cli::status::node::NodeReport;
use crate::cli::table::{self, ColumnAlignment, TableCell};

const PARTITIONS: usize = 64;
/// Sign of a partition without an owner; `ORPHANED` is the sign of a partition whose owner is dead.
const UNOWNED: char = '·';
const ORPHANED: char = '×';

const BOLD: &str = "1";
const RED: &str = "31";
const YELLOW: &str = "33";
/// Colours of the nodes, in their order.
const COLOURS: [&str; 6] = ["36", "32", "35", "34", "96", "92"];

/// A node that has answered, with the status from its answer.
struct AnsweringNode<'a> {
    seen: &'a NodeReport,
    engine: &'a EngineStatus,
}

impl AnsweringNode<'_> {
    /// Name of the node; its address if it is alone.
    fn name(&self) -> &str {
        self.engine.ownership.as_ref().map_or_else(|| authority(&self.seen.url), |share| &share.node)
    }
}

/// Letters that stand for nodes in the picture of the partitions.
struct NodeLetters(BTreeMap<String, (char, &'static str)>);

impl NodeLetters {
    /// Assigns a letter and a colour to every known node.
    fn of(answered: &[AnsweringNode<'_>]) -> Self {
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

/// Draws the nodes; with ANSI colours if `colours` is true.
pub(super) fn draw(seen: &[NodeReport], now: &str, colours: bool) -> String {
    let answered: Vec<AnsweringNode<'_>> = seen
        .iter()
        .filter_map(|seen| Some(AnsweringNode { seen, engine: &seen.answer.as_ref().ok()?.engine }))
        .collect();
    let letters = NodeLetters::of(&answered);
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

/// Returns all partitions in one line, and a legend of the letters.
fn partitions(share: &OwnershipStatus, letters: &NodeLetters, colours: bool) -> [String; 3] {
    let mut cells = [(UNOWNED, RED); PARTITIONS];
    let mut legend = Vec::new();
    for node in &share.nodes {
        let (letter, colour) = if node.is_living { letters.get(&node.name) } else { (ORPHANED, RED) };
        for number in node.numbers.iter().filter(|number| **number < PARTITIONS) {
            cells[*number] = (letter, colour);
        }
        let state = if node.is_living { "" } else { ", dead" };
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

fn nodes_table(seen: &[NodeReport], letters: &NodeLetters, colours: bool) -> Vec<String> {
    let head = [
        ("", ColumnAlignment::Left),
        ("node", ColumnAlignment::Left),
        ("address", ColumnAlignment::Left),
        ("partitions", ColumnAlignment::Left),
        ("taken", ColumnAlignment::Right),
        ("of dead", ColumnAlignment::Right),
        ("released", ColumnAlignment::Right),
        ("lost", ColumnAlignment::Right),
        ("fenced", ColumnAlignment::Right),
        ("since", ColumnAlignment::Left),
    ];
    table::draw(head, seen.iter().map(|seen| node_row(seen, letters)).collect(), colours)
}

fn node_row(seen: &NodeReport, letters: &NodeLetters) -> Vec<TableCell> {
    let address = TableCell::of(authority(&seen.url));
    let engine = match &seen.answer {
        Ok(answer) => &answer.engine,
        Err(problem) => {
            return vec![
                TableCell::of(""),
                TableCell::of("?"),
                address,
                TableCell::of(problem.to_string()).painted(RED, true),
            ];
        }
    };
    let since = TableCell::of(moment(&engine.started_at));
    let Some(share) = &engine.ownership else {
        let mut row =
            vec![TableCell::of(""), TableCell::of("–"), address, TableCell::of("alone: all of them")];
        row.extend((0..5).map(|_| TableCell::of("–")));
        row.push(since);
        return row;
    };
    let (letter, colour) = letters.get(&share.node);
    let leads = if share.leads { ", leads" } else { "" };
    let fenced = share.fenced_results + share.fenced_changes;
    vec![
        TableCell::of(letter).painted(colour, true),
        TableCell::of(&share.node).painted(colour, true),
        address,
        TableCell::of(format!("{} of {PARTITIONS}{leads}", share.partitions)),
        TableCell::number(share.taken),
        TableCell::number(share.takeovers),
        TableCell::number(share.released),
        TableCell::number(share.lost).painted(YELLOW, share.lost > 0),
        TableCell::number(fenced).painted(YELLOW, fenced > 0),
        since,
    ]
}

fn queues_table(answered: &[AnsweringNode<'_>], colours: bool) -> Vec<String> {
    let head = [
        ("queues", ColumnAlignment::Left),
        ("waiting", ColumnAlignment::Right),
        ("spool", ColumnAlignment::Right),
        ("late", ColumnAlignment::Right),
        ("bus", ColumnAlignment::Left),
        ("pending", ColumnAlignment::Right),
        ("lag", ColumnAlignment::Right),
        ("redelivered", ColumnAlignment::Right),
        ("refused", ColumnAlignment::Right),
    ];
    let row = |one: &AnsweringNode<'_>| {
        let queues = &one.engine.queues;
        let (bus, is_away) = match queues.bus_connected {
            None => ("none", false),
            Some(true) => ("connected", false),
            Some(false) => ("away", true),
        };
        vec![
            TableCell::of(one.name()),
            TableCell::number(queues.waiting_results),
            TableCell::of(HumanBytes(queues.spool_bytes).to_string()).painted(YELLOW, queues.spool_bytes > 0),
            milliseconds(queues.lateness_p99_ms),
            TableCell::of(bus).painted(RED, is_away),
            TableCell::of(queues.pending_batches.map_or("–".into(), |batches| batches.to_string())),
            milliseconds(queues.lag_ms),
            TableCell::number(queues.redelivered_batches),
            TableCell::number(queues.refused_results).painted(YELLOW, queues.refused_results > 0),
        ]
    };
    table::draw(head, answered.iter().map(row).collect(), colours)
}

/// Returns a line for each engine that takes no commands, for each of its warnings, and for each kind of actor that was
/// restarted.
fn troubles(answered: &[AnsweringNode<'_>]) -> Vec<String> {
    let mut lines = Vec::new();
    for one in answered {
        if !one.engine.is_alive {
            lines.push(format!("{}: the engine accepts no commands", one.name()));
        }
        let warnings = &one.engine.warnings;
        lines.extend(warnings.iter().map(|warning| format!("{}: {warning}", one.name())));
        for actor in one.engine.actors.iter().filter(|actor| actor.restarts > 0) {
            let times = if actor.restarts == 1 { "once".into() } else { format!("{} times", actor.restarts) };
            let why = actor.last_error.as_deref().unwrap_or("reason unknown");
            lines.push(format!("{}: {} was restarted {times}: {why}", one.name(), actor.name));
        }
    }
    lines
}

/// Draws the locations known to any of the nodes, each as reported by the first node that knows it.
fn locations_table(answered: &[AnsweringNode<'_>], colours: bool) -> Vec<String> {
    let head = [
        ("location", ColumnAlignment::Left),
        ("status", ColumnAlignment::Left),
        ("waiting", ColumnAlignment::Right),
        ("spool", ColumnAlignment::Right),
        ("late", ColumnAlignment::Right),
    ];
    let mut known: BTreeMap<&str, &LocationQueueStatus> = BTreeMap::new();
    for location in answered.iter().flat_map(|one| &one.engine.queues.locations) {
        known.entry(&location.code).or_insert(location);
    }
    let row = |location: &&LocationQueueStatus| {
        let spool = location.spool_bytes;
        vec![
            TableCell::of(&location.code),
            TableCell::of(&location.status).painted(RED, location.status != "online"),
            TableCell::of(location.waiting_results.map_or("–".into(), |waiting| waiting.to_string())),
            TableCell::of(spool.map_or("–".into(), |bytes| HumanBytes(bytes).to_string()))
                .painted(YELLOW, spool.is_some_and(|bytes| bytes > 0)),
            milliseconds(location.lateness_p99_ms),
        ]
    };
    table::draw(head, known.values().map(row).collect(), colours)
}

/// Returns a cell with a time in milliseconds, if known; highlighted above a second.
fn milliseconds(time_ms: Option<u64>) -> TableCell {
    let text = time_ms.map_or("–".into(), |time_ms| format!("{time_ms} ms"));
    TableCell::of(text).painted(YELLOW, time_ms.is_some_and(|time_ms| time_ms > 1_000))
}

/// Shortens a timestamp of the API to seconds, with a space instead of `T`.
fn moment(timestamp: &str) -> String {
    timestamp.get(..19).unwrap_or(timestamp).replace('T', " ")
}

#[cfg(test)]
mod tests;
