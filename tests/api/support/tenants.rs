//! Organisations and tokens, written by the test process into the main database beside the server that runs.
//!
//! `watchkeeper org create` and `watchkeeper token create` call the same functions of the store, but each start of an
//! unoptimised program costs more than most tests. The commands have tests of their own (`operation`, `access_scopes`,
//! `public_page`).

use sea_orm::{ColumnTrait as _, EntityTrait as _, QueryFilter as _};
use watchkeeper::clock::Clock;
use watchkeeper::config::CompatConfig;
use watchkeeper::config::limits::StoreLimits;
use watchkeeper::id::Id;
use watchkeeper::model::access::{ApiToken, Organisation, Permission, PermissionSet, TokenHolder};
use watchkeeper::model::access_scope::AccessScope;
use watchkeeper::model::token::TokenText;
use watchkeeper::store::{Database, Transaction, access_scopes, organisations, tokens};
use watchkeeper_entities::organisation::{Column, Entity};

/// A file has one writer at a time; on a busy machine the server may hold the lock for long.
const ACQUIRE_TIMEOUT_SECONDS: u64 = 60;

/// A new organisation with these languages, the first of which is the default. Gives its id.
pub(crate) fn create_organisation(url: &str, plan: &str, languages: &[&str]) -> String {
    write(url, async |transaction| insert_organisation(transaction, plan, languages).await.id.to_string())
}

/// The text of a new token: these permissions in an organisation, perhaps confined to the scope with this name.
pub(crate) fn create_token(url: &str, organisation: &str, permissions: &str, scope: Option<&str>) -> String {
    write(url, async |transaction| {
        let found = Entity::find().filter(Column::PublicId.eq(organisation)).one(transaction);
        let key = found.await.unwrap().expect("the organisation exists").id;
        insert_token(transaction, key, permissions, scope).await
    })
}

/// The text of a token with every permission in a new organisation.
pub(crate) fn create_tenant(url: &str, plan: &str, languages: &[&str]) -> String {
    write(url, async |transaction| {
        let organisation = insert_organisation(transaction, plan, languages).await;
        insert_token(transaction, organisation.key, "all", None).await
    })
}

async fn insert_organisation(transaction: &Transaction, plan: &str, languages: &[&str]) -> Organisation {
    let organisation = Organisation {
        key: 0,
        id: Id::random(),
        name: "Example Ltd".into(),
        plan: plan.parse().unwrap(),
        self_hosted: false,
        locales: languages.iter().copied().map(str::to_owned).collect(),
        default_locale: languages[0].into(),
        created_at: Clock::System.now(),
    };
    organisations::insert(transaction, organisation).await.unwrap()
}

async fn insert_token(transaction: &Transaction, key: i64, permissions: &str, scope: Option<&str>) -> String {
    organisations::lock(transaction, key).await.unwrap();
    let scopes = access_scopes::all(transaction, key).await.unwrap();
    let named = |name: &str| scopes.iter().find(|scope: &&AccessScope| scope.name == name);
    let text = TokenText::random(&CompatConfig::default().token_prefix);
    let token = ApiToken {
        key: 0,
        id: Id::random(),
        organisation: key,
        name: "Bot".into(),
        permissions: read_permissions(permissions),
        expires_at: None,
        access_scope: scope.map(|name| named(name).expect("the scope exists").key),
        created_at: Clock::System.now(),
        holder: TokenHolder::Program,
    };
    tokens::insert(transaction, token, &text.hash()).await.unwrap();
    text.expose().to_owned()
}

fn read_permissions(text: &str) -> PermissionSet {
    text.split(',').fold(PermissionSet::default(), |known, name| {
        let some = if name == "all" {
            PermissionSet::all()
        } else {
            [name.parse::<Permission>().unwrap()].into_iter().collect()
        };
        known.and(some)
    })
}

/// Runs `work` in a transaction and commits it.
fn write<T: Send>(url: &str, work: impl AsyncFnOnce(&Transaction) -> T + Send) -> T {
    apart(async || {
        let limits =
            StoreLimits { acquire_timeout_seconds: ACQUIRE_TIMEOUT_SECONDS, ..StoreLimits::default() };
        let main = Database::connect(url, &limits).await.unwrap();
        let transaction = main.begin().await.unwrap();
        let made = work(&transaction).await;
        transaction.commit().await.unwrap();
        main.close().await;
        made
    })
}

/// Runs `work` on a thread and a runtime of its own: the caller may be inside a runtime, which would wait for itself.
pub(crate) fn apart<T: Send>(work: impl AsyncFnOnce() -> T + Send) -> T {
    let worker = || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(work())
    };
    let ended = std::thread::scope(|scope| scope.spawn(worker).join());
    ended.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}
