//! The list of a page's documents for search engines (<https://www.sitemaps.org/protocol.html>), each with its languages.

use std::fmt::Write as _;

use quick_xml::escape::escape;

use crate::pages::snapshot::{PageLanguages, PageSnapshot};

/// Writes the list for a page.
pub(super) fn write(snapshot: &PageSnapshot) -> String {
    list(&snapshot.url, &snapshot.languages(), &["/"])
}

/// Writes a list of these paths, which name no language, in all languages.
fn list(url: &str, languages: &PageLanguages, paths: &[&str]) -> String {
    let mut xml = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
        <urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\" \
        xmlns:xhtml=\"http://www.w3.org/1999/xhtml\">\n"
        .to_owned();
    let full = |locale: &str, path: &str| {
        let full = format!("{url}{}", languages.canonical_path(locale, path));
        escape(full).into_owned()
    };
    for path in paths {
        let mut others = String::new();
        for locale in languages.supported.iter().filter(|_| languages.supported.len() > 1) {
            let address = full(locale, path);
            // Writing to a `String` cannot fail.
            let _ = write!(
                others,
                "<xhtml:link rel=\"alternate\" hreflang=\"{}\" href=\"{address}\"/>",
                escape(locale.as_str())
            );
        }
        for locale in &languages.supported {
            let _ = writeln!(xml, "<url><loc>{}</loc>{others}</url>", full(locale, path));
        }
    }
    xml + "</urlset>\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn languages(supported: &[&str]) -> PageLanguages {
        let supported = supported.iter().map(|locale| (*locale).to_owned()).collect();
        PageLanguages { supported, default: "en".to_owned() }
    }

    #[test]
    fn every_document_is_listed_in_each_language() {
        let xml = list("https://shop.example.net", &languages(&["en", "de"]), &["/", "/history/2026-11"]);
        for part in [
            "<url><loc>https://shop.example.net/en/</loc>",
            "<url><loc>https://shop.example.net/de/history/2026-11</loc>",
            "hreflang=\"de\" href=\"https://shop.example.net/de/\"/>",
        ] {
            assert!(xml.contains(part), "{part}: {xml}");
        }
        assert_eq!((xml.matches("<url>").count(), xml.matches("<xhtml:link").count()), (4, 8));
    }

    #[test]
    fn a_page_in_one_language_has_short_addresses() {
        let xml = list("https://shop.example.net", &languages(&["en"]), &["/"]);
        assert!(xml.contains("<url><loc>https://shop.example.net/</loc></url>"), "{xml}");
    }
}
