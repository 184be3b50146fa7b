//! The paths outside of `/v1`, none of which asks for a token: pings of jobs, calendars, uploaded pictures, and what operators
//! ask.

pub(super) mod assets;
pub(super) mod calendar;
pub(super) mod front;
pub(super) mod front_page;
mod icalendar;
pub(super) mod openapi;
pub(super) mod operation;
pub(super) mod ping;
pub(super) mod ping_limiter;
