//! The description that a resource gives of its operations: the part that no other operation shares.
//!
//! Permissions, rate limits, paging and the refusals that every operation knows are added by `render`, from the route.

use serde_json::{Value, json};

use crate::http::gate::route::Verb;
use crate::http::openapi::shape::{Shape, always_true, id, list_of, named, object};

/// The id in examples.
const EXAMPLE_ID: &str = "rNSJxMbDTX2uHc08AiCqo";

/// One resource: its part of the document.
pub(in crate::http) struct Chapter {
    /// Its tag.
    pub(in crate::http) name: &'static str,
    /// A short description of the resource.
    pub(in crate::http) about: &'static str,
    /// Its schemas by name.
    pub(in crate::http) schemas: Vec<(&'static str, Shape)>,
    /// Its operations, in reading order.
    pub(in crate::http) operations: Vec<Operation>,
}

/// One operation: a method on a path.
pub(in crate::http) struct Operation {
    /// Its first method; a route with several documents all of them here.
    pub(in crate::http) verb: Verb,
    /// The pattern of its route.
    pub(in crate::http) path: &'static str,
    /// `operationId`: the handler's name.
    pub(in crate::http) id: &'static str,
    /// The summary: what it does, in a few words.
    pub(in crate::http) summary: &'static str,
    /// The further description.
    pub(in crate::http) words: &'static str,
    /// Its parameters in the query string.
    pub(in crate::http) query: Vec<QueryParameter>,
    /// Its own parameters among the headers.
    pub(in crate::http) headers: Vec<HeaderParameter>,
    /// The body that it wants.
    pub(in crate::http) body: Body,
    /// Its successes.
    pub(in crate::http) answers: Vec<Answer>,
    /// Statuses of refusals that are its own.
    pub(in crate::http) refusals: Vec<u16>,
    /// True if its answers hold texts in the reader's language.
    pub(in crate::http) is_translated: bool,
}

/// A parameter in the query string.
pub(in crate::http) struct QueryParameter {
    pub(in crate::http) name: &'static str,
    pub(in crate::http) words: String,
    pub(in crate::http) shape: Shape,
    /// Several values with commas between.
    pub(in crate::http) is_list: bool,
}

/// A parameter among the headers.
pub(in crate::http) struct HeaderParameter {
    pub(in crate::http) name: &'static str,
    pub(in crate::http) words: &'static str,
    pub(in crate::http) shape: Shape,
}

/// The body that an operation wants.
pub(in crate::http) enum Body {
    /// Nothing; a body is not looked at.
    Ignored,
    /// A JSON object of the schema with this name.
    Json { schema: &'static str, example: Option<Value>, is_required: bool },
    /// A form with one file; the media types of the file.
    File(&'static str),
}

/// A success.
pub(in crate::http) struct Answer {
    pub(in crate::http) status: u16,
    pub(in crate::http) words: &'static str,
    pub(in crate::http) media_type: &'static str,
    pub(in crate::http) shape: Shape,
    pub(in crate::http) example: Option<Value>,
}

impl Operation {
    /// An operation that asks for nothing yet.
    pub(in crate::http) const fn new(
        verb: Verb,
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
            body: Body::Ignored,
            answers: Vec::new(),
            refusals: Vec::new(),
            is_translated: false,
        }
    }

    /// Adds a further description.
    pub(in crate::http) const fn says(mut self, words: &'static str) -> Self {
        self.words = words;
        self
    }

    /// A parameter with one value.
    pub(in crate::http) fn asks(mut self, name: &'static str, shape: Shape, words: &str) -> Self {
        self.query.push(QueryParameter { name, words: words.into(), shape, is_list: false });
        self
    }

    /// A parameter with several values.
    pub(in crate::http) fn asks_list(mut self, name: &'static str, shape: Shape, words: &str) -> Self {
        let words = format!(
            "{words} Several values: `{name}=a,b` or `{name}[]=a&{name}[]=b`; of a plain repetition the last one counts."
        );
        self.query.push(QueryParameter { name, words, shape, is_list: true });
        self
    }

    /// A parameter among the headers.
    pub(in crate::http) fn asks_in_header(
        mut self,
        name: &'static str,
        shape: Shape,
        words: &'static str,
    ) -> Self {
        self.headers.push(HeaderParameter { name, words, shape });
        self
    }

    /// A JSON body of the schema with this name.
    pub(in crate::http) fn takes(mut self, schema: &'static str, example: Option<Value>) -> Self {
        self.body = Body::Json { schema, example, is_required: true };
        self
    }

    /// A JSON body of the schema with this name, which may be left out.
    pub(in crate::http) fn may_take(mut self, schema: &'static str, example: Option<Value>) -> Self {
        self.body = Body::Json { schema, example, is_required: false };
        self
    }

    /// A file in a form.
    pub(in crate::http) fn takes_file(mut self, media_types: &'static str) -> Self {
        self.body = Body::File(media_types);
        self
    }

    /// A success with a JSON body.
    pub(in crate::http) fn answers(
        mut self,
        status: u16,
        words: &'static str,
        shape: Shape,
        example: Option<Value>,
    ) -> Self {
        self.answers.push(Answer { status, words, media_type: "application/json", shape, example });
        self
    }

    /// A success with a body that is no JSON.
    pub(in crate::http) fn answers_with(
        mut self,
        media_type: &'static str,
        words: &'static str,
        shape: Shape,
    ) -> Self {
        self.answers.push(Answer { status: 200, words, media_type, shape, example: None });
        self
    }

    /// 200 with one resource.
    pub(in crate::http) fn shows(self, words: &'static str, schema: &str, example: &Value) -> Self {
        self.answers(200, words, enveloped(named(schema)), Some(json!({"data": example})))
    }

    /// 201 with one resource.
    pub(in crate::http) fn creates(self, words: &'static str, schema: &str, example: &Value) -> Self {
        self.answers(201, words, enveloped(named(schema)), Some(json!({"data": example})))
    }

    /// 200 with a page of resources.
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

    /// 200 with the id of what is gone.
    pub(in crate::http) fn deletes(self, words: &'static str) -> Self {
        let data = object().has("id", id()).has("deleted", always_true());
        let example = json!({"data": {"id": EXAMPLE_ID, "deleted": true}});
        self.answers(200, words, enveloped(data), Some(example))
    }

    /// Refusals of its own.
    pub(in crate::http) fn refuses(mut self, statuses: &[u16]) -> Self {
        self.refusals.extend(statuses);
        self
    }

    /// Its answers hold texts in the reader's language.
    pub(in crate::http) const fn translated(mut self) -> Self {
        self.is_translated = true;
        self
    }
}

/// `{"data": …}`.
pub(in crate::http) fn enveloped(data: Shape) -> Shape {
    object().has("data", data)
}

/// The envelope of a page-based list (contract 1.4).
pub(in crate::http) fn page_of(row: Shape) -> Shape {
    enveloped(list_of(row)).has("links", named("PageLinks")).has("meta", named("PageMeta"))
}

/// An example that is kept as a file beside the code.
pub(in crate::http) fn example(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_default()
}
