//! Describes `/v1/events`.

use crate::http::gate::route::HttpVerb;
use crate::http::openapi::operation::{ApiChapter, ApiOperation};
use crate::http::openapi::shape::{enum_of, id, string, view};
use crate::http::v1::events::view::{
    IncidentEventView, MaintenanceEventView, ResetView, ResultView, StatusChangeEventView,
};
use crate::model::event::EventType;

const WORDS: &str = "Server-sent events, without an end. The `data` of each event is JSON of the schema that belongs to its \
    type: `status_change` StatusChangeEvent, `incident` IncidentEvent, `maintenance` MaintenanceEvent, `result` ResultEvent, \
    `reset` ResetEvent. Every type needs the permission of its resource: `services.view` (status changes, results), \
    `incidents.view`, `maintenances.view`; without `types` the stream has all types that the token may read.\n\n\
    A client that reconnects within 30 minutes with the header `Last-Event-ID` first receives the events that it missed. \
    Events are delivered at least once: an event may be repeated after a broken connection. `reset` says that some events \
    could not be sent (`too_old`: the id is too old; `too_many_results`: results of more than 50 services); read the \
    resources again then.\n\n\
    A client that reads too slowly is disconnected and may reconnect. In a cluster every node sends all events.";

pub(in crate::http) fn chapter() -> ApiChapter {
    let schemas = vec![
        ("StatusChangeEvent", view::<StatusChangeEventView<'_>>()),
        ("IncidentEvent", view::<IncidentEventView>()),
        ("MaintenanceEvent", view::<MaintenanceEventView>()),
        ("ResultEvent", view::<ResultView<'_>>()),
        ("ResetEvent", view::<ResetView>()),
    ];
    let about = "A live stream of status changes, results, incidents and maintenances.";
    let stream = ApiOperation::new(HttpVerb::Get, "/v1/events", "stream_events", "Stream events")
        .says(WORDS)
        .asks_list("types", enum_of(EventType::WORDS), "Only events of these types.")
        .asks("service_id", id(), "Only events that concern this service.")
        .asks("tag", string(), "Only events that concern a service with this tag: `key` or `key:value`.")
        .asks(
            "statuspage_id",
            id(),
            "Only events that concern a service on this status page; needs `statuspages.view`, too.",
        )
        .asks_in_header(
            "Last-Event-ID",
            string(),
            "The id of the last event that was received: missed events are sent first.",
        )
        .answers_with("text/event-stream", "Events in the order in which they happen.", string())
        .refuses(&[400, 422])
        .translated();
    ApiChapter { name: "Events", about, schemas, operations: vec![stream] }
}
