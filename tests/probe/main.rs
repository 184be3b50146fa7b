//! Probes against real listeners on loopback: each test says what a target does and what the check makes of it.

#![allow(clippy::unwrap_used, reason = "what a test sets up is expected to work")]

mod dns;
mod egress;
mod http;
mod http2;
mod http_endless;
mod http_hostile;
mod http_redirects;
mod icmp;
mod mail;
mod names;
mod network_lost;
mod outbound;
mod references;
mod ssl;
mod support;
mod surge;
mod tcp;
mod timings;
mod tls;
mod tls_rsa;
mod tolerance;
