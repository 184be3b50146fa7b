//! `/v1/me` (contract 4.17).

use crate::http::gate::route::Verb;
use crate::http::openapi::operation::{Operation, example};
use crate::http::openapi::shape::{Shape, named, view};
use crate::http::v1::me::view::MeView;

const EXAMPLE: &str = include_str!("example.json");

pub(in crate::http::v1) fn schemas() -> Vec<(&'static str, Shape)> {
    vec![("Me", view::<MeView<'_>>())]
}

pub(in crate::http::v1) fn show_me() -> Operation {
    Operation::new(Verb::Get, "/v1/me", "show_me", "Show the calling token")
        .says("Works on every plan.")
        .answers(200, "Who asks: the bare object, without `data`.", named("Me"), Some(example(EXAMPLE)))
}
