//! The certificates of custom domains, sealed, with the state of their orders. Readers are not scoped by organisation: the
//! caller has found the domain before, or serves all of them.

use std::collections::HashMap;

use sea_orm::sea_query::{Expr, ExprTrait as _, OnConflict};
use sea_orm::{
    ActiveValue::{NotSet, Set},
    ColumnTrait, Condition, EntityTrait, JoinType, QueryFilter, QueryOrder, QuerySelect, RelationDef, Select,
};
use watchkeeper_entities::custom_domain;
use watchkeeper_entities::domain_certificate::{ActiveModel, Column, Entity, Model};

use crate::clock::Timestamp;
use crate::model::certificate::{CertificateFacts, CertificateValidity};
use crate::model::domain::DomainStatus;
use crate::store::advisory_lock::AdvisoryLock;
use crate::store::connection::StoreConnection;
use crate::store::database::Database;
use crate::store::error::MainError;

/// Key of the advisory lock of PostgreSQL that the process with the running order holds.
const ORDER_LOCK: i64 = 0x5741_5443_484b_4143;
/// Number of domains per statement, far below the limit of bound values.
const DOMAINS_PER_STATEMENT: usize = 1_000;

/// An active domain whose certificate is to be ordered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DueCertificate {
    /// Database key of the domain.
    pub domain: i64,
    /// Host name of the domain.
    pub hostname: String,
    /// The state of its certificate; `None` before the first order.
    pub facts: Option<CertificateFacts>,
}

/// A certificate that is served, by which a copy in memory is compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServedCertificate {
    /// Database key of the domain.
    pub domain: i64,
    /// Host name of the domain.
    pub hostname: String,
    /// Changes with every new certificate.
    pub revision: i64,
}

/// Takes the right to order certificates, which one process at a time has. `None` if another process has it.
pub async fn take_order_lock(main: &Database) -> Result<Option<AdvisoryLock>, MainError> {
    AdvisoryLock::take(main, ORDER_LOCK).await
}

/// The state of the certificates of these domains, by the key of the domain.
pub async fn facts_of(
    connection: &dyn StoreConnection,
    domains: &[i64],
) -> Result<HashMap<i64, CertificateFacts>, MainError> {
    let mut found = HashMap::with_capacity(domains.len());
    for some in domains.chunks(DOMAINS_PER_STATEMENT) {
        let query = Entity::find().filter(Column::CustomDomainId.is_in(some.iter().copied()));
        for row in query.all(&connection).await? {
            found.insert(row.custom_domain_id, facts(row)?);
        }
    }
    Ok(found)
}

/// The active domain that has waited longest for an order; `None` if no order is due. A domain is also due if its last order
/// was at another authority.
pub async fn next_due(
    connection: &dyn StoreConnection,
    directory_url: &str,
    now: Timestamp,
) -> Result<Option<DueCertificate>, MainError> {
    let is_due = Condition::any()
        .add(Column::DueAt.is_null())
        .add(Column::DueAt.lte(now.ms()))
        .add(Column::DirectoryUrl.ne(directory_url));
    let due: Option<(i64, String)> = active_domains()
        .join(JoinType::LeftJoin, to_certificate())
        .filter(is_due)
        .order_by_asc(Expr::col((Entity, Column::DueAt)).if_null(0))
        .order_by_asc(custom_domain::Column::Id)
        .into_tuple()
        .one(&connection)
        .await?;
    let Some((domain, hostname)) = due else { return Ok(None) };
    let facts = facts_of(connection, &[domain]).await?.remove(&domain);
    Ok(Some(DueCertificate { domain, hostname, facts }))
}

/// Stores the state of a domain's orders at this authority; a certificate is kept. Returns false and stores nothing if the
/// domain was deleted.
pub async fn put_facts(
    connection: &dyn StoreConnection,
    domain: i64,
    directory_url: &str,
    facts: &CertificateFacts,
) -> Result<bool, MainError> {
    put(connection, to_row(domain, directory_url, facts), &[]).await
}

