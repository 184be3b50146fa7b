//! The services of an organisation in memory, for the lists of the console: a query of 100,000 services takes milliseconds.

pub mod fleet_facts;
pub mod fleet_row;
pub mod listing;
pub mod query;
pub mod query_parser;
pub mod revision_log;
pub mod summary;
pub mod tag_dictionary;
pub mod view;
pub mod visible_tags;

mod columns;
mod evaluation;
mod location_sets;
mod owner_absence;
mod packed_lists;
mod row_set;
