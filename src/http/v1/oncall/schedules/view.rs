//! On-call schedules as clients see them.

use serde::Serialize;
use utoipa::ToSchema;

use crate::clock::Timestamp;
use crate::http::openapi::shape::{ApiSchema, id, string, text_in, timestamp};
use crate::http::v1::oncall::schedules::layers::{LayerView, layers};
use crate::id::Id;
use crate::model::oncall::schedule::{NAME_LENGTH, OncallSchedule};

/// A schedule that determines who is on duty.
#[derive(Serialize, ToSchema)]
pub(super) struct ScheduleView<'a> {
    #[schema(schema_with = id)]
    id: Id,
    #[schema(schema_with = name)]
    name: &'a str,
    #[schema(schema_with = time_zone)]
    time_zone: &'static str,
    #[schema(schema_with = layers)]
    layers: Vec<LayerView<'a>>,
    #[schema(schema_with = timestamp)]
    created_at: Timestamp,
    #[schema(schema_with = timestamp)]
    updated_at: Timestamp,
}

impl<'a> ScheduleView<'a> {
    /// Creates the view of a schedule.
    pub(super) fn of(schedule: &'a OncallSchedule) -> Self {
        Self {
            id: schedule.id,
            name: &schedule.name,
            time_zone: schedule.zone.name(),
            layers: schedule.layers.iter().map(LayerView::of).collect(),
            created_at: schedule.created_at,
            updated_at: schedule.updated_at,
        }
    }
}

pub(super) fn name() -> ApiSchema {
    text_in(&NAME_LENGTH)
}

pub(super) fn time_zone() -> ApiSchema {
    let words = "Time zone of the hand-overs, a name of the IANA database; `UTC` unless given.";
    string().says(words).example("Europe/Berlin")
}
