//! Names, module comments and words: rules that examine one file at a time.
//!
//! Code is searched as tokens, so a comment may talk about what code must not do; markers of unfinished work
//! and references to a machine or an issue are refused everywhere.

use crate::source::Source;
use crate::{assert_clean, assert_tells_apart};

/// File and folder names that say nothing about what is inside.
const EMPTY_NAMES: [&str; 5] = ["utils", "helpers", "common", "types", "misc"];

/// Words that promise work instead of doing it, written so that this file does not hold them.
const MARKERS: [&str; 3] = [concat!("FIX", "ME"), concat!("TO", "DO"), concat!("XX", "X")];

/// Token sequences of unfinished or switched-off code.
const UNFINISHED: [&[&str]; 4] =
    [&["todo", "!"], &["unimplemented", "!"], &["dbg", "!"], &["#", "[", "ignore"]];

/// Readers of the wall clock, and the one file that may call them.
const WALL_CLOCKS: [&str; 3] = ["SystemTime", "Utc", "Local"];
const CLOCK_FILE: &str = "src/clock.rs";

/// Folders that exist only on a developer's machine, written so that this file does not contain them.
const MACHINE_FOLDERS: [&str; 2] = [concat!("/wo", "rk/"), concat!("/ro", "ot/")];

/// Ways to start an actor or a task by the way, and who may: supervision itself, the checks of a location (each catches its
/// panic and owes an answer), the watch over a thread's turns (it must wait in the queue of the checks), common commits
/// (each is awaited), and what only measures.
const UNSUPERVISED: [&[&str]; 4] =
    [&["actix", "::", "spawn"], &["tokio", "::", "spawn"], &["spawn_local"], &["start_in_arbiter"]];
const STARTERS: [&str; 5] = [
    "src/supervise/",
    "src/engine/location.rs",
    "src/probe/stalls.rs",
    "src/store/transaction.rs",
    "src/bench/",
];

/// The modules of `store` that write incidents, maintenances and notices, and who may call them: what follows from a change is
/// carried out with it.
const ROW_CHANGES: &str = "row_changes";
const ROW_CHANGERS: [&str; 2] = ["src/store/", "src/lifecycle/"];

/// The modules of `store` that may read services with their configuration, which is as large as a client makes it.
const WHOLE_SERVICES: [&str; 3] =
    ["src/store/services.rs", "src/store/services/", "src/store/named_services.rs"];
/// Sign that a query of services reads a part of their columns, and the number of lines below its start in which it must occur.
const PARTS_OF_SERVICES: [&str; 3] = ["select_only", "named_services::services", "outlines::selected"];
const LINES_OF_QUERY: usize = 12;

/// Marks before the number of an issue.
const ISSUE_WORDS: [&str; 5] = ["issue", "issues", "fixes", "closes", "resolves"];

#[test]
fn every_file_starts_with_its_purpose() {
    assert_clean(&Source::rust(), missing_opening);
}

#[test]
fn a_file_without_module_comment_is_found() {
    assert_tells_apart(
        missing_opening,
        &[
            ("src/id.rs", "//! Ids.\nuse std::fmt;", true),
            ("src/id.rs", "use std::fmt;\n//! Ids.", false),
            ("tests/api/main.rs", "/// Ids.", false),
            ("benches/verdict.rs", "", false),
        ],
    );
}

#[test]
fn there_are_no_vague_names_and_no_unfinished_code() {
    assert_clean(&Source::rust(), empty_names);
    assert_clean(&Source::rust(), unfinished_code);
}

#[test]
fn vague_names_and_unfinished_code_are_found() {
    assert_tells_apart(
        empty_names,
        &[
            ("src/http/services.rs", "", true),
            ("src/http/utils.rs", "", false),
            ("tests/common/mod.rs", "", false),
            ("benches/misc.rs", "", false),
        ],
    );
    let marked = MARKERS.map(|marker| format!("fn f() {{}} // {marker}: later"));
    assert_tells_apart(
        unfinished_code,
        &[
            ("src/id.rs", "#[test] fn f() { g(\"dbg!\") } // todo! is refused", true),
            ("src/id.rs", "fn f() { todo!() }", false),
            ("src/id.rs", "fn f() { unimplemented!(\"x\") }", false),
            ("src/id.rs", "fn f() { dbg!(1); }", false),
            ("tests/api/main.rs", "#[test]\n#[ignore = \"slow\"]\nfn f() {}", false),
            ("src/id.rs", &marked[0], false),
            ("src/id.rs", &marked[1], false),
            ("src/id.rs", &marked[2], false),
        ],
    );
}

#[test]
fn only_the_clock_reads_the_wall_clock() {
    assert_clean(&Source::rust(), wall_clock_readers);
}

