//! `watchkeeper org`: organisations.

use std::process::ExitCode;

use anyhow::bail;
use clap::{Arg, ArgMatches, Command};
use serde_json::{Value, json};

use crate::app::Foundation;
use crate::cli::{display_name, json_flag};
use crate::clock::Clock;
use crate::config::Config;
use crate::id::Id;
use crate::model::access::{Organisation, Plan};
use crate::store::organisations;

pub(super) fn create_command() -> Command {
    Command::new("create").about("Make an organisation").args([
        Arg::new("name")
            .long("name")
            .value_name("NAME")
            .required(true)
            .value_parser(display_name)
            .help("Display name"),
        Arg::new("plan")
            .long("plan")
            .value_name("PLAN")
            .default_value("business")
            .help("free, solo, team or business")
            .value_parser(|text: &str| text.parse::<Plan>()),
        Arg::new("languages")
            .long("languages")
            .value_name("LANGUAGES")
            .default_value("en")
            .value_delimiter(',')
            .value_parser(language)
            .help("Languages such as en,de; the first is the default"),
        json_flag(),
    ])
}

pub(super) fn list_command() -> Command {
    Command::new("list").about("List the organisations").arg(json_flag())
}

/// `^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$` (contract 1.11).
fn language(text: &str) -> Result<String, String> {
    let mut parts = text.split('-');
    let primary = parts.next().unwrap_or_default();
    let is_primary =
        (2..=3).contains(&primary.len()) && primary.bytes().all(|byte| byte.is_ascii_lowercase());
    let is_sub =
        |part: &str| (2..=8).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if is_primary && parts.all(is_sub) {
        Ok(text.to_owned())
    } else {
        Err("a language looks like en or de-AT".into())
    }
}

pub(super) async fn create(arguments: &ArgMatches, config: Config) -> anyhow::Result<ExitCode> {
    let name = arguments.get_one::<String>("name").cloned().unwrap_or_default();
    let egress_is_decided = config.egress.is_some();
    let foundation = Foundation::lay(config, Clock::System).await?;
    let transaction = foundation.databases.main.begin().await?;
    if organisations::count(&transaction).await? > 0 && !egress_is_decided {
        bail!(
            "a second organisation could reach this machine's own network through checks; decide first: \
             set WATCHKEEPER_EGRESS to public-only or private-allowed, here and for serve"
        );
    }
    let locales: Vec<String> =
        arguments.get_many::<String>("languages").into_iter().flatten().cloned().collect();
    let organisation = Organisation {
        key: 0,
        id: Id::random(),
        name,
        plan: arguments.get_one::<Plan>("plan").copied().unwrap_or(Plan::Business),
        self_hosted: false,
        default_locale: locales.first().cloned().unwrap_or_else(|| "en".into()),
        locales,
        created_at: foundation.clock.now(),
    };
    let organisation = organisations::insert(&transaction, organisation).await?;
    transaction.commit().await?;
    show(&[organisation], arguments.get_flag("json"));
    Ok(ExitCode::SUCCESS)
}

pub(super) async fn list(arguments: &ArgMatches, config: Config) -> anyhow::Result<ExitCode> {
    let foundation = Foundation::lay(config, Clock::System).await?;
    let all = organisations::list(foundation.databases.main.reader()).await?;
    show(&all, arguments.get_flag("json"));
    Ok(ExitCode::SUCCESS)
}

fn show(organisations: &[Organisation], as_json: bool) {
    if as_json {
        let all: Vec<Value> = organisations.iter().map(to_json).collect();
        println!("{}", Value::from(all));
        return;
    }
    for organisation in organisations {
        let Organisation { id, name, plan, .. } = organisation;
        println!("{id}  {plan:<8}  {:<12}  {name}", organisation.locales.join(","));
    }
}

fn to_json(organisation: &Organisation) -> Value {
    json!({
        "id": organisation.id.as_str(),
        "name": organisation.name,
        "plan": organisation.plan.as_str(),
        "locales": organisation.locales,
        "default_locale": organisation.default_locale,
        "created_at": organisation.created_at.to_string(),
    })
}
