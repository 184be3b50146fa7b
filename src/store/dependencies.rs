//! Dependencies between services, in both directions. A dependency on a tag means all services that carry the tag.

use std::collections::{BTreeSet, HashMap, HashSet};

use crate::store::connection::StoreConnection;
use sea_orm::sea_query::{Expr, ExprTrait as _, Query, SelectStatement};
use sea_orm::{ActiveValue::Set, ColumnTrait, Condition, EntityTrait, QueryFilter, QueryOrder, QuerySelect};
use watchkeeper_entities::service_dependency::{ActiveModel, Column, Entity, Model};
use watchkeeper_entities::{service, service_tag, tag};

use crate::model::dependency::{Dependency, DependencyGraph};
use crate::model::service::ServiceKey;
use crate::model::tag::TagName;
use crate::store::error::MainError;
use crate::store::named_services;

/// Maximum number of keys bound in one statement.
const CHUNK: usize = 1_000;

/// The dependencies of each of these services, in the order that the client gave; a service without dependencies is not
/// in the result.
pub async fn of_services(
    connection: &dyn StoreConnection,
    services: &[ServiceKey],
) -> Result<HashMap<ServiceKey, Vec<Dependency>>, MainError> {
    let mut rows: Vec<Model> = Vec::new();
    for some in services.chunks(CHUNK) {
        let of = Entity::find().filter(Column::ServiceId.is_in(some.iter().copied()));
        rows.extend(
            of.order_by_asc(Column::ServiceId).order_by_asc(Column::Position).all(&connection).await?,
        );
    }
    let tags: BTreeSet<i64> = rows.iter().filter_map(|row| row.tag_id).collect();
    let parents = named_services::by_keys(connection, rows.iter().filter_map(|row| row.parent_id)).await?;
    let tags = labelled(connection, &tags).await?;
    let mut found: HashMap<ServiceKey, Vec<Dependency>> = HashMap::new();
    for row in rows {
        let parent = row.parent_id.and_then(|key| parents.get(&key)).cloned().map(Dependency::Service);
        let dependency = parent.or_else(|| row.tag_id.and_then(|key| tags.get(&key)).cloned());
        if let Some(dependency) = dependency {
            found.entry(row.service_id).or_default().push(dependency);
        }
    }
    Ok(found)
}

async fn labelled(
    connection: &dyn StoreConnection,
    keys: &BTreeSet<i64>,
) -> Result<HashMap<i64, Dependency>, MainError> {
    let mut found = HashMap::new();
    let keys: Vec<i64> = keys.iter().copied().collect();
    for some in keys.chunks(CHUNK) {
        for row in
            tag::Entity::find().filter(tag::Column::Id.is_in(some.iter().copied())).all(&connection).await?
        {
            let corrupt = || MainError::corrupt("tag", &row.id, &"its name or id cannot be read");
            let id = row.public_id.parse().map_err(|_| corrupt())?;
            let label = TagName::new(&row.key, Some(&row.value)).map_err(|_| corrupt())?.label();
            found.insert(row.id, Dependency::Tag { key: row.id, id, label });
        }
    }
    Ok(found)
}

/// Replaces the dependencies of a service.
pub async fn set_of_service(
    connection: &dyn StoreConnection,
    service: ServiceKey,
    dependencies: &[Dependency],
) -> Result<(), MainError> {
    Entity::delete_many().filter(Column::ServiceId.eq(service)).exec(&connection).await?;
    let row = |(position, dependency): (i32, &Dependency)| {
        let (parent, tag) = match dependency {
            Dependency::Service(parent) => (Some(parent.key), None),
            Dependency::Tag { key, .. } => (None, Some(*key)),
        };
        ActiveModel {
            service_id: Set(service),
            position: Set(position),
            parent_id: Set(parent),
            tag_id: Set(tag),
            ..ActiveModel::default()
        }
    };
    let rows: Vec<ActiveModel> = (0..).zip(dependencies).map(row).collect();
    if !rows.is_empty() {
        Entity::insert_many(rows).exec_without_returning(&connection).await?;
    }
    Ok(())
}

