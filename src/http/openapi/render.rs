//! Renders one operation of the document from the description of its resource and from its route.
//!
//! The route determines the permission, the related refusals, the path parameters, the headers of the responses, and
//! the rules of `Idempotency-Key` and `Accept-Language`.

use std::collections::BTreeSet;

use utoipa::openapi::path::{
    HttpMethod, Operation as Rendered, OperationBuilder, Parameter, ParameterBuilder, ParameterIn,
    ParameterStyle,
};
use utoipa::openapi::request_body::{RequestBody, RequestBodyBuilder};
use utoipa::openapi::{
    ContentBuilder, RefOr, Required, Response, ResponseBuilder, ResponsesBuilder, SecurityRequirement,
};

use crate::http::gate::route::{AccessRule, HttpVerb, stores_answers};
use crate::http::kit::page::MAX_PER_PAGE;
use crate::http::openapi::operation::{AnswerSpec, ApiOperation, BodySpec, QueryParameter};
use crate::http::openapi::refusals::{header_ref, outside_refusal, refusal, with_headers_of_every_answer};
use crate::http::openapi::shape::{ApiSchema, enum_of, id, integer, named, object, string, text};

/// Name of the security scheme, which is a bearer token.
pub(in crate::http) const TOKEN: &str = "token";

/// Refusals of every operation that needs a token. Every operation can be refused with 422 in strict requests.
const FOR_EVERYBODY: [u16; 5] = [401, 422, 429, 500, 503];

const PREFER_WORDS: &str = "Refuses query parameters and members of the body that are not described instead of ignoring them, \
    and repeated keys of an object.";

/// Renders the operation for this method; `access` is `None` outside of `/v1`.
pub(in crate::http) fn render(
    operation: &ApiOperation,
    verb: HttpVerb,
    access: Option<&AccessRule>,
    tag: &str,
) -> Rendered {
    let takes_key = access.is_some() && verb == HttpVerb::Post && stores_answers(operation.path);
    let mut builder = OperationBuilder::new()
        .tag(tag)
        .summary(Some(operation.summary))
        .description(Some(described(operation, access)).filter(|words| !words.is_empty()))
        .operation_id(Some(operation_id(operation, verb)));
    for parameter in parameters(operation, takes_key) {
        builder = builder.parameter(parameter);
    }
    if let Some(access) = access {
        builder = builder.parameter(in_header("Prefer", enum_of(&["handling=strict"]), PREFER_WORDS));
        let permissions: Vec<_> = access.permissions().iter().map(|permission| permission.as_str()).collect();
        let alternatives = if access.is_one_enough() { 1 } else { permissions.len().max(1) };
        for some in permissions.chunks(alternatives) {
            builder = builder.security(SecurityRequirement::new(TOKEN, some.iter().copied()));
        }
        if permissions.is_empty() {
            builder = builder.security(SecurityRequirement::new(TOKEN, permissions));
        }
    }
    let mut responses = ResponsesBuilder::new();
    for answer in &operation.answers {
        let answered = success(operation, answer, access.is_some(), takes_key);
        responses = responses.response(answer.status.to_string(), answered);
    }
    for status in refusals(operation, access, takes_key) {
        if access.is_none() {
            responses = responses.response(status.to_string(), outside_refusal(status));
        } else if let Some(reference) = refusal(status, takes_key) {
            responses = responses.response(status.to_string(), RefOr::Ref(reference));
        }
    }
    builder.request_body(request_body(&operation.body)).responses(responses.build()).build()
}

/// Returns utoipa's type for a method.
pub(in crate::http) const fn method(verb: HttpVerb) -> HttpMethod {
    match verb {
        HttpVerb::Get => HttpMethod::Get,
        HttpVerb::Head => HttpMethod::Head,
        HttpVerb::Post => HttpMethod::Post,
        HttpVerb::Put => HttpMethod::Put,
        HttpVerb::Patch => HttpMethod::Patch,
        HttpVerb::Delete => HttpMethod::Delete,
    }
}

/// Returns the operation id. `PUT` does the same as `PATCH`, but ids must be unique.
fn operation_id(operation: &ApiOperation, verb: HttpVerb) -> String {
    if verb == HttpVerb::Put { format!("{}_by_put", operation.id) } else { operation.id.into() }
}

fn described(operation: &ApiOperation, access: Option<&AccessRule>) -> String {
    let mut words = vec![operation.words.to_owned()];
    if let Some(access) = access {
        let quoted = |permission: &str| format!("`{permission}`");
        let all: Vec<_> = access.permissions().iter().map(|needed| quoted(needed.as_str())).collect();
        words.push(match all.as_slice() {
            [] => "Permission: none, any valid token.".to_owned(),
            all if access.is_one_enough() => format!("Permission: {}.", all.join(" or ")),
            all => format!("Permission: {}.", all.join(" and ")),
        });
        for (parameter, permission) in access.flag_permissions() {
            words.push(format!("`{parameter}=true` also needs {}.", quoted(permission.as_str())));
        }
        if access.is_closed_to_confined() {
            words.push("Not available to tokens that are confined to an access scope.".to_owned());
        }
    }
    words.retain(|words| !words.is_empty());
    words.join("\n\n")
}

