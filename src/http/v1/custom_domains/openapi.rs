//! Describes custom domains of a status page (contract 4.15).

use serde_json::json;

use crate::http::gate::route::HttpVerb;
use crate::http::openapi::operation::{ApiChapter, ApiOperation, example};
use crate::http::openapi::shape::{object, view};
use crate::http::v1::custom_domains::view::{DomainView, hostname};

const DOMAIN: &str = include_str!("example.json");
const DOMAINS: &str = "/v1/statuspages/{id}/custom-domains";
const ONE_DOMAIN: &str = "/v1/statuspages/{id}/custom-domains/{domain}";

pub(in crate::http) fn chapter() -> ApiChapter {
    let schemas = vec![
        ("CustomDomain", view::<DomainView<'_>>()),
        ("AttachDomain", object().has("hostname", hostname())),
    ];
    let about = "Custom host names for status pages.";
    ApiChapter { name: "Custom domains", about, schemas, operations: operations() }
}

fn operations() -> Vec<ApiOperation> {
    let domain = example(DOMAIN);
    let verify = "/v1/statuspages/{id}/custom-domains/{domain}/verify";
    vec![
        ApiOperation::new(HttpVerb::Get, DOMAINS, "list_domains", "List the custom domains of a page")
            .paged_on_demand()
            .lists("Domains, the oldest first.", "CustomDomain", &domain),
        ApiOperation::new(HttpVerb::Post, DOMAINS, "attach_domain", "Attach a custom domain")
            .says(
                "The answer holds the CNAME and TXT records to set; they are looked up from then on. Each claim of a \
                host name has its own TXT value. The first organisation that proves the name has it: other claims of it become \
                `failed` with `claimed_elsewhere`. 422 when the name is attached to another page of the organisation \
                or to this one (unless that has failed), when it is active, or when it is a name of this server.",
            )
            .takes("AttachDomain", Some(json!({"hostname": "status.example.com"})))
            .creates("The new domain.", "CustomDomain", &domain),
        ApiOperation::new(HttpVerb::Get, ONE_DOMAIN, "show_domain", "Show a custom domain").shows(
            "The domain.",
            "CustomDomain",
            &domain,
        ),
        ApiOperation::new(HttpVerb::Delete, ONE_DOMAIN, "detach_domain", "Detach a custom domain")
            .deletes("Deleted."),
        ApiOperation::new(HttpVerb::Post, verify, "verify_domain", "Look up the records now")
            .says(
                "422 unless it waits for verification; 429 when the last look-up was less than 10 seconds ago.",
            )
            .shows("The domain, with the result of the look-up.", "CustomDomain", &domain),
    ]
}
