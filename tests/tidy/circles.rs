//! Circles: modules that use each other, directly or by way of others, can only be understood all at once.
//!
//! The sources are parsed by `syn`. An arrow leads from a file to the file of whatever it names, in a `use` line, in a
//! path or inside a macro. `mod` lines are no arrows, nor is anything that only tests see.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{TokenStream, TokenTree};
use syn::visit::{self, Visit};

use crate::source::Source;

/// A module as the names from the crate root to it.
type Module = Vec<String>;

/// Modules and their dependencies.
type Arrows = BTreeMap<Module, BTreeSet<Module>>;

#[test]
fn no_modules_depend_on_each_other_in_a_cycle() {
    let arrows = arrows(&Source::rust());
    assert!(arrows.len() > 100, "the walk found hardly a module");
    let mut found = circles(&arrows);
    found.extend(circles_of_rooms(&arrows));
    let lines: Vec<String> = found.iter().map(|circle| circle.join(" ")).collect();
    assert!(lines.is_empty(), "these use each other:\n{}\n", lines.join("\n"));
}

#[test]
fn a_cycle_is_found_for_every_form_of_path() {
    let uses = [
        ("a use line", "use crate::http::b::X;"),
        ("a group", "use crate::{clock, http::{b::X, c}};"),
        ("a path", "fn f() -> crate::http::b::X { loop {} }"),
        ("a way up", "use super::b::X;"),
        ("a macro", "fn f() { println!(\"{}\", crate::http::b::X); }"),
        ("an inner module", "mod inner { use super::super::b::X; }"),
    ];
    for (what, text) in uses {
        assert_eq!(between(text, "use crate::http::a::Y;"), ["http::a http::b"], "{what}");
    }
}

#[test]
fn one_way_dependencies_and_tests_are_no_cycle() {
    for (there, back) in [
        ("use crate::http::b::X;", "use crate::clock::Clock;"),
        ("mod b;", "use crate::http::a::Y;"),
        ("// use crate::http::b::X;", "use crate::http::a::Y;"),
        ("#[cfg(test)]\nmod tests { use crate::http::b::X; }", "use crate::http::a::Y;"),
        ("#[cfg(test)]\nuse crate::http::b::X;", "use crate::http::a::Y;"),
    ] {
        assert!(between(there, back).is_empty(), "{there}");
    }
}

#[test]
fn folders_can_form_a_cycle_without_a_cycle_of_files() {
    let sources = [
        Source::new("src/http/a/one.rs", "use crate::http::b::two::X;"),
        Source::new("src/http/a/two.rs", ""),
        Source::new("src/http/b/one.rs", "use crate::http::a::two::X;"),
        Source::new("src/http/b/two.rs", ""),
    ];
    let arrows = arrows(&sources);
    assert!(circles(&arrows).is_empty());
    assert_eq!(circles_of_rooms(&arrows), [["http::a", "http::b"]]);
}

/// The circles of two files.
fn between(a: &str, b: &str) -> Vec<String> {
    let sources = [Source::new("src/http/a.rs", a), Source::new("src/http/b.rs", b)];
    circles(&arrows(&sources)).iter().map(|circle| circle.join(" ")).collect()
}

/// Reads the arrows between the modules of `src/`.
fn arrows(sources: &[Source]) -> Arrows {
    let files = sources.iter().filter_map(|source| Some((module_of(&source.path)?, source)));
    let modules: BTreeMap<Module, &Source> = files.collect();
    let mut readers: Vec<Reader<'_>> =
        modules.iter().map(|(module, source)| Reader::read(module, source)).collect();
    let tests: BTreeSet<Module> = readers.iter_mut().flat_map(|reader| reader.tests.drain(..)).collect();
    let is_test = |module: &Module| (1..=module.len()).any(|length| tests.contains(&module[..length]));
    let of_code = readers.into_iter().filter(|reader| !is_test(reader.file));
    of_code.map(|reader| (reader.file.clone(), reader.targets(&modules))).collect()
}

/// The module of a file; `None` outside of `src/`.
fn module_of(path: &str) -> Option<Module> {
    let names = path.strip_prefix("src/")?.strip_suffix(".rs")?.split('/');
    let module: Module =
        names.filter(|name| !matches!(*name, "mod" | "lib" | "main")).map(str::to_owned).collect();
    (!module.is_empty()).then_some(module)
}

/// Groups of modules that all reach each other, each as sorted names.
fn circles(arrows: &Arrows) -> Vec<Vec<String>> {
    let reached: BTreeMap<&Module, BTreeSet<&Module>> =
        arrows.keys().map(|module| (module, reach(arrows, module))).collect();
    let mut found = BTreeSet::new();
    for (module, targets) in &reached {
        let back =
            targets.iter().filter(|target| reached.get(**target).is_some_and(|far| far.contains(*module)));
        let mut circle: BTreeSet<String> = back.map(|target| target.join("::")).collect();
        circle.insert(module.join("::"));
        if circle.len() > 1 {
            found.insert(circle.into_iter().collect::<Vec<_>>());
        }
    }
    found.into_iter().collect()
}

/// The modules that can be reached from `start`.
fn reach<'a>(arrows: &'a Arrows, start: &Module) -> BTreeSet<&'a Module> {
    let mut seen = BTreeSet::new();
    let mut waiting: Vec<&Module> = arrows.get(start).into_iter().flatten().collect();
    while let Some(module) = waiting.pop() {
        if seen.insert(module) {
            waiting.extend(arrows.get(module).into_iter().flatten());
        }
    }
    seen
}