/// The dependency graph of an organisation.
pub async fn graph(
    connection: &dyn StoreConnection,
    organisation: i64,
) -> Result<DependencyGraph, MainError> {
    // The owner of each dependency is looked up. Otherwise SQLite makes a list of all services of the organisation first.
    let owner = Query::select()
        .column(service::Column::Id)
        .from(service::Entity)
        .and_where(Expr::col((service::Entity, service::Column::Id)).equals((Entity, Column::ServiceId)))
        .and_where(service::Column::OrganisationId.eq(organisation))
        .to_owned();
    let rows = Entity::find().filter(Expr::exists(owner)).all(&connection).await?;
    let mut graph = DependencyGraph::default();
    add_rows(connection, &mut graph, &rows, None).await?;
    Ok(graph)
}

/// The direct dependencies and dependents of these services. The other dependencies of the dependents are not read, so
/// the result stays small however many services carry a tag.
pub async fn find_neighbours(
    connection: &dyn StoreConnection,
    services: &[ServiceKey],
) -> Result<DependencyGraph, MainError> {
    let asked: HashSet<ServiceKey> = services.iter().copied().collect();
    let mut graph = DependencyGraph::default();
    for some in services.chunks(CHUNK) {
        let touching = Condition::any()
            .add(Column::ServiceId.is_in(some.iter().copied()))
            .add(Column::ParentId.is_in(some.iter().copied()))
            .add(Column::TagId.in_subquery(tags_of(some)));
        let rows = Entity::find().filter(touching).all(&connection).await?;
        let (own, others): (Vec<Model>, Vec<Model>) =
            rows.into_iter().partition(|row| asked.contains(&row.service_id));
        add_rows(connection, &mut graph, &own, None).await?;
        add_rows(connection, &mut graph, &others, Some(some)).await?;
    }
    Ok(graph)
}

fn tags_of(services: &[ServiceKey]) -> SelectStatement {
    Query::select()
        .column(service_tag::Column::TagId)
        .from(service_tag::Entity)
        .and_where(service_tag::Column::ServiceId.is_in(services.iter().copied()))
        .to_owned()
}

/// Adds these rows to a graph. A tag is replaced by the services that carry it; with `among`, only by those in `among`.
async fn add_rows(
    connection: &dyn StoreConnection,
    graph: &mut DependencyGraph,
    rows: &[Model],
    among: Option<&[ServiceKey]>,
) -> Result<(), MainError> {
    let tags: BTreeSet<i64> = rows.iter().filter_map(|row| row.tag_id).collect();
    let tags: Vec<i64> = tags.into_iter().collect();
    let mut carriers: HashMap<i64, Vec<ServiceKey>> = HashMap::new();
    for some in tags.chunks(CHUNK) {
        let mut links =
            service_tag::Entity::find().filter(service_tag::Column::TagId.is_in(some.iter().copied()));
        if let Some(among) = among {
            links = links.filter(service_tag::Column::ServiceId.is_in(among.iter().copied()));
        }
        for link in links.all(&connection).await? {
            carriers.entry(link.tag_id).or_default().push(link.service_id);
        }
    }
    for row in rows {
        let of_tag = row.tag_id.and_then(|tag| carriers.get(&tag)).into_iter().flatten().copied();
        for parent in row.parent_id.into_iter().chain(of_tag) {
            graph.add(row.service_id, parent);
        }
    }
    Ok(())
}

/// Names of the services that depend on a tag, in the order of their keys.
pub(super) async fn names_of_tag(
    connection: &dyn StoreConnection,
    tag: i64,
) -> Result<Vec<String>, MainError> {
    let depending =
        Query::select().column(Column::ServiceId).from(Entity).and_where(Column::TagId.eq(tag)).to_owned();
    let names = service::Entity::find()
        .select_only()
        .column(service::Column::Name)
        .filter(service::Column::Id.in_subquery(depending))
        .order_by_asc(service::Column::Id);
    Ok(names.into_tuple().all(&connection).await?)
}
