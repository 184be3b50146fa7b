//! Lists of the API whose rows can be chosen in forms.

pub(super) const SERVICES: &str = "/v1/services";
pub(super) const TAGS: &str = "/v1/tags";
pub(super) const PAGES: &str = "/v1/statuspages";
pub(super) const CONTACTS: &str = "/v1/contacts";
pub(super) const CHANNELS: &str = "/v1/notification-channels";
pub(super) const SCHEDULES: &str = "/v1/oncall/schedules";
pub(super) const SCOPES: &str = "/v1/access-scopes";
pub(super) const INCIDENT_OPENERS: &str = "/v1/incident-policies";
pub(super) const PROBES: &str = "/v1/probes";
