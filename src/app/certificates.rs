//! Sets up certificates of custom domains from the settings.

use std::sync::Arc;

use anyhow::Context as _;

use crate::app::Foundation;
use crate::certificates::{AcmeAuthority, CertificateCache, CertificateIssuer, CertificateVault};
use crate::clock::Clock;
use crate::config::Config;
use crate::egress::outbound::{OutboundClient, OutboundError, OutboundParts};
use crate::egress::{CaFileError, EgressGate, EgressPolicy};
use crate::http::v1::state::AppState;
use crate::notify::message_hold::MessageHold;

/// Returns the cache of certificates, if this server obtains certificates.
pub(super) fn cache(foundation: &Foundation) -> Option<CertificateCache> {
    let Foundation { config, databases, clock, sealer } = foundation;
    config.acme.directory_url.as_ref()?;
    Some(CertificateCache::new(databases.main.clone(), CertificateVault::new(sealer.clone()), clock.clone()))
}

/// Returns the issuer of certificates, if this server obtains certificates.
///
/// # Errors
/// When the name servers or the certificate authorities cannot be used.
pub(super) fn issuer(foundation: &Foundation, state: &AppState) -> anyhow::Result<Option<CertificateIssuer>> {
    let Foundation { config, databases, clock, sealer } = foundation;
    let acme = &config.acme;
    let (Some(directory_url), Some(cache)) = (&acme.directory_url, &state.certificates) else {
        return Ok(None);
    };
    // A copy restored from a backup must not order in place of the original.
    let hold = MessageHold::of(&config.data_dir);
    let outbound = acme_client(config, clock)?;
    Ok(Some(CertificateIssuer {
        main: databases.main.clone(),
        guard: Arc::clone(&state.guard),
        ownership: state.router.ownership.clone(),
        vault: CertificateVault::new(sealer.clone()),
        authority: AcmeAuthority::new(directory_url.clone(), acme.contact.clone(), outbound, clock.clone()),
        has_http_listener: acme.http_listen.is_some(),
        cache: cache.clone(),
        is_held: Arc::new(move || hold.is_in_force()),
    }))
}

/// Returns the client for the authority. The operator has chosen its address, so it may be private whatever checks may reach.
fn acme_client(config: &Config, clock: &Clock) -> anyhow::Result<OutboundClient> {
    let client = OutboundClient::new(OutboundParts {
        egress: EgressGate { policy: EgressPolicy::PrivateAllowed, source: None },
        dns_servers: &config.probe.dns_servers,
        ca_file: config.acme.ca_file.as_deref(),
        clock: clock.clone(),
    });
    client
        .map_err(|error| match error {
            OutboundError::CaFile(CaFileError { path, reason }) => {
                anyhow::anyhow!("acme.ca_file {}: {reason}", path.display())
            }
            error => anyhow::Error::new(error),
        })
        .context("certificates cannot be obtained")
}