/// The same for the entries of each folder: a file or folder with everything in it is one room.
fn circles_of_rooms(arrows: &Arrows) -> Vec<Vec<String>> {
    let folders: BTreeSet<&[String]> =
        arrows.keys().flat_map(|module| (0..module.len()).map(|length| &module[..length])).collect();
    folders.into_iter().flat_map(|folder| circles(&rooms(arrows, folder))).collect()
}

/// The arrows between the entries of a folder. The folder's own file belongs to no entry.
fn rooms(arrows: &Arrows, folder: &[String]) -> Arrows {
    let room = |module: &Module| {
        let inside = module.starts_with(folder) && module.len() > folder.len();
        inside.then(|| module[..=folder.len()].to_vec())
    };
    let mut between = Arrows::new();
    for (module, targets) in arrows {
        let Some(from) = room(module) else { continue };
        let others = targets.iter().filter_map(room).filter(|to| *to != from);
        let others: Vec<Module> = others.collect();
        between.entry(from).or_default().extend(others);
    }
    between
}

/// Collects the paths that a file names.
struct Reader<'a> {
    file: &'a Module,
    /// Module of the reader: the file's module and the inner modules around it.
    place: Module,
    /// Paths from the crate root.
    paths: Vec<Module>,
    /// Modules of tests in files of their own.
    tests: Vec<Module>,
}

impl<'a> Reader<'a> {
    fn read(file: &'a Module, source: &Source) -> Self {
        let parsed = syn::parse_file(&source.text);
        let parsed = parsed.unwrap_or_else(|error| panic!("{}: {error}", source.path));
        let mut reader = Self { file, place: file.clone(), paths: Vec::new(), tests: Vec::new() };
        reader.visit_file(&parsed);
        reader
    }

    /// Notes a path whose first name says where it starts.
    fn note(&mut self, names: &[String]) {
        let mut rest = names;
        let mut path = match names.first().map(String::as_str) {
            Some("crate") => Module::new(),
            Some("self" | "super") => self.place.clone(),
            // A path from here: to an inner module, or to a name that is in scope.
            Some(_) => {
                self.paths.push([self.place.as_slice(), names].concat());
                return;
            }
            None => return,
        };
        while let Some(name @ ("crate" | "self" | "super")) = rest.first().map(String::as_str) {
            if name == "super" {
                path.pop();
            }
            rest = &rest[1..];
        }
        path.extend_from_slice(rest);
        self.paths.push(path);
    }

    fn note_tree(&mut self, before: &[String], tree: &syn::UseTree) {
        let with = |name: &syn::Ident| [before, &[name.to_string()]].concat();
        match tree {
            syn::UseTree::Path(path) => self.note_tree(&with(&path.ident), &path.tree),
            syn::UseTree::Group(group) => group.items.iter().for_each(|tree| self.note_tree(before, tree)),
            syn::UseTree::Name(name) => self.note(&with(&name.ident)),
            syn::UseTree::Rename(name) => self.note(&with(&name.ident)),
            syn::UseTree::Glob(_) => self.note(before),
        }
    }

    /// Paths from the root in what a macro is given, which `syn` leaves as tokens.
    fn note_tokens(&mut self, tokens: TokenStream) {
        let mut path: Module = Vec::new();
        for token in tokens {
            match token {
                TokenTree::Ident(name) if path.is_empty() && name != "crate" => {}
                TokenTree::Ident(name) => path.push(name.to_string()),
                TokenTree::Punct(mark) if mark.as_char() == ':' => {}
                other => {
                    self.note(&std::mem::take(&mut path));
                    if let TokenTree::Group(group) = other {
                        self.note_tokens(group.stream());
                    }
                }
            }
        }
        self.note(&path);
    }

    /// The files that the paths lead to.
    fn targets(&self, modules: &BTreeMap<Module, &Source>) -> BTreeSet<Module> {
        let longest = |path: &Module| {
            let known = (1..=path.len()).rev().find(|length| modules.contains_key(&path[..*length]));
            known.map(|length| path[..length].to_vec())
        };
        self.paths.iter().filter_map(longest).filter(|target| target != self.file).collect()
    }
}

impl<'ast> Visit<'ast> for Reader<'_> {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        self.place.push(item.ident.to_string());
        if !is_for_tests(&item.attrs) {
            visit::visit_item_mod(self, item);
        } else if item.content.is_none() {
            self.tests.push(self.place.clone());
        }
        self.place.pop();
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        if !is_for_tests(&item.attrs) {
            self.note_tree(&[], &item.tree);
        }
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        if !is_for_tests(&item.attrs) {
            visit::visit_item_fn(self, item);
        }
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        if !is_for_tests(&item.attrs) {
            visit::visit_item_impl(self, item);
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let names: Module = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        if matches!(names[0].as_str(), "crate" | "super" | "self") {
            self.note(&names);
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        self.note_tokens(call.tokens.clone());
        visit::visit_macro(self, call);
    }

    /// `pub(in crate::http)` says who may see something, not what it uses.
    fn visit_visibility(&mut self, _: &'ast syn::Visibility) {}
}

/// `#[cfg(test)]` or `#[test]`.
pub(crate) fn is_for_tests(attributes: &[syn::Attribute]) -> bool {
    let is_test = |attribute: &syn::Attribute| {
        attribute.path().is_ident("test")
            || attribute.path().is_ident("cfg")
                && attribute.parse_args::<syn::Path>().is_ok_and(|path| path.is_ident("test"))
    };
    attributes.iter().any(is_test)
}
