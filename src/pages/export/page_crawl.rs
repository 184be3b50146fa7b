//! Writes all parts of a page into a folder: requests the fixed parts, and follows their links until there are no new ones.
//!
//! First all parts are written as they are served, then the links of documents and style sheets are replaced by relative ones.
//! A link to a part that is not in the export leads to the original page. Only the addresses are held in memory.

use std::collections::{BTreeMap, HashSet, VecDeque};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;
use tokio::time::sleep;

use crate::id::Id;
use crate::pages::export::export_rule::ExportRule;
use crate::pages::export::part_address::{self, PartAddress, relative_link};
use crate::pages::export::part_source::{PartSource, ServedPart};
use crate::pages::export::{content_links, fixed_parts, html_links, static_policy, style_links};
use crate::pages::route::{LocalizedRoute, PageRoute};
use crate::pages::snapshot::PageLanguages;

/// Status code of a part that exists.
const FOUND: u16 = 200;
/// Status code of a part that does not exist.
const MISSING: u16 = 404;
/// Status code of a server that is busy or whose databases are unavailable.
const UNAVAILABLE: u16 = 503;
/// Number of requests for a part, and the wait between them, while it is unavailable.
const TRIES: u32 = 5;
const RETRY_AFTER: Duration = Duration::from_secs(2);
/// Maximum number of parts.
const PARTS_MAX: usize = 200_000;

/// The languages of a page that is exported.
#[derive(Clone, Debug)]
pub struct ExportLanguages {
    /// All languages.
    pub locales: Vec<String>,
    /// The language of the root.
    pub default_locale: String,
}

/// The files of an export, relative to its folder, sorted by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExportedFiles {
    /// Names of the files.
    pub names: Vec<String>,
    /// Bytes of all files.
    pub bytes: u64,
}

/// A callback for progress: called with the number of written parts, and of those that are known.
pub type ExportProgress<'w> = &'w mut dyn FnMut(usize, usize);

/// An export cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// There is no answer.
    #[error("cannot read {target} of the page: {reason}")]
    NoAnswer {
        /// Target of the request.
        target: String,
        /// One line.
        reason: String,
    },
    /// The page has no root document, so that it does not exist for the source.
    #[error("the page is not shown there")]
    NoPage,
    /// The answer is no part of a page.
    #[error("{target} of the page is answered with {status}; try again later")]
    Refused {
        /// Target of the request.
        target: String,
        /// Status code.
        status: u16,
    },
    /// The page has too many parts.
    #[error("the page has more than {PARTS_MAX} parts")]
    TooLarge,
    /// A file cannot be written or read.
    #[error("cannot write {}: {reason}", file.display())]
    File {
        /// The file.
        file: PathBuf,
        /// The reason.
        reason: io::Error,
    },
}

/// Writes all parts of a page into this folder, which is empty.
///
/// # Errors
/// When a part cannot be read or written.
pub async fn export_page(
    source: &impl PartSource,
    languages: &ExportLanguages,
    folder: &Path,
    progress: ExportProgress<'_>,
) -> Result<ExportedFiles, ExportError> {
    let languages =
        PageLanguages { supported: languages.locales.clone(), default: languages.default_locale.clone() };
    let mut crawl = PageCrawl::new(languages, folder);
    crawl.run(source, progress).await?;
    crawl.finish()
}

/// The state of a crawl.
struct PageCrawl<'a> {
    languages: PageLanguages,
    folder: &'a Path,
    /// Public URL of the page, without a slash at its end; empty until the root document is read.
    url: String,
    waiting: VecDeque<PartAddress>,
    known: HashSet<PartAddress>,
    written: BTreeMap<PartAddress, WrittenPart>,
}

/// A part in a file.
#[derive(Clone, Debug)]
struct WrittenPart {
    /// Name of the file.
    file: String,
    format: PartFormat,
    /// Content security policy of the answer.
    policy: String,
}

/// What is known about the links in a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PartFormat {
    Html,
    Style,
    /// Its links are absolute.
    Text,
    /// It has no links.
    Binary,
}

impl PartFormat {
    fn of(content_type: &str) -> Self {
        match content_type.split(';').next().unwrap_or_default().trim() {
            "text/html" => Self::Html,
            "text/css" => Self::Style,
            "text/javascript" => Self::Binary,
            text if text.starts_with("text/") || text.ends_with("xml") || text.ends_with("json") => {
                Self::Text
            }
            _ => Self::Binary,
        }
    }
}

impl<'a> PageCrawl<'a> {
    fn new(languages: PageLanguages, folder: &'a Path) -> Self {
        Self {
            languages,
            folder,
            url: String::new(),
            waiting: VecDeque::new(),
            known: HashSet::new(),
            written: BTreeMap::new(),
        }
    }

    async fn run(
        &mut self,
        source: &impl PartSource,
        progress: ExportProgress<'_>,
    ) -> Result<(), ExportError> {
        // The root document is the first one: it tells the public URL, which the others contain.
        self.add(PartAddress::new("/"));
        for path in fixed_parts::of_page(&self.languages) {
            self.add(PartAddress::new(path));
        }
        while let Some(address) = self.waiting.pop_front() {
            match request(source, &address).await? {
                Some(part) => self.take(address, &part)?,
                None if self.written.is_empty() => return Err(ExportError::NoPage),
                None => {}
            }
            if self.known.len() > PARTS_MAX {
                return Err(ExportError::TooLarge);
            }
            progress(self.written.len(), self.known.len());
        }
        // A page that was taken offline meanwhile has lost parts.
        match request(source, &PartAddress::new("/")).await? {
            Some(_) => Ok(()),
            None => Err(ExportError::NoPage),
        }
    }

