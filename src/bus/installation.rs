//! The folder that `watchkeeper nats-config` writes: configuration of the server, certificates, credentials, keys.
//!
//! Keys are created once and never overwritten; an invalid key file ends the run, and so does a missing key that an earlier
//! run created. Files that are derived from the keys (the configuration, the server's certificate) are written at each run.
//! Secrets are readable by their owner only (`private_files`).

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use nkeys::{KeyPair, KeyPairType};
use secrecy::{ExposeSecret as _, SecretString};

use crate::bus::accounts::{self, AccountKeys};
use crate::bus::certificates::{self, CertificateAuthority, CertificateProblem};
use crate::bus::credentials::{BusCredentials, CredentialsError};
use crate::bus::jwt::TokenError;
use crate::bus::private_files::{FileProblem, make_folder, read_secret, replace, write_secret};
use crate::bus::server_config::{self, ServerChoices, ServerTokens};
use crate::bus::users::{BusUser, TokenIssuer};
use crate::clock::Timestamp;
use crate::model::node::NodeName;

/// File with the choices of the last run.
const CHOICES: &str = "nats-config.toml";
const CONFIGURATION: &str = "nats-server.conf";
/// File with the authority's certificate, which clients pin.
const AUTHORITY: &str = "tls/ca.pem";
const AUTHORITY_KEY: &str = "keys/authority.key";
/// File with the key of the server's certificate.
const SERVER_KEY: &str = "tls/server.key";
/// File with the key with which engine nodes sign locations.
const LOCATIONS_KEY: &str = "locations.key";

/// The folder with the files of the bus.
#[derive(Clone, Debug)]
pub struct BusInstallation {
    folder: PathBuf,
}

/// The files of an installation.
#[derive(Clone, Debug)]
pub struct InstallationFiles {
    /// Path of `nats-server.conf`.
    pub configuration: PathBuf,
    /// The server's certificate and its key; `None` = the operator provides them.
    pub certificate: Option<(PathBuf, PathBuf)>,
    /// The authority's certificate, which clients pin.
    pub authority: PathBuf,
    /// The key with which engine nodes sign locations.
    pub locations_key: PathBuf,
    /// Nodes with their credentials; `true` = created by this run.
    pub nodes: Vec<(NodeName, PathBuf, bool)>,
    /// The folder of the keys of accounts, nodes and certificates.
    pub keys: PathBuf,
}

