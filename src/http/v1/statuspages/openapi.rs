//! Describes `/v1/statuspages` (contract 4.13) and the files of a page (4.16).

use std::ops::RangeInclusive;

use serde_json::{Map, Value, json};

use crate::http::gate::route::HttpVerb;
use crate::http::kit::page::DEFAULT_PER_PAGE;
use crate::http::openapi::operation::{ApiChapter, ApiOperation, example};
use crate::http::openapi::shape::{
    ApiSchema, any_of, anything, boolean, list_of, map_of, named, object, or_empty_list, string, text,
    text_in, translatable, view,
};
use crate::http::v1::statuspages::view::{
    SeoView, StatuspageFilesView, StatuspageRowView, StatuspageView, access_type, appearance,
    image_appearance, logo_size, slug, subscriber_channels,
};
use crate::model::password::PASSWORD_LENGTH;
use crate::model::statuspage::seo::{DESCRIPTION_LENGTH, IMAGE_SUBTITLE_LENGTH, TITLE_LENGTH};
use crate::model::statuspage::word::{PageColorScheme, SubscriberChannel};
use crate::model::statuspage::{CSS_LENGTH, NAME_LENGTH, URL_LENGTH, WHITELIST_MAX};

const EXAMPLE: &str = include_str!("example.json");
const ITEM: &str = "/v1/statuspages/{id}";
/// Flags of a page with their descriptions.
const FLAGS: [(&str, &str); 7] = [
    ("show_logo", "True: the logo is above the name."),
    ("show_affected_services", "True: incidents and maintenances name the components that they affect."),
    ("show_unlinked_services", "True: they name affected services without a component as well."),
    ("show_incident_history", "True: the page leads to its past months."),
    ("show_locations", "True: the document of a component shows from which locations it is reachable."),
    ("show_sla", "True: it shows the agreed availability of the present period with the used downtime."),
    (
        "status_json_includes_hidden",
        "True: the JSON of the page also lists members that a group hides while they are healthy.",
    ),
];
const SEO_TEXTS: [(&str, RangeInclusive<usize>); 3] =
    [("title", TITLE_LENGTH), ("description", DESCRIPTION_LENGTH), ("image_subtitle", IMAGE_SUBTITLE_LENGTH)];
const SEO_FLAGS: [(&str, &str); 3] = [
    ("indexable", "True: search engines may show the page."),
    ("live_status", "Stored; previews do not show the status yet."),
    ("event_images", "Stored; previews have no images yet."),
];

