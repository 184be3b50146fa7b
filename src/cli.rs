//! The command line: its commands and their flags.
//!
//! Every setting of `config` is a flag of every command that reads settings. Wrong usage and bad configuration end with
//! exit code 2 and one line that says what is allowed.

mod backup;
mod check;
mod doctor;
mod explained;
mod export_page;
mod import;
mod locations;
mod log;
mod log_sampler;
mod name_lookup;
mod nats_config;
mod node_api;
mod notifications;
mod openapi;
mod organisations;
mod picture;
mod printable;
mod probe;
mod promote;
mod reference;
mod running;
mod secret;
mod serve;
mod settings;
mod simulate;
mod status;
mod table;
mod tokens;
mod users;
mod variables;

use std::ffi::OsString;
use std::io::{IsTerminal as _, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue};
use clap::{ArgMatches, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};
use tracing_subscriber::Layer as _;
use tracing_subscriber::filter::FilterExt as _;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

use crate::cli::explained::DatabaseFiles;
use crate::cli::log_sampler::LogSampler;
use crate::cli::printable::printable_lines;
use crate::clock::Clock;
use crate::config::credentials::without_credentials;
use crate::config::sources::ConfigError;
use crate::config::{Config, LogFormat};
use crate::model::location::LocationCode;
use crate::model::plans::PlanTable;
use crate::probe::toolbox::ToolboxError;

/// Exit code of wrong usage and bad configuration.
const USAGE: u8 = 2;

/// Uptime monitoring from several locations, with alerting and status pages.
#[derive(Parser)]
#[command(name = "watchkeeper", version, subcommand_required = true, arg_required_else_help = true)]
struct CommandLine {
    #[command(subcommand)]
    command: MainCommand,
}

#[derive(Subcommand)]
enum MainCommand {
    Serve(serve::ServeArguments),
    Check(check::CheckArguments),
    Doctor(doctor::DoctorArguments),
    /// Organisations
    #[command(subcommand)]
    Org(organisations::OrganisationCommand),
    /// API tokens
    #[command(subcommand)]
    Token(tokens::TokenCommand),
    /// Users of the console
    #[command(subcommand)]
    User(users::UserCommand),
    /// Remote locations
    #[command(subcommand)]
    Location(locations::LocationCommand),
    Probe(probe::ProbeArguments),
    Import(import::ImportArguments),
    Backup(backup::BackupArguments),
    Verify(backup::VerifyArguments),
    Restore(backup::RestoreArguments),
    ExportPage(export_page::ExportPageArguments),
    /// Notifications
    #[command(subcommand)]
    Notifications(notifications::NotificationsCommand),
    NatsConfig(nats_config::NatsConfigArguments),
    Promote(promote::PromoteArguments),
    Simulate(simulate::SimulateArguments),
    Status(status::StatusArguments),
    /// Print the OpenAPI document of the API; a server has it at /openapi.json
    Openapi,
    /// Print the documentation of every setting as Markdown
    Settings,
    /// Update the schema of both databases of an installation; serve does it too
    Migrate,
}