/// The folder cannot be written, as one line.
#[derive(Debug, thiserror::Error)]
pub enum InstallationProblem {
    /// A file or folder cannot be read or written.
    #[error(transparent)]
    File(#[from] FileProblem),
    /// A key that an earlier run created is missing.
    #[error("{0} is missing; put it back: a newly generated one would not match the existing credentials")]
    Missing(String),
    /// A file has unexpected content.
    #[error("{0}: {1}; move the file away if it is not needed")]
    Content(String, String),
    /// A token cannot be signed.
    #[error(transparent)]
    Token(#[from] TokenError),
    /// Credentials cannot be made.
    #[error(transparent)]
    Credentials(#[from] CredentialsError),
    /// A certificate cannot be created.
    #[error(transparent)]
    Certificate(#[from] CertificateProblem),
}

/// The keys that are stored in this folder only.
struct InstallationKeys {
    operator: KeyPair,
    system: KeyPair,
    engine: KeyPair,
    locations: KeyPair,
}

impl BusInstallation {
    /// The installation in this folder, which need not exist yet.
    #[must_use]
    pub fn at(folder: &Path) -> Self {
        Self { folder: folder.to_owned() }
    }

    /// Returns the choices of an earlier run; `None` = there was none.
    pub fn choices(&self) -> Result<Option<ServerChoices>, InstallationProblem> {
        let file = self.folder.join(CHOICES);
        let text = match fs::read_to_string(&file) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(FileProblem::at(&file, error).into()),
        };
        let choices = toml::from_str(&text).map_err(|error| content_problem(&file, error.message()))?;
        Ok(Some(choices))
    }

    /// Creates all keys, or expects those of the previous run; creates credentials of nodes that have none, and all derived
    /// files.
    ///
    /// # Errors
    ///
    /// When a file cannot be read or written; the message names it.
    pub fn write(
        &self,
        choices: &ServerChoices,
        nodes: &[NodeName],
        now: Timestamp,
    ) -> Result<InstallationFiles, InstallationProblem> {
        self.require_stored_keys(choices)?;
        for folder in ["", "keys", "nodes"] {
            make_folder(&self.folder.join(folder))?;
        }
        let keys = InstallationKeys {
            operator: self.key("operator", &KeyPairType::Operator)?,
            system: self.key("system", &KeyPairType::Account)?,
            engine: self.key("engine", &KeyPairType::Account)?,
            locations: self.key("locations", &KeyPairType::Account)?,
        };
        let signer = self.location_signer(&keys.locations.public_key())?;
        let known = self.known_nodes(&keys.engine.public_key())?;
        let authority = match &choices.own_certificate {
            Some(own) => own.authority.clone(),
            None => self.write_certificates(choices, now)?,
        };
        let configuration = self.folder.join(CONFIGURATION);
        let text = server_config::text(choices, &tokens(&keys, signer, now)?);
        replace(&configuration, &text)?;
        let text =
            toml::to_string(choices).map_err(|error| content_problem(&configuration, &error.to_string()))?;
        replace(&self.folder.join(CHOICES), &text)?;
        let tls = self.folder.join("tls");
        let made = choices.own_certificate.is_none();
        Ok(InstallationFiles {
            configuration,
            certificate: made.then(|| (tls.join("server.pem"), tls.join("server.key"))),
            authority,
            locations_key: self.folder.join(LOCATIONS_KEY),
            nodes: self.write_nodes(keys.engine, known, nodes, now)?,
            keys: self.folder.join("keys"),
        })
    }

    /// Fails if a key that an earlier run created is missing.
    fn require_stored_keys(&self, choices: &ServerChoices) -> Result<(), InstallationProblem> {
        let Some(before) = self.choices()? else { return Ok(()) };
        let mut expected_keys =
            ["operator", "system", "engine", "locations"].map(|name| format!("keys/{name}.seed")).to_vec();
        expected_keys.push(LOCATIONS_KEY.into());
        let has_authority = before.own_certificate.is_none() || self.folder.join(AUTHORITY).exists();
        if choices.own_certificate.is_none() && has_authority {
            expected_keys.extend([AUTHORITY_KEY, SERVER_KEY].map(str::to_owned));
        }
        let gone = expected_keys.iter().find(|key| !self.folder.join(key).exists());
        gone.map_or(Ok(()), |key| {
            Err(InstallationProblem::Missing(self.folder.join(key).display().to_string()))
        })
    }

    /// Reads a key, or creates it.
    fn key(&self, name: &str, kind: &KeyPairType) -> Result<KeyPair, InstallationProblem> {
        let file = self.folder.join("keys").join(format!("{name}.seed"));
        let new = || {
            let seed = KeyPair::new(kind.clone()).seed();
            seed.map(SecretString::from).map_err(|error| content_problem(&file, &error.to_string()))
        };
        let seed = read_or_make(&file, new)?;
        let key = KeyPair::from_seed(seed.expose_secret().trim()).ok();
        let key = key.filter(|key| key.key_pair_type() == *kind);
        key.ok_or_else(|| content_problem(&file, "the file contains no key of the expected kind"))
    }

    /// Returns the public key that signs users of the locations' account. The key's file is created when it is
    /// missing.
    fn location_signer(&self, account: &str) -> Result<String, InstallationProblem> {
        let file = self.folder.join(LOCATIONS_KEY);
        read_or_make(&file, || Ok(TokenIssuer::new(account.to_owned(), KeyPair::new_account()).to_text()?))?;
        let issuer = TokenIssuer::read(&file).map_err(|problem| content_problem(&file, &problem))?;
        if issuer.account() != account {
            return Err(content_problem(&file, "the key belongs to another installation"));
        }
        Ok(issuer.signer())
    }

    /// Writes the authority and the server's certificate; returns the authority's file.
    fn write_certificates(
        &self,
        choices: &ServerChoices,
        now: Timestamp,
    ) -> Result<PathBuf, InstallationProblem> {
        let folder = self.folder.join("tls");
        make_folder(&folder)?;
        let new_key = || Ok(SecretString::from(certificates::new_key()?));
        let authority_key = read_or_make(&self.folder.join(AUTHORITY_KEY), new_key)?;
        let server_key = read_or_make(&self.folder.join(SERVER_KEY), new_key)?;
        let authority = CertificateAuthority::with_key(authority_key.expose_secret(), now)?;
        let server = authority.sign_server(&choices.names, server_key.expose_secret(), now)?;
        let file = self.folder.join(AUTHORITY);
        // Clients have pinned the authority's certificate, so it is written only once.
        match fs::read_to_string(&file) {
            Ok(pem) if authority.is_in(&pem) => {}
            Ok(_) => {
                return Err(content_problem(&file, "the certificate does not belong to keys/authority.key"));
            }
            Err(error) if error.kind() == ErrorKind::NotFound => replace(&file, &authority.pem())?,
            Err(error) => return Err(FileProblem::at(&file, error).into()),
        }
        replace(&folder.join("server.pem"), &server)?;
        Ok(file)
    }

    /// Creates credentials of nodes that have none; returns all nodes, by name.
    fn write_nodes(
        &self,
        engine: KeyPair,
        mut all: Vec<(NodeName, PathBuf, bool)>,
        nodes: &[NodeName],
        now: Timestamp,
    ) -> Result<Vec<(NodeName, PathBuf, bool)>, InstallationProblem> {
        let issuer = TokenIssuer::new(engine.public_key(), engine);
        for node in nodes {
            if all.iter().any(|(known, ..)| known == node) {
                continue;
            }
            let file = self.folder.join("nodes").join(format!("{node}.creds"));
            let credentials = issuer.credentials(&BusUser::Node(node.clone()), now, None)?;
            write_secret(&file, &credentials.to_text()?)?;
            all.push((node.clone(), file, true));
        }
        all.sort();
        Ok(all)
    }

    /// Returns the nodes with credentials in this folder, which must belong to this engine account.
    fn known_nodes(&self, account: &str) -> Result<Vec<(NodeName, PathBuf, bool)>, InstallationProblem> {
        let folder = self.folder.join("nodes");
        let mut known = Vec::new();
        for entry in fs::read_dir(&folder).map_err(|error| FileProblem::at(&folder, error))? {
            let file = entry.map_err(|error| FileProblem::at(&folder, error))?.path();
            let name = file.file_name().and_then(|name| name.to_str()?.strip_suffix(".creds"));
            let Some(Ok(node)) = name.map(str::parse::<NodeName>) else { continue };
            let text = read_secret(&file)?.unwrap_or_default();
            let credentials = BusCredentials::parse(text.expose_secret())
                .map_err(|error| content_problem(&file, &error.to_string()))?;
            if credentials.holder().issuer != account {
                return Err(content_problem(&file, "the file belongs to another installation"));
            }
            known.push((node, file, false));
        }
        Ok(known)
    }
}

fn tokens(
    keys: &InstallationKeys,
    location_signer: String,
    now: Timestamp,
) -> Result<ServerTokens, TokenError> {
    let public = AccountKeys {
        system: keys.system.public_key(),
        engine: keys.engine.public_key(),
        locations: keys.locations.public_key(),
        location_signer,
    };
    let operator = &keys.operator;
    Ok(ServerTokens {
        operator: accounts::operator_token(operator, &public, now)?,
        accounts: vec![
            (public.system.clone(), accounts::system_token(operator, &public, now)?),
            (public.engine.clone(), accounts::engine_token(operator, &public, now)?),
            (public.locations.clone(), accounts::locations_token(operator, &public, now)?),
        ],
        system_account: public.system,
    })
}

/// Reads a secret; creates it when it is missing.
fn read_or_make(
    file: &Path,
    make: impl FnOnce() -> Result<SecretString, InstallationProblem>,
) -> Result<SecretString, InstallationProblem> {
    if let Some(text) = read_secret(file)? {
        return Ok(text);
    }
    let text = make()?;
    write_secret(file, &text)?;
    Ok(text)
}

fn content_problem(file: &Path, problem: &str) -> InstallationProblem {
    InstallationProblem::Content(file.display().to_string(), problem.to_owned())
}

#[cfg(test)]
mod tests;
