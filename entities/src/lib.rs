//! The tables of the main and history databases, one module each.
//!
//! The history database has the tables `location`, `fresh_check`, `status_change`, `history_segment`, `history_progress`
//! and `partition_hold`, and in its segments `check_block` and `check_rollup`. All other tables belong to the main
//! database: organisations, tokens, services, tags, incidents, maintenances, status pages and more. Times are Unix
//! milliseconds, and columns that end in `_us` are microseconds. Rows contain no rules.

pub mod access_scope;
pub mod access_scope_tag;
pub mod acme_account;
pub mod acme_challenge;
pub mod asset;
pub mod check_block;
pub mod check_rollup;
pub mod clock_mark;
pub mod component;
pub mod contact;
pub mod contact_calendar;
pub mod custom_domain;
pub mod domain_certificate;
pub mod escalation;
pub mod escalation_policy;
pub mod event;
pub mod feed_position;
pub mod fresh_check;
pub mod heartbeat;
pub mod history_erasure;
pub mod history_progress;
pub mod history_segment;
pub mod idempotency_key;
pub mod incident;
pub mod incident_automation;
pub mod incident_group_key;
pub mod incident_policy;
pub mod incident_service;
pub mod incident_statuspage;
pub mod incident_update;
pub mod installation;
pub mod listening_span;
pub mod location;
pub mod maintenance;
pub mod maintenance_reminder;
pub mod maintenance_series;
pub mod maintenance_series_service;
pub mod maintenance_series_statuspage;
pub mod maintenance_service;
pub mod maintenance_skip;
pub mod maintenance_statuspage;
pub mod maintenance_update;
pub mod notice;
pub mod notification_channel;
pub mod notification_delivery;
pub mod notification_try;
pub mod oncall_absence;
pub mod oncall_cover_request;
pub mod oncall_override;
pub mod oncall_schedule;
pub mod organisation;
pub mod outage;
pub mod page_access_link;
pub mod partition_hold;
pub mod probe_location;
pub mod service;
pub mod service_dependency;
pub mod service_tag;
pub mod service_window;
pub mod sla_target;
pub mod slug_hold;
pub mod status_change;
pub mod statuspage;
pub mod subscriber;
pub mod subscriber_component;
pub mod subscriber_delivery;
pub mod subscriber_fact;
pub mod subscriber_fact_page;
pub mod tag;
pub mod token;
