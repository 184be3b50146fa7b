//! Components of a status page (contract 4.14) and its custom domains (4.15).

use serde_json::json;

use crate::http::gate::route::Verb;
use crate::http::openapi::operation::{Chapter, Operation, example};
use crate::http::openapi::shape::{
    Shape, boolean, id, integer, map_of, object, one_of, string, text, timestamp, translatable, translations,
};

const COMPONENT: &str = include_str!("example.json");
const DOMAIN: &str = include_str!("../custom_domains/example.json");

const COMPONENTS: &str = "/v1/statuspages/{id}/components";
const ONE_COMPONENT: &str = "/v1/statuspages/{id}/components/{component}";
const DOMAINS: &str = "/v1/statuspages/{id}/custom-domains";
const ONE_DOMAIN: &str = "/v1/statuspages/{id}/custom-domains/{domain}";
const STATUSES: [&str; 6] =
    ["operational", "degraded", "partial_outage", "major_outage", "under_maintenance", "unknown"];
const HOSTNAME: &str = r"^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]([a-z0-9-]{0,61}[a-z0-9])?$";

pub(in crate::http::v1) fn chapter() -> Chapter {
    let schemas = vec![
        ("Component", component()),
        ("CreateComponent", write().needs(&["name"])),
        ("UpdateComponent", write()),
    ];
    let about = "What a status page is made of: services, groups, and plain lines.";
    Chapter { name: "Components", about, schemas, operations: component_operations() }
}

pub(in crate::http::v1) fn domains_chapter() -> Chapter {
    let schemas = vec![("CustomDomain", domain()), ("AttachDomain", object().has("hostname", hostname()))];
    let about = "Host names of one's own for a status page.";
    Chapter { name: "Custom domains", about, schemas, operations: domain_operations() }
}

fn component_operations() -> Vec<Operation> {
    let component = example(COMPONENT);
    let sent =
        json!({"name": "Shop", "service_id": "rNSJxMbDTX2uHc08AiCqo", "parent_id": "3DLqlx_g1d3lV0D7fPVKb"});
    vec![
        Operation::new(Verb::Get, COMPONENTS, "list_components", "List the components of a page")
            .paged_on_demand()
            .lists("Components in display order, parents before children.", "Component", &component)
            .translated(),
        Operation::new(Verb::Post, COMPONENTS, "create_component", "Create a component")
            .takes("CreateComponent", Some(sent))
            .creates("The new component.", "Component", &component)
            .refuses(&[402])
            .translated(),
        Operation::new(Verb::Get, ONE_COMPONENT, "show_component", "Show a component")
            .shows("The component.", "Component", &component)
            .translated(),
        Operation::new(Verb::Patch, ONE_COMPONENT, "update_component", "Change a component")
            .takes("UpdateComponent", Some(json!({"is_visible": false})))
            .shows("The changed component.", "Component", &component)
            .refuses(&[422])
            .translated(),
        Operation::new(Verb::Delete, ONE_COMPONENT, "delete_component", "Delete a component")
            .says("A group goes with everything below it. One that a synced group manages cannot be deleted: 422.")
            .deletes("It is gone.")
            .refuses(&[422]),
    ]
}

fn domain_operations() -> Vec<Operation> {
    let domain = example(DOMAIN);
    let verify = "/v1/statuspages/{id}/custom-domains/{domain}/verify";
    vec![
        Operation::new(Verb::Get, DOMAINS, "list_domains", "List the custom domains of a page")
            .paged_on_demand()
            .lists("Domains, the oldest first.", "CustomDomain", &domain),
        Operation::new(Verb::Post, DOMAINS, "attach_domain", "Attach a custom domain")
            .says("The answer holds the CNAME and TXT records to set; they are looked up from then on.")
            .takes("AttachDomain", Some(json!({"hostname": "status.example.com"})))
            .creates("The new domain.", "CustomDomain", &domain),
        Operation::new(Verb::Get, ONE_DOMAIN, "show_domain", "Show a custom domain").shows(
            "The domain.",
            "CustomDomain",
            &domain,
        ),
        Operation::new(Verb::Delete, ONE_DOMAIN, "detach_domain", "Detach a custom domain")
            .deletes("It is gone."),
        Operation::new(Verb::Post, verify, "verify_domain", "Look up the records now")
            .says(
                "422 unless it waits for verification; 429 when the last look was less than 10 seconds ago.",
            )
            .shows("The domain, whatever was found.", "CustomDomain", &domain),
    ]
}

