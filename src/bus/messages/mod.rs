//! The messages between engine nodes and locations on the bus, and their parsing.
//!
//! - [`enrolment`]: a machine becomes a location, and renews its token.
//! - [`definition`]: the checks of one service at a location.
//! - [`results`]: the results of a location.
//! - [`check_request`]: requests for checks outside the schedule.
//! - [`presence`]: the state of a location.
//! - [`question`]: requests between engine nodes; [`recent`]: requests for recently stored data.
//!
//! Unknown fields are ignored, so that two versions can run side by side; a missing field or one of another form makes the
//! whole message invalid.

pub mod check_request;
pub mod definition;
pub mod enrolment;
pub mod presence;
pub mod question;
pub mod recent;
pub mod results;
