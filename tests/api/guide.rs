//! The commands of README.md and docs/*.md, followed literally.
//!
//! Every block tagged `bash` is typed: those of one page into one shell, in a folder of its own, and after the blocks of the
//! README where the page says that it goes on from them. A command that fails ends it, and so does an answer of 400 or more.
//! What a block prints is compared with the `text` block that follows it without prose in between.

use std::collections::BTreeMap;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use chrono::DateTime;
use rstest::rstest;

use crate::support::server::binary;

const README: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/README.md");
const PROGRAMS: [&str; 6] = ["bash", "curl", "jq", "openssl", "python3", "tar"];
/// What a page says whose commands need those of the README before them.
const GOES_ON: &str =
    "The commands continue from the [five minutes](../README.md#five-minutes) of the README";
/// Ports that pages name; each is replaced by a free one. The first is that of the server.
const PORTS: [&str; 5] = ["8080", "8000", "8443", "9099", "2525"];

/// A fenced block of a page.
struct FencedBlock {
    tag: String,
    text: String,
    /// Only empty lines are between it and the block before.
    follows: bool,
}

/// A block to type, and what the page shows as its output.
struct TypedBlock {
    commands: String,
    output: Option<String>,
}

fn fenced_blocks(page: &str) -> Vec<FencedBlock> {
    let (mut blocks, mut open, mut follows) = (Vec::new(), None::<FencedBlock>, false);
    for line in page.lines() {
        match (line.strip_prefix("```"), open.take()) {
            (Some(tag), None) => {
                open = Some(FencedBlock { tag: tag.to_owned(), text: String::new(), follows });
            }
            (Some(_), Some(block)) => {
                blocks.push(block);
                follows = true;
            }
            (None, Some(mut block)) => {
                block.text.push_str(line);
                block.text.push('\n');
                open = Some(block);
            }
            (None, None) => follows &= line.is_empty(),
        }
    }
    blocks
}

fn typed_blocks(page: &str) -> Vec<TypedBlock> {
    let mut typed = Vec::<TypedBlock>::new();
    let mut before = String::new();
    for block in fenced_blocks(page) {
        match typed.last_mut() {
            _ if block.tag == "bash" => typed.push(TypedBlock { commands: block.text, output: None }),
            Some(last) if block.tag == "text" && block.follows && before == "bash" => {
                last.output = Some(block.text);
            }
            _ => (),
        }
        before = block.tag;
    }
    typed
}

/// A page with its ports replaced, and the port of its server.
struct PreparedPage {
    before: Vec<TypedBlock>,
    blocks: Vec<TypedBlock>,
    port: String,
}

impl PreparedPage {
    fn read(path: &Path) -> Self {
        let ports: BTreeMap<&str, String> = PORTS.into_iter().map(|port| (port, free_port())).collect();
        let with_ports = |path: &Path| {
            let page = std::fs::read_to_string(path).unwrap();
            ports.iter().fold(page, |page, (known, free)| replace_number(&page, known, free))
        };
        let page = std::fs::read_to_string(path).unwrap();
        let before =
            if page.contains(GOES_ON) { typed_blocks(&with_ports(Path::new(README))) } else { Vec::new() };
        Self { before, blocks: typed_blocks(&with_ports(path)), port: ports[PORTS[0]].clone() }
    }

    fn script(&self) -> String {
        let mut script =
            "set -euo pipefail\ntrap 'kill $(jobs -p) 2> /dev/null || true; wait' EXIT\n".to_owned();
        script.extend(self.before.iter().map(|block| block.commands.as_str()));
        for (index, block) in self.blocks.iter().enumerate() {
            script += &format!("echo; echo '{}'\n{}", mark(index), block.commands);
        }
        script
    }

    /// Types everything in this folder.
    fn type_in(&self, folder: &Path) -> Output {
        std::fs::write(folder.join(".curlrc"), "fail\nshow-error\n").unwrap();
        let known = std::env::var_os("PATH").unwrap();
        let own = binary().parent().map(Path::to_path_buf);
        let path = std::env::join_paths(own.into_iter().chain(std::env::split_paths(&known))).unwrap();
        let mut command = Command::new("timeout");
        command.args(["--kill-after=5", "300", "bash", "-c", &self.script()]).current_dir(folder);
        command.env("PATH", path).env("CURL_HOME", folder).stdin(Stdio::null());
        command.env("WATCHKEEPER_LISTEN", format!("127.0.0.1:{}", self.port));
        for name in ["PORT", "HOOK_PORT", "MAIL_PORT"] {
            command.env_remove(name);
        }
        command.output().unwrap()
    }
}

/// The line that is printed before the output of a block.
fn mark(index: usize) -> String {
    format!("=== output of block {index} ===")
}

fn free_port() -> String {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port().to_string()
}

/// Replaces a number where it is not a part of another one.
fn replace_number(text: &str, number: &str, by: &str) -> String {
    let mut replaced = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(number) {
        let is_digit = |character: Option<char>| character.is_some_and(|it| it.is_ascii_digit());
        let is_part = is_digit(before.chars().next_back()) || is_digit(after.chars().next());
        replaced += before;
        replaced += if is_part { number } else { by };
        rest = after;
    }
    replaced + rest
}

/// Returns the first program of the pages that is missing.
fn missing() -> Option<&'static str> {
    let is_there = |program: &str| {
        let path = std::env::var_os("PATH").unwrap_or_default();
        std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
    };
    PROGRAMS.into_iter().find(|program| !is_there(program))
}

