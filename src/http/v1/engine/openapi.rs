//! `/v1/engine`.

use crate::http::gate::route::Verb;
use crate::http::openapi::operation::{Operation, enveloped};
use crate::http::openapi::shape::{Shape, named, view};
use crate::http::v1::engine::view::EngineView;

pub(in crate::http::v1) fn schemas() -> Vec<(&'static str, Shape)> {
    vec![("Engine", view::<EngineView<'_>>())]
}

pub(in crate::http::v1) fn show_engine() -> Operation {
    Operation::new(Verb::Get, "/v1/engine", "show_engine", "Show how the process is doing")
        .says("For operators: a token has `engine.view` only when it was made with it by name.")
        .answers(200, "The actors, queues and share of this process.", enveloped(named("Engine")), None)
}