/// Runs the command given by the process's arguments.
#[must_use]
pub fn run() -> ExitCode {
    let matches = parse(std::env::args_os()).unwrap_or_else(|error| without_passwords(error).exit());
    let Some((name, arguments)) = matches.subcommand() else { return ExitCode::from(USAGE) };
    let config = match configuration(arguments) {
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
    if matches!(name, "serve" | "probe") {
        variables::warn_of_unknown(&command());
    }
    let files = DatabaseFiles::of(&config);
    let result = actix::System::new().block_on(dispatch(&matches, config));
    result.unwrap_or_else(|error| {
        // Standard error may be closed; then the message is lost.
        let _ = writeln!(std::io::stderr(), "watchkeeper: {}", printable_lines(&files.explain(&error)));
        exit_code(&error)
    })
}

/// Parses the arguments of the process. `--help-settings` is `--help` with the settings.
fn parse(arguments: impl Iterator<Item = OsString>) -> Result<ArgMatches, clap::Error> {
    let mut arguments: Vec<OsString> = arguments.collect();
    match arguments.iter_mut().find(|argument| **argument == *settings::HELP_FLAG) {
        None => command().try_get_matches_from(arguments),
        Some(flag) => {
            *flag = "--help".into();
            settings::with_help_of_settings(command()).try_get_matches_from(arguments)
        }
    }
}

async fn dispatch(matches: &ArgMatches, config: Config) -> anyhow::Result<ExitCode> {
    if let Some(("bench", arguments)) = matches.subcommand() {
        return bench(arguments, config).await;
    }
    match CommandLine::from_arg_matches(matches)?.command {
        MainCommand::Serve(arguments) => serve::run(arguments.settings(config)).await,
        MainCommand::Check(arguments) => check::run(&arguments, &config).await,
        MainCommand::Doctor(arguments) => {
            let given = matches.subcommand().and_then(|(_, given)| given.get_one::<PathBuf>("config-file"));
            let file = given.map(PathBuf::as_path);
            Ok(doctor::run(&arguments, &config, file, &command()).await)
        }
        MainCommand::Org(command) => organisations::run(command, config).await,
        MainCommand::Token(command) => tokens::run(command, config).await,
        MainCommand::User(command) => users::run(command, config).await,
        MainCommand::Location(command) => locations::run(command, config).await,
        MainCommand::Probe(arguments) => probe::run(arguments, config).await,
        MainCommand::Import(arguments) => import::run(arguments, config).await,
        MainCommand::Backup(arguments) => backup::back_up(&arguments, &config).await,
        MainCommand::Verify(arguments) => backup::verify(&arguments).await,
        MainCommand::Restore(arguments) => backup::restore(&arguments, &config).await,
        MainCommand::ExportPage(arguments) => export_page::run(arguments, config).await,
        MainCommand::Notifications(command) => notifications::run(&command, &config),
        MainCommand::NatsConfig(arguments) => nats_config::run(arguments),
        MainCommand::Promote(arguments) => promote::run(arguments, config).await,
        MainCommand::Simulate(arguments) => simulate::run(arguments, config).await,
        MainCommand::Status(arguments) => status::run(arguments, config).await,
        MainCommand::Openapi => openapi::run(&config),
        MainCommand::Settings => Ok(reference::run()),
        MainCommand::Migrate => migrate(config).await,
    }
}

async fn bench(arguments: &ArgMatches, config: Config) -> anyhow::Result<ExitCode> {
    match arguments.subcommand() {
        Some(("probe", arguments)) => crate::bench::probe::run(arguments, config).await,
        Some(("api", arguments)) => crate::bench::api::run(arguments, &config).await,
        Some(("page", arguments)) => crate::bench::page::run(arguments, &config).await,
        Some(("console", arguments)) => crate::bench::console::run(arguments, &config).await,
        Some(("history", arguments)) => crate::bench::history::run(arguments, config).await,
        Some(("api-floor", _)) => crate::bench::api::floor::run(&config).await,
        Some(("target", arguments)) => crate::bench::target::run(arguments).await,
        _ => unreachable!("clap knows no other command"),
    }
}

async fn migrate(config: Config) -> anyhow::Result<ExitCode> {
    let foundation = crate::app::Foundation::open_existing(config, Clock::System).await?;
    foundation.databases.prepare_history().await?;
    foundation.databases.main.close().await;
    foundation.databases.history.close().await;
    println!("Both databases are up to date.");
    Ok(ExitCode::SUCCESS)
}

/// Returns the whole command line. Every command except `nats-config` takes the settings.
#[must_use]
pub fn command() -> clap::Command {
    let bench = clap::Command::new("bench")
        .about("Measure this machine")
        .subcommand_required(true)
        .subcommand(crate::bench::probe::command())
        .subcommand(crate::bench::api::command())
        .subcommand(crate::bench::page::command())
        .subcommand(crate::bench::console::command())
        .subcommand(crate::bench::history::command())
        .subcommand(crate::bench::api::floor::command())
        .subcommand(crate::bench::target::command());
    with_settings(CommandLine::command().subcommand(bench))
        // `check --config` is the configuration of the check, so the file of settings has only the flag `--config-file`
        // there.
        .mut_subcommand("check", |check| {
            check.mut_arg("config-file", |arg| arg.visible_alias(None).long("config-file"))
        })
}

fn with_settings(command: clap::Command) -> clap::Command {
    if command.get_name() == "nats-config" {
        // `nats-config` connects to nothing, and its `--listen` is the address of a NATS server.
        command
    } else if command.has_subcommands() {
        command.mut_subcommands(with_settings)
    } else {
        settings::augment(settings::with_help_flag(command))
    }
}

/// Parses a display name: 1 to 255 characters, surrounding white space removed.
fn display_name(text: &str) -> Result<String, &'static str> {
    let name = text.trim();
    let is_fit = (1..=255).contains(&name.chars().count());
    if is_fit { Ok(name.to_owned()) } else { Err("a name has 1 to 255 characters") }
}

