//! The tests that docs/reliability.md names are there: a name that leads nowhere is a statement that nothing shows.

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

#[test]
fn names_are_found_and_missed() {
    let document = "`api tags::*`, `lib model::verdict::*` and `cargo test`, `api …::x`, `lib nothing::*`";
    let found: Vec<_> = named_in(document).map(|name| (name, is_there(name))).collect();
    assert_eq!(found, [("api tags::*", true), ("lib model::verdict::*", true), ("lib nothing::*", false)]);
    assert!(!is_there("api tags::a_test_that_nobody_wrote"));
    assert!(is_there("tidy every_test_that_the_document_names_is_there"));
}

/// What stands between backticks and is a binary with a path to its tests. A path with `…` goes on from the name before it.
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
