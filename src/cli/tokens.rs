//! `watchkeeper token`: API tokens. The secret is shown only once.

use std::collections::HashMap;
use std::process::ExitCode;

use clap::{Args, Subcommand};
use serde_json::{Value, json};

use crate::app::Foundation;
use crate::cli::display_name;
use crate::cli::name_lookup::{NamedKind, find_named, find_organisation};
use crate::cli::printable::printable;
use crate::clock::Clock;
use crate::config::Config;
use crate::id::Id;
use crate::model::access::{ApiToken, Permission, PermissionSet, TokenHolder, UnknownPermission};
use crate::model::access_scope::AccessScope;
use crate::model::audit::{AuditActor, AuditEntry, AuditObject, ObjectViews};
use crate::model::token::TokenText;
use crate::store::{Transaction, access_scopes, audit_entries, organisations, tokens};

const TOKEN: NamedKind = NamedKind { one: "token", several: "tokens", hint: "see watchkeeper token list" };
const SCOPE: NamedKind = NamedKind {
    one: "access scope in this organisation",
    several: "access scopes",
    hint: "GET /v1/access-scopes lists them",
};

#[derive(Subcommand)]
pub(super) enum TokenCommand {
    /// Create a token; its secret is shown once
    Create(CreateTokenArguments),
    /// List the tokens
    List(ListTokensArguments),
    /// Revoke a token
    Revoke(RevokeTokenArguments),
}

#[derive(Args)]
pub(super) struct CreateTokenArguments {
    /// Organisation
    #[arg(long = "org", value_name = "ID|NAME", allow_hyphen_values = true)]
    organisation: String,
    /// Display name
    #[arg(long, value_name = "NAME", value_parser = display_name)]
    name: String,
    /// all, or permissions such as services.view,services.edit; engine.view and engine.backup, for operators, are not in all
    #[arg(long, value_name = "LIST", default_value = "all", value_parser = permissions)]
    permissions: PermissionSet,
    /// Access scope that the token is confined to, by id or name; see docs/access-scopes.md
    #[arg(long, value_name = "ID|NAME", allow_hyphen_values = true)]
    scope: Option<String>,
    /// Print JSON for machines
    #[arg(long = "json")]
    as_json: bool,
}

#[derive(Args)]
pub(super) struct ListTokensArguments {
    /// Print JSON for machines
    #[arg(long = "json")]
    as_json: bool,
}

#[derive(Args)]
pub(super) struct RevokeTokenArguments {
    /// Id of the token, or its name if no other has it
    #[arg(value_name = "ID|NAME", allow_hyphen_values = true)]
    token: String,
    /// Print JSON for machines
    #[arg(long = "json")]
    as_json: bool,
}

pub(super) async fn run(command: TokenCommand, config: Config) -> anyhow::Result<ExitCode> {
    match command {
        TokenCommand::Create(arguments) => create(arguments, config).await,
        TokenCommand::List(arguments) => list(&arguments, config).await,
        TokenCommand::Revoke(arguments) => revoke(&arguments, config).await,
    }
}

fn permissions(text: &str) -> Result<PermissionSet, String> {
    text.split(',').map(str::trim).try_fold(PermissionSet::default(), |known, name| {
        if name == "all" {
            return Ok(known.and(PermissionSet::all()));
        }
        let unknown = |error: UnknownPermission| format!("{error}; allowed: all, {}", allowed());
        let permission: Permission = name.parse().map_err(unknown)?;
        Ok(known.and([permission].into_iter().collect()))
    })
}

fn allowed() -> String {
    Permission::every().map(Permission::as_str).collect::<Vec<_>>().join(", ")
}

