//! The files of the checkout as text, and Rust text as tokens.
//!
//! Comments and literals never become tokens, so a rule about code does not trip over prose or over its own
//! examples. Groups are flat: a rule sees words, `::` and single characters, and that is all that most of them need.

use std::fs;
use std::path::Path;
use std::sync::OnceLock;

use proc_macro2::{Delimiter, Spacing, Span, TokenStream, TokenTree};

/// Folders directly below the root that hold what programs wrote: the ones of `.gitignore`, and git's own.
const NOT_OURS: [&str; 3] = [".git", "data", "target"];
/// Cargo leaves this in a build folder, whatever its name.
const BUILD_FOLDER_MARK: &str = "CACHEDIR.TAG";
/// Folders with Rust code of ours.
const RUST_FOLDERS: [&str; 5] = ["src/", "entities/src/", "migration/src/", "tests/", "benches/"];

/// One text file.
pub(crate) struct Source {
    /// Relative to the root of the checkout, with `/`.
    pub(crate) path: String,
    /// Everything in it.
    pub(crate) text: String,
    /// Its tokens, computed on first use.
    tokens: OnceLock<Vec<Token>>,
}

/// A word, `::`, or any other single character that is not blank.
pub(crate) struct Token {
    /// As written.
    pub(crate) text: String,
    /// Counted from 1.
    pub(crate) line: usize,
}

impl Source {
    /// A file that need not exist.
    pub(crate) fn new(path: &str, text: &str) -> Self {
        Self { path: path.into(), text: text.into(), tokens: OnceLock::new() }
    }

    /// Every text file of the checkout; what is not UTF-8 is not text.
    pub(crate) fn all() -> Vec<Self> {
        let mut found = Vec::new();
        collect(Path::new(env!("CARGO_MANIFEST_DIR")), "", &mut found);
        found.sort_by(|a, b| a.path.cmp(&b.path));
        found
    }

    /// Every Rust file of ours.
    pub(crate) fn rust() -> Vec<Self> {
        let mut found = Self::all();
        found.retain(|source| {
            source.path.ends_with(".rs") && RUST_FOLDERS.iter().any(|folder| source.path.starts_with(folder))
        });
        found
    }

    /// The module below the crate root that holds the file, or the name of the workspace member.
    pub(crate) fn place(&self) -> Option<&str> {
        match self.path.split('/').collect::<Vec<_>>()[..] {
            ["src", file] => file.strip_suffix(".rs"),
            ["src", folder, ..] => Some(folder),
            [member @ ("entities" | "migration"), "src", ..] => Some(member),
            _ => None,
        }
    }

    /// `PATH:LINE: message`, which terminals and editors turn into a link.
    pub(crate) fn at(&self, line: usize, message: &str) -> String {
        format!("{}:{line}: {message}", self.path)
    }

    /// The lines with their numbers, counted from 1.
    pub(crate) fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        (1..).zip(self.text.lines())
    }

    /// The code without blanks, comments and literals.
    pub(crate) fn tokens(&self) -> &[Token] {
        self.tokens.get_or_init(|| {
            let stream = self.text.parse::<TokenStream>();
            let stream = stream.unwrap_or_else(|error| panic!("{}: {error}", self.path));
            let mut found = Vec::new();
            flatten(stream, &mut found);
            found
        })
    }
}

fn flatten(stream: TokenStream, found: &mut Vec<Token>) {
    let token = |text: &str, span: Span| Token { text: text.to_owned(), line: span.start().line };
    let mut is_half_path = false;
    for tree in stream {
        match &tree {
            TokenTree::Ident(name) => found.push(token(&name.to_string(), name.span())),
            TokenTree::Punct(mark) if is_half_path => {
                found.pop();
                found.push(token("::", mark.span()));
            }
            TokenTree::Punct(mark) => found.push(token(&mark.as_char().to_string(), mark.span())),
            TokenTree::Literal(_) => {}
            TokenTree::Group(group) => {
                let (open, close) = match group.delimiter() {
                    Delimiter::Parenthesis => ("(", ")"),
                    Delimiter::Brace => ("{", "}"),
                    Delimiter::Bracket => ("[", "]"),
                    Delimiter::None => ("", ""),
                };
                found.push(token(open, group.span_open()));
                flatten(group.stream(), found);
                found.push(token(close, group.span_close()));
            }
        }
        is_half_path = !is_half_path
            && matches!(&tree, TokenTree::Punct(mark) if mark.as_char() == ':' && mark.spacing() == Spacing::Joint);
    }
}

fn collect(folder: &Path, prefix: &str, found: &mut Vec<Source>) {
    if folder.join(BUILD_FOLDER_MARK).exists() {
        return;
    }
    for entry in fs::read_dir(folder).expect("a folder of the checkout can be listed") {
        let entry = entry.expect("a folder of the checkout can be listed");
        let path = format!("{prefix}{}", entry.file_name().to_string_lossy());
        let kind = entry.file_type().expect("an entry has a type");
        if NOT_OURS.contains(&path.as_str()) {
            continue;
        }
        if kind.is_dir() {
            collect(&entry.path(), &format!("{path}/"), found);
        } else if kind.is_file() {
            let bytes = fs::read(entry.path()).expect("a file of the checkout can be read");
            found.extend(String::from_utf8(bytes).map(|text| Source::new(&path, &text)));
        }
    }
}

#[test]
fn comments_and_literals_are_no_tokens() {
    let text = r##"a /* x /* y */ z */ // b
        "c \" d" r#"e " f"# b'\'' 'g' ' ' &'h str::i"##;
    let source = Source::new("src/x.rs", text);
    let tokens = source.tokens();
    let words: Vec<_> = tokens.iter().map(|token| (token.text.as_str(), token.line)).collect();
    assert_eq!(words, [("a", 1), ("&", 2), ("'", 2), ("h", 2), ("str", 2), ("::", 2), ("i", 2)]);
}

#[test]
fn the_walk_covers_the_checkout_without_generated_files() {
    let rust = Source::rust();
    for path in ["src/lib.rs", "entities/src/lib.rs", "migration/src/lib.rs", file!()] {
        assert!(rust.iter().any(|source| source.path == path), "{path}");
    }
    let all = Source::all();
    assert!(all.iter().any(|source| source.path == ".ci/run"));
    let foreign = |source: &&Source| NOT_OURS.iter().any(|name| source.path.starts_with(&format!("{name}/")));
    assert!(all.iter().find(foreign).is_none());
}