fn component() -> Shape {
    let linked = object().has("id", id()).has("name", string());
    object()
        .has("id", id())
        .has("name", string())
        .has("name_translations", translations())
        .has("description", string().nullable())
        .has("description_translations", map_of(string()).nullable())
        .has("status", one_of(&STATUSES).says("Stored; visitors do not see it."))
        .has("effective_status", one_of(&STATUSES).nullable().says("What visitors see; null when hidden."))
        .has("is_group", boolean())
        .has("is_visible", boolean())
        .has("display_order", integer().range(0, 10_000))
        .has("parent_id", id().nullable().says("The group that it stands in."))
        .has("service", linked.nullable().says("Written as `service_id`."))
        .has("show_uptime_bars", boolean())
        .has("hide_operational_children", boolean())
        .has("default_open", boolean())
        .has("sync_tag_id", id().nullable().says("On a group: services with this tag fill it."))
        .has("sync_new_visible", boolean())
        .has("is_sync_managed", boolean().says("Made by a synced group."))
}

fn write() -> Shape {
    let flags = [
        "is_group",
        "is_visible",
        "show_uptime_bars",
        "hide_operational_children",
        "default_open",
        "sync_new_visible",
    ];
    object()
        .may_have("name", translatable(1, 255))
        .may_have("description", translatable(0, 500).nullable())
        .may_have_all(&flags, &boolean())
        .may_have("service_id", id().nullable().says("Null: none. Not on a group."))
        .may_have("parent_id", id().nullable().says("A group of the same page; null: top level."))
        .may_have("display_order", integer().range(0, 10_000))
        .may_have("sync_tag_id", id().nullable().says("Only on a group; null ends the synchronisation."))
}

fn hostname() -> Shape {
    text(1, 253).pattern(HOSTNAME).says("In lower case; international names as punycode.")
}

fn domain() -> Shape {
    let certificate = object()
        .has("status", one_of(&["none", "issuing", "active", "failed"]))
        .has("not_after", timestamp().nullable())
        .has("last_error", string().nullable());
    let codes = [
        "no_records",
        "wrong_target",
        "ownership_missing",
        "dnssec",
        "verification_timeout",
        "stale_timeout",
    ];
    object()
        .has("id", id())
        .has("hostname", hostname())
        .has("status", one_of(&["pending_verification", "active", "failed"]))
        .has("cname_target", string().says("Value of the CNAME record for `hostname`."))
        .has("txt_record_name", string())
        .has("txt_record_value", string().pattern("^[A-Za-z0-9]{40}$"))
        .has("verified", boolean())
        .has("verified_at", timestamp().nullable())
        .has("last_error_code", one_of(&codes).nullable())
        .has("statuspage_id", id())
        .has("certificate", certificate)
}

/// The addresses that watched jobs report to (contract 4.3.11).
pub(in crate::http::v1) fn pings() -> Chapter {
    let answer = || object().has("ok", crate::http::openapi::shape::always_true());
    let ping = |verb, path, id, summary| {
        let words = "No token: the secret is in the address. At most 10 per second and secret.";
        let operation = Operation::new(verb, path, id, summary).says(words);
        operation.answers(200, "Heard.", answer(), Some(json!({"ok": true}))).refuses(&[404, 429, 500, 503])
    };
    let operations = vec![
        ping(Verb::Get, "/ping/{secret}", "ping", "Report that a job has run"),
        ping(Verb::Post, "/ping/{secret}", "ping_by_post", "Report that a job has run"),
        ping(Verb::Get, "/ping/{secret}/fail", "ping_fail", "Report that a job has failed"),
        ping(Verb::Post, "/ping/{secret}/fail", "ping_fail_by_post", "Report that a job has failed"),
    ];
    Chapter { name: "Pings", about: "What watched jobs call.", schemas: Vec::new(), operations }
}
