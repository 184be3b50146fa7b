//! Exports of a small site, without a server.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};

use strum::VariantNames as _;

use super::*;

const ID: &str = "ZmCQideh_cmU2E495CYCg";

/// A site with these documents; every other part of a page has the path as its content.
#[derive(Default)]
struct SmallSite {
    documents: HashMap<String, &'static str>,
    requests: RefCell<Vec<String>>,
}

impl SmallSite {
    fn new(documents: &[(&str, &'static str)]) -> Self {
        let documents = documents.iter().map(|(path, text)| ((*path).to_owned(), *text)).collect();
        Self { documents, ..Self::default() }
    }
}

impl PartSource for SmallSite {
    async fn part(&self, target: &str) -> Result<ServedPart, String> {
        self.requests.borrow_mut().push(target.to_owned());
        let content_type = match target.rsplit_once('.').map(|(_, ending)| ending) {
            Some("css") => "text/css",
            Some("json") => "application/json",
            Some("png" | "svg") => "image/png",
            _ if target.starts_with("/assets/") => "image/png",
            _ => "text/html; charset=utf-8",
        };
        let body = self.documents.get(target).map_or_else(|| target.to_owned(), |text| (*text).to_owned());
        let status = if target.contains("gone") { MISSING } else { FOUND };
        let policy = "default-src 'none'; frame-ancestors 'none'".to_owned();
        Ok(ServedPart { status, content_type: content_type.to_owned(), policy, body: body.into() })
    }
}

fn languages(locales: &[&str]) -> ExportLanguages {
    ExportLanguages {
        locales: locales.iter().map(|locale| (*locale).to_owned()).collect(),
        default_locale: "en".to_owned(),
    }
}

async fn exported(site: &SmallSite, locales: &[&str]) -> (tempfile::TempDir, ExportedFiles) {
    let folder = tempfile::tempdir().unwrap();
    let files = export_page(site, &languages(locales), folder.path(), &mut |_, _| {}).await.unwrap();
    (folder, files)
}

/// A kind of part that is neither in an export nor left out on purpose has been forgotten.
#[tokio::test]
async fn every_kind_of_part_is_exported_or_left_out() {
    let root = "<head><link rel=\"canonical\" href=\"https://a.example/en/\"><link href=\"/static/style.ab.css\">\
        <script src=\"/static/script.ab.js\"></script><meta content=\"https://a.example/en/card.ab.png\">\
        <img src=\"/assets/ab\"><a href=\"/events\"><form action=\"/password\"><a href=\"/subscribe\">\
        <a href=\"/de\"><a href=\"/unknown/x\">";
    let site = SmallSite::new(&[("/", root)]);
    let (_folder, files) = exported(&site, &["en", "de"]).await;
    let known = PageLanguages { supported: vec!["en".into(), "de".into()], default: "en".into() };
    let mut kinds: BTreeSet<&str> = site
        .requests
        .borrow()
        .iter()
        .map(|path| {
            let route = PageRoute::read(path, &known);
            assert_ne!(ExportRule::of(&route), ExportRule::LeftOut, "{path}");
            <&str>::from(&route)
        })
        .collect();
    kinds.extend(["Access", "Events", "Form", "Moved", "Unknown"]);
    assert_eq!(kinds, PageRoute::VARIANTS.iter().copied().collect());
    assert!(files.names.contains(&"assets/ab.png".to_owned()), "{files:?}");
    assert!(files.names.contains(&"de/index.html".to_owned()), "{files:?}");
}

#[tokio::test]
async fn links_become_relative_and_lead_to_the_original_where_nothing_is_exported() {
    let root = "<html><head><link rel=\"canonical\" href=\"https://a.example/\"></head>\
        <a href=\"/incidents/ZmCQideh_cmU2E495CYCg#x\"><a href=\"/subscribe\"><a href=\"/history/2020-gone\">\
        <a href=\"?appearance=dark\"><a href=\"https://b.example/\"><a href=\"#content\">\
        <link href=\"/static/style.ab.css\">";
    let incident = "<head></head><a href=\"/\"><img src=\"/assets/ab\">";
    let style = "a { background: url(/assets/ab) } @import \"/assets/gone\";";
    let site = SmallSite::new(&[
        ("/", root),
        ("/incidents/ZmCQideh_cmU2E495CYCg", incident),
        ("/static/style.ab.css", style),
    ]);
    let (folder, files) = exported(&site, &["en"]).await;
    let text = |file: &str| std::fs::read_to_string(folder.path().join(file)).unwrap();
    let policy = "<head>\n<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'\">";
    let expected = format!(
        "<html>{policy}<link rel=\"canonical\" href=\"https://a.example/\"></head>\
        <a href=\"incidents/ZmCQideh_cmU2E495CYCg/index.html#x\"><a href=\"https://a.example/subscribe\">\
        <a href=\"https://a.example/history/2020-gone\"><a href=\"appearance-dark.html\">\
        <a href=\"https://b.example/\"><a href=\"#content\"><link href=\"static/style.ab.css\">"
    );
    assert_eq!(text("index.html"), expected);
    let back = format!("{policy}</head><a href=\"../../index.html\"><img src=\"../../assets/ab.png\">");
    assert_eq!(text("incidents/ZmCQideh_cmU2E495CYCg/index.html"), back);
    let style = "a { background: url(../assets/ab.png) } @import \"https://a.example/assets/gone\";";
    assert_eq!(text("static/style.ab.css"), style);
    let bytes: u64 = files.names.iter().map(|name| text(name).len() as u64).sum();
    assert_eq!(files.bytes, bytes);
}

#[tokio::test]
async fn a_component_has_all_its_parts_in_every_language() {
    let components = "{\"components\": [{\"id\": \"ZmCQideh_cmU2E495CYCg\"}, {\"id\": \"none\"}]}";
    let site = SmallSite::new(&[("/api/v2/components.json", components)]);
    let (_folder, files) = exported(&site, &["en", "de"]).await;
    for base in ["", "en/", "de/"] {
        for part in [
            "index.html",
            "history.atom",
            "maintenances.ics",
            "badge/response.svg",
            "badge/status.shields.json",
        ] {
            let file = format!("{base}components/{ID}/{part}");
            assert!(files.names.contains(&file), "{file}: {files:?}");
        }
    }
}

#[tokio::test]
async fn an_export_without_a_page_is_refused() {
    struct NoSite;
    impl PartSource for NoSite {
        async fn part(&self, _target: &str) -> Result<ServedPart, String> {
            let (content_type, policy) = (String::new(), String::new());
            Ok(ServedPart { status: MISSING, content_type, policy, body: "".into() })
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let refused = export_page(&NoSite, &languages(&["en"]), folder.path(), &mut |_, _| {}).await;
    assert!(matches!(refused, Err(ExportError::NoPage)), "{refused:?}");
}
