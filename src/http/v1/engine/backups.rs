//! `/v1/engine/backups`: backups that this server has made in its own folder, for operators.

use serde::Serialize;
use utoipa::ToSchema;

use crate::backup::{BackupProgress, FailedBackup, FinishedBackup, finished_backups};
use crate::clock::Timestamp;
use crate::http::gate::call::ApiCall;
use crate::http::gate::write::CommittedReply;
use crate::http::kit::error::{ApiError, StateConflict};
use crate::http::kit::reply::ApiReply;
use crate::http::kit::view::to_json;
use crate::http::openapi::shape::{ApiSchema, enum_of, integer, string_or_null, timestamp_or_null};
use crate::http::v1::state::AppState;

const STATES: [&str; 3] = ["running", "complete", "failed"];

pub(in crate::http::v1) async fn list_backups(call: ApiCall<AppState>) -> Result<ApiReply, ApiError> {
    let state = call.state;
    let finished = match state.backups.folder().cloned() {
        None => Vec::new(),
        // If the folder cannot be read, the last attempt has failed for the same reason, which its entry shows.
        Some(folder) => tokio::task::spawn_blocking(move || finished_backups(&folder).unwrap_or_default())
            .await
            .map_err(|error| ApiError::Internal(error.into()))?,
    };
    let running = state.backups.running().map(|running| BackupView::of_running(&running));
    let failed = state.backups.failure().map(BackupView::of_failed);
    let views = running.into_iter().chain(failed).chain(finished.into_iter().map(BackupView::of_finished));
    Ok(ApiReply::data(views.map(|view| to_json(&view)).collect()))
}

pub(in crate::http::v1) async fn create_backup(call: ApiCall<AppState>) -> Result<CommittedReply, ApiError> {
    let ApiCall { state, effect, .. } = call;
    effect.check()?;
    let write = effect.begin(&state.databases.main).await?;
    let progress = state.backups.request(state.guard.trusted_now()).map_err(StateConflict::Backup)?;
    write.commit(ApiReply::accepted(to_json(&BackupView::of_running(&progress)))).await
}

/// A backup of this server.
#[derive(Serialize, ToSchema)]
#[schema(as = EngineBackup)]
pub(super) struct BackupView {
    /// Name of the backup's folder in `backup.folder`; null when the backup failed before it had a folder.
    #[schema(schema_with = string_or_null, required)]
    name: Option<String>,
    /// Time at which the backup was started or requested.
    #[schema(schema_with = timestamp_or_null, required)]
    created_at: Option<Timestamp>,
    /// State of the backup. Of failed backups only the last one is shown, until a backup is complete.
    #[schema(schema_with = state)]
    state: &'static str,
    /// Size of all files in bytes; an estimate while the backup is running; null if unknown.
    #[schema(schema_with = bytes_or_null, required)]
    total_bytes: Option<u64>,
    /// Number of bytes copied so far.
    #[schema(minimum = 0)]
    copied_bytes: u64,
    /// The reason why the backup failed.
    #[schema(schema_with = string_or_null, required)]
    problem: Option<String>,
}

impl BackupView {
    fn of_running(progress: &BackupProgress) -> Self {
        Self {
            name: Some(progress.name.clone()),
            created_at: Some(progress.created_at),
            state: STATES[0],
            total_bytes: Some(progress.total_bytes()).filter(|total| *total > 0),
            copied_bytes: progress.copied_bytes(),
            problem: None,
        }
    }

    fn of_finished(backup: FinishedBackup) -> Self {
        Self {
            name: Some(backup.name),
            created_at: Some(backup.created_at),
            state: STATES[1],
            total_bytes: backup.bytes,
            copied_bytes: backup.bytes.unwrap_or_default(),
            problem: None,
        }
    }

    fn of_failed(FailedBackup { name, created_at, problem }: FailedBackup) -> Self {
        let (state, problem) = (STATES[2], Some(problem));
        Self { name, created_at, state, total_bytes: None, copied_bytes: 0, problem }
    }
}

fn state() -> ApiSchema {
    enum_of(&STATES)
}

fn bytes_or_null() -> ApiSchema {
    integer().at_least(0).nullable()
}
