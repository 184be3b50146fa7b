//! `watchkeeper export-page`: a status page as static files. A running server renders them; without one, this process renders
//! them from what is stored.

mod served_parts;
mod target_folder;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use clap::Args;
use indicatif::{HumanBytes, ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::json;
use url::Url;

use crate::app::{Foundation, first_start, stored_pages};
use crate::cli::export_page::served_parts::ServedParts;
use crate::cli::export_page::target_folder::TargetFolder;
use crate::cli::node_api;
use crate::cli::running::say;
use crate::clock::{Clock, Timestamp};
use crate::config::Config;
use crate::config::sources::ConfigError;
use crate::model::statuspage::Statuspage;
use crate::model::statuspage::word::AccessType;
use crate::pages::export::page_crawl::{ExportError, ExportLanguages, ExportedFiles, export_page};
use crate::pages::export::{LocalParts, PartSource};
use crate::store::organisations;
use crate::store::statuspages::visitors;

/// Number of pages that an error names.
const NAMED_PAGES: u64 = 20;

const LONG_ABOUT: &str = "\
Export a status page as static files: a copy that any web server can serve, and that a browser reads from a disk. All documents, \
languages, feeds, badges, preview images, uploaded files and JSON documents are in it. What needs the server is not: the page does \
not follow changes while it is open, and nobody can subscribe. Every document says the time that it shows.

The server may run meanwhile, and renders the files; it is found by the data folder, or named with --url. Without a running \
server the page shows the states of the last measurement, with the time of it, and not the present ones.

  watchkeeper export-page shop --to /srv/www/status

SLUG is the name of the page in its address: shop of shop.status.example.com. FOLDER is created. If it holds an earlier \
export, the new one takes its place at once, when it is complete; a failed export leaves the earlier one as it was. Files in FOLDER \
that no export has written stay. A folder with other files is refused.

Everybody who has the files can read them. A page with a password, or for the readers of certain mail addresses, is exported only with \
--include-protected.

Exit codes: 0 the export is complete, 1 it could not be made, 2 it is refused, or wrong usage; the message says why.";

/// Export a status page as static files
#[derive(Args)]
#[command(long_about = LONG_ABOUT)]
pub(super) struct ExportPageArguments {
    /// Name of the page in its address
    slug: String,
    /// Folder for the files: a new or empty one, or one with an earlier export
    #[arg(long, value_name = "FOLDER")]
    to: PathBuf,
    /// Export a page that not everybody may read
    #[arg(long)]
    include_protected: bool,
    /// Address of a running server of this installation [default: the one that runs on the data folder]
    #[arg(long, value_name = "http://HOST:PORT", value_parser = node_api::address)]
    url: Option<Url>,
    /// Print JSON for machines
    #[arg(long = "json")]
    as_json: bool,
}

/// A page that may be exported.
struct ExportedPage {
    page: Statuspage,
    languages: ExportLanguages,
}

/// A complete export.
struct FinishedExport {
    files: ExportedFiles,
    /// The time that the files show.
    as_of: Timestamp,
    /// True if a server has rendered the files, false if they show what was stored.
    is_present: bool,
}

/// Exports a page and prints what is in the export.
///
/// # Errors
///
/// When the page is refused, or something cannot be read or written; the message is one line.
pub(super) async fn run(arguments: ExportPageArguments, config: Config) -> anyhow::Result<ExitCode> {
    let foundation = Foundation::open_existing(config, Clock::System).await?;
    let exported = find(&foundation, &arguments).await?;
    let target = TargetFolder::prepare(&arguments.to, arguments.include_protected)?;
    let bar = bar(arguments.as_json);
    let made = export(&foundation, &arguments, &exported, target.staging(), &bar).await;
    bar.finish_and_clear();
    let made = made?;
    target.publish(&made.files.names)?;
    foundation.databases.main.close().await;
    foundation.databases.history.close().await;
    summarise(&arguments, &exported, &made);
    Ok(ExitCode::SUCCESS)
}

/// Finds the page, and checks that it may be exported.
async fn find(foundation: &Foundation, arguments: &ExportPageArguments) -> anyhow::Result<ExportedPage> {
    let (main, slug) = (foundation.databases.main.reader(), &arguments.slug);
    let Some(page) = visitors::by_slug(main, slug).await? else {
        let known = visitors::slugs(main, NAMED_PAGES + 1).await?;
        return Err(ConfigError(unknown_page(slug, &known)).into());
    };
    if !page.is_published {
        return Err(ConfigError(format!(
            "the page '{slug}' is not published, so that nobody may read it yet: publish it first (is_published of the page)"
        ))
        .into());
    }
    let protection = match page.access_type {
        AccessType::Public => None,
        AccessType::Password => Some("needs a password"),
        AccessType::EmailWhitelist => Some("is for the readers of certain mail addresses"),
    };
    if let Some(protection) = protection.filter(|_| !arguments.include_protected) {
        return Err(ConfigError(format!(
            "the page '{slug}' {protection}, and everybody who has the files of an export can read them: add --include-protected if \
             you want that"
        ))
        .into());
    }
    let organisation = organisations::get(main, page.organisation).await?;
    let organisation = organisation.context("the organisation of the page is gone")?;
    let languages = ExportLanguages {
        locales: page.effective_locales(&organisation),
        default_locale: page.effective_default_locale(&organisation),
    };
    Ok(ExportedPage { page, languages })
}

fn unknown_page(slug: &str, known: &[String]) -> String {
    let named = usize::try_from(NAMED_PAGES).unwrap_or(usize::MAX);
    let more = if known.len() > named { ", and others" } else { "" };
    match known {
        [] => format!("there is no status page '{slug}', and no other one either"),
        _ => {
            let names = known.iter().take(named).map(String::as_str).collect::<Vec<_>>().join(", ");
            format!("there is no status page '{slug}'; the pages are: {names}{more}")
        }
    }
}

/// Writes the files, as a running server renders them, or else as this process does.
async fn export(
    foundation: &Foundation,
    arguments: &ExportPageArguments,
    exported: &ExportedPage,
    folder: &Path,
    bar: &ProgressBar,
) -> anyhow::Result<FinishedExport> {
    let Foundation { config, clock, sealer, .. } = foundation;
    let slug = &exported.page.slug;
    let node = match &arguments.url {
        Some(url) => Some(url.clone()),
        None if first_start::is_served(&config.data_dir)? => Some(node_api::here(config)?),
        None => None,
    };
    let Some(node) = node else {
        let stored = stored_pages::open(foundation).await?;
        let as_of = stored.measured_until;
        let parts = LocalParts { server: stored.server, slug: slug.clone(), exported_at: as_of };
        let files = write(&parts, &exported.languages, folder, bar).await?;
        return Ok(FinishedExport { files, as_of, is_present: false });
    };
    let host = format!("{slug}.{}", config.statuspage_host_name());
    let as_of = clock.now();
    let parts = ServedParts {
        node: node.clone(),
        host: host.clone(),
        page: exported.page.id,
        sealer,
        exported_at: as_of,
    };
    match write(&parts, &exported.languages, folder, bar).await {
        Ok(files) => Ok(FinishedExport { files, as_of, is_present: true }),
        Err(ExportError::NoPage) => bail!(
            "the server at {} has no page at {host}: give the settings of that server (--config), or its address with --url",
            node_api::authority(&node)
        ),
        Err(error @ ExportError::NoAnswer { .. }) => Err(error).with_context(|| {
            format!(
                "the server of {} cannot be asked at {} (--url names another address)",
                config.data_dir.display(),
                node_api::authority(&node)
            )
        }),
        Err(error) => Err(error.into()),
    }
}

async fn write(
    parts: &impl PartSource,
    languages: &ExportLanguages,
    folder: &Path,
    bar: &ProgressBar,
) -> Result<ExportedFiles, ExportError> {
    let progress = &mut |written: usize, known: usize| {
        bar.set_length(known.try_into().unwrap_or(u64::MAX));
        bar.set_position(written.try_into().unwrap_or(u64::MAX));
    };
    export_page(parts, languages, folder, progress).await
}

fn summarise(arguments: &ExportPageArguments, exported: &ExportedPage, made: &FinishedExport) {
    let FinishedExport { files, as_of, is_present } = made;
    let folder = arguments.to.display();
    if arguments.as_json {
        let summary = json!({
            "page": exported.page.slug,
            "folder": folder.to_string(),
            "files": files.names.len(),
            "bytes": files.bytes,
            "languages": exported.languages.locales,
            "as_of": as_of,
            "is_present": is_present,
        });
        return say(&summary.to_string());
    }
    say(&format!(
        "Exported '{}' to {folder}: {} files, {}, languages {}, as of {as_of}.",
        exported.page.slug,
        files.names.len(),
        HumanBytes(files.bytes),
        exported.languages.locales.join(", "),
    ));
    if !is_present {
        say("No server runs here, so that the files show the last measured states, not the present ones.");
    }
    if exported.page.access_type != AccessType::Public {
        say("The page is protected, but its files are not: guard them.");
    }
}

/// Returns a progress bar; hidden without a terminal and in JSON mode.
fn bar(as_json: bool) -> ProgressBar {
    if as_json {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{msg:>30} {wide_bar} {pos}/{len} {eta}");
    let style = style.unwrap_or_else(|_| ProgressStyle::default_bar());
    let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::stderr()).with_style(style);
    bar.set_message("files");
    bar
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_page_names_those_that_exist() {
        assert_eq!(unknown_page("x", &[]), "there is no status page 'x', and no other one either");
        let few = unknown_page("x", &["a".into(), "b".into()]);
        assert_eq!(few, "there is no status page 'x'; the pages are: a, b");
        let many: Vec<String> = (0..=NAMED_PAGES).map(|number| format!("p{number}")).collect();
        let named = unknown_page("x", &many);
        assert!(named.ends_with("p19, and others") && !named.contains("p20"), "{named}");
    }
}
