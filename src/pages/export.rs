//! A status page as static files, which any web server can serve and which can be read from a disk.
//!
//! The files are the answers that visitors get, rendered by the same code: a crawl requests the fixed parts of the page, and
//! everything to which these lead ([`page_crawl`]). Links between the files become relative. Parts that need a server are left
//! out: the stream of changes, forms, and the polling of the script. Every document tells the time that it shows.

mod content_links;
mod export_pass;
mod export_rule;
mod fixed_parts;
mod html_links;
mod local_parts;
pub mod page_crawl;
mod part_address;
mod part_source;
mod static_policy;
mod style_links;

pub use crate::pages::export::export_pass::ExportPass;
pub use crate::pages::export::local_parts::LocalParts;
pub use crate::pages::export::part_source::{PartSource, ServedPart};
pub use crate::pages::export_header::EXPORT_HEADER;
