//! Describes `/v1/engine` and `/v1/engine/backups`.

use crate::http::gate::route::HttpVerb;
use crate::http::openapi::operation::{ApiOperation, enveloped};
use crate::http::openapi::shape::{ApiSchema, list_of, named, view};
use crate::http::v1::engine::backups::BackupView;
use crate::http::v1::engine::view::EngineView;

const BACKUPS: &str = "/v1/engine/backups";

pub(in crate::http::v1) fn schemas() -> Vec<(&'static str, ApiSchema)> {
    vec![("Engine", view::<EngineView<'_>>()), ("EngineBackup", view::<BackupView>())]
}

pub(in crate::http::v1) fn show_engine() -> ApiOperation {
    ApiOperation::new(HttpVerb::Get, "/v1/engine", "show_engine", "Show the state of the process")
        .says(
            "For operators: a token has `engine.view` only when it was created with this permission by name.",
        )
        .answers(200, "The actors, queues and share of this process.", enveloped(named("Engine")), None)
}

pub(in crate::http::v1) fn list_backups() -> ApiOperation {
    ApiOperation::new(HttpVerb::Get, BACKUPS, "list_engine_backups", "List the backups of the server")
        .says(
            "For operators. The running backup and the last failed one first, then the others, the newest first.",
        )
        .answers(200, "All of them, on one page.", enveloped(list_of(named("EngineBackup"))), None)
}

pub(in crate::http::v1) fn create_backup() -> ApiOperation {
    ApiOperation::new(HttpVerb::Post, BACKUPS, "create_engine_backup", "Make a backup on the server")
        .says(
            "For operators: a token has `engine.backup` only when it was created with this permission by name. The server makes the backup in its \
             own `backup.folder`, without the secret key, and keeps the newest `backup.keep`. The list shows its \
             progress. Answers 409 while a backup is running, and without a `backup.folder`.",
        )
        .answers(202, "The running backup.", enveloped(named("EngineBackup")), None)
        .refuses(&[409])
}
