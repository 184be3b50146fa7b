//! `watchkeeper location`: remote locations, and the join tokens of their machines.

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use clap::{Args, Subcommand};
use secrecy::ExposeSecret as _;
use serde_json::{Value, json};

use crate::app::Foundation;
use crate::bus::messages::enrolment::JoinToken;
use crate::bus::users::{BusUser, ENROLMENT_MS, TokenIssuer};
use crate::cli::display_name;
use crate::cli::printable::printable;
use crate::clock::{Clock, Timestamp};
use crate::config::Config;
use crate::config::sources::ConfigError;
use crate::id::Id;
use crate::model::location::{InvalidLocationCode, Location, LocationCode, PUSH};
use crate::store::probe_locations::{self, Enrolment, StoredLocation};

#[derive(Subcommand)]
pub(super) enum LocationCommand {
    /// Create a location, and print the join token for its machine
    Create(CreateLocationArguments),
    /// Print another join token, for a new machine of the location
    Invite(InviteLocationArguments),
    /// List the locations
    List(ListLocationsArguments),
    /// Disable a location; its results stay, and it can be invited again
    Disable(DisableLocationArguments),
}

#[derive(Args)]
pub(super) struct CreateLocationArguments {
    /// Code of the location in results: 1 to 32 of a-z, 0-9, '.', '_' and '-'; it is never reused
    #[arg(long, value_name = "CODE", value_parser = parse_code)]
    code: LocationCode,
    /// Display name, such as Frankfurt
    #[arg(long, value_name = "NAME", value_parser = display_name)]
    name: String,
    /// Two letters of the country, ISO 3166-1; ZZ when unknown
    #[arg(long, alias = "country", value_name = "COUNTRY", default_value = "ZZ", value_parser = parse_country)]
    country_code: String,
    /// Country or region in words
    #[arg(long, value_name = "PLACE", default_value = "")]
    place: String,
    #[command(flatten)]
    invitation: InvitationArguments,
}

#[derive(Args)]
pub(super) struct InviteLocationArguments {
    /// Code of the location
    #[arg(value_parser = parse_code)]
    code: LocationCode,
    #[command(flatten)]
    invitation: InvitationArguments,
}

/// How the machine reaches the bus, and how the token is printed.
#[derive(Args)]
struct InvitationArguments {
    /// Addresses of the NATS servers for that machine, tls://… [default: nats_url]
    #[arg(long = "servers", value_name = "URL,…")]
    servers: Option<String>,
    /// Print JSON for machines
    #[arg(long = "json")]
    as_json: bool,
}

#[derive(Args)]
pub(super) struct ListLocationsArguments {
    /// Print JSON for machines
    #[arg(long = "json")]
    as_json: bool,
}

#[derive(Args)]
pub(super) struct DisableLocationArguments {
    /// Code of the location
    #[arg(value_parser = parse_code)]
    code: LocationCode,
}

pub(super) async fn run(command: LocationCommand, config: Config) -> anyhow::Result<ExitCode> {
    match command {
        LocationCommand::Create(arguments) => create(arguments, config).await,
        LocationCommand::Invite(arguments) => invite(arguments, config).await,
        LocationCommand::List(arguments) => list(&arguments, config).await,
        LocationCommand::Disable(arguments) => disable(&arguments, config).await,
    }
}

fn parse_code(text: &str) -> Result<LocationCode, String> {
    if text == PUSH {
        return Err(format!("no location can have the code '{PUSH}': it is reserved for pings"));
    }
    text.parse().map_err(|error: InvalidLocationCode| error.to_string())
}

fn parse_country(text: &str) -> Result<String, &'static str> {
    let is_country = text.len() == 2 && text.bytes().all(|letter| letter.is_ascii_uppercase());
    if is_country { Ok(text.to_owned()) } else { Err("a country has two capital letters, such as DE") }
}

async fn create(arguments: CreateLocationArguments, config: Config) -> anyhow::Result<ExitCode> {
    let CreateLocationArguments { code, name, country_code, place, invitation } = arguments;
    if config.location == code.as_str() || config.probe.locations.iter().any(|own| own.code == code.as_str())
    {
        bail!("{code} is the code of a location of the engine's own process (location, probe.locations)");
    }
    let location = Location { code, name, place, country_code };
    let join = JoinTokenBuilder::new(&config, &invitation)?;
    let foundation = Foundation::open_existing(config, Clock::System).await?;
    let now = foundation.clock.now();
    let enrolment = enrolment(now);
    let transaction = foundation.databases.main.begin().await?;
    if !probe_locations::insert(&transaction, &location, enrolment, now).await? {
        bail!(
            "there is a location {} already; watchkeeper location invite {0} makes another join token",
            location.code
        );
    }
    let token = join.token(enrolment, now)?;
    transaction.commit().await?;
    show(&location.code, &token, enrolment, invitation.as_json);
    Ok(ExitCode::SUCCESS)
}