    /// Writes a part, and adds the parts to which it leads.
    fn take(&mut self, address: PartAddress, part: &ServedPart) -> Result<(), ExportError> {
        let format = PartFormat::of(&part.content_type);
        let file = match self.rule(&address) {
            ExportRule::LeftOut => return Ok(()),
            ExportRule::Document => address.document_file(),
            ExportRule::File => address.path.trim_start_matches('/').to_owned(),
            ExportRule::Upload => {
                format!(
                    "{}.{}",
                    address.path.trim_start_matches('/'),
                    part_address::ending(&part.content_type)
                )
            }
        };
        self.write(&file, &part.body)?;
        if format != PartFormat::Binary {
            self.follow(&address, &String::from_utf8_lossy(&part.body), format);
        }
        self.written.insert(address, WrittenPart { file, format, policy: part.policy.clone() });
        Ok(())
    }

    fn follow(&mut self, address: &PartAddress, text: &str, format: PartFormat) {
        if self.url.is_empty() {
            self.url = content_links::public_url(text).unwrap_or_default().to_owned();
        }
        let mut found: Vec<PartAddress> =
            content_links::own_paths(text, &self.url).map(PartAddress::new).collect();
        let mut note = |link: &str| {
            found.extend(address.link(link).map(|link| link.address));
            None
        };
        match format {
            PartFormat::Html => drop(html_links::replace_links(text, &mut note)),
            PartFormat::Style => drop(style_links::replace_links(text, &mut note)),
            PartFormat::Text | PartFormat::Binary => {}
        }
        if address.path == fixed_parts::COMPONENTS.path() {
            for id in component_ids(text) {
                found
                    .extend(fixed_parts::of_component(&self.languages, id).into_iter().map(PartAddress::new));
            }
        }
        found.into_iter().for_each(|address| self.add(address));
    }

    fn rule(&self, address: &PartAddress) -> ExportRule {
        ExportRule::of(&PageRoute::read(&address.path, &self.languages))
    }

    /// Returns the address by which the export knows a part; `None` if it has no such part.
    fn exported(&self, mut address: PartAddress) -> Option<PartAddress> {
        if let PageRoute::Moved(path) = PageRoute::read(&address.path, &self.languages) {
            address.path = path;
        }
        let rule = self.rule(&address);
        if rule != ExportRule::Document {
            address.appearance = None;
        }
        (rule != ExportRule::LeftOut && address.is_file_name()).then_some(address)
    }

    /// Adds a part. A document in the default language is also at its path without a language.
    fn add(&mut self, address: PartAddress) {
        let Some(address) = self.exported(address) else { return };
        if !self.known.insert(address.clone()) {
            return;
        }
        if let PageRoute::Localized(LocalizedRoute { locale: Some(locale), screen }) =
            PageRoute::read(&address.path, &self.languages)
            && locale == self.languages.default
            && self.languages.supported.len() > 1
        {
            let plain = PartAddress { path: screen.path(), ..address.clone() };
            if self.known.insert(plain.clone()) {
                self.waiting.push_back(plain);
            }
        }
        self.waiting.push_back(address);
    }

    /// Replaces the links in all files by links between the files.
    fn finish(self) -> Result<ExportedFiles, ExportError> {
        let mut files = ExportedFiles::default();
        for (address, part) in &self.written {
            let path = self.folder.join(&part.file);
            if matches!(part.format, PartFormat::Html | PartFormat::Style) {
                let text = std::fs::read_to_string(&path)
                    .map_err(|reason| ExportError::File { file: path.clone(), reason })?;
                self.write(&part.file, self.rewritten(address, part, &text).as_bytes())?;
            }
            let length = std::fs::metadata(&path).map(|metadata| metadata.len());
            files.bytes += length.map_err(|reason| ExportError::File { file: path, reason })?;
            files.names.push(part.file.clone());
        }
        files.names.sort();
        Ok(files)
    }

    fn rewritten(&self, address: &PartAddress, part: &WrittenPart, text: &str) -> String {
        let replace = |link: &str| {
            let link = address.link(link)?;
            let there = self.exported(link.address).and_then(|address| self.written.get(&address));
            Some(match there {
                Some(there) => relative_link(&part.file, &there.file) + &link.fragment,
                None => format!("{}{}", self.url, link.target),
            })
        };
        if part.format == PartFormat::Style {
            return style_links::replace_links(text, replace);
        }
        let html = html_links::replace_links(text, replace);
        static_policy::with_policy(&html, &static_policy::static_policy(&part.policy))
    }

    fn write(&self, file: &str, content: &[u8]) -> Result<(), ExportError> {
        let path = self.folder.join(file);
        let created = path.parent().map_or(Ok(()), std::fs::create_dir_all);
        created
            .and_then(|()| std::fs::write(&path, content))
            .map_err(|reason| ExportError::File { file: path, reason })
    }
}

/// Requests a part; `None` if the page has no such part.
async fn request(source: &impl PartSource, address: &PartAddress) -> Result<Option<ServedPart>, ExportError> {
    let target = address.target();
    let mut tries = 0;
    loop {
        tries += 1;
        let part = source.part(&target).await;
        let part = part.map_err(|reason| ExportError::NoAnswer { target: target.clone(), reason })?;
        match part.status {
            FOUND => return Ok(Some(part)),
            MISSING => return Ok(None),
            UNAVAILABLE if tries < TRIES => sleep(RETRY_AFTER).await,
            status => return Err(ExportError::Refused { target, status }),
        }
    }
}

/// Returns the ids in the list of components.
fn component_ids(json: &str) -> Vec<Id> {
    let document: Value = serde_json::from_str(json).unwrap_or_default();
    let components = document["components"].as_array().into_iter().flatten();
    components.filter_map(|component| component["id"].as_str()?.parse().ok()).collect()
}

#[cfg(test)]
mod tests;