#[test]
fn a_second_reader_of_the_wall_clock_is_found() {
    assert_tells_apart(
        wall_clock_readers,
        &[
            ("src/clock.rs", "let now = Utc::now();", true),
            ("src/engine/mod.rs", "let now = clock.now(); // not Utc::now()", true),
            ("src/engine/mod.rs", "let now = chrono::Utc::now();", false),
            ("tests/api/main.rs", "let now = std::time::SystemTime :: now();", false),
            ("src/http/clock.rs", "let now = Local::now();", false),
        ],
    );
}

#[test]
fn the_api_uses_the_visibility_of_its_caller() {
    assert_clean(&Source::rust(), wide_sights);
}

#[test]
fn unscoped_visibility_in_the_api_is_found() {
    assert_tells_apart(
        wide_sights,
        &[
            ("src/pages/show.rs", "let sight = Sight::whole(page.organisation);", true),
            ("src/http/gate/auth.rs", "Sight::of(&self.token)", true),
            ("src/http/v1/tags/mod.rs", "tags::find(main, Sight::whole(caller.organisation.key), id)", false),
        ],
    );
}

#[test]
fn only_lifecycle_writes_rows_with_consequences() {
    assert_clean(&Source::rust(), writes_without_consequences);
}

#[test]
fn a_write_without_its_consequences_is_found() {
    assert_tells_apart(
        writes_without_consequences,
        &[
            ("src/lifecycle/incidents.rs", "use crate::store::incidents::{find, row_changes};", true),
            ("src/store/incidents.rs", "pub mod row_changes;", true),
            ("src/http/v1/incidents/mod.rs", "lifecycle::incidents::save(&write, &a, &b, now)", true),
            (
                "src/incidents/pending_incidents.rs",
                "incidents::of_key_for_update(t, key) // not row_changes",
                true,
            ),
            ("src/incidents/pending_incidents.rs", "use crate::store::incidents::row_changes;", false),
            (
                "src/incidents/pending_incidents.rs",
                "use crate::store::incidents::{find, row_changes::save};",
                false,
            ),
            ("src/http/v1/incidents/mod.rs", "incidents::row_changes::insert(&*write, &mut new)", false),
            ("src/timetable/maintenances.rs", "maintenances::row_changes::update(&t, &step.after)", false),
            ("src/notices.rs", "notices::row_changes::update(&t, &over)", false),
        ],
    );
}

#[test]
fn configurations_of_services_are_read_only_by_their_module() {
    assert_clean(&Source::rust(), whole_services);
}

#[test]
fn a_query_that_reads_services_with_their_configurations_is_found() {
    let far = format!("service::Entity::find(){}.select_only()", "\n".repeat(LINES_OF_QUERY + 1));
    assert_tells_apart(
        whole_services,
        &[
            ("src/store/services.rs", "Entity::find(); service::Entity::find().all(main)", true),
            (
                "src/store/unreachable_services.rs",
                "let q = service::Entity::find();\nnamed_services::services(main, q)",
                true,
            ),
            ("src/store/unreachable_services.rs", "incident_service::Entity::find().all(main)", true),
            ("src/store/heartbeats.rs", "service::Entity::find_by_id(key)\n.select_only()", true),
            ("src/store/heartbeats.rs", "service::Entity::find_by_id(key).one(main)", false),
            ("src/store/component_inputs.rs", "service::Entity::find().filter(shown).all(main)", false),
            ("src/store/component_inputs.rs", &far, false),
            ("src/store/incidents/links.rs", "links.select_also(service::Entity)", false),
        ],
    );
}

#[test]
fn actors_and_tasks_are_started_only_by_supervise() {
    assert_clean(&Source::rust(), unsupervised);
}

#[test]
fn an_actor_without_supervision_is_found() {
    assert_tells_apart(
        unsupervised,
        &[
            ("src/supervise/task.rs", "actix::spawn(task)", true),
            ("src/engine/location.rs", "actix::spawn(run(lane, check))", true),
            ("src/app.rs", "supervisor.spawn(UPKEEP, make); supervisor.start(&placement, make)", true),
            ("tests/store/recorder.rs", "Recorder::start_in_arbiter(&thread, make)", true),
            ("src/app.rs", "actix::spawn(upkeep::run())", false),
            ("src/record/mod.rs", "tokio::task::spawn_local(task)", false),
            ("src/engine/mod.rs", "Fleet::start_in_arbiter(&thread, make)", false),
            ("src/timetable/mod.rs", "tokio::spawn(task)", false),
        ],
    );
}

#[test]
fn no_file_names_a_machine_or_an_issue() {
    assert_clean(&Source::all(), outside_references);
}

#[test]
fn a_reference_to_a_machine_or_an_issue_is_found() {
    let at_home = MACHINE_FOLDERS.map(|folder| format!("read {folder}notes first"));
    assert_tells_apart(
        outside_references,
        &[
            ("README.md", "It is up 99.9 % of the time; issue number # 1; colour #123456.", true),
            ("README.md", &at_home[0], false),
            ("justfile", &at_home[1], false),
            ("src/id.rs", concat!("// See iss", "ue #12."), false),
            ("README.md", concat!("Clo", "ses #7"), false),
        ],
    );
}