async fn invite(arguments: InviteLocationArguments, config: Config) -> anyhow::Result<ExitCode> {
    let InviteLocationArguments { code, invitation } = arguments;
    let join = JoinTokenBuilder::new(&config, &invitation)?;
    let foundation = Foundation::open_existing(config, Clock::System).await?;
    let now = foundation.clock.now();
    let enrolment = enrolment(now);
    let transaction = foundation.databases.main.begin().await?;
    if !probe_locations::invite(&transaction, &code, enrolment).await? {
        bail!("there is no location {code}; see watchkeeper location list");
    }
    let token = join.token(enrolment, now)?;
    transaction.commit().await?;
    show(&code, &token, enrolment, invitation.as_json);
    Ok(ExitCode::SUCCESS)
}

async fn list(arguments: &ListLocationsArguments, config: Config) -> anyhow::Result<ExitCode> {
    let foundation = Foundation::open_existing(config, Clock::System).await?;
    let all = probe_locations::list(foundation.databases.main.reader()).await?;
    let now = foundation.clock.now();
    if arguments.as_json {
        println!("{}", Value::from(all.iter().map(|stored| to_json(stored, now)).collect::<Vec<_>>()));
        return Ok(ExitCode::SUCCESS);
    }
    if all.is_empty() {
        println!("There is no remote location; watchkeeper location create creates one.");
    }
    for stored in &all {
        let Location { code, name, country_code, .. } = &stored.location;
        let name = printable(name);
        println!("{:<20} {name:<24} {country_code}  {}", code.as_str(), state(stored, now));
    }
    Ok(ExitCode::SUCCESS)
}

async fn disable(arguments: &DisableLocationArguments, config: Config) -> anyhow::Result<ExitCode> {
    let foundation = Foundation::open_existing(config, Clock::System).await?;
    let transaction = foundation.databases.main.begin().await?;
    if !probe_locations::disable(&transaction, &arguments.code).await? {
        bail!("there is no location {}; see watchkeeper location list", arguments.code);
    }
    transaction.commit().await?;
    println!("Location {} is disabled within seconds; its results stay.", arguments.code);
    Ok(ExitCode::SUCCESS)
}

fn enrolment(now: Timestamp) -> Enrolment {
    Enrolment { id: Id::random(), expires_at: now.plus_ms(ENROLMENT_MS) }
}

/// Contents of a join token, except the enrolment.
struct JoinTokenBuilder {
    url: String,
    authority: Option<String>,
    issuer: TokenIssuer,
}

impl JoinTokenBuilder {
    fn new(config: &Config, invitation: &InvitationArguments) -> Result<Self, ConfigError> {
        let url = invitation.servers.clone().or_else(|| config.nats_url.clone());
        let url = url.ok_or_else(|| {
            ConfigError(
                "nats_url is not set: a remote location needs a NATS server; see watchkeeper nats-config"
                    .into(),
            )
        })?;
        let key = config.nats_locations_key.as_deref().ok_or_else(|| {
            ConfigError(
                "nats_locations_key is not set: the file locations.key that watchkeeper nats-config has made"
                    .into(),
            )
        })?;
        let authority = config.nats_ca_file.as_deref().map(read).transpose()?;
        Ok(Self { url, authority, issuer: TokenIssuer::read(key).map_err(ConfigError)? })
    }

    fn token(self, enrolment: Enrolment, now: Timestamp) -> anyhow::Result<JoinToken> {
        let Self { url, authority, issuer } = self;
        let made = issuer.credentials(&BusUser::Enrolment(enrolment.id), now, Some(enrolment.expires_at))?;
        Ok(JoinToken { url, authority, credentials: made.to_text().context("cannot create the join token")? })
    }
}

fn read(file: &Path) -> Result<String, ConfigError> {
    std::fs::read_to_string(file).map_err(|error| ConfigError(format!("{}: {error}", file.display())))
}

fn show(code: &LocationCode, token: &JoinToken, enrolment: Enrolment, as_json: bool) {
    let (text, until) = (token.to_text(), enrolment.expires_at);
    let word = text.expose_secret();
    if as_json {
        println!("{}", json!({"code": code.as_str(), "join_token": word, "expires_at": until}));
        return;
    }
    println!(
        "Location {code} waits for its machine. On that machine:\n\n  watchkeeper probe --data-dir /var/lib/watchkeeper --join {word}\n\n\
         The join token can be used once, until {until}."
    );
}

fn state(stored: &StoredLocation, now: Timestamp) -> String {
    let waits = stored.enrolment.filter(|enrolment| enrolment.expires_at > now);
    match (&stored.machine, waits) {
        _ if !stored.is_enabled => "disabled".into(),
        (None, Some(enrolment)) => format!("waits for its machine until {}", enrolment.expires_at),
        (None, None) => "has no machine; watchkeeper location invite makes a join token".into(),
        (Some(machine), Some(enrolment)) => {
            format!("since {}; another machine may join until {}", machine.enrolled_at, enrolment.expires_at)
        }
        (Some(machine), None) => format!("since {}", machine.enrolled_at),
    }
}

fn to_json(stored: &StoredLocation, now: Timestamp) -> Value {
    let Location { code, name, place, country_code } = &stored.location;
    json!({
        "code": code.as_str(),
        "name": name,
        "location": place,
        "country_code": country_code,
        "enabled": stored.is_enabled,
        "enrolled_at": stored.machine.as_ref().map(|machine| machine.enrolled_at),
        "join_token_expires_at": stored.enrolment.filter(|enrolment| enrolment.expires_at > now).map(|enrolment| enrolment.expires_at),
    })
}
