//! The certificate authorities that connections trust: the system's, and those of the operator.
//!
//! An empty system store is a warning, not an error: plain HTTP and TCP need none.

use std::path::{Path, PathBuf};

use rustls::RootCertStore;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;

/// The operator's file of authorities (`probe.ca_file`) cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("probe.ca_file {}: {reason}", path.display())]
pub struct CaFileError {
    /// Path of the file.
    pub path: PathBuf,
    /// The defect of the file.
    pub reason: String,
}

/// Reads the system's store and `ca_file`, a list of PEM certificates.
pub(crate) fn authorities(ca_file: Option<&Path>) -> Result<RootCertStore, CaFileError> {
    let mut roots = RootCertStore::empty();
    let system = rustls_native_certs::load_native_certs();
    roots.add_parsable_certificates(system.certs);
    if roots.is_empty() {
        let problems: Vec<String> = system.errors.iter().map(ToString::to_string).collect();
        let error = problems.join("; ");
        tracing::warn!(
            error,
            "no certificate authorities found; install the ca-certificates of this system or set probe.ca_file"
        );
    }
    if let Some(path) = ca_file {
        add_file(&mut roots, path)?;
    }
    Ok(roots)
}

fn add_file(roots: &mut RootCertStore, path: &Path) -> Result<(), CaFileError> {
    let refused = |reason: String| CaFileError { path: path.to_owned(), reason };
    let certificates = CertificateDer::pem_file_iter(path).map_err(|error| refused(error.to_string()))?;
    let mut added = 0_usize;
    for certificate in certificates {
        let certificate = certificate.map_err(|error| refused(error.to_string()))?;
        roots.add(certificate).map_err(|error| refused(error.to_string()))?;
        added += 1;
    }
    if added == 0 {
        return Err(refused("it holds no certificate".to_owned()));
    }
    Ok(())
}
