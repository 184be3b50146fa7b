//! The files of the checkout as text, and Rust text as tokens.
//!
//! Comments and literals never become tokens, so a rule about code does not trip over prose or over its own
//! examples. This is no parser: it knows words, `::` and single characters, and that is all the rules need.

use std::fs;
use std::path::Path;

/// Folders directly below the root that hold what programs wrote: the ones of `.gitignore`, and git's own.
const NOT_OURS: [&str; 3] = [".git", "data", "target"];
/// Cargo leaves this in a build folder, whatever the folder is called.
const BUILD_FOLDER_MARK: &str = "CACHEDIR.TAG";
/// Where Rust code of ours may be.
const RUST_FOLDERS: [&str; 5] = ["src/", "entities/src/", "migration/src/", "tests/", "benches/"];

/// One text file.
pub(crate) struct Source {
    /// Relative to the root of the checkout, with `/`.
    pub(crate) path: String,
    /// Everything in it.
    pub(crate) text: String,
}

/// A word, `::`, or any other single character that is not blank.
pub(crate) struct Token<'a> {
    /// As written.
    pub(crate) text: &'a str,
    /// Counted from 1.
    pub(crate) line: usize,
}

impl Source {
    /// A file that need not exist.
    pub(crate) fn new(path: &str, text: &str) -> Self {
        Self { path: path.into(), text: text.into() }
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
    pub(crate) fn tokens(&self) -> Vec<Token<'_>> {
        let (mut rest, mut line, mut found) = (self.text.as_str(), 1, Vec::new());
        while let Some(first) = rest.chars().next() {
            let skipped = comment_length(rest).or_else(|| literal_length(rest));
            let length = skipped.unwrap_or_else(|| token_length(rest, first));
            let (piece, after) = rest.split_at(length);
            if skipped.is_none() && !first.is_whitespace() {
                found.push(Token { text: piece, line });
            }
            line += piece.matches('\n').count();
            rest = after;
        }
        found
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
            found.extend(String::from_utf8(bytes).map(|text| Source { path, text }));
        }
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn token_length(rest: &str, first: char) -> usize {
    match rest.find(|c| !is_word(c)).unwrap_or(rest.len()) {
        0 if rest.starts_with("::") => 2,
        0 => first.len_utf8(),
        word => word,
    }
}

fn comment_length(rest: &str) -> Option<usize> {
    if rest.starts_with("//") {
        return Some(rest.find('\n').unwrap_or(rest.len()));
    }
    rest.starts_with("/*").then(|| block_comment_length(rest))
}

/// Block comments nest.
fn block_comment_length(rest: &str) -> usize {
    let (mut at, mut depth) = (2, 1);
    while depth > 0 && at < rest.len() {
        let tail = &rest.as_bytes()[at..];
        let (step, change) = match tail {
            [b'*', b'/', ..] => (2, -1),
            [b'/', b'*', ..] => (2, 1),
            _ => (1, 0),
        };
        at += step;
        depth += change;
    }
    at
}

/// The length of a string, byte string, raw string or character at the start of `rest`.
fn literal_length(rest: &str) -> Option<usize> {
    let body = rest.trim_start_matches(['b', 'c', 'r']);
    let prefix = rest.len() - body.len();
    let quoted = if prefix > 2 {
        None
    } else if rest[..prefix].ends_with('r') {
        raw_string_length(body)
    } else if body.starts_with('"') {
        Some(escaped_length(body, '"'))
    } else {
        is_character(body).then(|| escaped_length(body, '\''))
    };
    quoted.map(|length| prefix + length)
}

fn raw_string_length(body: &str) -> Option<usize> {
    let hashes = body.len() - body.trim_start_matches('#').len();
    let start = hashes + 1;
    let inner = body[hashes..].strip_prefix('"')?;
    let end = format!("\"{}", "#".repeat(hashes));
    Some(inner.find(&end).map_or(body.len(), |at| start + at + end.len()))
}

/// Tells `'a'` and `'\n'` from the lifetime `'a`.
fn is_character(body: &str) -> bool {
    let mut chars = body.chars();
    chars.next() == Some('\'') && (chars.next() == Some('\\') || chars.next() == Some('\''))
}

fn escaped_length(body: &str, quote: char) -> usize {
    let mut chars = body.char_indices().skip(1);
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' => drop(chars.next()),
            c if c == quote => return at + 1,
            _ => {}
        }
    }
    body.len()
}

#[test]
fn comments_and_literals_are_no_tokens() {
    let text = r##"a /* x /* y */ z */ // b
        "c \" d" r#"e " f"# b'\'' 'g' ' ' &'h str::i"##;
    let source = Source::new("src/x.rs", text);
    let tokens = source.tokens();
    let words: Vec<_> = tokens.iter().map(|token| (token.text, token.line)).collect();
    assert_eq!(words, [("a", 1), ("&", 2), ("'", 2), ("h", 2), ("str", 2), ("::", 2), ("i", 2)]);
}

#[test]
fn the_walk_sees_the_checkout_and_leaves_out_what_programs_wrote() {
    let rust = Source::rust();
    for path in ["src/lib.rs", "entities/src/lib.rs", "migration/src/lib.rs", file!()] {
        assert!(rust.iter().any(|source| source.path == path), "{path}");
    }
    let all = Source::all();
    assert!(all.iter().any(|source| source.path == ".ci/run"));
    let foreign = |source: &&Source| NOT_OURS.iter().any(|name| source.path.starts_with(&format!("{name}/")));
    assert!(all.iter().find(foreign).is_none());
}
