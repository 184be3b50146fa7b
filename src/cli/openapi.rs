//! `watchkeeper openapi`: the description of the API, without starting anything.

use std::process::ExitCode;

use clap::Command;

use crate::config::Config;
use crate::http::v1::openapi;
use crate::http::v1::routes::routes;

pub(super) fn command() -> Command {
    Command::new("openapi").about("Print the OpenAPI document of the API; a server has it at /openapi.json")
}

pub(super) fn run(config: &Config) -> anyhow::Result<ExitCode> {
    println!("{}", openapi::document(&routes()?, config).to_pretty_json()?);
    Ok(ExitCode::SUCCESS)
}