/// Stores a new certificate. Returns false and stores nothing if the domain was deleted.
pub async fn put_issued(
    connection: &dyn StoreConnection,
    domain: i64,
    directory_url: &str,
    facts: &CertificateFacts,
    sealed: String,
) -> Result<bool, MainError> {
    let newest: Option<Option<i64>> = Entity::find()
        .select_only()
        .column_as(Column::Revision.max(), "newest")
        .into_tuple()
        .one(&connection)
        .await?;
    let mut row = to_row(domain, directory_url, facts);
    row.sealed = Set(Some(sealed));
    row.revision = Set(newest.flatten().unwrap_or_default().saturating_add(1));
    put(connection, row, &[Column::Sealed, Column::Revision]).await
}

async fn put(
    connection: &dyn StoreConnection,
    row: ActiveModel,
    further: &[Column],
) -> Result<bool, MainError> {
    let key = row.custom_domain_id.clone().take();
    let domain =
        custom_domain::Entity::find_by_id(key.unwrap_or_default()).lock_shared().one(&connection).await?;
    if domain.is_none() {
        return Ok(false);
    }
    let columns = [
        Column::DirectoryUrl,
        Column::NotBefore,
        Column::NotAfter,
        Column::Failures,
        Column::LastError,
        Column::DueAt,
    ];
    let columns = columns.iter().chain(further).copied();
    let replace = OnConflict::column(Column::CustomDomainId).update_columns(columns).to_owned();
    Entity::insert(row).on_conflict(replace).exec_without_returning(&connection).await?;
    Ok(true)
}

/// The certificates of all active domains.
pub async fn served(connection: &dyn StoreConnection) -> Result<Vec<ServedCertificate>, MainError> {
    let rows: Vec<(i64, String, i64)> = active_domains()
        .column(Column::Revision)
        .join(JoinType::InnerJoin, to_certificate())
        .filter(Column::Sealed.is_not_null())
        .into_tuple()
        .all(&connection)
        .await?;
    let served = |(domain, hostname, revision)| ServedCertificate { domain, hostname, revision };
    Ok(rows.into_iter().map(served).collect())
}

/// The sealed certificate of a domain; `None` if none was issued.
pub async fn sealed(connection: &dyn StoreConnection, domain: i64) -> Result<Option<String>, MainError> {
    Ok(Entity::find_by_id(domain).one(&connection).await?.and_then(|row| row.sealed))
}

fn active_domains() -> Select<custom_domain::Entity> {
    custom_domain::Entity::find()
        .select_only()
        .columns([custom_domain::Column::Id, custom_domain::Column::Hostname])
        .filter(custom_domain::Column::Status.eq(DomainStatus::Active.as_str()))
}

fn to_certificate() -> RelationDef {
    custom_domain::Entity::belongs_to(Entity)
        .from(custom_domain::Column::Id)
        .to(Column::CustomDomainId)
        .into()
}

fn to_row(domain: i64, directory_url: &str, facts: &CertificateFacts) -> ActiveModel {
    ActiveModel {
        custom_domain_id: Set(domain),
        directory_url: Set(directory_url.to_owned()),
        sealed: NotSet,
        not_before: Set(facts.validity.map(|validity| validity.not_before.ms())),
        not_after: Set(facts.validity.map(|validity| validity.not_after.ms())),
        revision: Set(0),
        failures: Set(i32::try_from(facts.failures).unwrap_or(i32::MAX)),
        last_error: Set(facts.last_error.clone()),
        due_at: Set(facts.due_at.ms()),
    }
}

fn facts(row: Model) -> Result<CertificateFacts, MainError> {
    let validity = match (row.not_before, row.not_after) {
        (Some(begin), Some(end)) => Some(CertificateValidity {
            not_before: Timestamp::from_ms(begin),
            not_after: Timestamp::from_ms(end),
        }),
        _ => None,
    };
    let corrupt =
        || MainError::corrupt("domain_certificate", &row.custom_domain_id, &"negative number of failures");
    Ok(CertificateFacts {
        validity,
        failures: u32::try_from(row.failures).map_err(|_| corrupt())?,
        last_error: row.last_error,
        due_at: Timestamp::from_ms(row.due_at),
    })
}
