//! `watchkeeper openapi`: prints the description of the API without starting anything.

use std::process::ExitCode;

use crate::config::Config;
use crate::http::description;
use crate::http::v1::routes::routes;

pub(super) fn run(config: &Config) -> anyhow::Result<ExitCode> {
    println!("{}", description::document(&routes()?, config).to_pretty_json()?);
    Ok(ExitCode::SUCCESS)
}
