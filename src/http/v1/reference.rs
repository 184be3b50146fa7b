//! The chapter of the API description with reference data and the calling token (contract 4.1, 4.2, 4.17).

use crate::http::openapi::operation::ApiChapter;
use crate::http::v1::{check_types, engine, me, probes};

pub(in crate::http) fn chapter() -> ApiChapter {
    let schemas = [
        engine::openapi::schemas(),
        me::openapi::schemas(),
        probes::openapi::schemas(),
        check_types::openapi::schemas(),
    ];
    ApiChapter {
        name: "Reference",
        about: "Who asks, from where and how can be checked.",
        schemas: schemas.into_iter().flatten().collect(),
        operations: vec![
            engine::openapi::show_engine(),
            engine::openapi::list_backups(),
            engine::openapi::create_backup(),
            me::openapi::show_me(),
            probes::openapi::list_probes(),
            check_types::openapi::show_check_types(),
        ],
    }
}
