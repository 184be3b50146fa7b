//! `/v1/users`: users of the console. Each gets a link by which they choose a password; nobody else ever knows it.
//!
//! Every write locks the organisation first, so that one unconfined owner who can sign in is always left. Bodies are read in `draft`, `view`
//! is the JSON, `sessions` are the browsers in which a user has signed in, and `passkeys` the passkeys of a user.

mod draft;
pub(in crate::http) mod openapi;
pub(super) mod passkeys;
pub(super) mod sessions;
mod view;

use crate::clock::Timestamp;
use crate::http::gate::call::ApiCall;
use crate::http::gate::write::CommittedReply;
use crate::http::kit::error::ApiError;
use crate::http::kit::field_errors::FieldErrors;
use crate::http::kit::page::{DEFAULT_PER_PAGE, PageEnvelope, PageRequest};
use crate::http::kit::reply::ApiReply;
use crate::http::kit::rule::FieldRule;
use crate::http::kit::view::to_json;
use crate::http::v1::confined_to::KnownScopes;
use crate::http::v1::resource_lookup;
use crate::http::v1::state::AppState;
use crate::http::v1::users::draft::UserParser;
use crate::http::v1::users::view::{LinkedUserView, UserView};
use crate::model::console_session::{ConsoleLink, LINK_PREFIX, LinkPurpose};
use crate::model::console_user::{ConsoleUser, USERS_MAX, UserRole};
use crate::model::token::TokenText;
use crate::store::{MainError, Transaction, console_sessions, console_users};

pub(super) async fn list_users(call: ApiCall<AppState>) -> Result<ApiReply, ApiError> {
    let ApiCall { state, caller, query, canonical_path, .. } = call;
    let request = PageRequest::read(&query, DEFAULT_PER_PAGE);
    let main = state.databases.main.reader();
    let scopes = KnownScopes::of(main, &caller).await?;
    let (users, total) = console_users::list(main, caller.organisation.key, request.window()).await?;
    let rows = users.iter().map(|user| to_json(&UserView::of(user, &scopes))).collect();
    let path = format!("{}{canonical_path}", state.base_url);
    Ok(ApiReply::ok(PageEnvelope { request, total, path: &path, query: &query }.envelope(rows)))
}

pub(super) async fn show_user(call: ApiCall<AppState>) -> Result<ApiReply, ApiError> {
    let user = resource_lookup::find_or_404(&call, console_users::find).await?;
    let scopes = KnownScopes::of(call.state.databases.main.reader(), &call.caller).await?;
    Ok(ApiReply::data(to_json(&UserView::of(&user, &scopes))))
}

pub(super) async fn create_user(call: ApiCall<AppState>) -> Result<CommittedReply, ApiError> {
    let ApiCall { state, caller, headers, body, effect, .. } = call;
    let body = body.read_object(&headers).await?;
    let write = effect.begin_locked(&state.databases.main).await?;
    let scopes = KnownScopes::of(&*write, &caller).await?;
    let now = state.created_at();
    let user =
        UserParser { caller: &caller, scopes: &scopes, now }.read_new(&body).map_err(ApiError::Fields)?;
    refuse_taken_address(&write, &user).await?;
    if console_users::count(&*write, caller.organisation.key).await? >= USERS_MAX {
        return Err(refused("email", FieldRule::TooMany(USERS_MAX)));
    }
    let user = console_users::insert(&*write, user).await?;
    let link = store_link(&write, &state, &user, now).await?;
    let location = format!("{}/v1/users/{}", state.base_url, user.id);
    let view = LinkedUserView { user: UserView::of(&user, &scopes), link: &link };
    write.commit(ApiReply::created(to_json(&view), &location)).await
}