/// A file of a page: its path, id and summary of each operation, and the allowed file types.
struct PageFileSpec {
    path: &'static str,
    upload: [&'static str; 2],
    delete: [&'static str; 2],
    allowed: &'static str,
}

const FILES: [PageFileSpec; 3] = [
    PageFileSpec {
        path: "/v1/statuspages/{id}/assets/logo",
        upload: ["upload_logo", "Upload the logo"],
        delete: ["delete_logo", "Delete the logo"],
        allowed: IMAGE,
    },
    PageFileSpec {
        path: "/v1/statuspages/{id}/assets/logo-dark",
        upload: ["upload_dark_logo", "Upload the logo for dark pages"],
        delete: ["delete_dark_logo", "Delete the logo for dark pages"],
        allowed: IMAGE,
    },
    PageFileSpec {
        path: "/v1/statuspages/{id}/assets/favicon",
        upload: ["upload_favicon", "Upload the icon"],
        delete: ["delete_favicon", "Delete the icon"],
        allowed: ICON,
    },
];
const IMAGE: &str = "JPEG, PNG, WebP or SVG, at most 2 MiB.";
const ICON: &str = "ICO, PNG or SVG, at most 1 MiB.";

/// Describes status pages; `extra` are constant members of their JSON that the operator has configured.
pub(in crate::http) fn chapter(extra: &Map<String, Value>) -> ApiChapter {
    let extended = |shown: ApiSchema| extra.keys().fold(shown, |shape, name| shape.has(name, anything()));
    let schemas = vec![
        ("Statuspage", extended(view::<StatuspageView<'_>>())),
        ("StatuspageRow", extended(view::<StatuspageRowView<'_>>())),
        ("StatuspageFiles", extended(view::<StatuspageFilesView<'_>>())),
        ("Seo", view::<SeoView<'_>>()),
        ("SentSeo", sent_seo()),
        ("CreateStatuspage", create()),
        ("UpdateStatuspage", write()),
    ];
    let mut operations = collection();
    operations.extend(FILES.iter().flat_map(files));
    ApiChapter {
        name: "Status pages",
        about: "Public pages: their address, content and appearance.",
        schemas,
        operations,
    }
}

fn collection() -> Vec<ApiOperation> {
    let page = example(EXAMPLE);
    let mut row = page.clone();
    if let Some(members) = row.as_object_mut() {
        members.retain(|key, _| key != "components");
    }
    let sent = json!({"name": "Example status", "slug": "example-status"});
    vec![
        ApiOperation::new(HttpVerb::Get, "/v1/statuspages", "list_statuspages", "List status pages")
            .asks("slug", string(), "Exactly this page; unknown or empty: none.")
            .paged(DEFAULT_PER_PAGE)
            .lists("Status pages, the oldest first.", "StatuspageRow", &row)
            .refuses(&[422])
            .translated(),
        ApiOperation::new(HttpVerb::Post, "/v1/statuspages", "create_statuspage", "Create a status page")
            .says("It is published at once when the plan allows another page and the token has `statuspages.publish`.")
            .takes("CreateStatuspage", Some(sent))
            .creates("The new page.", "Statuspage", &page)
            .refuses(&[402])
            .translated(),
        ApiOperation::new(HttpVerb::Get, ITEM, "show_statuspage", "Show a status page")
            .shows("The page.", "Statuspage", &page)
            .translated(),
        ApiOperation::new(HttpVerb::Patch, ITEM, "update_statuspage", "Change a status page")
            .takes("UpdateStatuspage", Some(json!({"primary_color": "#2563eb"})))
            .shows("The changed page.", "Statuspage", &page)
            .refuses(&[422])
            .translated(),
        ApiOperation::new(HttpVerb::Delete, ITEM, "delete_statuspage", "Delete a status page")
            .says("With its components and files; incidents and maintenances are kept.")
            .deletes("Deleted."),
        ApiOperation::new(HttpVerb::Post, "/v1/statuspages/{id}/publish", "publish_statuspage", "Publish a status page")
            .shows("The page.", "Statuspage", &page)
            .translated(),
        ApiOperation::new(HttpVerb::Post, "/v1/statuspages/{id}/unpublish", "unpublish_statuspage", "Withdraw a status page")
            .shows("The page.", "Statuspage", &page)
            .translated(),
    ]
}

fn files(file: &PageFileSpec) -> [ApiOperation; 2] {
    let PageFileSpec { path, upload: [upload, upload_summary], delete: [delete, delete_summary], allowed } =
        *file;
    let mut page = example(EXAMPLE);
    if let Some(members) = page.as_object_mut() {
        members.retain(|key, _| key != "components" && key != "components_count");
    }
    [
        ApiOperation::new(HttpVerb::Post, path, upload, upload_summary)
            .says("The content decides the file type. The file replaces an earlier one.")
            .takes_file(allowed)
            .shows("The page, without its components.", "StatuspageFiles", &page)
            .refuses(&[422])
            .translated(),
        ApiOperation::new(HttpVerb::Delete, path, delete, delete_summary)
            .shows("The page, without its components.", "StatuspageFiles", &page)
            .translated(),
    ]
}

fn sent_seo() -> ApiSchema {
    let texts = SEO_TEXTS.iter().fold(object().says("Replaces the whole block."), |shape, (name, length)| {
        shape.may_have(name, or_empty_list(map_of(text(0, *length.end()))).nullable())
    });
    let flags = boolean().default_value(true);
    let flags =
        SEO_FLAGS.iter().fold(texts, |shape, (name, words)| shape.may_have(name, flags.clone().says(words)));
    flags.may_have("image_appearance", image_appearance()).closed()
}

/// A colour in requests: `#RRGGBB`; null and an empty text remove it.
fn sent_color() -> ApiSchema {
    string().pattern("^(#[0-9A-Fa-f]{6})?$").nullable()
}

/// A password in requests; an empty text means null.
fn sent_password() -> ApiSchema {
    any_of([text_in(&PASSWORD_LENGTH), text(0, 0)]).nullable().says("Write-only; null removes it.")
}

/// Members of both create and update requests.
fn write() -> ApiSchema {
    let address = || text_in(&URL_LENGTH).nullable().says("`http://`, `https://` or `mailto:`.");
    let locales = list_of(string()).items(1, 100).nullable();
    let whitelist = list_of(string()).items(0, WHITELIST_MAX).nullable();
    let flags =
        FLAGS.iter().fold(object(), |object, (name, words)| object.may_have(name, boolean().says(words)));
    flags
        .may_have("name", translatable(&NAME_LENGTH))
        .may_have("slug", slug().nullable().says("Null on create: derived from the name."))
        .may_have(
            "primary_color",
            sent_color().says("Colour of the line at the top, and of links where they stay readable."),
        )
        .may_have("secondary_color", sent_color().says("Colour of the lines below headings."))
        .may_have("custom_css", text_in(&CSS_LENGTH).nullable().says("Dangerous parts are removed."))
        .may_have_all(&["imprint_url", "privacy_policy_url"], &address())
        .may_have("logo_size", logo_size())
        .may_have("access_type", access_type())
        .may_have("password", sent_password())
        .may_have("email_whitelist", whitelist.says("Visitors with `access_type` `email_whitelist` open the page with a link that is sent to an address on this list; compared without case."))
        .may_have("appearance", appearance().default_value(PageColorScheme::System.as_str()))
        .may_have(
            "allow_appearance_switch",
            boolean().default_value(true).says("True: visitors may choose light or dark."),
        )
        .may_have("subscriber_channels", subscriber_channels().items(1, SubscriberChannel::WORDS.len()))
        .may_have("supported_locales", locales.says("Null: those of the organisation."))
        .may_have("default_locale", string().nullable())
        .may_have("seo", or_empty_list(named("SentSeo")))
}

fn create() -> ApiSchema {
    let published = boolean().says("False: create it unpublished.");
    write().may_have("is_published", published).needs(&["name"])
}
