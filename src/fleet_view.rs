//! The services of an organisation in memory, for the lists of the console.

pub mod query;
pub mod query_parser;