/// Removes passwords of URLs from an error about misplaced or invalid arguments.
fn without_passwords(mut error: clap::Error) -> clap::Error {
    for kind in [ContextKind::InvalidValue, ContextKind::InvalidArg, ContextKind::InvalidSubcommand] {
        if let Some(ContextValue::String(given)) = error.get(kind)
            && given.contains(['@', '?'])
        {
            let shown = ContextValue::String(without_credentials(given));
            error.insert(kind, shown);
        }
    }
    error
}

/// Returns the settings of the innermost command, from the file, the environment and its flags.
fn configuration(arguments: &ArgMatches) -> Result<Config, ConfigError> {
    let mut innermost = arguments;
    while let Some((_, inner)) = innermost.subcommand() {
        innermost = inner;
    }
    if innermost.try_contains_id("config-file").is_err() {
        return Ok(Config::default());
    }
    let config = settings::read(innermost)?;
    check_words(&config)?;
    Ok(config)
}

/// Validates plans and locations, which belong to layers above `config`, before anything is started.
fn check_words(config: &Config) -> Result<(), ConfigError> {
    PlanTable::new(&config.plans)?;
    let check_code = |key: &str, code: &str| match code.parse::<LocationCode>() {
        Ok(_) => Ok(()),
        Err(error) => Err(ConfigError(format!("{key} = \"{code}\" is not allowed: {error}"))),
    };
    check_code("location", &config.location)?;
    config.probe.locations.iter().try_for_each(|location| check_code("probe.locations: code", &location.code))
}

/// Starts the log on standard error, so that standard output contains only results.
fn start_log(config: &Config, command: &str) -> Result<(), String> {
    let filter =
        tracing_subscriber::EnvFilter::try_new(log_filter(&config.log, matches!(command, "serve" | "probe")))
            .map_err(|error| {
                format!("log = \"{}\" is not allowed: {error}; it must be a filter such as info", config.log)
            })?;
    let is_text = matches!(config.log_format, LogFormat::Text);
    let writer = log::StandardError { colours: is_text && std::io::stderr().is_terminal() };
    let sampler = LogSampler::default();
    let layer = tracing_subscriber::fmt::layer().with_writer(writer).with_ansi(false);
    // The library reports its own errors on standard error, with a macro that panics when standard error is closed.
    let layer = layer.log_internal_errors(false);
    let layer = match config.log_format {
        LogFormat::Text => layer.boxed(),
        LogFormat::Json => layer.json().boxed(),
    };
    tracing_subscriber::registry().with(layer.with_filter(filter.and(sampler.clone()))).init();
    sampler.report().map_err(|error| format!("cannot start the thread of the log: {error}"))
}

/// Returns the log filter for a setting. A bare level applies to Watchkeeper itself; libraries log from warnings on.
/// Commands other than `serve` and `probe` print their results on standard output, so by default they log only warnings
/// and errors.
fn log_filter(filter: &str, is_serving: bool) -> String {
    match filter {
        "info" if !is_serving => "warn".into(),
        level if level.chars().all(char::is_alphanumeric) => format!("warn,watchkeeper={level}"),
        directives => directives.into(),
    }
}

