//! The dictionary of location codes: stored results contain a small number instead of the code.

use std::collections::HashMap;

use crate::store::connection::StoreConnection;
use sea_orm::sea_query::OnConflict;
use sea_orm::{ActiveValue::Set, EntityTrait};
use watchkeeper_entities::location::{ActiveModel, Column, Entity};

use crate::model::location::LocationCode;
use crate::store::error::HistoryError;

/// The numbers of all known location codes.
#[derive(Clone, Debug, Default)]
pub struct LocationNumbers {
    by_code: HashMap<String, i32>,
}

impl LocationNumbers {
    /// Reads the dictionary after adding those of `codes` that are missing.
    pub async fn ensure(
        connection: &dyn StoreConnection,
        codes: &[LocationCode],
    ) -> Result<Self, HistoryError> {
        let known = Self::read(connection).await?;
        let missing = codes.iter().filter(|code| !known.by_code.contains_key(code.as_str()));
        let rows: Vec<ActiveModel> = missing
            .map(|code| ActiveModel { code: Set(code.to_string()), ..ActiveModel::default() })
            .collect();
        if rows.is_empty() {
            return Ok(known);
        }
        Entity::insert_many(rows)
            .on_conflict(OnConflict::column(Column::Code).do_nothing().to_owned())
            .exec_without_returning(&connection)
            .await?;
        Self::read(connection).await
    }

    /// Reads the dictionary without changing it.
    pub async fn read(connection: &dyn StoreConnection) -> Result<Self, HistoryError> {
        let rows = Entity::find().all(&connection).await?;
        Ok(Self { by_code: rows.into_iter().map(|row| (row.code, row.id)).collect() })
    }

    /// Returns true if the code has a number.
    #[must_use]
    pub fn knows(&self, code: &LocationCode) -> bool {
        self.by_code.contains_key(code.as_str())
    }

    /// The numbers of these codes; codes without a number are skipped.
    #[must_use]
    pub fn numbers(&self, codes: &[String]) -> Vec<i32> {
        codes.iter().filter_map(|code| self.by_code.get(code).copied()).collect()
    }

    /// The numbers of the codes that sort before this one, by bytes.
    pub(super) fn before(&self, code: &str) -> Vec<i32> {
        let known = self.by_code.iter().filter(|(known, _)| known.as_str() < code);
        known.map(|(_, number)| *number).collect()
    }

    /// Returns the number of known codes.
    pub(super) fn len(&self) -> usize {
        self.by_code.len()
    }

    /// The code with this number.
    #[must_use]
    pub fn code(&self, number: i32) -> Option<&str> {
        self.by_code.iter().find(|(_, known)| **known == number).map(|(code, _)| code.as_str())
    }

    pub(super) fn number(&self, code: &LocationCode) -> Result<i32, HistoryError> {
        let known = self.by_code.get(code.as_str()).copied();
        known.ok_or_else(|| HistoryError::corrupt("location", code, &"this code has no number"))
    }
}