/// A text without white space and bars, and with the same word for every id, time and decimal fraction.
fn normalise(text: &str) -> String {
    let is_bar = |character: char| ('\u{2580}'..='\u{259f}').contains(&character);
    let is_in_word = |character: char| character.is_ascii_alphanumeric() || "_-.:".contains(character);
    let mut normal = String::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let end = rest.find(|character| !is_in_word(character)).unwrap_or(rest.len());
        if end == 0 || first == ':' {
            rest = &rest[first.len_utf8()..];
            normal.extend(Some(first).filter(|first| !first.is_whitespace() && !is_bar(*first)));
            continue;
        }
        let word = rest[..end].trim_end_matches('.');
        let (word, after) = rest.split_at(word.len().max(1));
        let is_id = word.len() == 21 && normal.ends_with('"') && after.starts_with('"');
        normal += match word {
            _ if is_id => "ID",
            _ if DateTime::parse_from_rfc3339(word).is_ok() => "TIME",
            _ if word.contains('.') && word.parse::<f64>().is_ok() => "0.0",
            _ => word,
        };
        rest = after;
    }
    normal
}

/// True if the output is what the page shows; `…` there stands for any text.
fn shows(shown: &str, output: &str) -> bool {
    let output = normalise(output);
    let parts: Vec<String> = shown.split('…').map(normalise).collect();
    let [first, others @ ..] = &parts[..] else { return false };
    let Some(mut rest) = output.strip_prefix(first.as_str()) else { return false };
    let Some((last, others)) = others.split_last() else { return rest.is_empty() };
    for part in others {
        let Some((_, after)) = rest.split_once(part.as_str()) else { return false };
        rest = after;
    }
    rest.ends_with(last.as_str())
}

/// The log of the server that a page has started.
fn log_in(folder: &Path) -> String {
    let logs =
        ["watchkeeper.log", "demo/watchkeeper.log"].map(|name| std::fs::read_to_string(folder.join(name)));
    logs.into_iter().flatten().collect()
}

#[rstest]
fn the_commands_of_a_page_work_and_print_what_it_shows(
    #[files("README.md")]
    #[files("docs/*.md")]
    path: PathBuf,
) {
    let page = PreparedPage::read(&path);
    if page.blocks.is_empty() {
        return;
    }
    if let Some(program) = missing() {
        assert!(std::env::var_os("WATCHKEEPER_TESTS_REQUIRE_GUIDE").is_none(), "{program} is missing");
        eprintln!("NOT TESTED: {} needs {program}", path.display());
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let run = page.type_in(folder.path());
    let (printed, errors) = (String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
    assert!(run.status.success(), "{}\n{printed}\n{errors}\n{}", run.status, log_in(folder.path()));
    for (index, block) in page.blocks.iter().enumerate() {
        let (_, after) = printed.split_once(&mark(index)).unwrap();
        let output = after.split_once(&mark(index + 1)).map_or(after, |(output, _)| output);
        if let Some(shown) = &block.output {
            assert!(shows(shown, output), "the page shows\n{shown}\nand block {index} printed{output}");
        }
    }
}

#[test]
fn the_blocks_of_the_pages_are_found() {
    let docs = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/docs")).unwrap();
    let paths = docs.map(|entry| entry.unwrap().path()).chain([PathBuf::from(README)]);
    let pages = paths.filter(|path| path.extension().is_some_and(|ending| ending == "md"));
    let typed = pages.map(|path| typed_blocks(&std::fs::read_to_string(path).unwrap()));
    let blocks: Vec<TypedBlock> = typed.flatten().collect();
    let with_output = blocks.iter().filter(|block| block.output.is_some()).count();
    assert!(blocks.len() >= 40 && with_output >= 25, "{} blocks, {with_output} with output", blocks.len());
}

#[rstest]
#[case::the_same("Shop\n", "\nShop\n", true)]
#[case::another("Shop\n", "Ship\n", false)]
#[case::more("Shop\n", "Shop\nShip\n", false)]
#[case::id(r#"{"id": "5rgX3YgaERFMKbDEBFdFH"}"#, r#"{"id":"AS8yz4MNSftyTkw8eROH1"}"#, true)]
#[case::time("\"2026-11-27T11:45:54.888Z\"", "\"2026-11-28T01:05:04.001Z\"", true)]
#[case::time_at_the_end("at 2026-11-27T11:45:54Z.", "at 2026-11-28T01:05:04.001Z.", true)]
#[case::fraction(r#"{"total":1.5}"#, r#"{"total":20.125}"#, true)]
#[case::number(r#"{"total":15}"#, r#"{"total":16}"#, false)]
#[case::left_out("a … c … e", "abcde", true)]
#[case::left_out_at_the_end("a … c …", "abcde", true)]
#[case::another_end("a … c … d", "abcde", false)]
#[case::another_order("a … c … b …", "abcde", false)]
#[case::bars("up  1.5 ms ██▍", "up  0.5 ms █", true)]
fn outputs_are_compared(#[case] shown: &str, #[case] output: &str, #[case] same: bool) {
    assert_eq!(shows(shown, output), same);
}

#[test]
fn ports_are_replaced() {
    assert_eq!(replace_number("8080 18080 80801 :8080/", "8080", "9"), "9 18080 80801 :9/");
}
