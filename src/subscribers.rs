//! Subscribers of status pages: their addresses, and the messages to them.
//!
//! Operators' alerts are sent by `notify`, whose kinds of channels and mail conversation are used here too. The two share
//! no queue, so that subscribers never delay an alert.

pub mod access_mailer;
pub mod address;
pub mod counters;
pub mod courier;
mod message_texts;
mod news;
mod outgoing_mail;
pub mod page_tokens;
mod rendered_news;
pub mod sign_up;
