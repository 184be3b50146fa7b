//! `watchkeeper org`: organisations.

use std::process::ExitCode;

use anyhow::bail;
use clap::{Args, Subcommand};
use serde_json::{Value, json};

use crate::app::{Foundation, require_installation};
use crate::cli::display_name;
use crate::cli::name_lookup::find_organisation;
use crate::cli::printable::printable;
use crate::clock::Clock;
use crate::config::Config;
use crate::config::sources::ConfigError;
use crate::id::Id;
use crate::model::access::{Organisation, Plan};
use crate::store::organisations;

#[derive(Subcommand)]
pub(super) enum OrganisationCommand {
    /// Create an organisation, and an installation if there is none
    Create(CreateOrganisationArguments),
    /// Change name, plan or languages of an organisation
    Edit(EditOrganisationArguments),
    /// List the organisations
    List(ListOrganisationsArguments),
}

#[derive(Args)]
pub(super) struct CreateOrganisationArguments {
    /// Display name
    #[arg(long, value_name = "NAME", value_parser = display_name)]
    name: String,
    /// free, solo, team or business
    #[arg(long, value_name = "PLAN", default_value = "business", value_parser = |text: &str| text.parse::<Plan>())]
    plan: Plan,
    /// Languages such as en,de; the first is the default
    #[arg(long, value_name = "LANGUAGES", default_value = "en", value_delimiter = ',', value_parser = language)]
    languages: Vec<String>,
    /// Print JSON for machines
    #[arg(long = "json")]
    as_json: bool,
}

/// Running servers apply the change within seconds. Services beyond a smaller plan are paused when a server starts. Texts in
/// a language that is removed stay stored, and are not shown.
#[derive(Args)]
pub(super) struct EditOrganisationArguments {
    /// Id of the organisation, or its name if no other has it
    #[arg(value_name = "ID|NAME", allow_hyphen_values = true)]
    organisation: String,
    /// New display name
    #[arg(long, value_name = "NAME", value_parser = display_name)]
    name: Option<String>,
    /// free, solo, team or business
    #[arg(long, value_name = "PLAN", value_parser = |text: &str| text.parse::<Plan>())]
    plan: Option<Plan>,
    /// All its languages, such as en,de; the first is the default
    #[arg(long, value_name = "LANGUAGES", value_delimiter = ',', value_parser = language)]
    languages: Option<Vec<String>>,
    /// Print JSON for machines
    #[arg(long = "json")]
    as_json: bool,
}

#[derive(Args)]
pub(super) struct ListOrganisationsArguments {
    /// Print JSON for machines
    #[arg(long = "json")]
    as_json: bool,
}

pub(super) async fn run(command: OrganisationCommand, config: Config) -> anyhow::Result<ExitCode> {
    match command {
        OrganisationCommand::Create(arguments) => create(arguments, config).await,
        OrganisationCommand::Edit(arguments) => edit(arguments, config).await,
        OrganisationCommand::List(arguments) => list(&arguments, config).await,
    }
}

/// Parses a language tag: `^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$` (contract 1.11).
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

async fn create(arguments: CreateOrganisationArguments, config: Config) -> anyhow::Result<ExitCode> {
    let egress_is_decided = config.egress.is_some();
    let made = require_installation(&config).is_err().then(|| config.data_dir.display().to_string());
    let foundation = Foundation::open_or_create(config, Clock::System).await?;
    let transaction = foundation.databases.main.begin().await?;
    let before = organisations::count(&transaction).await?;
    if before > 0 && !egress_is_decided {
        bail!(
            "a second organisation could reach this machine's own network through checks; decide first: \
             set WATCHKEEPER_EGRESS to public-only or private-allowed, here and for serve"
        );
    }
    let organisation = Organisation {
        key: 0,
        id: Id::random(),
        name: arguments.name,
        plan: arguments.plan,
        self_hosted: false,
        default_locale: arguments.languages.first().cloned().unwrap_or_else(|| "en".into()),
        locales: arguments.languages,
        created_at: foundation.clock.now(),
    };
    let organisation = organisations::insert(&transaction, organisation).await?;
    transaction.commit().await?;
    if let Some(folder) = made {
        eprintln!(
            "watchkeeper: there was no installation, so a new one has been made in {folder}; if you meant another, name it with \
             --data-dir or --config, and remove this one"
        );
    }
    if before == 1 {
        eprintln!(
            "watchkeeper: there are several organisations now: serve starts only where egress is set as well \
             (WATCHKEEPER_EGRESS, or egress in its configuration file)"
        );
    }
    show(&[organisation], arguments.as_json);
    Ok(ExitCode::SUCCESS)
}

async fn edit(arguments: EditOrganisationArguments, config: Config) -> anyhow::Result<ExitCode> {
    if arguments.name.is_none() && arguments.plan.is_none() && arguments.languages.is_none() {
        return Err(ConfigError("nothing to change: give --name, --plan or --languages".into()).into());
    }
    let foundation = Foundation::open_existing(config, Clock::System).await?;
    let transaction = foundation.databases.main.begin().await?;
    let all = organisations::list(&transaction).await?;
    let mut organisation = find_organisation(&all, &arguments.organisation)?.clone();
    if let Some(name) = arguments.name {
        organisation.name = name;
    }
    if let Some(plan) = arguments.plan {
        organisation.plan = plan;
    }
    if let Some(languages) = arguments.languages {
        organisation.default_locale.clone_from(&languages[0]);
        organisation.locales = languages;
    }
    organisations::update(&transaction, &organisation).await?;
    transaction.commit().await?;
    show(&[organisation], arguments.as_json);
    Ok(ExitCode::SUCCESS)
}

async fn list(arguments: &ListOrganisationsArguments, config: Config) -> anyhow::Result<ExitCode> {
    let foundation = Foundation::open_existing(config, Clock::System).await?;
    let all = organisations::list(foundation.databases.main.reader()).await?;
    show(&all, arguments.as_json);
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
        let name = printable(name);
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
