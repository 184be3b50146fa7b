//! Tools of the API that do not know any resource: parsing requests, building responses, field rules.
//!
//! Everything here could serve another API unchanged, except for the texts of [`rule`] and [`quota`]. Nothing here
//! knows the route table or the application state.

pub mod bad_request;
pub mod body;
pub mod csv_cell;
pub mod error;
pub mod event_stream;
pub mod field;
pub mod field_errors;
pub mod fields;
pub mod known_input;
pub mod languages;
pub mod linked_ids;
pub mod organisation_slots;
pub mod page;
pub mod path;
pub mod query;
pub mod quota;
pub mod repeated_keys;
pub mod reply;
pub mod request_id;
pub mod rule;
pub mod slot;
pub mod stamped_cache;
mod store_error;
pub mod timestamp;
pub mod translated;
pub mod view;
