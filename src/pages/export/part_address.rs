//! The address of a part of a page, the name of its file in an export, and links between these files.

use url::Url;

use crate::pages::appearance;

/// A page whose host does not matter; links to other hosts lead out of the page.
const SOME_PAGE: &str = "http://page.invalid";

/// The address of a part of a page.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct PartAddress {
    pub(super) path: String,
    /// The appearance that the address chooses.
    pub(super) appearance: Option<&'static str>,
}

/// A link to a part of the same page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PartLink {
    pub(super) address: PartAddress,
    /// Path, query and fragment.
    pub(super) target: String,
    /// The fragment with its `#`; empty if there is none.
    pub(super) fragment: String,
}

impl PartAddress {
    pub(super) fn new(path: impl Into<String>) -> Self {
        Self { path: path.into(), appearance: None }
    }

    /// Returns the target of a request.
    pub(super) fn target(&self) -> String {
        self.appearance
            .map_or_else(|| self.path.clone(), |appearance| format!("{}?appearance={appearance}", self.path))
    }

    /// Returns the part to which a link in this part leads; `None` for a link that leads out of the page or stays within the
    /// part.
    pub(super) fn link(&self, link: &str) -> Option<PartLink> {
        let link = link.trim();
        if link.starts_with('#') {
            return None;
        }
        let page: Url = SOME_PAGE.parse().ok()?;
        let url = page.join(&self.path).and_then(|base| base.join(link)).ok()?;
        if url.origin() != page.origin() {
            return None;
        }
        let appearance = url.query().and_then(appearance::choice).map(|chosen| chosen.as_str());
        Some(PartLink {
            address: Self { path: url.path().to_owned(), appearance },
            target: url[url::Position::BeforePath..].to_owned(),
            fragment: url.fragment().map_or_else(String::new, |fragment| format!("#{fragment}")),
        })
    }

    /// Returns true if the path can be the name of a file: it contains only letters, digits and `.`, `-`, `_`, and no part of
    /// it is hidden or leads upwards.
    pub(super) fn is_file_name(&self) -> bool {
        let is_name = |name: &str| {
            let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
            !name.is_empty() && !name.starts_with('.') && name.chars().all(is_plain)
        };
        let Some(path) = self.path.strip_prefix('/') else { return false };
        let path = path.strip_suffix('/').unwrap_or(path);
        path.is_empty() || path.split('/').all(is_name)
    }

    /// Returns the name of the file of an HTML document.
    pub(super) fn document_file(&self) -> String {
        let folder = self.path.trim_matches('/');
        let name = self
            .appearance
            .map_or_else(|| "index.html".to_owned(), |chosen| format!("appearance-{chosen}.html"));
        if folder.is_empty() { name } else { format!("{folder}/{name}") }
    }
}

/// Returns the relative link from one file of an export to another one.
pub(super) fn relative_link(from: &str, to: &str) -> String {
    let (from, to): (Vec<&str>, Vec<&str>) = (from.split('/').collect(), to.split('/').collect());
    let (folders_from, folders_to) = (&from[..from.len() - 1], &to[..to.len() - 1]);
    let common = folders_from.iter().zip(folders_to).take_while(|(a, b)| a == b).count();
    let up = folders_from[common..].iter().map(|_| "..");
    up.chain(to[common..].iter().copied()).collect::<Vec<_>>().join("/")
}

/// Returns the ending of the name of an uploaded file with this media type.
pub(super) fn ending(content_type: &str) -> &'static str {
    match content_type.split(';').next().unwrap_or_default().trim() {
        "image/png" => "png",
        "image/jpeg" => "jpg",
        "image/gif" => "gif",
        "image/webp" => "webp",
        "image/svg+xml" => "svg",
        "image/x-icon" | "image/vnd.microsoft.icon" => "ico",
        _ => "bin",
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("/history/2026-11", "/", Some(("/", "", "/")))]
    #[case("/", "/components/a#days", Some(("/components/a", "#days", "/components/a#days")))]
    #[case("/de/x", "y", Some(("/de/y", "", "/de/y")))]
    #[case("/", "/subscribe?a=b", Some(("/subscribe", "", "/subscribe?a=b")))]
    #[case("/", "../../x", Some(("/x", "", "/x")))]
    #[case("/", "/%2e%2e/%2E%2E/x", Some(("/x", "", "/x")))]
    #[case("/", "#content", None)]
    #[case("/", "https://page.example/", None)]
    #[case("/", "//page.example/", None)]
    #[case("/", "mailto:me@example.net", None)]
    #[case("/", "data:,", None)]
    fn a_link_leads_to_a_part(
        #[case] from: &str,
        #[case] link: &str,
        #[case] expected: Option<(&str, &str, &str)>,
    ) {
        let found = PartAddress::new(from).link(link);
        let found =
            found.as_ref().map(|to| (to.address.path.as_str(), to.fragment.as_str(), to.target.as_str()));
        assert_eq!(found, expected);
    }

    #[test]
    fn a_link_can_choose_an_appearance() {
        let found = PartAddress::new("/de/").link("?appearance=dark").unwrap().address;
        assert_eq!(found, PartAddress { path: "/de/".into(), appearance: Some("dark") });
        assert_eq!(
            (found.target().as_str(), found.document_file().as_str()),
            ("/de/?appearance=dark", "de/appearance-dark.html")
        );
    }

    #[rstest]
    #[case("/", true)]
    #[case("/de/", true)]
    #[case("/components/-a_B", true)]
    #[case("/static/style.ab.css", true)]
    #[case("/static/style../x.css", true)]
    #[case("/static/../x", false)]
    #[case("/.git/x", false)]
    #[case("/a//b", false)]
    #[case("/a%2fb", false)]
    #[case("/a b", false)]
    #[case("x", false)]
    fn some_paths_are_names_of_files(#[case] path: &str, #[case] is_name: bool) {
        assert_eq!(PartAddress::new(path).is_file_name(), is_name);
    }

    #[rstest]
    #[case("index.html", "index.html", "index.html")]
    #[case("index.html", "components/a/index.html", "components/a/index.html")]
    #[case("components/a/index.html", "static/s.css", "../../static/s.css")]
    #[case("components/a/index.html", "components/b/index.html", "../b/index.html")]
    #[case("de/index.html", "de/history.atom", "history.atom")]
    fn links_are_relative(#[case] from: &str, #[case] to: &str, #[case] expected: &str) {
        assert_eq!(relative_link(from, to), expected);
    }

    #[rstest]
    #[case("/", "index.html")]
    #[case("/de/", "de/index.html")]
    #[case("/embed", "embed/index.html")]
    fn a_document_has_a_folder_of_its_own(#[case] path: &str, #[case] file: &str) {
        assert_eq!(PartAddress::new(path).document_file(), file);
    }
}
