//! What happens at its time and not at a client's wish: the actors that look at the clock.
//!
//! Each keeps nothing that the database does not know, so a restart loses nothing and delays little.

pub mod domains;
