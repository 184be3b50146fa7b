//! The bucket of definitions: a change is refused where the entry differs from the one that it replaces.

use watchkeeper::bus::connection::BusConnection;
use watchkeeper::bus::definition_bucket::{self, BucketChange, BucketDefinition, BucketEntry, DefinitionKey};
use watchkeeper::id::Id;
use watchkeeper::model::partition::{Partition, PartitionSet};

use crate::bus::{Bus, location};

fn put(definition_key: &DefinitionKey, replaces: Option<&BucketEntry>, digest: &str) -> BucketChange {
    let definition = Some(BucketDefinition { digest: digest.into(), sealed: digest.into() });
    BucketChange { definition_key: definition_key.clone(), replaces: replaces.cloned(), definition }
}

fn take_away(definition_key: &DefinitionKey, replaces: &BucketEntry) -> BucketChange {
    BucketChange {
        definition_key: definition_key.clone(),
        replaces: Some(replaces.clone()),
        definition: None,
    }
}

async fn change(node: &BusConnection, change: BucketChange) -> Result<BucketEntry, String> {
    let done = definition_bucket::change(node, vec![change]).await?;
    Ok(done[0].1.clone())
}

/// Returns the entry of the bucket, as a new node finds it.
async fn found(node: &BusConnection, definition_key: &DefinitionKey) -> Option<BucketEntry> {
    definition_bucket::entries(node, PartitionSet::ALL).await.unwrap().remove(definition_key)
}

#[tokio::test]
async fn a_delayed_write_does_not_overwrite_a_newer_definition() {
    let Some(bus) = Bus::start().await else { return };
    let (a, b) = (bus.node("a").await, bus.node("b").await);
    let key = DefinitionKey { location: location("fra"), partition: Partition::of(5), service: Id::random() };
    let first = change(&a, put(&key, None, "first")).await.unwrap();
    assert_eq!(found(&b, &key).await, Some(first.clone()));
    let newer = change(&b, put(&key, Some(&first), "newer")).await.unwrap();
    for old in [put(&key, Some(&first), "old"), put(&key, None, "old"), take_away(&key, &first)] {
        let refused = change(&a, old).await.unwrap_err();
        assert!(refused.contains("wrong last sequence"), "{refused}");
    }
    assert_eq!(found(&a, &key).await, Some(newer.clone()));
    let gone = change(&b, take_away(&key, &newer)).await.unwrap();
    assert_eq!((&gone.digest, found(&a, &key).await), (&None, Some(gone.clone())));
    change(&a, put(&key, Some(&newer), "old")).await.unwrap_err();
    assert_eq!(found(&a, &key).await, Some(gone.clone()));
    change(&a, put(&key, Some(&gone), "again")).await.unwrap();
}

/// A delete marker is stored for an hour only.
#[tokio::test]
async fn an_expired_delete_marker_is_no_obstacle() {
    let Some(bus) = Bus::start().await else { return };
    let node = bus.node("a").await;
    let key = DefinitionKey { location: location("fra"), partition: Partition::of(5), service: Id::random() };
    let forgotten = BucketEntry { revision: 7, digest: None };
    let made = change(&node, put(&key, Some(&forgotten), "again")).await.unwrap();
    assert_eq!(found(&node, &key).await, Some(made));
}
