//! The paths outside of `/v1`, which need no token: pings, calendars, uploaded images, and operational endpoints.

pub(super) mod assets;
pub(super) mod calendar;
pub(super) mod certificates;
pub(super) mod console;
pub(super) mod front;
pub(super) mod front_page;
pub(super) mod openapi;
pub(super) mod operation;
pub(super) mod ping;
pub(super) mod ping_limiter;
pub(super) mod requested_host;
