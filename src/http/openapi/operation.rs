//! The description of a resource's operations, as far as it is specific to them.
//!
//! `render` adds permissions, rate limits, paging and common refusals, which follow from the route.

use serde_json::{Value, json};

use crate::http::gate::route::HttpVerb;
use crate::http::openapi::shape::{ApiSchema, always_true, id, list_of, named, object};

/// The id used in examples.
const EXAMPLE_ID: &str = "rNSJxMbDTX2uHc08AiCqo";

/// The part of the document for one resource.
pub(in crate::http) struct ApiChapter {
    /// Tag of the operations in the document.
    pub(in crate::http) name: &'static str,
    /// A short description of the resource.
    pub(in crate::http) about: &'static str,
    /// Schemas of the resource by name.
    pub(in crate::http) schemas: Vec<(&'static str, ApiSchema)>,
    /// Operations, in reading order.
    pub(in crate::http) operations: Vec<ApiOperation>,
}

/// An operation: a method on a path.
pub(in crate::http) struct ApiOperation {
    /// First method of the operation; a route with several methods has only this description.
    pub(in crate::http) verb: HttpVerb,
    /// Path pattern of its route.
    pub(in crate::http) path: &'static str,
    /// `operationId`: the handler's name.
    pub(in crate::http) id: &'static str,
    /// Summary in a few words.
    pub(in crate::http) summary: &'static str,
    /// Further description.
    pub(in crate::http) words: &'static str,
    pub(in crate::http) query: Vec<QueryParameter>,
    /// Header parameters of this operation.
    pub(in crate::http) headers: Vec<HeaderParameter>,
    pub(in crate::http) body: BodySpec,
    /// Successful responses.
    pub(in crate::http) answers: Vec<AnswerSpec>,
    /// Statuses of the refusals of this operation, in addition to the common ones.
    pub(in crate::http) refusals: Vec<u16>,
    /// True if responses contain texts in the client's language.
    pub(in crate::http) is_translated: bool,
}

pub(in crate::http) struct QueryParameter {
    pub(in crate::http) name: &'static str,
    pub(in crate::http) words: String,
    pub(in crate::http) shape: ApiSchema,
    /// True for several values, separated by commas.
    pub(in crate::http) is_list: bool,
}

pub(in crate::http) struct HeaderParameter {
    pub(in crate::http) name: &'static str,
    pub(in crate::http) words: &'static str,
    pub(in crate::http) shape: ApiSchema,
}

/// The request body of an operation.
pub(in crate::http) enum BodySpec {
    /// The operation has no body; a body that is sent is ignored.
    Ignored,
    /// A JSON object of the schema with this name.
    Json { schema: &'static str, example: Option<Value>, is_required: bool },
    /// A form with one file. Holds the media types of the file.
    File(&'static str),
}

/// A successful response.
pub(in crate::http) struct AnswerSpec {
    pub(in crate::http) status: u16,
    pub(in crate::http) words: &'static str,
    pub(in crate::http) media_type: &'static str,
    pub(in crate::http) shape: ApiSchema,
    pub(in crate::http) example: Option<Value>,
}

impl ApiOperation {
    /// Creates an operation without parameters and body.
    pub(in crate::http) const fn new(
        verb: HttpVerb,
        path: &'static str,
        id: &'static str,
        summary: &'static str,
    ) -> Self {
        Self {
            verb,
            path,
            id,
            summary,
            words: "",
            query: Vec::new(),
            headers: Vec::new(),
            body: BodySpec::Ignored,
            answers: Vec::new(),
            refusals: Vec::new(),
            is_translated: false,
        }
    }

    pub(in crate::http) const fn says(mut self, words: &'static str) -> Self {
        self.words = words;
        self
    }

    /// Adds a query parameter with one value.
    pub(in crate::http) fn asks(mut self, name: &'static str, shape: ApiSchema, words: &str) -> Self {
        self.query.push(QueryParameter { name, words: words.into(), shape, is_list: false });
        self
    }

    /// Adds a query parameter with several values.
    pub(in crate::http) fn asks_list(mut self, name: &'static str, shape: ApiSchema, words: &str) -> Self {
        let words = format!(
            "{words} Several values: `{name}=a,b` or `{name}[]=a&{name}[]=b`; if the parameter is repeated without brackets, the last value counts."
        );
        self.query.push(QueryParameter { name, words, shape, is_list: true });
        self
    }

    pub(in crate::http) fn asks_in_header(
        mut self,
        name: &'static str,
        shape: ApiSchema,
        words: &'static str,
    ) -> Self {
        self.headers.push(HeaderParameter { name, words, shape });
        self
    }

    /// Sets a required JSON body of the named schema.
    pub(in crate::http) fn takes(mut self, schema: &'static str, example: Option<Value>) -> Self {
        self.body = BodySpec::Json { schema, example, is_required: true };
        self
    }

    /// Sets an optional JSON body of the named schema.
    pub(in crate::http) fn may_take(mut self, schema: &'static str, example: Option<Value>) -> Self {
        self.body = BodySpec::Json { schema, example, is_required: false };
        self
    }

    /// Sets a form with a file as the body.
    pub(in crate::http) fn takes_file(mut self, media_types: &'static str) -> Self {
        self.body = BodySpec::File(media_types);
        self
    }

    /// Adds a successful response with a JSON body.
    pub(in crate::http) fn answers(
        mut self,
        status: u16,
        words: &'static str,
        shape: ApiSchema,
        example: Option<Value>,
    ) -> Self {
        self.answers.push(AnswerSpec { status, words, media_type: "application/json", shape, example });
        self
    }

    /// Adds a successful response (200) with a body of another media type.
    pub(in crate::http) fn answers_with(
        mut self,
        media_type: &'static str,
        words: &'static str,
        shape: ApiSchema,
    ) -> Self {
        self.answers.push(AnswerSpec { status: 200, words, media_type, shape, example: None });
        self
    }

    /// Adds a 200 with one resource.
    pub(in crate::http) fn shows(self, words: &'static str, schema: &str, example: &Value) -> Self {
        self.answers(200, words, enveloped(named(schema)), Some(json!({"data": example})))
    }

    /// Adds a 201 with one resource.
    pub(in crate::http) fn creates(self, words: &'static str, schema: &str, example: &Value) -> Self {
        self.answers(201, words, enveloped(named(schema)), Some(json!({"data": example})))
    }

    /// Adds a 200 with a page of resources.
    pub(in crate::http) fn lists(self, words: &'static str, schema: &str, example: &Value) -> Self {
        let path = self.path.replace("{id}", EXAMPLE_ID);
        let path = format!("https://api.example.com{path}");
        let page = json!({
            "data": [example],
            "links": {"first": format!("{path}?page=1"), "last": format!("{path}?page=1"), "prev": null, "next": null},
            "meta": {"current_page": 1, "per_page": 15, "total": 1, "last_page": 1, "from": 1, "to": 1, "path": path},
        });
        self.answers(200, words, page_of(named(schema)), Some(page))
    }

    /// Adds a 200 with the id of the deleted resource.
    pub(in crate::http) fn deletes(self, words: &'static str) -> Self {
        let data = object().has("id", id()).has("deleted", always_true());
        let example = json!({"data": {"id": EXAMPLE_ID, "deleted": true}});
        self.answers(200, words, enveloped(data), Some(example))
    }

    pub(in crate::http) fn refuses(mut self, statuses: &[u16]) -> Self {
        self.refusals.extend(statuses);
        self
    }

    /// Marks the responses as containing texts in the client's language.
    pub(in crate::http) const fn translated(mut self) -> Self {
        self.is_translated = true;
        self
    }
}

/// Returns the schema of `{"data": …}`.
pub(in crate::http) fn enveloped(data: ApiSchema) -> ApiSchema {
    object().has("data", data)
}

/// Returns the schema of a page-based list (contract 1.4).
pub(in crate::http) fn page_of(row: ApiSchema) -> ApiSchema {
    enveloped(list_of(row)).has("links", named("PageLinks")).has("meta", named("PageMeta"))
}

/// Parses an example, which is stored as a JSON file next to the code.
pub(in crate::http) fn example(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_default()
}
