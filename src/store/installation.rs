//! Facts about the installation itself: the check value of the secret key.

use crate::store::connection::StoreConnection;
use sea_orm::sea_query::OnConflict;
use sea_orm::{ActiveValue::Set, EntityTrait, QuerySelect};
use watchkeeper_entities::installation::{ActiveModel, Column, Entity};

use crate::model::secret::{SecretPlace, SecretSealer};
use crate::store::error::MainError;

const KEY_CHECK: &str = "key_check";
const PLACE: SecretPlace<'static> =
    SecretPlace { organisation: "", table: "installation", row: KEY_CHECK, field: "value" };

/// The result of checking a secret key against the stored check value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyCheck {
    /// The secrets of this installation were sealed with the key, or nothing has been sealed yet.
    Right,
    /// The secrets of this installation were sealed with another key.
    Wrong,
}

/// Compares the key with the stored check value. If none is stored yet, stores one for this key.
pub async fn check_key(
    connection: &dyn StoreConnection,
    sealer: &SecretSealer,
) -> Result<KeyCheck, MainError> {
    if let Some(stored) = Entity::find_by_id(KEY_CHECK).one(&connection).await? {
        return Ok(compare_key(&stored.value, sealer));
    }
    let fact = ActiveModel { name: Set(KEY_CHECK.into()), value: Set(sealer.seal(PLACE, KEY_CHECK)) };
    let only_once = OnConflict::column(Column::Name).do_nothing().to_owned();
    Entity::insert(fact).on_conflict(only_once).exec_without_returning(&connection).await?;
    // Another node may have started for the first time meanwhile and stored its check value.
    let stored = Entity::find_by_id(KEY_CHECK).one(&connection).await?;
    Ok(stored.map_or(KeyCheck::Right, |stored| compare_key(&stored.value, sealer)))
}

/// Prevents other nodes from performing the first start until the transaction ends.
pub async fn lock(transaction: &dyn StoreConnection) -> Result<(), MainError> {
    Entity::find_by_id(KEY_CHECK).lock_exclusive().one(&transaction).await?;
    Ok(())
}

/// Compares the key with the check value of an installation.
#[must_use]
pub fn compare_key(check_value: &str, sealer: &SecretSealer) -> KeyCheck {
    if sealer.open(PLACE, check_value).is_ok() { KeyCheck::Right } else { KeyCheck::Wrong }
}