/// Returns the exit code of an error. A setting found invalid only when it is used is wrong usage as well.
fn exit_code(error: &anyhow::Error) -> ExitCode {
    let is_usage = error.is::<ConfigError>() || error.is::<ToolboxError>();
    if is_usage { ExitCode::from(USAGE) } else { ExitCode::FAILURE }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `-h` and `--help` show the command's own flags on one screen, `--help-settings` all settings as well.
    #[rstest::rstest]
    #[case(&["token", "create"], "--permissions")]
    #[case(&["serve"], "--data-dir")]
    #[case(&["org", "edit"], "--languages")]
    fn the_settings_have_a_help_of_their_own(#[case] path: &[&str], #[case] own: &str) {
        let help = |flag: &str| {
            let arguments = [&["watchkeeper"], path, &[flag]].concat();
            parse(arguments.into_iter().map(OsString::from)).unwrap_err().render().to_string()
        };
        for flag in ["-h", "--help"] {
            let text = help(flag);
            assert!(text.contains(own) && text.contains("--help-settings"), "{text}");
            assert!(text.lines().count() < 60 && !text.contains("--probe-dns-servers"), "{text}");
        }
        let text = help("--help-settings");
        assert!(text.contains(own) && text.contains("--probe-dns-servers"), "{text}");
    }

    #[rstest::rstest]
    #[case("info", true, "warn,watchkeeper=info")]
    #[case("info", false, "warn")]
    #[case("debug", false, "warn,watchkeeper=debug")]
    #[case("watchkeeper=trace,sqlx=info", true, "watchkeeper=trace,sqlx=info")]
    fn a_bare_log_level_applies_to_watchkeeper(
        #[case] log: &str,
        #[case] is_serving: bool,
        #[case] filter: &str,
    ) {
        assert_eq!(log_filter(log, is_serving), filter);
    }

    #[rstest::rstest]
    #[case(&["promote", "--to", "mysql://me:hunter2@127.0.0.1/wk"])]
    #[case(&["promote", "--to", "postgres://127.0.0.1/wk", "--history-to", "me:hunter2@127.0.0.1"])]
    #[case(&["promote", "postgres://me:hunter2@127.0.0.1/wk"])]
    #[case(&["postgres://me:hunter2@127.0.0.1/wk"])]
    #[case(&["status", "--url", "https://me:hunter2@127.0.0.1"])]
    fn no_wrong_usage_shows_a_password(#[case] arguments: &[&str]) {
        let refused = command().try_get_matches_from([&["watchkeeper"], arguments].concat()).unwrap_err();
        let text = without_passwords(refused).render().to_string();
        assert!(text.starts_with("error: ") && !text.contains("hunter2"), "{text}");
    }

    /// Every command accepts `--config-file`. `--config` is the same flag, except on `check`, where it is the
    /// configuration of the check.
    #[rstest::rstest]
    #[case(&["serve", "--config-file", "a.toml"])]
    #[case(&["serve", "--config", "a.toml"])]
    #[case(&["doctor", "--config-file", "a.toml"])]
    #[case(&["token", "list", "--config-file", "a.toml"])]
    #[case(&["check", "http", "http://127.0.0.1/", "--config", "{}", "--config-file", "a.toml"])]
    fn the_file_of_settings_has_one_name_everywhere(#[case] arguments: &[&str]) {
        let matches = command().try_get_matches_from([&["watchkeeper"], arguments].concat()).unwrap();
        let mut innermost = &matches;
        while let Some((_, inner)) = innermost.subcommand() {
            innermost = inner;
        }
        let file = innermost.get_one::<std::path::PathBuf>("config-file");
        assert_eq!(file.map(|file| file.as_path()), Some(std::path::Path::new("a.toml")));
    }

    #[test]
    fn the_command_line_is_consistent() {
        command().debug_assert();
    }

    #[test]
    fn commands_with_settings_keep_their_own_help_text() {
        let command = command();
        let about = |name: &str| command.find_subcommand(name)?.get_about().map(ToString::to_string);
        assert_eq!(about("serve").as_deref(), Some("Run everything: API, engine and checks"));
        assert_eq!(
            about("migrate").as_deref(),
            Some("Update the schema of both databases of an installation; serve does it too")
        );
    }

    /// One id in 64 starts with a hyphen.
    #[test]
    fn an_id_may_start_with_a_hyphen() {
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
