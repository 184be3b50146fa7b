//! Layers of on-call schedules, stored as JSON in one column.

use serde::{Deserialize, Serialize};

use crate::clock::Timestamp;
use crate::model::oncall::schedule::{Rotation, RotationLayer};
use crate::store::selected_services::StoredLink;

/// Stored form of a layer.
#[derive(Serialize, Deserialize)]
pub(super) struct StoredLayer {
    name: String,
    contacts: Vec<StoredLink>,
    starts_at: i64,
    ends_at: Option<i64>,
    rotation: StoredRotation,
    hours: Option<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum StoredRotation {
    Daily { days: u32, at: String },
    Weekly { weeks: u32, day: String, at: String },
    Hours { hours: u32 },
}

impl StoredLayer {
    pub(super) fn of(layer: &RotationLayer) -> Self {
        Self {
            name: layer.name.clone(),
            contacts: StoredLink::all(&layer.contacts),
            starts_at: layer.starts_at.ms(),
            ends_at: layer.ends_at.map(Timestamp::ms),
            rotation: StoredRotation::of(layer.rotation),
            hours: layer.hours.as_ref().map(ToString::to_string),
        }
    }

    /// Converts the stored form to a layer; `None` if a value cannot be read.
    pub(super) fn read(self) -> Option<RotationLayer> {
        Some(RotationLayer {
            name: self.name,
            contacts: StoredLink::read(self.contacts)?,
            starts_at: Timestamp::from_ms(self.starts_at),
            ends_at: self.ends_at.map(Timestamp::from_ms),
            rotation: self.rotation.read()?,
            hours: self.hours.map(|hours| hours.parse()).transpose().ok()?,
        })
    }
}

impl StoredRotation {
    fn of(rotation: Rotation) -> Self {
        match rotation {
            Rotation::Daily { days, at } => Self::Daily { days, at: at.to_string() },
            Rotation::Weekly { weeks, day, at } => {
                Self::Weekly { weeks, day: day.to_string(), at: at.to_string() }
            }
            Rotation::Hours { hours } => Self::Hours { hours },
        }
    }

    fn read(self) -> Option<Rotation> {
        Some(match self {
            Self::Daily { days, at } => Rotation::Daily { days, at: at.parse().ok()? },
            Self::Weekly { weeks, day, at } => {
                Rotation::Weekly { weeks, day: day.parse().ok()?, at: at.parse().ok()? }
            }
            Self::Hours { hours } => Rotation::Hours { hours },
        })
    }
}
