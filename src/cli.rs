//! The command line: what it accepts, and which command does what.
//!
//! Every setting of `config` is a flag of every command that reads settings. Wrong usage and bad configuration end with
//! exit code 2 and one line that says what is allowed.

mod check;
mod import;
mod openapi;
mod organisations;
mod picture;
mod serve;
mod tokens;

use std::collections::BTreeMap;
use std::io::IsTerminal as _;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Arg, ArgAction, ArgMatches, Command};

use crate::clock::Clock;
use crate::config::sources::{self, BadConfig};
use crate::config::{Config, LogFormat};
use crate::model::location::LocationCode;
use crate::model::plans::PlanTable;
use crate::probe::toolbox::ToolboxError;

/// Exit code of wrong usage and bad configuration.
const USAGE: u8 = 2;

/// Runs the command given by the process's arguments.
#[must_use]
pub fn run() -> ExitCode {
    let matches = command().get_matches();
    let Some((name, arguments)) = matches.subcommand() else { return ExitCode::from(USAGE) };
    let config = match settings(arguments) {
        Ok(config) => config,
        Err(error) => {
            eprintln!("watchkeeper: {error}");
            return ExitCode::from(USAGE);
        }
    };
    if let Err(problem) = start_log(&config, name) {
        eprintln!("watchkeeper: {problem}");
        return ExitCode::from(USAGE);
    }
    let result = actix::System::new().block_on(dispatch((name, arguments), config));
    result.unwrap_or_else(|error| {
        eprintln!("watchkeeper: {error:#}");
        exit_code(&error)
    })
}

async fn dispatch((name, arguments): (&str, &ArgMatches), config: Config) -> anyhow::Result<ExitCode> {
    match (name, arguments.subcommand()) {
        ("serve", _) => serve::run(serve::with_flags(config, arguments)).await,
        ("check", _) => check::run(arguments, &config).await,
        ("migrate", _) => migrate(config).await,
        ("import", _) => import::run(arguments, config).await,
        ("openapi", _) => openapi::run(&config),
        ("org", Some(("create", arguments))) => organisations::create(arguments, config).await,
        ("org", Some(("list", arguments))) => organisations::list(arguments, config).await,
        ("token", Some(("create", arguments))) => tokens::create(arguments, config).await,
        ("token", Some(("list", arguments))) => tokens::list(arguments, config).await,
        ("token", Some(("revoke", arguments))) => tokens::revoke(arguments, config).await,
        ("bench", Some(("probe", arguments))) => crate::bench::probe::run(arguments, config).await,
        ("bench", Some(("api", arguments))) => crate::bench::api::run(arguments, &config).await,
        ("bench", Some(("history", arguments))) => crate::bench::history::run(arguments, config).await,
        ("bench", Some(("api-floor", _))) => crate::bench::api::floor::run(&config).await,
        ("bench", Some(("target", arguments))) => crate::bench::target::run(arguments).await,
        _ => unreachable!("clap knows no other command"),
    }
}

async fn migrate(config: Config) -> anyhow::Result<ExitCode> {
    let foundation = crate::app::Foundation::lay(config, Clock::System).await?;
    foundation.databases.prepare_history().await?;
    foundation.databases.main.close().await;
    foundation.databases.history.close().await;
    println!("Both databases are up to date.");
    Ok(ExitCode::SUCCESS)
}

/// The whole command line.
#[must_use]
pub fn command() -> Command {
    let with_settings = |command: Command| command.args(setting_flags("config"));
    Command::new("watchkeeper")
        .about("Watches services from many places and decides honestly whether they are up.")
        .version(env!("CARGO_PKG_VERSION"))
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand(with_settings(serve::command()))
        .subcommand(check::command().args(setting_flags("config-file")))
        .subcommand(
            Command::new("org")
                .about("Organisations")
                .subcommand_required(true)
                .subcommand(with_settings(organisations::create_command()))
                .subcommand(with_settings(organisations::list_command())),
        )
        .subcommand(
            Command::new("token")
                .about("API tokens")
                .subcommand_required(true)
                .subcommand(with_settings(tokens::create_command()))
                .subcommand(with_settings(tokens::list_command()))
                .subcommand(with_settings(tokens::revoke_command())),
        )
        .subcommand(with_settings(import::command()))
        .subcommand(with_settings(openapi::command()))
        .subcommand(with_settings(
            Command::new("migrate").about("Bring both databases up to date; serve does it too"),
        ))
        .subcommand(
            Command::new("bench")
                .about("Measure this machine")
                .subcommand_required(true)
                .subcommand(with_settings(crate::bench::probe::command()))
                .subcommand(with_settings(crate::bench::api::command()))
                .subcommand(with_settings(crate::bench::history::command()))
                .subcommand(with_settings(crate::bench::api::floor::command()))
                .subcommand(with_settings(crate::bench::target::command())),
        )
}

/// `--json`, for every command that prints a result.
fn json_flag() -> Arg {
    Arg::new("json").long("json").action(ArgAction::SetTrue).help("Print JSON for machines")
}

