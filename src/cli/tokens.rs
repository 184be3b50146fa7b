//! `watchkeeper token`: API tokens. The secret is shown once.

use std::process::ExitCode;

use anyhow::bail;
use clap::{Arg, ArgMatches, Command};
use serde_json::{Value, json};

use crate::app::Foundation;
use crate::cli::{display_name, json_flag};
use crate::clock::Clock;
use crate::config::Config;
use crate::id::Id;
use crate::model::access::{Permission, Permissions, Token};
use crate::model::token::TokenText;
use crate::store::{organisations, tokens};

pub(super) fn create_command() -> Command {
    Command::new("create").about("Make a token; its secret is shown once").args([
        Arg::new("org")
            .long("org")
            .value_name("ID")
            .required(true)
            .allow_hyphen_values(true)
            .value_parser(parse_id)
            .help("Organisation"),
        Arg::new("name")
            .long("name")
            .value_name("NAME")
            .required(true)
            .value_parser(display_name)
            .help("Display name"),
        Arg::new("permissions")
            .long("permissions")
            .value_name("LIST")
            .default_value("all")
            .value_parser(permissions)
            .help("all, or permissions such as services.view,services.edit"),
        json_flag(),
    ])
}

pub(super) fn list_command() -> Command {
    Command::new("list").about("List the tokens").arg(json_flag())
}

pub(super) fn revoke_command() -> Command {
    let id = Arg::new("id")
        .value_name("ID")
        .required(true)
        .allow_hyphen_values(true)
        .value_parser(parse_id)
        .help("Id of the token");
    Command::new("revoke").about("Revoke a token").args([id, json_flag()])
}

fn parse_id(text: &str) -> Result<Id, crate::id::IdForm> {
    text.parse()
}

fn permissions(text: &str) -> Result<Permissions, String> {
    if text == "all" {
        return Ok(Permissions::all());
    }
    let names = text.split(',').map(str::trim);
    names
        .map(|name| name.parse::<Permission>().map_err(|error| format!("{error}; allowed: {}", allowed())))
        .collect()
}

fn allowed() -> String {
    Permission::ALL.iter().map(|permission| permission.as_str()).collect::<Vec<_>>().join(", ")
}

pub(super) async fn create(arguments: &ArgMatches, config: Config) -> anyhow::Result<ExitCode> {
    let name = arguments.get_one::<String>("name").cloned().unwrap_or_default();
    let foundation = Foundation::lay(config, Clock::System).await?;
    let transaction = foundation.databases.main.begin().await?;
    let wanted = arguments.get_one::<Id>("org").copied();
    let all = organisations::list(&transaction).await?;
    let Some(organisation) = all.iter().find(|organisation| Some(organisation.id) == wanted) else {
        bail!("there is no such organisation; see watchkeeper org list");
    };
    let text = TokenText::random(&foundation.config.compat.token_prefix);
    let token = Token {
        key: 0,
        id: Id::random(),
        organisation: organisation.key,
        name,
        permissions: arguments.get_one::<Permissions>("permissions").copied().unwrap_or_default(),
        expires_at: None,
        created_at: foundation.clock.now(),
    };
    let token = tokens::insert(&transaction, token, &text.hash()).await?;
    transaction.commit().await?;
    if arguments.get_flag("json") {
        let mut shown = to_json(&token);
        shown["token"] = Value::from(text.expose());
        println!("{shown}");
    } else {
        println!("{}", text.expose());
    }
    Ok(ExitCode::SUCCESS)
}

pub(super) async fn list(arguments: &ArgMatches, config: Config) -> anyhow::Result<ExitCode> {
    let foundation = Foundation::lay(config, Clock::System).await?;
    let all = tokens::list(foundation.databases.main.reader(), None).await?;
    if arguments.get_flag("json") {
        println!("{}", Value::from(all.iter().map(to_json).collect::<Vec<_>>()));
        return Ok(ExitCode::SUCCESS);
    }
    for token in &all {
        let permissions: Vec<&str> = token.permissions.iter().map(|permission| permission.as_str()).collect();
        println!("{}  {}  {}  {}", token.id, token.created_at, token.name, permissions.join(","));
    }
    Ok(ExitCode::SUCCESS)
}

pub(super) async fn revoke(arguments: &ArgMatches, config: Config) -> anyhow::Result<ExitCode> {
    let Some(id) = arguments.get_one::<Id>("id").copied() else { bail!("an id is needed") };
    let foundation = Foundation::lay(config, Clock::System).await?;
    let transaction = foundation.databases.main.begin().await?;
    let was_there = tokens::delete(&transaction, id).await?;
    transaction.commit().await?;
    if !was_there {
        bail!("there is no token {id}; see watchkeeper token list");
    }
    if arguments.get_flag("json") {
        println!("{}", json!({"id": id.as_str(), "revoked": true}));
    } else {
        println!("Token {id} is revoked.");
    }
    Ok(ExitCode::SUCCESS)
}

fn to_json(token: &Token) -> Value {
    json!({
        "id": token.id.as_str(),
        "name": token.name,
        "permissions": token.permissions.iter().map(|permission| permission.as_str()).collect::<Vec<_>>(),
        "created_at": token.created_at.to_string(),
    })
}
