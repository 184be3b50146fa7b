//! Reads a changed series from a request body, except window and rule: these are read by `maintenances::recurrence`, before
//! the transaction begins.

use serde_json::{Map, Value};

use crate::http::kit::field_errors::FieldErrors;
use crate::http::kit::fields::{BodyFields, ErrorCollector};
use crate::http::kit::translated::{read_nullable_translated, read_translated};
use crate::http::v1::maintenances::draft::{MaintenanceParser, flag, read_kind, read_notices};
use crate::model::maintenance::series::MaintenanceSeries;
use crate::model::maintenance::transition::RescheduleOptions;
use crate::model::maintenance::{MESSAGE_LENGTH, MaintenanceNotices, TITLE_LENGTH};
use crate::model::service::ServiceKey;

/// The contents of an update request; `None` for a missing list, which is kept.
pub(super) struct SeriesRevision {
    pub(super) series: MaintenanceSeries,
    pub(super) services: Option<Vec<ServiceKey>>,
    pub(super) statuspages: Option<Vec<i64>>,
    pub(super) announcement: RescheduleOptions,
}

impl SeriesRevision {
    /// Reads the body of an update request, and returns the stored series with its changes. The ids in the body are already
    /// looked up in `draft`.
    pub(super) fn read(
        draft: &MaintenanceParser<'_>,
        body: &Map<String, Value>,
        stored: &MaintenanceSeries,
    ) -> Result<Self, FieldErrors> {
        let errors = ErrorCollector::default();
        let fields = BodyFields::new(body, "", &errors);
        let organisation = &draft.caller.organisation;
        let title =
            fields.optional("title").and_then(|field| read_translated(&field, TITLE_LENGTH, organisation));
        let message = read_nullable_translated(fields.nullable("message"), MESSAGE_LENGTH, organisation);
        let kind = read_kind(&fields);
        let auto_start = flag(&fields, "auto_start", stored.auto_start);
        let auto_complete = flag(&fields, "auto_complete", stored.auto_complete);
        let services = draft.read_services(body, &errors);
        let statuspages = draft.read_statuspages(body, &errors);
        let announcement = flag(&fields, "notify_announcement", stored.notices.announcement);
        let notices = MaintenanceNotices { announcement, ..read_notices(&fields, &stored.notices) };
        let is_posted = flag(&fields, "post_update", true);
        let notifies = flag(&fields, "notify_subscribers", false);
        let series = MaintenanceSeries {
            title: title.unwrap_or_else(|| stored.title.clone()),
            message: message.or_stored(stored.message.clone()),
            kind: kind.unwrap_or(stored.kind),
            auto_start,
            auto_complete,
            notices,
            ..stored.clone()
        };
        let announcement = RescheduleOptions { is_posted, notifies };
        errors.into_inner().into_result(Self { series, services, statuspages, announcement })
    }
}
