//! Describes the subscribers of a status page.

use serde_json::json;

use crate::http::gate::route::HttpVerb;
use crate::http::kit::page::DEFAULT_PER_PAGE;
use crate::http::openapi::operation::{ApiChapter, ApiOperation, example};
use crate::http::openapi::shape::{boolean, enum_of, object, string, view};
use crate::http::v1::subscribers::view::{SubscriberView, address, channel, component_ids, language};
use crate::model::statuspage::word::SubscriberChannel;
use crate::model::subscriber::SubscriberStatus;

const EXAMPLE: &str = include_str!("example.json");
const LIST: &str = "/v1/statuspages/{id}/subscribers";
const ITEM: &str = "/v1/statuspages/{id}/subscribers/{subscriber}";
const EXPORT: &str = "/v1/statuspages/{id}/subscribers/export";

pub(in crate::http) fn chapter() -> ApiChapter {
    let skip = boolean().default_value(false).says("For `email`: true if the address needs no confirmation.");
    let create = object()
        .has("channel", channel())
        .has("address", address())
        .may_have("component_ids", component_ids())
        .may_have("language", language())
        .may_have("skip_confirmation", skip);
    let schemas = vec![("Subscriber", view::<SubscriberView<'_>>()), ("CreateSubscriber", create)];
    let about = "Addresses to which news of a status page are sent.";
    ApiChapter { name: "Subscribers", about, schemas, operations: operations() }
}

fn operations() -> Vec<ApiOperation> {
    let subscriber = example(EXAMPLE);
    let schema = "Subscriber";
    vec![
        ApiOperation::new(HttpVerb::Get, LIST, "list_subscribers", "List the subscribers of a page")
            .paged(DEFAULT_PER_PAGE)
            .asks_list("channel", enum_of(SubscriberChannel::WORDS), "Only subscribers of this channel.")
            .asks_list("status", enum_of(SubscriberStatus::WORDS), "Only subscribers in this state.")
            .lists("Subscribers, oldest first.", schema, &subscriber)
            .refuses(&[422]),
        ApiOperation::new(HttpVerb::Post, LIST, "create_subscriber", "Add a subscriber")
            .says(
                "An e-mail address is asked to confirm, unless `skip_confirmation` is true; other channels get a test \
                 message, and are active when it is accepted. 422 on `channel` when the page does not offer it, or when \
                 the server cannot send mails.",
            )
            .takes("CreateSubscriber", Some(json!({"channel": "email", "address": "anna@example.com"})))
            .creates("The new subscriber.", schema, &subscriber)
            .refuses(&[402]),
        ApiOperation::new(HttpVerb::Get, EXPORT, "export_subscribers", "Export the subscribers of a page")
            .says("Secret parts of addresses are left out.")
            .answers_with("text/csv", "A table of all subscribers, oldest first.", string()),
        ApiOperation::new(HttpVerb::Get, ITEM, "show_subscriber", "Show a subscriber").shows(
            "The subscriber.",
            schema,
            &subscriber,
        ),
        ApiOperation::new(HttpVerb::Delete, ITEM, "delete_subscriber", "Remove a subscriber")
            .says("Messages that wait for the subscriber are removed too.")
            .deletes("Deleted."),
    ]
}
