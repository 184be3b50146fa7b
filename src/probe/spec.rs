//! What one check shall do, parsed and ready: no text is parsed again while checks run.
//!
//! A [`CheckSpec`] is compiled once from a stored service (with its secrets opened) and shared by every run.
