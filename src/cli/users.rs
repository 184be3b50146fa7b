//! `watchkeeper user`: users of the console. Nobody but the user ever knows a password: a link lets the user choose it.

use std::process::ExitCode;

use anyhow::bail;
use clap::{Args, Subcommand};
use serde_json::{Value, json};

use crate::app::{Foundation, first_user};
use crate::cli::name_lookup::find_organisation;
use crate::cli::printable::printable;
use crate::clock::Clock;
use crate::config::Config;
use crate::config::sources::ConfigError;
use crate::id::Id;
use crate::model::access::Organisation;
use crate::model::audit::{AuditActor, AuditEntry, AuditObject};
use crate::model::console_session::{ConsoleLink, LINK_PREFIX, LinkPurpose};
use crate::model::console_user::{ConsoleUser, UserRole, stored_email};
use crate::model::token::TokenText;
use crate::store::{Transaction, audit_entries, console_sessions, console_users, organisations};

#[derive(Subcommand)]
pub(super) enum UserCommand {
    /// Create a user; prints a link that works once, to choose a password
    Create(CreateUserArguments),
    /// Print a link that works once, to choose a new password
    Reset(ResetUserArguments),
    /// Print a new link to create the first user, as the first start does
    Link,
    /// List the users
    List(ListUsersArguments),
    /// Delete a user
    Delete(DeleteUserArguments),
}

#[derive(Args)]
pub(super) struct CreateUserArguments {
    /// E-mail address, by which the user signs in
    #[arg(long, value_name = "ADDRESS", value_parser = address)]
    email: String,
    /// owner, editor, responder or viewer
    #[arg(long, value_name = "ROLE", value_parser = |text: &str| text.parse::<UserRole>())]
    role: UserRole,
    /// Organisation, by id or name [default: the only one]
    #[arg(long = "org", value_name = "ID|NAME", allow_hyphen_values = true)]
    organisation: Option<String>,
    /// Print JSON for machines
    #[arg(long = "json")]
    as_json: bool,
}

#[derive(Args)]
pub(super) struct ResetUserArguments {
    /// E-mail address of the user
    #[arg(long, value_name = "ADDRESS", value_parser = address)]
    email: String,
    /// Print JSON for machines
    #[arg(long = "json")]
    as_json: bool,
}

#[derive(Args)]
pub(super) struct ListUsersArguments {
    /// Print JSON for machines
    #[arg(long = "json")]
    as_json: bool,
}

#[derive(Args)]
pub(super) struct DeleteUserArguments {
    /// E-mail address of the user
    #[arg(long, value_name = "ADDRESS", value_parser = address)]
    email: String,
}

fn address(text: &str) -> Result<String, String> {
    stored_email(text).ok_or_else(|| format!("'{text}' is not an e-mail address"))
}

pub(super) async fn run(command: UserCommand, config: Config) -> anyhow::Result<ExitCode> {
    let foundation = Foundation::open_existing(config, Clock::System).await?;
    match command {
        UserCommand::Create(arguments) => create(arguments, &foundation).await,
        UserCommand::Reset(arguments) => reset(&arguments, &foundation).await,
        UserCommand::Link => link(&foundation).await,
        UserCommand::List(arguments) => list(&arguments, &foundation).await,
        UserCommand::Delete(arguments) => delete(&arguments, &foundation).await,
    }
}

async fn create(arguments: CreateUserArguments, foundation: &Foundation) -> anyhow::Result<ExitCode> {
    let transaction = foundation.databases.main.begin().await?;
    let all = organisations::list(&transaction).await?;
    let organisation = match (&arguments.organisation, all.as_slice()) {
        (Some(wanted), all) => find_organisation(all, wanted)?,
        (None, [only]) => only,
        (None, _) => {
            bail!(ConfigError("--org is missing; watchkeeper org list names the organisations".into()))
        }
    };
    organisations::lock(&transaction, organisation.key).await?;
    if console_users::by_email(&transaction, &arguments.email).await?.is_some() {
        bail!(
            "{} is a user already; watchkeeper user reset makes a link for a new password",
            arguments.email
        );
    }
    let user = ConsoleUser::new(organisation.key, &arguments.email, arguments.role, foundation.clock.now());
    let user = console_users::insert(&transaction, user).await?;
    note(&transaction, foundation, &user, "create").await?;
    let address = store_link(&transaction, foundation, &user).await?;
    transaction.commit().await?;
    print(&user, organisation, &address, arguments.as_json);
    Ok(ExitCode::SUCCESS)
}

