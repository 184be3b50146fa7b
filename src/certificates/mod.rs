//! Certificates of custom domains: obtained by ACME (RFC 8555), kept sealed in the main database, served by every node.
//!
//! ```text
//! a custom domain is active ─► CertificateIssuer ──► CertificateOrder ──► authority, over egress
//!                              one order at a time     │ answer to the challenge
//!                                  │ certificate       ▼
//!                                  ▼             table acme_challenge
//!                  table domain_certificate            │
//!                                  └────► CertificateCache of each node ◄────┘
//!                                            │ by server name      │ by token, or by server name
//!                                            ▼                     ▼
//!                                    TLS connections        HTTP-01, TLS-ALPN-01
//! ```
//!
//! - When an order is due and how long a failed one waits is decided by `model::certificate`.
//! - Of several nodes the leading one orders, and only with the order lock of the database. The state of a domain is stored
//!   before its order begins, so two nodes that both believe to lead, or a process that dies, cause no second order.
//! - An authority may ask any node. The issuer stores the answer to a challenge, and lets the others read it before it
//!   reports to the authority that it is ready.
//! - A renewed certificate replaces the former one in memory. Connections that exist are not affected, and until then the
//!   former one is valid, so there is no moment without a certificate.
//! - Chains with their keys, and the key of the account, are sealed with the key of the installation (`CertificateVault`).
//!
//! Only verified custom domains get certificates: neither the host of the API nor `{slug}.{statuspage_host}`, which may have
//! too many names for an authority.

mod acme_transport;
mod authority;
mod bundle;
mod cache;
mod challenge_certificate;
mod issuer;
mod order;
mod server_names;
mod vault;

pub use authority::AcmeAuthority;
pub use cache::CertificateCache;
pub use issuer::{CertificateIssuer, OrderHold};
pub use server_names::{ServerTls, TlsSetupError};
pub use vault::CertificateVault;
