//! The link by which the first user of the console is created: a new one at every start as long as nobody can sign in.

use crate::clock::Clock;
use crate::model::console_session::{ConsoleLink, LINK_PREFIX, LinkPurpose};
use crate::model::token::TokenText;
use crate::store::{Databases, console_sessions, console_users, organisations};

/// Path of the form behind a link.
const WELCOME: &str = "/console/welcome";

/// Makes a link that is valid for 15 minutes, until the first user is created. Returns its secret; `None` if there is a user who
/// can sign in, or no organisation.
///
/// # Errors
/// When the database fails.
pub async fn make_link(databases: &Databases, clock: &Clock) -> anyhow::Result<Option<TokenText>> {
    if console_users::is_there_any(databases.main.reader()).await? {
        return Ok(None);
    }
    let transaction = databases.main.begin().await?;
    let all = organisations::list(&transaction).await?;
    let own = all.iter().find(|organisation| organisation.self_hosted).or_else(|| all.first());
    let Some(own) = own else { return Ok(None) };
    organisations::lock(&transaction, own.key).await?;
    let secret = TokenText::random(LINK_PREFIX);
    let link = ConsoleLink::new(own.key, None, LinkPurpose::FirstUser, clock.now());
    console_sessions::insert_link(&transaction, &link, &secret.hash()).await?;
    transaction.commit().await?;
    Ok(Some(secret))
}

/// Returns the address of the form behind a link.
#[must_use]
pub fn address(base_url: &str, secret: &TokenText) -> String {
    format!("{base_url}{WELCOME}?ticket={}", secret.expose())
}