async fn reset(arguments: &ResetUserArguments, foundation: &Foundation) -> anyhow::Result<ExitCode> {
    let transaction = foundation.databases.main.begin().await?;
    let user = find(&transaction, &arguments.email).await?;
    let organisation = organisations::get(&transaction, user.organisation).await?;
    let Some(organisation) = organisation else { bail!("the organisation of this user is gone") };
    note(&transaction, foundation, &user, "reset").await?;
    let address = store_link(&transaction, foundation, &user).await?;
    transaction.commit().await?;
    print(&user, &organisation, &address, arguments.as_json);
    Ok(ExitCode::SUCCESS)
}

async fn link(foundation: &Foundation) -> anyhow::Result<ExitCode> {
    match first_user::make_link(&foundation.databases, &foundation.clock).await? {
        Some(secret) => println!("{}", first_user::address(&foundation.config.base_url(), &secret)),
        None => bail!(
            "there is a user already; watchkeeper user create --email ADDRESS --role ROLE adds another one, \
             watchkeeper user reset --email ADDRESS lets one choose a new password"
        ),
    }
    Ok(ExitCode::SUCCESS)
}

async fn list(arguments: &ListUsersArguments, foundation: &Foundation) -> anyhow::Result<ExitCode> {
    let main = foundation.databases.main.reader();
    let mut rows = Vec::new();
    for organisation in organisations::list(main).await? {
        for user in console_users::all(main, organisation.key).await? {
            rows.push((user, organisation.clone()));
        }
    }
    if arguments.as_json {
        let shown = rows.iter().map(|(user, organisation)| to_json(user, organisation));
        println!("{}", Value::from(shown.collect::<Vec<_>>()));
        return Ok(ExitCode::SUCCESS);
    }
    for (user, organisation) in &rows {
        println!(
            "{}  {}  {}  {}  {}",
            user.id,
            user.email,
            user.role,
            printable(&user.name),
            printable(&organisation.name)
        );
    }
    Ok(ExitCode::SUCCESS)
}

async fn delete(arguments: &DeleteUserArguments, foundation: &Foundation) -> anyhow::Result<ExitCode> {
    let transaction = foundation.databases.main.begin().await?;
    let user = find(&transaction, &arguments.email).await?;
    organisations::lock(&transaction, user.organisation).await?;
    note(&transaction, foundation, &user, "delete").await?;
    console_users::delete(&transaction, user.key).await?;
    transaction.commit().await?;
    println!("{} is no user any more.", user.email);
    Ok(ExitCode::SUCCESS)
}

async fn find(transaction: &Transaction, email: &str) -> anyhow::Result<ConsoleUser> {
    match console_users::by_email(transaction, email).await? {
        Some(user) => Ok(user),
        None => bail!(ConfigError(format!("there is no user '{email}'; see watchkeeper user list"))),
    }
}

/// Stores a link for a user, and returns its address.
async fn store_link(
    transaction: &Transaction,
    foundation: &Foundation,
    user: &ConsoleUser,
) -> anyhow::Result<String> {
    let purpose =
        if user.password_hash.is_some() { LinkPurpose::PasswordReset } else { LinkPurpose::Invitation };
    let secret = TokenText::random(LINK_PREFIX);
    let link = ConsoleLink::new(user.organisation, Some(user.key), purpose, foundation.clock.now());
    console_sessions::insert_link(transaction, &link, &secret.hash()).await?;
    Ok(first_user::address(&foundation.config.base_url(), &secret))
}

/// Writes to the audit log what the command does with a user.
async fn note(
    transaction: &Transaction,
    foundation: &Foundation,
    user: &ConsoleUser,
    action: &str,
) -> anyhow::Result<()> {
    let object =
        AuditObject { kind: "user".into(), id: Some(user.id.to_string()), name: Some(user.name.clone()) };
    let entry = AuditEntry {
        id: Id::random(),
        organisation: user.organisation,
        at: foundation.clock.now(),
        actor: AuditActor::command(),
        address: None,
        action: action.to_owned(),
        object,
        changes: Vec::new(),
        request_id: None,
    };
    Ok(audit_entries::insert(transaction, &entry).await?)
}

fn print(user: &ConsoleUser, organisation: &Organisation, address: &str, as_json: bool) {
    if as_json {
        let mut shown = to_json(user, organisation);
        shown["link"] = Value::from(address);
        println!("{shown}");
    } else {
        println!("{address}");
    }
}

fn to_json(user: &ConsoleUser, organisation: &Organisation) -> Value {
    json!({
        "id": user.id.as_str(),
        "email": user.email,
        "name": user.name,
        "role": user.role.as_str(),
        "organization": {"id": organisation.id.as_str(), "name": organisation.name},
        "has_password": user.password_hash.is_some(),
        "created_at": user.created_at.to_string(),
    })
}
