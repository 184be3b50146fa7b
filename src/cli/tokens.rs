//! `watchkeeper token`: API tokens. The secret is shown once.

use std::process::ExitCode;

use anyhow::bail;
use clap::{Args, Subcommand};
use serde_json::{Value, json};

use crate::app::Foundation;
use crate::cli::display_name;
use crate::clock::Clock;
use crate::config::Config;
use crate::id::Id;
use crate::model::access::{Permission, Permissions, Token, UnknownPermission};
use crate::model::token::TokenText;
use crate::store::{organisations, tokens};

#[derive(Subcommand)]
pub(super) enum Command {
    /// Make a token; its secret is shown once
    Create(Create),
    /// List the tokens
    List(List),
    /// Revoke a token
    Revoke(Revoke),
}

#[derive(Args)]
pub(super) struct Create {
    /// Organisation
    #[arg(long = "org", value_name = "ID", allow_hyphen_values = true, value_parser = parse_id)]
    organisation: Id,
    /// Display name
    #[arg(long, value_name = "NAME", value_parser = display_name)]
    name: String,
    /// all, or permissions such as services.view,services.edit; engine.view, for operators, is not in all
    #[arg(long, value_name = "LIST", default_value = "all", value_parser = permissions)]
    permissions: Permissions,
    /// Print JSON for machines
    #[arg(long = "json")]
    as_json: bool,
}

#[derive(Args)]
pub(super) struct List {
    /// Print JSON for machines
    #[arg(long = "json")]
    as_json: bool,
}

#[derive(Args)]
pub(super) struct Revoke {
    /// Id of the token
    #[arg(allow_hyphen_values = true, value_parser = parse_id)]
    id: Id,
    /// Print JSON for machines
    #[arg(long = "json")]
    as_json: bool,
}

pub(super) async fn run(command: Command, config: Config) -> anyhow::Result<ExitCode> {
    match command {
        Command::Create(arguments) => create(arguments, config).await,
        Command::List(arguments) => list(&arguments, config).await,
        Command::Revoke(arguments) => revoke(&arguments, config).await,
    }
}

fn parse_id(text: &str) -> Result<Id, crate::id::IdForm> {
    text.parse()
}

fn permissions(text: &str) -> Result<Permissions, String> {
    text.split(',').map(str::trim).try_fold(Permissions::default(), |known, name| {
        if name == "all" {
            return Ok(known.and(Permissions::all()));
        }
        let unknown = |error: UnknownPermission| format!("{error}; allowed: all, {}", allowed());
        let permission: Permission = name.parse().map_err(unknown)?;
        Ok(known.and([permission].into_iter().collect()))
    })
}

fn allowed() -> String {
    Permission::every().map(Permission::as_str).collect::<Vec<_>>().join(", ")
}

async fn create(arguments: Create, config: Config) -> anyhow::Result<ExitCode> {
    let foundation = Foundation::lay(config, Clock::System).await?;
    let transaction = foundation.databases.main.begin().await?;
    let all = organisations::list(&transaction).await?;
    let Some(organisation) = all.iter().find(|organisation| organisation.id == arguments.organisation) else {
        bail!("there is no such organisation; see watchkeeper org list");
    };
    let text = TokenText::random(&foundation.config.compat.token_prefix);
    let token = Token {
        key: 0,
        id: Id::random(),
        organisation: organisation.key,
        name: arguments.name,
        permissions: arguments.permissions,
        expires_at: None,
        access_scope: None,
        created_at: foundation.clock.now(),
    };
    let token = tokens::insert(&transaction, token, &text.hash()).await?;
    transaction.commit().await?;
    if arguments.as_json {
        let mut shown = to_json(&token);
        shown["token"] = Value::from(text.expose());
        println!("{shown}");
    } else {
        println!("{}", text.expose());
    }
    Ok(ExitCode::SUCCESS)
}

async fn list(arguments: &List, config: Config) -> anyhow::Result<ExitCode> {
    let foundation = Foundation::lay(config, Clock::System).await?;
    let all = tokens::list(foundation.databases.main.reader(), None).await?;
    if arguments.as_json {
        println!("{}", Value::from(all.iter().map(to_json).collect::<Vec<_>>()));
        return Ok(ExitCode::SUCCESS);
    }
    for token in &all {
        let permissions: Vec<&str> = token.permissions.iter().map(|permission| permission.as_str()).collect();
        println!("{}  {}  {}  {}", token.id, token.created_at, token.name, permissions.join(","));
    }
    Ok(ExitCode::SUCCESS)
}

async fn revoke(arguments: &Revoke, config: Config) -> anyhow::Result<ExitCode> {
    let id = arguments.id;
    let foundation = Foundation::lay(config, Clock::System).await?;
    let transaction = foundation.databases.main.begin().await?;
    let was_there = tokens::delete(&transaction, id).await?;
    transaction.commit().await?;
    if !was_there {
        bail!("there is no token {id}; see watchkeeper token list");
    }
    if arguments.as_json {
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