fn missing_opening(source: &Source) -> Vec<String> {
    let missing = !source.text.starts_with("//!");
    Vec::from_iter(missing.then(|| source.at(1, "the file does not open with `//!`")))
}

fn empty_names(source: &Source) -> Vec<String> {
    let segments = source.path.trim_end_matches(".rs").split('/');
    let empty = segments.filter(|name| EMPTY_NAMES.contains(name));
    empty.map(|name| source.at(1, &format!("`{name}` does not say what is inside"))).collect()
}

fn unfinished_code(source: &Source) -> Vec<String> {
    let is_marked = |line: &str| {
        let mut words = line.split(|c: char| !c.is_alphanumeric());
        words.any(|word| MARKERS.contains(&word))
    };
    let marked = source.lines().filter(|(_, line)| is_marked(line));
    let mut found: Vec<_> = marked.map(|(line, _)| source.at(line, "a marker of unfinished work")).collect();
    for sequence in UNFINISHED {
        let message = format!("`{}` is refused", sequence.concat());
        found.extend(lines_with(source, sequence).map(|line| source.at(line, &message)));
    }
    found
}

fn wall_clock_readers(source: &Source) -> Vec<String> {
    if source.path == CLOCK_FILE {
        return Vec::new();
    }
    let readers = WALL_CLOCKS.iter().flat_map(|clock| lines_with(source, &[clock, "::", "now"]));
    readers.map(|line| source.at(line, "wall time comes from `clock::Clock`")).collect()
}

fn wide_sights(source: &Source) -> Vec<String> {
    if !source.path.starts_with("src/http/") {
        return Vec::new();
    }
    let wide = lines_with(source, &["Sight", "::", "whole"]);
    wide.map(|line| source.at(line, "a request sees what its caller sees: `Caller::visibility`")).collect()
}

fn writes_without_consequences(source: &Source) -> Vec<String> {
    let may_write = ROW_CHANGERS.iter().any(|place| source.path.starts_with(place));
    if may_write || !source.path.starts_with("src/") {
        return Vec::new();
    }
    let found = lines_with(source, &[ROW_CHANGES]);
    found.map(|line| source.at(line, "what follows from a change is carried out by `lifecycle`")).collect()
}

fn whole_services(source: &Source) -> Vec<String> {
    let may_read = WHOLE_SERVICES.iter().any(|place| source.path.starts_with(place));
    if may_read || !source.path.starts_with("src/") {
        return Vec::new();
    }
    let is_whole = |line: &usize| {
        let query = source.text.lines().skip(line - 1).take(LINES_OF_QUERY);
        !query.into_iter().any(|line| PARTS_OF_SERVICES.iter().any(|part| line.contains(part)))
    };
    let finders = ["find", "find_by_id"].map(|finder| ["service", "::", "Entity", "::", finder]);
    let found = finders.iter().flat_map(|finder| lines_with(source, finder)).filter(is_whole);
    let joined = lines_with(source, &["select_also", "(", "service", "::", "Entity"]);
    let message = "services are read by name (`store::named_services`) or in outline (`services::outlines`)";
    found.chain(joined).map(|line| source.at(line, message)).collect()
}

fn unsupervised(source: &Source) -> Vec<String> {
    let may_start = STARTERS.iter().any(|place| source.path.starts_with(place));
    if may_start || !source.path.starts_with("src/") {
        return Vec::new();
    }
    let found = UNSUPERVISED.iter().flat_map(|way| lines_with(source, way));
    found.map(|line| source.at(line, "actors and tasks are started by a `Supervisor`")).collect()
}

fn outside_references(source: &Source) -> Vec<String> {
    let names_machine = |line: &str| MACHINE_FOLDERS.iter().any(|folder| line.contains(folder));
    let found = source.lines().filter(|(_, line)| names_machine(line) || names_issue(line));
    found
        .map(|(line, text)| source.at(line, &format!("a machine's folder or an issue's number: {text}")))
        .collect()
}

fn names_issue(line: &str) -> bool {
    line.match_indices('#').any(|(at, mark)| {
        let last_word = line[..at].split(|c: char| !c.is_alphanumeric()).rfind(|word| !word.is_empty());
        let is_number = line[at + mark.len()..].starts_with(|c: char| c.is_ascii_digit());
        is_number && last_word.is_some_and(|word| ISSUE_WORDS.contains(&word.to_lowercase().as_str()))
    })
}

/// The lines of the code (not of its comments and literals) on which the tokens `sequence` start.
fn lines_with(source: &Source, sequence: &[&str]) -> impl Iterator<Item = usize> + use<> {
    let tokens = source.tokens();
    let lines: Vec<_> = tokens
        .windows(sequence.len())
        .filter(|window| window.iter().map(|token| token.text.as_str()).eq(sequence.iter().copied()))
        .map(|window| window[0].line)
        .collect();
    lines.into_iter()
}
