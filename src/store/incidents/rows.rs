//! Conversion between incidents and rows.

use sea_orm::ActiveValue::Set;
use watchkeeper_entities::incident::{ActiveModel, Model};

use crate::clock::Timestamp;
use crate::model::announcement::AnnouncementAuthor;
use crate::model::incident::{Acknowledgement, Incident};
use crate::model::translated_text::TranslatedText;
use crate::store::error::MainError;

pub(super) fn to_row(incident: &Incident) -> ActiveModel {
    let author = incident.created_by.as_ref();
    let acknowledgement = incident.acknowledgement.as_ref();
    ActiveModel {
        id: Set(incident.key),
        public_id: Set(incident.id.to_string()),
        organisation_id: Set(incident.organisation),
        title: Set(incident.title.to_json().to_string()),
        kind: Set(incident.kind.as_str().into()),
        status: Set(incident.status.as_str().into()),
        severity: Set(incident.severity.as_str().into()),
        is_published: Set(incident.is_published),
        started_at: Set(incident.started_at.ms()),
        resolved_at: Set(incident.resolved_at.map(Timestamp::ms)),
        sla_counts_as_downtime: Set(incident.sla_counts_as_downtime),
        created_by_id: Set(author.map(|author| author.id.to_string())),
        created_by_name: Set(author.map(|author| author.name.clone())),
        acknowledged_at: Set(acknowledgement.map(|one| one.at.ms())),
        acknowledged_by_id: Set(acknowledgement.map(|one| one.by.id.to_string())),
        acknowledged_by_name: Set(acknowledgement.map(|one| one.by.name.clone())),
        created_at: Set(incident.created_at.ms()),
        updated_at: Set(incident.updated_at.ms()),
    }
}

pub(super) fn from_row(row: Model) -> Result<Incident, MainError> {
    let corrupt = |problem: &str| MainError::corrupt("incident", &row.id, &problem);
    let author = |id: Option<&String>, name: Option<String>| match (id, name) {
        (Some(id), Some(name)) => {
            Ok(Some(AnnouncementAuthor { id: id.parse().map_err(|_| corrupt("unreadable author"))?, name }))
        }
        _ => Ok::<_, MainError>(None),
    };
    let created_by = author(row.created_by_id.as_ref(), row.created_by_name)?;
    let acknowledged_by = author(row.acknowledged_by_id.as_ref(), row.acknowledged_by_name)?;
    let acknowledged_at = row.acknowledged_at.map(Timestamp::from_ms);
    Ok(Incident {
        key: row.id,
        id: row.public_id.parse().map_err(|_| corrupt("its id is malformed"))?,
        organisation: row.organisation_id,
        title: TranslatedText::from_stored(&row.title).map_err(|_| corrupt("unreadable title"))?,
        kind: row.kind.parse().map_err(|_| corrupt("unknown kind"))?,
        status: row.status.parse().map_err(|_| corrupt("unknown status"))?,
        severity: row.severity.parse().map_err(|_| corrupt("unknown severity"))?,
        is_published: row.is_published,
        started_at: Timestamp::from_ms(row.started_at),
        resolved_at: row.resolved_at.map(Timestamp::from_ms),
        sla_counts_as_downtime: row.sla_counts_as_downtime,
        created_by,
        acknowledgement: acknowledged_at.zip(acknowledged_by).map(|(at, by)| Acknowledgement { at, by }),
        created_at: Timestamp::from_ms(row.created_at),
        updated_at: Timestamp::from_ms(row.updated_at),
    })
}
