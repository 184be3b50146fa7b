//! Describes `/v1/contacts` and the contacts' calendar URLs.

use serde_json::json;

use crate::http::gate::route::HttpVerb;
use crate::http::kit::page::DEFAULT_PER_PAGE;
use crate::http::openapi::operation::{ApiChapter, ApiOperation, example};
use crate::http::openapi::shape::{ApiSchema, object, view};
use crate::http::v1::contacts::view::{
    CalendarView, ContactView, channel_ids, email, language, name, time_zone,
};
use crate::http::v1::quiet_hours::own_quiet_hours;

const EXAMPLE: &str = include_str!("example.json");
const LIST: &str = "/v1/contacts";
const ITEM: &str = "/v1/contacts/{id}";
const CALENDAR: &str = "/v1/contacts/{id}/calendar";

pub(in crate::http) fn chapter() -> ApiChapter {
    let schemas = vec![
        ("Contact", view::<ContactView<'_>>()),
        ("ContactCalendar", view::<CalendarView>()),
        ("CreateContact", write().needs(&["name", "email"])),
        ("UpdateContact", write()),
    ];
    let about =
        "People who can be notified, through their own channels, in their own language and time zone.";
    ApiChapter { name: "Contacts", about, schemas, operations: operations() }
}

fn operations() -> Vec<ApiOperation> {
    let contact = example(EXAMPLE);
    let schema = "Contact";
    let new = json!({"name": "Anna", "email": "anna@example.com", "time_zone": "Europe/Berlin"});
    let calendar =
        json!({"url": "https://api.example.com/calendars/0123456789abcdefghijklmnopqrstuvwxyzABCDEFG.ics"});
    vec![
        ApiOperation::new(HttpVerb::Get, LIST, "list_contacts", "List contacts").paged(DEFAULT_PER_PAGE).lists(
            "Contacts, oldest first.",
            schema,
            &contact,
        ),
        ApiOperation::new(HttpVerb::Post, LIST, "create_contact", "Create a contact")
            .takes("CreateContact", Some(new))
            .creates("The new contact.", schema, &contact)
            .refuses(&[402]),
        ApiOperation::new(HttpVerb::Get, ITEM, "show_contact", "Show a contact").shows(
            "The contact.",
            schema,
            &contact,
        ),
        ApiOperation::new(HttpVerb::Patch, ITEM, "update_contact", "Change a contact")
            .takes("UpdateContact", Some(json!({"quiet_hours": null})))
            .shows("The changed contact.", schema, &contact)
            .refuses(&[422]),
        ApiOperation::new(HttpVerb::Delete, ITEM, "delete_contact", "Delete a contact")
            .says("422 while on-call schedules, future overrides, open cover requests or escalation policies name it.")
            .deletes("Deleted, with its absences.")
            .refuses(&[422]),
        ApiOperation::new(HttpVerb::Post, CALENDAR, "make_contact_calendar", "Create a calendar address")
            .says("The address of an iCalendar feed with the contact's shifts. It is shown only in this answer; an earlier address of the contact stops working.")
            .creates("The address.", "ContactCalendar", &calendar),
        ApiOperation::new(HttpVerb::Delete, CALENDAR, "delete_contact_calendar", "Delete a calendar address")
            .deletes("The address no longer works; the id is that of the contact."),
    ]
}

/// Members of both create and update requests.
fn write() -> ApiSchema {
    object()
        .may_have("name", name())
        .may_have("email", email())
        .may_have("time_zone", time_zone())
        .may_have("language", language())
        .may_have("channel_ids", channel_ids())
        .may_have("quiet_hours", own_quiet_hours())
}
