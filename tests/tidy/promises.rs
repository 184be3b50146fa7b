//! Promises of the documents: the tests that docs/reliability.md names exist, and so do the files that links lead to; the guides
//! of what happens after a check link to each other; every block of a page has a tag.

use std::path::{Path, PathBuf};

/// Binaries of tests, as the document names them; `lib` are the unit tests.
const BINARIES: [&str; 12] = [
    "lib",
    "api",
    "bench",
    "cluster",
    "engine",
    "memory",
    "probe",
    "promote",
    "reliability",
    "starvation",
    "store",
    "tidy",
];

#[test]
fn every_test_that_the_document_names_is_there() {
    let document = std::fs::read_to_string("docs/reliability.md").unwrap();
    let named: Vec<&str> = named_in(&document).collect();
    assert!(named.len() > 60, "the document names hardly a test: {named:?}");
    let missing: Vec<&str> = named.into_iter().filter(|name| !is_there(name)).collect();
    assert!(missing.is_empty(), "no test has these names:\n{}\n", missing.join("\n"));
}

/// The guides of what happens after a check: each links to the others.
const GUIDES: [&str; 9] = [
    "access-scopes.md",
    "alerting.md",
    "events.md",
    "incidents.md",
    "maintenances.md",
    "oncall.md",
    "simulate.md",
    "sla.md",
    "verdicts.md",
];

/// The files that links of a Markdown text lead to, without addresses of the web and without anchors.
fn linked_from(text: &str) -> Vec<&str> {
    let targets = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let files = targets.filter(|target| !target.contains("://") && !target.contains(char::is_whitespace));
    files.map(|target| target.split('#').next().unwrap_or_default()).filter(|file| !file.is_empty()).collect()
}

fn documents() -> Vec<PathBuf> {
    let is_document = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "md");
    let docs = std::fs::read_dir("docs").into_iter().flatten().flatten();
    let docs = docs.map(|entry| entry.path()).filter(is_document);
    docs.chain(["README.md", "ARCHITECTURE.md", "CHANGELOG.md"].map(PathBuf::from)).collect()
}

#[test]
fn every_link_has_its_file() {
    let mut missing = Vec::new();
    for document in documents() {
        let text = std::fs::read_to_string(&document).unwrap();
        let folder = document.parent().unwrap();
        let broken = linked_from(&text).into_iter().filter(|file| !folder.join(file).exists());
        missing.extend(broken.map(|file| format!("{}: {file}", document.display())));
    }
    assert!(missing.is_empty(), "{missing:#?}");
}

#[test]
fn the_map_names_every_document() {
    let text = std::fs::read_to_string("docs/README.md").unwrap();
    let (linked, documents) = (linked_from(&text), documents());
    assert!(documents.len() > 20, "{documents:?}");
    let name = |document: &Path| document.strip_prefix("docs").ok().map(Path::to_path_buf);
    for document in
        documents.iter().filter_map(|document| name(document)).filter(|name| *name != Path::new("README.md"))
    {
        assert!(linked.iter().any(|file| Path::new(file) == document), "{}", document.display());
    }
}

#[test]
fn guides_link_to_each_other() {
    for guide in GUIDES {
        let text = std::fs::read_to_string(Path::new("docs").join(guide)).unwrap();
        let linked = linked_from(&text);
        let missing: Vec<_> =
            GUIDES.iter().filter(|other| **other != guide && !linked.contains(other)).collect();
        assert!(missing.is_empty(), "docs/{guide} does not name {missing:?}");
    }
}

/// Tags of fenced blocks. `bash`: the test of the pages types it. `sh` and `console` are commands that it cannot type: they
/// need the network, root, PostgreSQL, NATS or a compiler. `text` right after `bash` is its output.
const TAGS: [&str; 9] = ["bash", "console", "jinja", "json", "rust", "sh", "text", "toml", "yaml"];

/// Lines that open a fenced block with another tag than these, or without one.
fn unknown_tags(text: &str) -> Vec<(usize, &str)> {
    let fences =
        text.lines().enumerate().filter_map(|(line, text)| Some((line + 1, text.strip_prefix("```")?)));
    fences.step_by(2).filter(|(_, tag)| !TAGS.contains(tag)).collect()
}

#[test]
fn every_block_has_a_known_tag() {
    for document in documents() {
        let text = std::fs::read_to_string(&document).unwrap();
        assert_eq!(unknown_tags(&text), [], "{}: a block has one of the tags {TAGS:?}", document.display());
    }
}

#[test]
fn unknown_tags_are_found() {
    let text = "```bash\nls\n```\n\n```\nls\n```\n```shell\nls\n```\n```text\n```\n";
    assert_eq!(unknown_tags(text), [(5, ""), (8, "shell")]);
}

#[test]
fn links_are_found() {
    let text = "[a](a.md), [b](b.md#c), [here](#d), [web](https://e.example/f.md), f[0](1 + 2)";
    assert_eq!(linked_from(text), ["a.md", "b.md"]);
}

#[test]
fn names_are_found_and_missed() {
    let document = "`api tags::*`, `lib model::verdict::*` and `cargo test`, `api …::x`, `lib nothing::*`";
    let found: Vec<_> = named_in(document).map(|name| (name, is_there(name))).collect();
    assert_eq!(found, [("api tags::*", true), ("lib model::verdict::*", true), ("lib nothing::*", false)]);
    assert!(!is_there("api tags::a_test_that_nobody_wrote"));
    assert!(is_there("tidy every_test_that_the_document_names_is_there"));
}

/// Texts between backticks that are a binary with a path to its tests. A path with `…` continues the name before it.
fn named_in(document: &str) -> impl Iterator<Item = &str> {
    document.lines().flat_map(|line| line.split('`').skip(1).step_by(2)).filter(|text| {
        let binary = text.split_once(' ').map(|(binary, _)| binary);
        binary.is_some_and(|binary| BINARIES.contains(&binary)) && !text.contains('…')
    })
}

/// True if the path leads to a file, and the file or those below it have the function, if one is named.
fn is_there(name: &str) -> bool {
    let Some((binary, path)) = name.split_once(' ') else { return false };
    let root = if binary == "lib" { PathBuf::from("src") } else { Path::new("tests").join(binary) };
    let mut modules: Vec<&str> = path.split("::").collect();
    let function = modules.pop().unwrap_or_default();
    let place = modules.iter().fold(root, |place, module| place.join(module));
    let mut files = vec![place.with_extension("rs")];
    let mut folders = vec![place];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() { folders.push(path) } else { files.push(path) }
        }
    }
    let declared = format!("fn {function}(");
    let has_it = |text: &str| match function {
        "*" => text.contains("test]") || text.contains("test("),
        _ => text.contains(&declared),
    };
    files.iter().any(|file| std::fs::read_to_string(file).is_ok_and(|text| has_it(&text)))
}