/// A display name: 1 to 255 characters, outer white space removed.
fn display_name(text: &str) -> Result<String, &'static str> {
    let name = text.trim();
    let is_fit = (1..=255).contains(&name.chars().count());
    if is_fit { Ok(name.to_owned()) } else { Err("a name has 1 to 255 characters") }
}

/// A flag per setting, and one for the file; `check` calls it otherwise, because its `--config` is the check's own.
fn setting_flags(file_flag: &'static str) -> Vec<Arg> {
    let config = Arg::new("config-file").long(file_flag).value_name("FILE");
    let config = config
        .value_parser(clap::value_parser!(PathBuf))
        .help("TOML file with settings [env: WATCHKEEPER_CONFIG]");
    let flags = Config::settable().into_iter().map(|settable| {
        let help = format!("{} [env: {}]", settable.help, settable.variable());
        Arg::new(settable.key)
            .long(settable.flag())
            .value_name(settable.value_name)
            .help(help)
            .help_heading("Settings")
    });
    std::iter::once(config.help_heading("Settings")).chain(flags).collect()
}

/// Settings from the file, the environment and the flags of the innermost command.
fn settings(arguments: &ArgMatches) -> Result<Config, BadConfig> {
    let mut innermost = arguments;
    while let Some((_, inner)) = innermost.subcommand() {
        innermost = inner;
    }
    let environment: BTreeMap<String, String> = std::env::vars().collect();
    let file = innermost.get_one::<PathBuf>("config-file").cloned();
    let file = file.or_else(|| environment.get("WATCHKEEPER_CONFIG").map(PathBuf::from));
    let flags = Config::settable().into_iter().filter_map(|settable| {
        let value = innermost.get_one::<String>(settable.key)?;
        Some((settable.key, value.clone()))
    });
    let config = sources::read(file.as_deref(), &environment, &flags.collect())?;
    check_words(&config)?;
    Ok(config)
}

/// Plans and locations are words of floors above the settings; a wrong one is found before anything is started.
fn check_words(config: &Config) -> Result<(), BadConfig> {
    PlanTable::new(&config.plans)?;
    let check_code = |key: &str, code: &str| match code.parse::<LocationCode>() {
        Ok(_) => Ok(()),
        Err(error) => Err(BadConfig(format!("{key} = \"{code}\" is not allowed: {error}"))),
    };
    check_code("location", &config.location)?;
    config.locations.iter().try_for_each(|location| check_code("probe.locations: code", &location.code))
}

/// Logs go to standard error, so that results on standard output stay clean.
fn start_log(config: &Config, command: &str) -> Result<(), String> {
    let filter = tracing_subscriber::EnvFilter::try_new(log_filter(&config.log, command == "serve"))
        .map_err(|error| {
            format!("log = \"{}\" is not allowed: {error}; it must be a filter such as info", config.log)
        })?;
    let builder = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    match config.log_format {
        LogFormat::Text => builder.with_ansi(std::io::stderr().is_terminal()).init(),
        LogFormat::Json => builder.json().init(),
    }
    Ok(())
}

/// A bare level is that of Watchkeeper itself; libraries speak up from warnings on. Commands other than `serve` say what
/// they found on standard output, so their log is for trouble, unless asked for.
fn log_filter(filter: &str, is_serving: bool) -> String {
    match filter {
        "info" if !is_serving => "warn".into(),
        level if level.chars().all(char::is_alphanumeric) => format!("warn,watchkeeper={level}"),
        directives => directives.into(),
    }
}

/// A setting that turns out wrong only when it is used is wrong usage all the same.
fn exit_code(error: &anyhow::Error) -> ExitCode {
    let is_usage = error.is::<BadConfig>() || error.is::<ToolboxError>();
    if is_usage { ExitCode::from(USAGE) } else { ExitCode::FAILURE }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[rstest::rstest]
    #[case("info", true, "warn,watchkeeper=info")]
    #[case("info", false, "warn")]
    #[case("debug", false, "warn,watchkeeper=debug")]
    #[case("watchkeeper=trace,sqlx=info", true, "watchkeeper=trace,sqlx=info")]
    fn a_bare_level_is_that_of_watchkeeper(
        #[case] log: &str,
        #[case] is_serving: bool,
        #[case] filter: &str,
    ) {
        assert_eq!(log_filter(log, is_serving), filter);
    }

    #[test]
    fn the_command_line_is_consistent() {
        command().debug_assert();
    }

    /// One id in 64 begins with a hyphen.
    #[test]
    fn an_id_may_look_like_a_flag() {
        for id in ["-hAAAAAAAAAAAAAAAAAAA", "--jsonAAAAAAAAAAAAAAA", "-AAAAAAAAAAAAAAAAAAAA"] {
            let create = ["watchkeeper", "token", "create", "--org", id, "--name", "x", "--json"];
            assert!(command().try_get_matches_from(create).is_ok(), "{id}");
            let revoke = ["watchkeeper", "token", "revoke", "--json", "--", id];
            assert!(command().try_get_matches_from(revoke).is_ok(), "{id}");
        }
        let plain = ["watchkeeper", "token", "revoke", "-AAAAAAAAAAAAAAAAAAAA", "--json"];
        assert!(command().try_get_matches_from(plain).is_ok());
    }
}
