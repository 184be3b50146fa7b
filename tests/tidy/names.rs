//! Names of types, first sentences of comments and shapes of parameters: counted over all of `src` without its tests, each with
//! a bound that holds what was reached.

use std::collections::{BTreeMap, BTreeSet};

use syn::visit::{self, Visit};

use crate::circles::is_for_tests;
use crate::source::Source;

/// Types with a name of one word, in a hundred: the plain nouns of the domain (`Incident`, `Clock`).
const ONE_WORD_PERCENT: usize = 5;
/// Comments that open with a question word, in a hundred: a first sentence says what something is, not that it is something.
const QUESTION_PERCENT: usize = 1;
/// Functions with a tuple for a parameter, in a thousand.
const TUPLES_PER_THOUSAND: usize = 0;

/// The words with which such comments open.
const QUESTION_WORDS: [&str; 11] =
    ["What", "Who", "How", "Whether", "Whose", "Whom", "Where", "When", "Why", "Which", "Whoever"];

/// Participles that do not end in `ed`, and other words that say what happened to something instead of what it is.
const PARTICIPLES: [&str; 27] = [
    "Seen",
    "Known",
    "Told",
    "Kept",
    "Heard",
    "Past",
    "Taken",
    "Given",
    "Shown",
    "Found",
    "Done",
    "Begun",
    "Held",
    "Written",
    "Read",
    "Gone",
    "Left",
    "Sent",
    "Met",
    "Due",
    "Ready",
    "Lone",
    "Alone",
    "Behind",
    "Beside",
    "Elsewhere",
    "Listening",
];

/// Counts of one file.
#[derive(Default)]
struct Counts {
    /// Names of types with their lines.
    types: Vec<(String, usize)>,
    /// Lines of documentation, each with its text.
    docs: BTreeMap<usize, String>,
    functions: usize,
    /// Lines of functions with a tuple for a parameter.
    tuples: Vec<usize>,
}

impl Counts {
    fn of(source: &Source) -> Self {
        let parsed = syn::parse_file(&source.text);
        let parsed = parsed.unwrap_or_else(|error| panic!("{}: {error}", source.path));
        let mut counts = Self::default();
        counts.visit_file(&parsed);
        counts
    }

    fn note_type(&mut self, name: &syn::Ident) {
        self.types.push((name.to_string(), name.span().start().line));
    }

    /// The first lines of all comments.
    fn openings(&self) -> impl Iterator<Item = (usize, &str)> {
        let is_first = |line: &usize| !self.docs.contains_key(&(line - 1));
        self.docs.iter().filter(move |(line, _)| is_first(line)).map(|(line, text)| (*line, text.trim()))
    }
}

impl<'ast> Visit<'ast> for Counts {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        let attributes = match item {
            syn::Item::Mod(item) => &item.attrs,
            syn::Item::Fn(item) => &item.attrs,
            syn::Item::Impl(item) => &item.attrs,
            syn::Item::Struct(item) => &item.attrs,
            syn::Item::Enum(item) => &item.attrs,
            syn::Item::Trait(item) => &item.attrs,
            _ => return visit::visit_item(self, item),
        };
        if !is_for_tests(attributes) {
            visit::visit_item(self, item);
        }
    }

    fn visit_item_struct(&mut self, item: &'ast syn::ItemStruct) {
        self.note_type(&item.ident);
        visit::visit_item_struct(self, item);
    }

    fn visit_item_enum(&mut self, item: &'ast syn::ItemEnum) {
        self.note_type(&item.ident);
        visit::visit_item_enum(self, item);
    }

    fn visit_item_trait(&mut self, item: &'ast syn::ItemTrait) {
        self.note_type(&item.ident);
        visit::visit_item_trait(self, item);
    }

    fn visit_signature(&mut self, signature: &'ast syn::Signature) {
        self.functions += 1;
        let is_tuple = |input: &syn::FnArg| match input {
            syn::FnArg::Typed(typed) => is_tuple(&typed.ty),
            syn::FnArg::Receiver(_) => false,
        };
        if signature.inputs.iter().any(is_tuple) {
            self.tuples.push(signature.ident.span().start().line);
        }
        visit::visit_signature(self, signature);
    }

    fn visit_attribute(&mut self, attribute: &'ast syn::Attribute) {
        let syn::Meta::NameValue(meta) = &attribute.meta else { return };
        if let syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) = &meta.value
            && meta.path.is_ident("doc")
            && matches!(attribute.style, syn::AttrStyle::Outer)
        {
            self.docs.insert(text.span().start().line, text.value());
        }
    }
}

