//! Schemas in the terms of the contract: `text(1, 255)`, `nullable`, `has`, `may_have`.
//!
//! A thin layer over utoipa's schema types, so that the description of a resource reads like its table in the contract.
//! Members keep the order in which they are added. This module does not know any resource.

use std::ops::RangeInclusive;

use serde_json::Value;
use utoipa::PartialSchema;
use utoipa::openapi::schema::{
    AdditionalProperties, AllOf, AnyOfBuilder, Array, Object, ObjectBuilder, OneOfBuilder, Schema,
    SchemaFormat, SchemaType, Type,
};
use utoipa::openapi::{ArrayBuilder, Ref, RefOr};

#[derive(Clone)]
pub(in crate::http) struct ApiSchema(RefOr<Schema>);

pub(in crate::http) fn string() -> ApiSchema {
    ApiSchema::of(Type::String)
}

/// A string whose length is counted in Unicode scalar values after trimming.
pub(in crate::http) fn text(min: usize, max: usize) -> ApiSchema {
    string().edit(|object| (object.min_length, object.max_length) = (Some(min), Some(max)))
}

pub(in crate::http) fn integer() -> ApiSchema {
    ApiSchema::of(Type::Integer)
}

pub(in crate::http) fn number() -> ApiSchema {
    ApiSchema::of(Type::Number)
}

pub(in crate::http) fn boolean() -> ApiSchema {
    ApiSchema::of(Type::Boolean)
}

pub(in crate::http) fn anything() -> ApiSchema {
    ApiSchema(ObjectBuilder::new().schema_type(SchemaType::AnyValue).build().into())
}

pub(in crate::http) fn enum_of(words: &[&str]) -> ApiSchema {
    let words: Vec<Value> = words.iter().map(|word| Value::from(*word)).collect();
    string().edit(|object| object.enum_values = Some(words))
}

/// A boolean that is always `true`.
pub(in crate::http) fn always_true() -> ApiSchema {
    boolean().edit(|object| object.enum_values = Some(vec![true.into()]))
}

/// An id of 21 characters (contract 1.5).
pub(in crate::http) fn id() -> ApiSchema {
    string().pattern("^[A-Za-z0-9_-]{21}$")
}