fn refusals(operation: &ApiOperation, access: Option<&AccessRule>, takes_key: bool) -> BTreeSet<u16> {
    let mut all: BTreeSet<u16> = operation.refusals.iter().copied().collect();
    if let Some(access) = access {
        all.extend(FOR_EVERYBODY);
        if !access.is_free_of_plan() {
            all.insert(403);
        }
        if operation.path.contains('{') {
            all.insert(404);
        }
    }
    if takes_key {
        all.extend([400, 409, 422]);
    }
    match operation.body {
        BodySpec::Ignored => {}
        BodySpec::Json { .. } => all.extend([400, 408, 413, 422]),
        // An upload that is too long is not read to its end, and refused with 422.
        BodySpec::File(_) => all.extend([400, 408, 422]),
    }
    all
}

fn success(operation: &ApiOperation, answer: &AnswerSpec, has_limits: bool, takes_key: bool) -> Response {
    let mut response = ResponseBuilder::new().description(answer.words);
    // A success may have several media types.
    for form in operation.answers.iter().filter(|other| other.status == answer.status) {
        let content = ContentBuilder::new().schema(Some(form.shape.clone().into_schema()));
        response = response.content(form.media_type, content.example(form.example.clone()).build());
    }
    if has_limits {
        response = with_headers_of_every_answer(response);
    }
    let further = [
        ("Location", answer.status == 201),
        ("Content-Language", operation.is_translated),
        ("Vary", operation.is_translated),
        ("Idempotent-Replayed", takes_key),
    ];
    for (name, _) in further.into_iter().filter(|(_, is_there)| *is_there) {
        response = response.header_ref(name, header_ref(name));
    }
    response.build()
}

fn request_body(body: &BodySpec) -> Option<RequestBody> {
    let mut required = Required::True;
    let (media_type, shape, example) = match body {
        BodySpec::Ignored => return None,
        BodySpec::Json { schema, example, is_required } => {
            required = if *is_required { Required::True } else { Required::False };
            ("application/json", named(schema), example.clone())
        }
        BodySpec::File(media_types) => {
            let file = string().format("binary").says(media_types);
            ("multipart/form-data", object().has("file", file), None)
        }
    };
    let content = ContentBuilder::new().schema(Some(shape.into_schema())).example(example).build();
    Some(RequestBodyBuilder::new().required(Some(required)).content(media_type, content).build())
}

fn parameters(operation: &ApiOperation, takes_key: bool) -> Vec<Parameter> {
    let names = operation.path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
    let mut all: Vec<Parameter> = names.map(in_path).collect();
    all.extend(operation.query.iter().map(in_query));
    let own = operation.headers.iter();
    all.extend(own.map(|header| in_header(header.name, header.shape.clone(), header.words)));
    if takes_key {
        let key = text(1, 255).pattern("^[!-~]{1,255}$");
        all.push(in_header("Idempotency-Key", key, "Makes the request safe to repeat for 24 hours."));
    }
    if operation.is_translated {
        let words =
            "Languages of the reader; the organisation's default is used when none of them is available.";
        all.push(in_header("Accept-Language", string().example("de-AT, en;q=0.5"), words));
    }
    all
}

fn in_path(name: &str) -> Parameter {
    let (shape, words): (ApiSchema, _) = match name {
        "secret" => (string().pattern("^[A-Za-z0-9_-]{43}$"), "The secret part of the ping address."),
        "calendar" => (
            string().pattern(r"^[A-Za-z0-9_-]{43}\.ics$"),
            "The secret part of the address, with its extension.",
        ),
        "kind" => (enum_of(&["logo", "logo-dark", "favicon"]), "The kind of file."),
        _ => (id(), "An id of 21 characters."),
    };
    let parameter =
        ParameterBuilder::new().name(name).parameter_in(ParameterIn::Path).required(Required::True);
    parameter.description(Some(words)).schema(Some(shape.into_schema())).build()
}

fn in_query(parameter: &QueryParameter) -> Parameter {
    let builder = ParameterBuilder::new().name(parameter.name).parameter_in(ParameterIn::Query);
    let builder = builder.required(Required::False).description(Some(parameter.words.as_str()));
    let builder = builder.schema(Some(parameter.shape.clone().into_schema()));
    if parameter.is_list {
        return builder.style(Some(ParameterStyle::Form)).explode(Some(false)).build();
    }
    builder.build()
}

fn in_header(name: &str, shape: ApiSchema, words: &str) -> Parameter {
    let parameter = ParameterBuilder::new().name(name).parameter_in(ParameterIn::Header);
    let parameter = parameter.required(Required::False).description(Some(words));
    parameter.schema(Some(shape.into_schema())).build()
}

impl ApiOperation {
    /// Adds `page` and `per_page` (contract 1.4).
    pub(in crate::http) fn paged(self, default: u64) -> Self {
        let most = u32::try_from(MAX_PER_PAGE).unwrap_or(u32::MAX);
        let page = integer().at_least(1).default_value(1);
        self.asks("page", page, "Number of the page; an invalid number means the first page.").asks(
            "per_page",
            integer().range(1, most).default_value(default),
            "Rows per page; clamped, never refused.",
        )
    }

    /// Adds `page` and `per_page` of a collection that is returned whole unless one of the two is sent (contract 1.4).
    pub(in crate::http) fn paged_on_demand(self) -> Self {
        let most = u32::try_from(MAX_PER_PAGE).unwrap_or(u32::MAX);
        let words = "Without `page` and `per_page` all rows are on one page.";
        let page = self.asks("page", integer().at_least(1), words);
        page.asks("per_page", integer().range(1, most), "Rows per page, 15 when only `page` is sent.")
    }
}
