//! The definitions of this location on its disk, with which it continues when it starts without a connection.
//!
//! The definitions stay sealed. The file is replaced as a whole; an unreadable entry is skipped, and sent again by the engine.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::Context as _;
use serde::{Deserialize, Serialize};
use tokio::time::sleep;

use crate::agent::catalogue::{CheckedService, CheckedVersion, ServiceCatalogue};
use crate::bus::private_files::replace;
use crate::clock::Timestamp;
use crate::id::Id;
use crate::model::service::ServiceKey;

/// Name of the file within the data folder.
const FILE: &str = "definitions.jsonl";

/// The file of definitions, with one writer at a time. Cheap to clone.
#[derive(Clone, Debug)]
pub(super) struct DefinitionArchive {
    file: Arc<Path>,
    writing: Arc<Mutex<()>>,
}

/// The shortest time between two writes.
const EVERY: Duration = Duration::from_secs(1);
/// The time between two writes grows by a millisecond for every ten services, because each write contains all
/// of them.
const SERVICES_PER_MS: usize = 10;

/// Writes the definitions whenever they have changed, until the future is dropped.
pub(super) async fn write_on_change(archive: DefinitionArchive, catalogue: Arc<ServiceCatalogue>) {
    loop {
        let longer_ms = u64::try_from(catalogue.ids().len() / SERVICES_PER_MS).unwrap_or(u64::MAX);
        sleep(EVERY.saturating_add(Duration::from_millis(longer_ms))).await;
        let (archive, catalogue) = (archive.clone(), Arc::clone(&catalogue));
        let written = tokio::task::spawn_blocking(move || archive.write(&catalogue)).await;
        if let Ok(Err(error)) = written {
            tracing::warn!(error = format!("{error:#}"), "cannot store the service definitions; retrying");
        }
    }
}

/// A line of the file.
#[derive(Deserialize, Serialize)]
struct ArchivedDefinition {
    service: Id,
    key: ServiceKey,
    revision: u64,
    /// Times in milliseconds, each with the version since then.
    versions: Vec<(i64, u64)>,
    sealed: String,
}

impl DefinitionArchive {
    pub(super) fn at(data_dir: &Path) -> Self {
        Self { file: data_dir.join(FILE).into(), writing: Arc::default() }
    }

    /// Reads the entries written last.
    pub(super) fn read(&self) -> Vec<CheckedService> {
        let text = match fs::read_to_string(&self.file) {
            Ok(text) => text,
            Err(error) => {
                if error.kind() != ErrorKind::NotFound {
                    tracing::warn!(
                        file = %self.file.display(),
                        %error,
                        "cannot read the stored service definitions"
                    );
                }
                return Vec::new();
            }
        };
        let entry = |line: &str| {
            let ArchivedDefinition { service, key, revision, versions, sealed } =
                serde_json::from_str(line).ok()?;
            let since = |(at, version)| CheckedVersion { at: Timestamp::from_ms(at), version };
            let versions: Vec<CheckedVersion> = versions.into_iter().map(since).collect();
            (!versions.is_empty()).then(|| CheckedService {
                id: service,
                key,
                revision,
                sealed: sealed.into(),
                versions,
            })
        };
        text.lines().filter_map(entry).collect()
    }

    /// Writes the definitions, if they have changed.
    pub(super) fn write(&self, catalogue: &ServiceCatalogue) -> anyhow::Result<()> {
        let _turn = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(entries) = catalogue.changed() else { return Ok(()) };
        let mut text = String::new();
        for CheckedService { id, key, revision, sealed, versions } in entries {
            let line = ArchivedDefinition {
                service: id,
                key,
                revision,
                versions: versions.iter().map(|since| (since.at.ms(), since.version)).collect(),
                sealed: String::from_utf8_lossy(&sealed).into_owned(),
            };
            text.push_str(&serde_json::to_string(&line)?);
            text.push('\n');
        }
        replace(&self.file, &text)
            .inspect_err(|_| catalogue.mark_changed())
            .context("cannot write the service definitions")
    }
}