/// A timestamp in responses (contract 1.6).
pub(in crate::http) fn timestamp() -> ApiSchema {
    string().format("date-time").pattern(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$")
}

/// A timestamp in requests: with any offset or none, or a plain date (contract 1.6).
pub(in crate::http) fn instant() -> ApiSchema {
    let forms = any_of([string().format("date-time"), string().format("date")]);
    forms.says("ISO 8601; without offset it is UTC, a plain date is midnight UTC. Years 1970 to 2200.")
}

/// A colour of the form `#RRGGBB`.
pub(in crate::http) fn color() -> ApiSchema {
    string().pattern("^#[0-9A-Fa-f]{6}$")
}

pub(in crate::http) fn url() -> ApiSchema {
    string().format("uri")
}

/// An object without members; add them with `has` and `may_have`.
pub(in crate::http) fn object() -> ApiSchema {
    ApiSchema::of(Type::Object)
}

/// An object with values of one shape under any key.
pub(in crate::http) fn map_of(values: ApiSchema) -> ApiSchema {
    let values = AdditionalProperties::RefOr(values.0);
    object().edit(|object| object.additional_properties = Some(Box::new(values)))
}

pub(in crate::http) fn list_of(items: ApiSchema) -> ApiSchema {
    ApiSchema(ArrayBuilder::new().items(items.0).build().into())
}

/// An object in requests, for which PHP clients send an empty list if it is empty (contract 1.2).
pub(in crate::http) fn or_empty_list(shape: ApiSchema) -> ApiSchema {
    any_of([shape, list_of(anything()).items(0, 0)])
}

/// Reference to a schema of `components`.
pub(in crate::http) fn named(name: &str) -> ApiSchema {
    ApiSchema(Ref::from_schema_name(name).into())
}

/// Exactly one of these shapes.
pub(in crate::http) fn one_of(shapes: impl IntoIterator<Item = ApiSchema>) -> ApiSchema {
    let builder = shapes.into_iter().fold(OneOfBuilder::new(), |builder, shape| builder.item(shape.0));
    ApiSchema(RefOr::T(Schema::OneOf(builder.build())))
}

/// Returns the schema of a view. Members of flattened views come first, as in the response.
pub(in crate::http) fn view<V: PartialSchema>() -> ApiSchema {
    match V::schema() {
        RefOr::T(Schema::AllOf(parts)) => ApiSchema(merged(parts).into()),
        schema => ApiSchema(schema),
    }
}

/// Merges the parts into one object with the members of all.
fn merged(parts: AllOf) -> Object {
    let mut whole = ObjectBuilder::new().schema_type(SchemaType::Type(Type::Object)).build();
    for part in parts.items {
        if let RefOr::T(Schema::Object(part)) = part {
            whole.required.extend(part.required);
            whole.properties.extend(part.properties);
        }
    }
    whole.description = parts.description;
    whole
}

/// A string with a length in this range.
pub(in crate::http) fn text_in(length: &RangeInclusive<usize>) -> ApiSchema {
    text(*length.start(), *length.end())
}

pub(in crate::http) fn string_or_null() -> ApiSchema {
    string().nullable()
}

pub(in crate::http) fn timestamp_or_null() -> ApiSchema {
    timestamp().nullable()
}

/// An absolute URL or null.
pub(in crate::http) fn url_or_null() -> ApiSchema {
    url().nullable()
}

pub(in crate::http) fn percent_or_null() -> ApiSchema {
    number().percent().nullable()
}

/// A duration or null: a non-negative number.
pub(in crate::http) fn duration_or_null() -> ApiSchema {
    number().at_least(0).nullable()
}

/// At least one of these shapes.
pub(in crate::http) fn any_of(shapes: impl IntoIterator<Item = ApiSchema>) -> ApiSchema {
    let builder = shapes.into_iter().fold(AnyOfBuilder::new(), |builder, shape| builder.item(shape.0));
    ApiSchema(RefOr::T(Schema::AnyOf(builder.build())))
}

/// A translatable text in requests (contract 1.11).
pub(in crate::http) fn translatable(length: &RangeInclusive<usize>) -> ApiSchema {
    let each = string().length(None, *length.end());
    let translations = map_of(each).edit(|object| object.min_properties = Some(1));
    one_of([text_in(length), translations])
        .says("A text in the organisation's default language, or an object with one text per language.")
}

/// A translatable text in responses: an object with one text per language.
pub(in crate::http) fn translations() -> ApiSchema {
    map_of(string()).says("One text per language.")
}

impl ApiSchema {
    fn of(kind: Type) -> Self {
        Self(ObjectBuilder::new().schema_type(SchemaType::Type(kind)).build().into())
    }

    fn edit(mut self, change: impl FnOnce(&mut Object)) -> Self {
        if let RefOr::T(Schema::Object(object)) = &mut self.0 {
            change(object);
        }
        self
    }

    fn edit_list(mut self, change: impl FnOnce(&mut Array)) -> Self {
        if let RefOr::T(Schema::Array(array)) = &mut self.0 {
            change(array);
        }
        self
    }

    fn length(self, min: Option<usize>, max: usize) -> Self {
        self.edit(|object| (object.min_length, object.max_length) = (min, Some(max)))
    }

    /// Sets the description.
    pub(in crate::http) fn says(mut self, words: &str) -> Self {
        let words = words.to_owned();
        match &mut self.0 {
            RefOr::Ref(reference) => reference.description = words,
            RefOr::T(Schema::Object(object)) => object.description = Some(words),
            RefOr::T(Schema::Array(array)) => array.description = Some(words),
            RefOr::T(Schema::OneOf(one_of)) => one_of.description = Some(words),
            RefOr::T(Schema::AnyOf(any_of)) => any_of.description = Some(words),
            RefOr::T(_) => {}
        }
        self
    }

    /// Sets a regular expression for the names of an object's members.
    pub(in crate::http) fn named_like(self, pattern: &str) -> Self {
        let names = ObjectBuilder::new().schema_type(SchemaType::Type(Type::String)).pattern(Some(pattern));
        self.edit(|object| object.property_names = Some(Box::new(names.build().into())))
    }

    /// Sets the maximum number of members of an object.
    pub(in crate::http) fn members(self, max: usize) -> Self {
        self.edit(|object| object.max_properties = Some(max))
    }

    pub(in crate::http) fn nullable(mut self) -> Self {
        match &mut self.0 {
            RefOr::T(Schema::Object(object)) => {
                or_null(&mut object.schema_type);
                if let Some(values) = &mut object.enum_values {
                    values.push(Value::Null);
                }
                self
            }
            RefOr::T(Schema::Array(array)) => {
                or_null(&mut array.schema_type);
                self
            }
            RefOr::T(Schema::OneOf(one_of)) => {
                one_of.items.push(Self::of(Type::Null).0);
                self
            }
            RefOr::T(Schema::AnyOf(any_of)) => {
                any_of.items.push(Self::of(Type::Null).0);
                self
            }
            _ => one_of([self, Self::of(Type::Null)]),
        }
    }

    /// Sets the default, which applies when the value is missing.
    pub(in crate::http) fn default_value(mut self, value: impl Into<Value>) -> Self {
        match &mut self.0 {
            RefOr::T(Schema::Object(object)) => object.default = Some(value.into()),
            RefOr::T(Schema::Array(array)) => array.default = Some(value.into()),
            RefOr::T(Schema::OneOf(one_of)) => one_of.default = Some(value.into()),
            _ => {}
        }
        self
    }

    /// Sets a regular expression for the value.
    pub(in crate::http) fn pattern(self, pattern: &str) -> Self {
        self.edit(|object| object.pattern = Some(pattern.into()))
    }

    /// Sets a format of JSON Schema.
    pub(in crate::http) fn format(self, format: &str) -> Self {
        self.edit(|object| object.format = Some(SchemaFormat::Custom(format.into())))
    }

    /// Sets the smallest and the largest number.
    pub(in crate::http) fn range(self, min: u32, max: u32) -> Self {
        self.edit(|object| (object.minimum, object.maximum) = (Some(min.into()), Some(max.into())))
    }

    /// Sets the smallest number.
    pub(in crate::http) fn at_least(self, min: u32) -> Self {
        self.edit(|object| object.minimum = Some(min.into()))
    }

    /// Limits the number to a percentage.
    pub(in crate::http) fn percent(self) -> Self {
        self.range(0, 100)
    }

    /// Sets the smallest and the largest number of entries of a list.
    pub(in crate::http) fn items(self, min: usize, max: usize) -> Self {
        self.edit_list(|array| {
            array.min_items = (min > 0).then_some(min);
            array.max_items = Some(max);
        })
    }

    pub(in crate::http) fn example(mut self, value: impl Into<Value>) -> Self {
        match &mut self.0 {
            RefOr::T(Schema::Object(object)) => object.examples = vec![value.into()],
            RefOr::T(Schema::Array(array)) => array.examples = vec![value.into()],
            RefOr::T(Schema::OneOf(one_of)) => one_of.examples = vec![value.into()],
            _ => {}
        }
        self
    }

    /// Adds a member that is always present.
    pub(in crate::http) fn has(self, name: &str, shape: Self) -> Self {
        self.edit(|object| object.required.push(name.into())).may_have(name, shape)
    }

    /// Adds a member that may be missing.
    pub(in crate::http) fn may_have(self, name: &str, shape: Self) -> Self {
        self.edit(|object| {
            object.properties.insert(name.into(), shape.0);
        })
    }

    /// Replaces the shape of a member by a narrower one.
    pub(in crate::http) fn narrowed(self, name: &str, shape: Self) -> Self {
        self.may_have(name, shape)
    }

    /// Adds members of one shape that are always present.
    pub(in crate::http) fn has_all(self, names: &[&str], shape: &Self) -> Self {
        names.iter().fold(self, |object, name| object.has(name, shape.clone()))
    }

    /// Adds members of one shape that may be missing.
    pub(in crate::http) fn may_have_all(self, names: &[&str], shape: &Self) -> Self {
        names.iter().fold(self, |object, name| object.may_have(name, shape.clone()))
    }

    /// Makes these members required.
    pub(in crate::http) fn needs(self, names: &[&str]) -> Self {
        self.edit(|object| object.required.extend(names.iter().map(|name| (*name).to_owned())))
    }

    /// Makes every member optional.
    pub(in crate::http) fn needs_nothing(self) -> Self {
        self.edit(|object| object.required.clear())
    }

    /// Forbids other members.
    pub(in crate::http) fn closed(self) -> Self {
        let nothing = AdditionalProperties::FreeForm(false);
        self.edit(|object| object.additional_properties = Some(Box::new(nothing)))
    }

    pub(in crate::http) fn into_schema(self) -> RefOr<Schema> {
        self.0
    }
}

impl From<ApiSchema> for RefOr<Schema> {
    fn from(shape: ApiSchema) -> Self {
        shape.0
    }
}

fn or_null(kind: &mut SchemaType) {
    if let SchemaType::Type(only) = kind {
        *kind = SchemaType::Array(vec![only.clone(), Type::Null]);
    }
}

#[cfg(test)]
mod tests;