pub(super) async fn update_user(call: ApiCall<AppState>) -> Result<CommittedReply, ApiError> {
    let id = resource_lookup::find_or_404(&call, console_users::find).await?.id;
    let ApiCall { state, caller, headers, body, effect, .. } = call;
    let body = body.read_object(&headers).await?;
    let write = effect.begin_locked(&state.databases.main).await?;
    let stored = resource_lookup::lock_or_404(&write, &caller, id, console_users::find).await?;
    let scopes = KnownScopes::of(&*write, &caller).await?;
    write.replaces(to_json(&UserView::of(&stored, &scopes)));
    let draft = UserParser { caller: &caller, scopes: &scopes, now: state.now() };
    let user = draft.read_changes(&body, &stored).map_err(ApiError::Fields)?;
    if user != stored {
        refuse_taken_address(&write, &user).await?;
        if is_owner(&stored) && !is_owner(&user) {
            refuse_last_owner(&write, &stored, "role").await?;
        }
        if user.email != stored.email {
            // A link that was sent to a wrong address must not lead to the account.
            console_sessions::delete_links_of(&*write, user.key).await?;
        }
        console_users::update(&*write, &user).await?;
    }
    write.commit(ApiReply::data(to_json(&UserView::of(&user, &scopes)))).await
}

pub(super) async fn delete_user(call: ApiCall<AppState>) -> Result<CommittedReply, ApiError> {
    let id = resource_lookup::find_or_404(&call, console_users::find).await?.id;
    let ApiCall { state, caller, effect, .. } = call;
    let write = effect.begin_locked(&state.databases.main).await?;
    let stored = resource_lookup::lock_or_404(&write, &caller, id, console_users::find).await?;
    let scopes = KnownScopes::of(&*write, &caller).await?;
    write.replaces(to_json(&UserView::of(&stored, &scopes)));
    draft::refuse_beyond(&caller, &stored).map_err(ApiError::Fields)?;
    if is_owner(&stored) {
        refuse_last_owner(&write, &stored, "user").await?;
    }
    console_users::delete(&*write, stored.key).await?;
    write.commit(ApiReply::deleted(id)).await
}

/// Makes a link by which the user chooses a new password. The present password goes on working until the link is used.
pub(super) async fn reset_user(call: ApiCall<AppState>) -> Result<CommittedReply, ApiError> {
    let id = resource_lookup::find_or_404(&call, console_users::find).await?.id;
    let ApiCall { state, caller, effect, .. } = call;
    let write = effect.begin_locked(&state.databases.main).await?;
    let stored = resource_lookup::lock_or_404(&write, &caller, id, console_users::find).await?;
    draft::refuse_beyond(&caller, &stored).map_err(ApiError::Fields)?;
    let scopes = KnownScopes::of(&*write, &caller).await?;
    write.replaces(to_json(&UserView::of(&stored, &scopes)));
    let link = store_link(&write, &state, &stored, state.now()).await?;
    let view = LinkedUserView { user: UserView::of(&stored, &scopes), link: &link };
    write.commit(ApiReply::data(to_json(&view))).await
}

/// Stores a link for a user, and returns its address.
async fn store_link(
    transaction: &Transaction,
    state: &AppState,
    user: &ConsoleUser,
    now: Timestamp,
) -> Result<String, MainError> {
    let purpose =
        if user.password_hash.is_some() { LinkPurpose::PasswordReset } else { LinkPurpose::Invitation };
    let text = TokenText::random(LINK_PREFIX);
    let link = ConsoleLink::new(user.organisation, Some(user.key), purpose, now);
    console_sessions::insert_link(transaction, &link, &text.hash()).await?;
    Ok(format!("{}/console/welcome?ticket={}", state.base_url, text.expose()))
}

/// Returns true for an owner who can sign in and sees everything.
const fn is_owner(user: &ConsoleUser) -> bool {
    matches!(user.role, UserRole::Owner) && user.access_scope.is_none() && user.password_hash.is_some()
}

/// Checks that the organisation has another unconfined owner.
async fn refuse_last_owner(
    transaction: &Transaction,
    user: &ConsoleUser,
    field: &'static str,
) -> Result<(), ApiError> {
    let all = console_users::all(transaction, user.organisation).await?;
    let has_other = all.iter().any(|other| other.key != user.key && is_owner(other));
    if has_other { Ok(()) } else { Err(refused(field, FieldRule::LastOwner)) }
}

async fn refuse_taken_address(transaction: &Transaction, user: &ConsoleUser) -> Result<(), ApiError> {
    let known = console_users::by_email(transaction, &user.email).await?;
    match known.is_none_or(|known| known.key == user.key) {
        true => Ok(()),
        false => Err(refused("email", FieldRule::AddressTaken)),
    }
}

fn refused(field: &'static str, rule: FieldRule) -> ApiError {
    ApiError::Fields(FieldErrors::of(field, rule))
}
