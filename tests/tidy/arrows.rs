//! Dependencies of a file: its paths that start at the crate root, or at another crate.
//!
//! `use` lines, groups in braces, paths in the middle of code and chains of `super` all count. Macros are not
//! expanded, and a path inside a string (an attribute's argument) is not seen.

use crate::source::{Source, Token};

/// Keywords after which a path may start with `::`.
const BEFORE_PATHS: [&str; 9] = ["as", "dyn", "else", "if", "impl", "in", "match", "return", "use"];

/// A path's first segment and its line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Arrow {
    /// A module below the crate root, or a crate; `*` where the whole root is meant.
    pub(crate) to: String,
    /// Counted from 1.
    pub(crate) line: usize,
}

/// The modules below the crate root that the file names.
pub(crate) fn modules(source: &Source) -> Vec<Arrow> {
    let tokens = source.tokens();
    let mut nesting = Nesting::at(source);
    let mut found = Vec::new();
    for at in 0..tokens.len() {
        nesting.read(tokens, at);
        let root_ends = match word(tokens, at) {
            "crate" if before(tokens, at, 1) == "use" || word(tokens, at + 1) == "::" => Some(at + 1),
            "super" => nesting.root_behind_supers(tokens, at),
            _ => None,
        };
        if let Some(end) = root_ends {
            found.extend(first_segments(tokens, end));
        }
    }
    found
}

/// The words at the start of a path that may name another crate.
pub(crate) fn crates(source: &Source) -> Vec<Arrow> {
    let tokens = source.tokens();
    let starts_path = |at: usize| {
        let inside = before(tokens, at, 1) == "::" && continues_path(before(tokens, at, 2));
        let imported = before(tokens, at, 1) == "use" || before(tokens, at, 2) == "extern";
        !inside && (imported || word(tokens, at + 1) == "::")
    };
    let starts = (0..tokens.len()).filter(|at| is_name(&tokens[*at].text) && starts_path(*at));
    starts.map(|at| Arrow { to: tokens[at].text.clone(), line: tokens[at].line }).collect()
}

/// Depth of the reader below the crate root: the file's own module and the `mod x { … }` around it.
struct Nesting {
    file: usize,
    braces: usize,
    modules: Vec<usize>,
}

impl Nesting {
    fn at(source: &Source) -> Self {
        let inner = source.path.trim_start_matches("src/").trim_end_matches(".rs");
        let segments = inner.split('/').filter(|name| !matches!(*name, "lib" | "main" | "mod"));
        Self { file: segments.count(), braces: 0, modules: Vec::new() }
    }

    fn read(&mut self, tokens: &[Token], at: usize) {
        match tokens[at].text.as_str() {
            "{" => {
                if before(tokens, at, 2) == "mod" {
                    self.modules.push(self.braces);
                }
                self.braces += 1;
            }
            "}" => {
                self.braces = self.braces.saturating_sub(1);
                self.modules.pop_if(|outside| *outside == self.braces);
            }
            _ => {}
        }
    }

    /// The index behind `super::super::…` that starts at `at`, if it climbs all the way to the crate root.
    fn root_behind_supers(&self, tokens: &[Token], at: usize) -> Option<usize> {
        let in_chain = before(tokens, at, 1) == "::" && before(tokens, at, 2) == "super";
        let is_super = |climbed: &usize| {
            let here = at + 2 * climbed;
            word(tokens, here) == "super" && word(tokens, here + 1) == "::"
        };
        let climbed = (0..).take_while(is_super).count();
        let reaches_root = climbed > 0 && climbed >= self.file + self.modules.len();
        (!in_chain && reaches_root).then_some(at + 2 * climbed - 1)
    }
}

/// Segments after the `::` at `at`: one, or one for each branch of a group.
fn first_segments(tokens: &[Token], at: usize) -> Vec<Arrow> {
    let arrow = |to: &str| Arrow { to: to.to_owned(), line: tokens[at - 1].line };
    match (word(tokens, at), word(tokens, at + 1)) {
        ("::", "{") => group_branches(tokens, at + 1).into_iter().map(arrow).collect(),
        ("::", segment) => vec![arrow(segment)],
        _ => vec![arrow("*")],
    }
}

/// The first word of each branch of the group whose brace is at `open`.
fn group_branches(tokens: &[Token], open: usize) -> Vec<&str> {
    let (mut depth, mut found) = (0_usize, Vec::new());
    for at in open..tokens.len() {
        match tokens[at].text.as_str() {
            "{" => depth += 1,
            "}" => depth -= 1,
            text if depth == 1 && text != "," && matches!(before(tokens, at, 1), "{" | ",") => {
                found.push(text);
            }
            _ => {}
        }
        if depth == 0 {
            break;
        }
    }
    found
}

fn word(tokens: &[Token], at: usize) -> &str {
    tokens.get(at).map_or("", |token| token.text.as_str())
}

fn before(tokens: &[Token], at: usize, steps: usize) -> &str {
    at.checked_sub(steps).map_or("", |at| word(tokens, at))
}

fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_alphabetic() || c == '_') && !BEFORE_PATHS.contains(&text)
}

/// True if a `::` behind `text` continues a path: behind a name, or the end of its generic arguments.
fn continues_path(text: &str) -> bool {
    text == ">" || is_name(text)
}

#[test]
fn every_form_of_module_path_is_found() {
    for (path, text, expected) in [
        ("src/engine/fleet.rs", "use crate::model::check::X;", &["model"][..]),
        ("src/engine/fleet.rs", "use crate::{a, b::{c, d::e}, f::g};", &["a", "b", "f"]),
        ("src/engine/fleet.rs", "fn f() { crate::id::Id::random() }", &["id"]),
        ("src/engine/fleet.rs", "use {std::fmt, crate::store};", &["store"]),
        ("src/engine/fleet.rs", "use crate as root;", &["*"]),
        ("src/engine/fleet.rs", "use super::super::{store, stats::x};", &["store", "stats"]),
        ("src/engine/fleet.rs", "use super::watch; pub(crate) fn f() {}", &[]),
        ("src/engine/mod.rs", "use super::store;", &["store"]),
        ("src/egress.rs", "mod tests { use super::*; } use super::store;", &["store"]),
        ("src/egress.rs", "mod tests { use super::super::store; }", &["store"]),
        ("src/lib.rs", "mod tests { use super::store; }", &["store"]),
    ] {
        let source = Source::new(path, text);
        let targets: Vec<_> = modules(&source).into_iter().map(|arrow| arrow.to).collect();
        assert_eq!(targets, expected, "{text}");
    }
}

#[test]
fn every_form_of_crate_path_is_found() {
    for (text, expected) in [
        ("use hyper;", &["hyper"][..]),
        ("pub use ::hyper::Body;", &["hyper"]),
        ("extern crate hyper;", &["hyper"]),
        ("#[actix::test] fn f() { hyper::f(hyper) }", &["actix", "hyper"]),
        ("fn f() { return ::hyper::f(Vec::<u8>::new()) }", &["hyper", "Vec"]),
        ("use crate::hyper::x;", &["crate"]),
        ("let hyper = self.hyper; // hyper::x", &[]),
    ] {
        let source = Source::new("src/x.rs", text);
        let targets: Vec<_> = crates(&source).into_iter().map(|arrow| arrow.to).collect();
        assert_eq!(targets, expected, "{text}");
    }
}
