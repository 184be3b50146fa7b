//! What goes over the bus between engine nodes and locations, and how it is read.
//!
//! - [`enrolment`]: a machine becomes a location, and stays it.
//! - [`definition`]: what a location has to check of one service.
//! - [`results`]: what it has found.
//! - [`look`]: what it is asked for beside its schedule.
//! - [`presence`]: how it is.
//! - [`question`]: what engine nodes ask each other; [`recent`]: about what they have stored.
//!
//! A field that a reader does not know is skipped, so that two versions can run side by side; one that is missing or has
//! another form makes the whole message none.

pub mod definition;
pub mod enrolment;
pub mod look;
pub mod presence;
pub mod question;
pub mod recent;
pub mod results;