/// A tuple, or a reference to one; `()` is not a tuple.
fn is_tuple(shape: &syn::Type) -> bool {
    match shape {
        syn::Type::Tuple(tuple) => !tuple.elems.is_empty(),
        syn::Type::Reference(reference) => is_tuple(&reference.elem),
        _ => false,
    }
}

/// The files of `src` that are no tests.
fn product() -> Vec<Source> {
    let is_product = |source: &Source| {
        source.path.starts_with("src/")
            && !source.path.ends_with("/tests.rs")
            && !source.path.contains("/tests/")
    };
    Source::rust().into_iter().filter(is_product).collect()
}

fn words(name: &str) -> usize {
    name.chars().filter(char::is_ascii_uppercase).count()
}

fn is_participle(name: &str) -> bool {
    words(name) == 1 && (PARTICIPLES.contains(&name) || name.ends_with("ed"))
}

/// Fails with the list when more than `bound` of `all` are in it.
fn assert_few(found: &[String], (bound, of): (usize, usize), all: usize) {
    assert!(found.len() * of <= bound * all, "\n{}\n{} of {all} are too many", found.join("\n"), found.len());
}

#[test]
fn type_names_have_two_words() {
    let sources = product();
    let (mut found, mut all) = (Vec::new(), 0);
    for source in &sources {
        let types = Counts::of(source).types;
        all += types.len();
        let short = types.iter().filter(|(name, _)| words(name) == 1);
        found.extend(short.map(|(name, line)| source.at(*line, name)));
    }
    assert_few(&found, (ONE_WORD_PERCENT, 100), all);
}

#[test]
fn no_type_name_is_a_participle() {
    let found: Vec<String> = product()
        .iter()
        .flat_map(|source| {
            let types = Counts::of(source).types.into_iter().filter(|(name, _)| is_participle(name));
            types.map(|(name, line)| source.at(line, &name)).collect::<Vec<_>>()
        })
        .collect();
    assert!(found.is_empty(), "\n{}\n", found.join("\n"));
}

#[test]
fn no_two_types_share_a_name() {
    let mut places: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for source in product() {
        for (name, line) in Counts::of(&source).types {
            let location = source.at(line, &name);
            places.entry(name).or_default().insert(location);
        }
    }
    let shared = places.into_values().filter(|places| places.len() > 1).flatten();
    let shared: Vec<String> = shared.collect();
    assert!(shared.is_empty(), "\n{}\n", shared.join("\n"));
}

#[test]
fn doc_comments_do_not_start_with_question_words() {
    let (mut found, mut all) = (Vec::new(), 0);
    for source in product() {
        let counts = Counts::of(&source);
        for (line, text) in counts.openings() {
            all += 1;
            let first = text.split(|letter: char| !letter.is_alphabetic()).next().unwrap_or_default();
            found.extend(QUESTION_WORDS.contains(&first).then(|| source.at(line, text)));
        }
    }
    assert_few(&found, (QUESTION_PERCENT, 100), all);
}

#[test]
fn parameters_have_names_of_their_own() {
    let (mut found, mut all) = (Vec::new(), 0);
    for source in product() {
        let counts = Counts::of(&source);
        all += counts.functions;
        found.extend(counts.tuples.iter().map(|line| source.at(*line, "takes a tuple")));
    }
    assert_few(&found, (TUPLES_PER_THOUSAND, 1_000), all);
}

#[test]
fn the_name_check_finds_every_kind_of_item() {
    let text = "
        /// What it holds.
        /// And more.
        struct Told;
        enum ResultBatch { A }
        /// A rule.
        trait Rule { fn f(&self, pair: (u8, u8)); }
        mod inner { struct Whole { field: u8 } }
        fn g(pair: &(u8, u8), (): ()) {}
        #[cfg(test)]
        mod tests { struct Hidden; fn h(pair: (u8, u8)) {} }
        #[test]
        fn i() { struct Hidden; }
    ";
    let counts = Counts::of(&Source::new("src/x.rs", text));
    let types: Vec<(&str, usize)> = counts.types.iter().map(|(name, line)| (name.as_str(), *line)).collect();
    assert_eq!(types, [("Told", 4), ("ResultBatch", 5), ("Rule", 7), ("Whole", 8)]);
    assert_eq!(counts.openings().collect::<Vec<_>>(), [(2, "What it holds."), (6, "A rule.")]);
    assert_eq!((counts.functions, counts.tuples), (2, vec![7, 9]));
    assert_eq!(["Told", "Seeded", "ResultBatch"].map(words), [1, 1, 2]);
    assert_eq!(["Told", "Seeded", "CachedPage", "Rule"].map(is_participle), [true, true, false, false]);
}
