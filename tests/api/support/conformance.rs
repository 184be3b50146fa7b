//! Holds every answer against the OpenAPI document of the very server that gave it: status, content type, headers, body.
//!
//! So each test of the API is a test of its description as well. Bodies are held against closed schemas: a member that
//! is not described is refused here, although clients must put up with it. Operations that the document does not know
//! (a wrong method, an unknown path) are not checked.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use jsonschema::{Draft, Validator};
use percent_encoding::percent_decode_str;
use serde_json::{Value, json};

use crate::support::client::{Answer, exchange};

static DOCUMENTS: Mutex<Option<HashMap<SocketAddr, Arc<Document>>>> = Mutex::new(None);

/// Validators by the text of their schema and the document's other schemas: servers differ in little but their address.
static VALIDATORS: Mutex<Option<HashMap<String, Arc<Validator>>>> = Mutex::new(None);

/// The document of one server.
pub(crate) struct Document {
    whole: Value,
    /// With every object closed.
    schemas: Value,
    /// Tells documents with other schemas apart.
    fingerprint: u64,
}

/// Fails when `answer` is not what the server's own document says about this operation.
pub(crate) fn check(address: SocketAddr, method: &str, target: &str, answer: &Answer) {
    if let Err(problem) = document(address).check(method, target, answer) {
        panic!("{method} {target}: {problem}\n{} {:?}\n{}", answer.status, answer.headers, answer.body);
    }
}

/// Forgets the document of a server that has answered there before: a new one has the port now.
pub(crate) fn forget(address: SocketAddr) {
    let mut documents = DOCUMENTS.lock().unwrap_or_else(PoisonError::into_inner);
    documents.get_or_insert_default().remove(&address);
}

fn document(address: SocketAddr) -> Arc<Document> {
    let mut documents = DOCUMENTS.lock().unwrap_or_else(PoisonError::into_inner);
    let known = documents.get_or_insert_default().entry(address);
    let document = known.or_insert_with(|| {
        let asked = format!("GET /openapi.json HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
        Arc::new(Document::new(exchange(address, asked.as_bytes()).expect(200).json()))
    });
    Arc::clone(document)
}

impl Document {
    pub(crate) fn new(whole: Value) -> Self {
        let mut schemas = whole["components"]["schemas"].clone();
        close(&mut schemas);
        let mut hasher = DefaultHasher::new();
        schemas.to_string().hash(&mut hasher);
        Self { whole, schemas, fingerprint: hasher.finish() }
    }

    /// Violations of the description by a response.
    pub(crate) fn check(&self, method: &str, target: &str, answer: &Answer) -> Result<(), String> {
        let method = if method == "HEAD" { "GET" } else { method };
        let Some(operation) = self.operation(method, target) else { return Ok(()) };
        let described = &operation["responses"][answer.status.to_string()];
        if described.is_null() {
            return Err(format!("the status {} is not described", answer.status));
        }
        let described = self.resolve(described);
        for (name, header) in described["headers"].as_object().into_iter().flatten() {
            self.check_header(name, self.resolve(header), answer)?;
        }
        self.check_body(described, answer)
    }

    /// Violations of the schema by the body of a request.
    pub(crate) fn check_request(&self, method: &str, target: &str, body: &Value) -> Result<(), String> {
        let operation = self.operation(method, target).expect("the operation is described");
        let content = &self.resolve(&operation["requestBody"])["content"]["application/json"];
        let validator = compile(&content["schema"], &self.whole["components"]["schemas"]);
        found(&validator, body)
    }

    fn check_header(&self, name: &str, header: &Value, answer: &Answer) -> Result<(), String> {
        let schema = self.resolve(&header["schema"]);
        match answer.header(&name.to_lowercase()) {
            None if header["required"] == true => Err(format!("the header {name} is missing")),
            None => Ok(()),
            Some(text) => {
                let is_whole = schema["type"] == "integer";
                let value =
                    text.parse::<u64>().ok().filter(|_| is_whole).map_or_else(|| json!(text), Value::from);
                self.validate(schema, &value).map_err(|problem| format!("the header {name}: {problem}"))
            }
        }
    }

    fn check_body(&self, described: &Value, answer: &Answer) -> Result<(), String> {
        let sent = answer.header("content-type").unwrap_or_default();
        let media_type = sent.split(';').next().unwrap_or_default().trim();
        let content = &described["content"][media_type];
        if content.is_null() {
            return Err(format!("the content type {sent:?} is not described"));
        }
        // The answer to HEAD.
        if answer.body.is_empty() {
            return Ok(());
        }
        let is_json = media_type == "application/json";
        let body = if is_json { answer.json() } else { answer.body.as_str().into() };
        let mut schema = content["schema"].clone();
        close(&mut schema);
        self.validate(&schema, &body)
    }

    /// The operation that a request means: the most exact path that fits.
    fn operation(&self, method: &str, target: &str) -> Option<&Value> {
        let path = target.split('?').next().unwrap_or_default();
        let path = path.strip_suffix('/').unwrap_or(path);
        let fitting = self.whole["paths"].as_object()?.iter().filter(|(pattern, _)| fits(pattern, path));
        let (_, item) = fitting.min_by_key(|(pattern, _)| pattern.matches('{').count())?;
        item.get(method.to_lowercase())
    }

    fn resolve<'v>(&'v self, value: &'v Value) -> &'v Value {
        let pointer = value["$ref"].as_str().and_then(|reference| reference.strip_prefix('#'));
        pointer.map_or(value, |pointer| self.whole.pointer(pointer).expect("a reference leads somewhere"))
    }

    fn validate(&self, schema: &Value, value: &Value) -> Result<(), String> {
        let key = format!("{} {schema}", self.fingerprint);
        let mut validators = VALIDATORS.lock().unwrap_or_else(PoisonError::into_inner);
        let known = validators.get_or_insert_default().entry(key);
        let validator = Arc::clone(known.or_insert_with(|| Arc::new(compile(schema, &self.schemas))));
        drop(validators);
        found(&validator, value)
    }
}

fn compile(schema: &Value, schemas: &Value) -> Validator {
    let whole = json!({"allOf": [schema], "components": {"schemas": schemas}});
    let options = jsonschema::options().with_draft(Draft::Draft202012).offline();
    options.should_validate_formats(true).build(&whole).unwrap_or_else(|error| panic!("{error}: {schema}"))
}

/// Every problem of a value.
fn found(validator: &Validator, value: &Value) -> Result<(), String> {
    let problems = validator.iter_errors(value);
    let problems: Vec<_> =
        problems.map(|problem| format!("{}: {problem}", problem.instance_path())).collect();
    if problems.is_empty() { Ok(()) } else { Err(problems.join("\n")) }
}

fn fits(pattern: &str, path: &str) -> bool {
    let mut given = path.split('/');
    let same = |wanted: &str| {
        let given = given.next().map(|segment| percent_decode_str(segment).decode_utf8_lossy());
        given.is_some_and(|given| if wanted.starts_with('{') { !given.is_empty() } else { given == wanted })
    };
    pattern.split('/').all(same) && given.next().is_none()
}

/// Refuses members that are not named.
fn close(value: &mut Value) {
    match value {
        Value::Object(members) => {
            members.values_mut().for_each(close);
            if members.get("properties").is_some_and(Value::is_object)
                && !members.contains_key("additionalProperties")
            {
                members.insert("additionalProperties".into(), false.into());
            }
        }
        Value::Array(items) => items.iter_mut().for_each(close),
        _ => {}
    }
}