async fn create(arguments: CreateTokenArguments, config: Config) -> anyhow::Result<ExitCode> {
    let foundation = Foundation::open_existing(config, Clock::System).await?;
    let transaction = foundation.databases.main.begin().await?;
    let all = organisations::list(&transaction).await?;
    let organisation = find_organisation(&all, &arguments.organisation)?;
    organisations::lock(&transaction, organisation.key).await?;
    let scopes = access_scopes::all(&transaction, organisation.key).await?;
    let scope = arguments
        .scope
        .as_deref()
        .map(|named| find_named(&scopes, named, SCOPE, |scope| (&scope.id, &scope.name)))
        .transpose()?;
    let text = TokenText::random(&foundation.config.compat.token_prefix);
    let token = ApiToken {
        key: 0,
        id: Id::random(),
        organisation: organisation.key,
        name: arguments.name,
        permissions: arguments.permissions,
        expires_at: None,
        access_scope: scope.map(|scope| scope.key),
        created_at: foundation.clock.now(),
        holder: TokenHolder::Program,
    };
    let token = tokens::insert(&transaction, token, &text.hash()).await?;
    let view = to_json(&token, scope);
    let change = TokenChange { action: "create", token: &token, old: &Value::Null, new: &view };
    note(&transaction, &foundation, &change).await?;
    transaction.commit().await?;
    if arguments.as_json {
        let mut shown = to_json(&token, scope);
        shown["token"] = Value::from(text.expose());
        println!("{shown}");
    } else {
        println!("{}", text.expose());
    }
    Ok(ExitCode::SUCCESS)
}

async fn list(arguments: &ListTokensArguments, config: Config) -> anyhow::Result<ExitCode> {
    let foundation = Foundation::open_existing(config, Clock::System).await?;
    let main = foundation.databases.main.reader();
    let all = tokens::list(main, None).await?;
    let mut scopes = HashMap::new();
    for organisation in organisations::list(main).await? {
        let known = access_scopes::all(main, organisation.key).await?;
        scopes.extend(known.into_iter().map(|scope| (scope.key, scope)));
    }
    let scope_of = |token: &ApiToken| token.access_scope.and_then(|scope| scopes.get(&scope));
    if arguments.as_json {
        let shown = all.iter().map(|token| to_json(token, scope_of(token)));
        println!("{}", Value::from(shown.collect::<Vec<_>>()));
        return Ok(ExitCode::SUCCESS);
    }
    for token in &all {
        let permissions: Vec<&str> = token.permissions.iter().map(|permission| permission.as_str()).collect();
        let scope =
            scope_of(token).map(|scope| format!("  scope {}", printable(&scope.name))).unwrap_or_default();
        println!(
            "{}  {}  {}  {}{scope}",
            token.id,
            token.created_at,
            printable(&token.name),
            permissions.join(",")
        );
    }
    Ok(ExitCode::SUCCESS)
}

async fn revoke(arguments: &RevokeTokenArguments, config: Config) -> anyhow::Result<ExitCode> {
    let foundation = Foundation::open_existing(config, Clock::System).await?;
    let transaction = foundation.databases.main.begin().await?;
    let all = tokens::list(&transaction, None).await?;
    let token = find_named(&all, &arguments.token, TOKEN, |token| (&token.id, &token.name))?;
    let id = token.id;
    tokens::delete(&transaction, id).await?;
    let view = to_json(token, None);
    let change = TokenChange { action: "delete", token, old: &view, new: &Value::Null };
    note(&transaction, &foundation, &change).await?;
    transaction.commit().await?;
    if arguments.as_json {
        println!("{}", json!({"id": id.as_str(), "revoked": true}));
    } else {
        println!("Token {id} is revoked.");
    }
    Ok(ExitCode::SUCCESS)
}

/// A change of a token, for the audit log.
struct TokenChange<'a> {
    action: &'static str,
    token: &'a ApiToken,
    /// The token before; null if it is new.
    old: &'a Value,
    /// The token after; null if it is gone.
    new: &'a Value,
}

/// Writes to the audit log what the command does with a token.
async fn note(
    transaction: &Transaction,
    foundation: &Foundation,
    change: &TokenChange<'_>,
) -> anyhow::Result<()> {
    let TokenChange { action, token, old, new } = change;
    let object =
        AuditObject { kind: "token".into(), id: Some(token.id.to_string()), name: Some(token.name.clone()) };
    let entry = AuditEntry {
        id: Id::random(),
        organisation: token.organisation,
        at: foundation.clock.now(),
        actor: AuditActor::command(),
        address: None,
        action: (*action).to_owned(),
        object,
        changes: ObjectViews { kind: "token", old, new }.changes(&[]),
        request_id: None,
    };
    Ok(audit_entries::insert(transaction, &entry).await?)
}

fn to_json(token: &ApiToken, scope: Option<&AccessScope>) -> Value {
    json!({
        "id": token.id.as_str(),
        "name": token.name,
        "permissions": token.permissions.iter().map(|permission| permission.as_str()).collect::<Vec<_>>(),
        "access_scope": scope.map(|scope| json!({"id": scope.id.as_str(), "name": scope.name})),
        "created_at": token.created_at.to_string(),
    })
}
