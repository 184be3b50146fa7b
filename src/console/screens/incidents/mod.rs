//! The incidents: a board by state, and the list of all of them with filters.

mod board;
pub(in crate::console) mod list;

pub(super) use board::show;
