//! The folder that `watchkeeper nats-config` writes: configuration of the server, certificates, credentials, keys.
//!
//! Keys are made once and never written again; a file that should be a key and is none ends the run. What follows from the keys
//! (the configuration, the server's certificate) is written anew each time. Secrets have mode 0600 from their first byte.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use nkeys::{KeyPair, KeyPairType};
use secrecy::{ExposeSecret as _, SecretString};

use crate::bus::accounts::{self, AccountKeys};
use crate::bus::certificates::{self, Authority, CertificateProblem};
use crate::bus::credentials::{Credentials, CredentialsError};
use crate::bus::jwt::TokenError;
use crate::bus::node::NodeName;
use crate::bus::server_config::{self, ServerChoices, ServerTokens};
use crate::bus::users::{Issuer, User};
use crate::clock::Timestamp;

/// What was chosen, so that the next run knows it.
const CHOICES: &str = "nats-config.toml";
/// The server's configuration.
const CONFIGURATION: &str = "nats-server.conf";
/// The key with which engine nodes sign locations.
const LOCATIONS_KEY: &str = "locations.key";

/// An installation's folder.
#[derive(Clone, Debug)]
pub struct Installation {
    folder: PathBuf,
}

/// The files of an installation.
#[derive(Clone, Debug)]
pub struct InstallationFiles {
    /// `nats-server.conf`.
    pub configuration: PathBuf,
    /// The server's certificate and its key; `None` = the operator's own, elsewhere.
    pub certificate: Option<(PathBuf, PathBuf)>,
    /// The authority that clients pin.
    pub authority: PathBuf,
    /// The key with which engine nodes sign locations.
    pub locations_key: PathBuf,
    /// Nodes with their credentials; `true` = made by this run.
    pub nodes: Vec<(NodeName, PathBuf, bool)>,
    /// The keys that make accounts, nodes and certificates.
    pub keys: PathBuf,
}

/// The folder cannot be written, in one line.
#[derive(Debug, thiserror::Error)]
pub enum InstallationProblem {
    /// A file or folder cannot be read or written.
    #[error("{0}: {1}")]
    File(String, std::io::Error),
    /// A file holds something else than it should.
    #[error("{0}: {1}; move it away if it is of no use")]
    Content(String, String),
    /// A token cannot be signed.
    #[error(transparent)]
    Token(#[from] TokenError),
    /// Credentials cannot be made.
    #[error(transparent)]
    Credentials(#[from] CredentialsError),
    /// A certificate cannot be made.
    #[error(transparent)]
    Certificate(#[from] CertificateProblem),
}

/// The keys that only this folder holds.
struct Keys {
    operator: KeyPair,
    system: KeyPair,
    engine: KeyPair,
    locations: KeyPair,
}

impl Installation {
    /// The installation in this folder, which need not be there yet.
    #[must_use]
    pub fn at(folder: &Path) -> Self {
        Self { folder: folder.to_owned() }
    }

    /// What an earlier run was told; `None` = there was none.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn choices(&self) -> Result<Option<ServerChoices>, InstallationProblem> {
        let file = self.folder.join(CHOICES);
        let text = match fs::read_to_string(&file) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(file_problem(&file, error)),
        };
        let choices = toml::from_str(&text).map_err(|error| content_problem(&file, error.message()))?;
        Ok(Some(choices))
    }

    /// Makes the keys that are missing, credentials of nodes that have none, and everything that follows from them.
    ///
    /// # Errors
    /// One line that names the file.
    pub fn write(
        &self,
        choices: &ServerChoices,
        nodes: &[NodeName],
        now: Timestamp,
    ) -> Result<InstallationFiles, InstallationProblem> {
        for folder in ["", "keys", "nodes"] {
            make_folder(&self.folder.join(folder))?;
        }
        let keys = Keys {
            operator: self.key("operator", &KeyPairType::Operator)?,
            system: self.key("system", &KeyPairType::Account)?,
            engine: self.key("engine", &KeyPairType::Account)?,
            locations: self.key("locations", &KeyPairType::Account)?,
        };
        let signer = self.location_signer(&keys.locations.public_key())?;
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
            nodes: self.write_nodes(keys.engine, nodes, now)?,
            keys: self.folder.join("keys"),
        })
    }

    /// Reads a key, or makes it.
    fn key(&self, name: &str, kind: &KeyPairType) -> Result<KeyPair, InstallationProblem> {
        let file = self.folder.join("keys").join(format!("{name}.seed"));
        let new = || {
            let seed = KeyPair::new(kind.clone()).seed();
            seed.map(SecretString::from).map_err(|error| content_problem(&file, &error.to_string()))
        };
        let seed = read_or_make(&file, new)?;
        let key = KeyPair::from_seed(seed.expose_secret().trim()).ok();
        let key = key.filter(|key| key.key_pair_type() == *kind);
        key.ok_or_else(|| content_problem(&file, "it holds another kind of key, or none"))
    }

    /// The public key of who signs users of the locations' account; its file is made when it is missing.
    fn location_signer(&self, account: &str) -> Result<String, InstallationProblem> {
        let file = self.folder.join(LOCATIONS_KEY);
        read_or_make(&file, || Ok(Issuer::new(account.to_owned(), KeyPair::new_account()).to_text()?))?;
        let issuer = Issuer::read(&file).map_err(|problem| content_problem(&file, &problem))?;
        if issuer.account() != account {
            return Err(content_problem(&file, "it is the key of another installation"));
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
        let authority_key = read_or_make(&self.folder.join("keys/authority.key"), new_key)?;
        let server_key = read_or_make(&folder.join("server.key"), new_key)?;
        let authority = Authority::with_key(authority_key.expose_secret(), now)?;
        let server = authority.sign_server(&choices.names, server_key.expose_secret(), now)?;
        replace(&folder.join("server.pem"), &server)?;
        let file = folder.join("ca.pem");
        // Who has pinned it keeps it: it is written once.
        if !file.exists() {
            replace(&file, &authority.pem())?;
        }
        Ok(file)
    }

    /// Credentials of nodes that have none; returns all nodes, by name.
    fn write_nodes(
        &self,
        engine: KeyPair,
        nodes: &[NodeName],
        now: Timestamp,
    ) -> Result<Vec<(NodeName, PathBuf, bool)>, InstallationProblem> {
        let folder = self.folder.join("nodes");
        let mut all = self.known_nodes(&folder)?;
        let issuer = Issuer::new(engine.public_key(), engine);
        for node in nodes {
            if all.iter().any(|(known, ..)| known == node) {
                continue;
            }
            let file = folder.join(format!("{node}.creds"));
            let credentials = issuer.credentials(&User::Node(node.clone()), now, None)?;
            write_new(&file, &credentials.to_text()?, 0o600).map_err(|error| file_problem(&file, error))?;
            all.push((node.clone(), file, true));
        }
        all.sort();
        Ok(all)
    }

    fn known_nodes(&self, folder: &Path) -> Result<Vec<(NodeName, PathBuf, bool)>, InstallationProblem> {
        let mut known = Vec::new();
        for entry in fs::read_dir(folder).map_err(|error| file_problem(folder, error))? {
            let file = entry.map_err(|error| file_problem(folder, error))?.path();
            let name = file.file_name().and_then(|name| name.to_str()?.strip_suffix(".creds"));
            let Some(Ok(node)) = name.map(str::parse::<NodeName>) else { continue };
            Credentials::read(&file).map_err(|error| content_problem(&file, &error.to_string()))?;
            known.push((node, file, false));
        }
        Ok(known)
    }
}

fn tokens(keys: &Keys, location_signer: String, now: Timestamp) -> Result<ServerTokens, TokenError> {
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

fn make_folder(folder: &Path) -> Result<(), InstallationProblem> {
    let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
    made.map_err(|error| file_problem(folder, error))
}

/// Reads a file; makes it, for its owner alone, when it is missing.
fn read_or_make(
    file: &Path,
    make: impl FnOnce() -> Result<SecretString, InstallationProblem>,
) -> Result<SecretString, InstallationProblem> {
    match fs::read_to_string(file) {
        Ok(text) => Ok(text.into()),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let text = make()?;
            write_new(file, &text, 0o600).map_err(|error| file_problem(file, error))?;
            Ok(text)
        }
        Err(error) => Err(file_problem(file, error)),
    }
}

/// Writes a file that is not there yet, and has it on the disk.
fn write_new(file: &Path, text: &SecretString, mode: u32) -> std::io::Result<()> {
    let mut opened = OpenOptions::new().write(true).create_new(true).mode(mode).open(file)?;
    opened.write_all(text.expose_secret().as_bytes())?;
    opened.sync_all()
}

/// Writes a file that holds no secret anew: readers see the old one or the new one.
fn replace(file: &Path, text: &str) -> Result<(), InstallationProblem> {
    let beside = file.with_extension("new");
    let written = match fs::remove_file(&beside) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => write_new(&beside, &text.into(), 0o644),
    };
    written.and_then(|()| fs::rename(&beside, file)).map_err(|error| file_problem(file, error))
}

fn file_problem(file: &Path, error: std::io::Error) -> InstallationProblem {
    InstallationProblem::File(file.display().to_string(), error)
}

fn content_problem(file: &Path, problem: &str) -> InstallationProblem {
    InstallationProblem::Content(file.display().to_string(), problem.to_owned())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    const NOW: Timestamp = Timestamp::from_ms(1_767_225_600_000);

    fn choices(folder: &Path) -> ServerChoices {
        ServerChoices {
            listen: "127.0.0.1:4222".into(),
            names: vec!["localhost".into()],
            server_folder: folder.into(),
            store_folder: folder.join("jetstream"),
            max_bytes: 1 << 30,
            own_certificate: None,
        }
    }

    /// Every file but the two that follow from the rest: content and mode.
    fn kept(folder: &Path) -> BTreeMap<PathBuf, (String, u32)> {
        let mut found = BTreeMap::new();
        for part in ["", "keys", "nodes", "tls"] {
            for entry in fs::read_dir(folder.join(part)).unwrap() {
                let path = entry.unwrap().path();
                let follows = ["nats-server.conf", "server.pem"].iter().any(|name| path.ends_with(name));
                if path.is_file() && !follows {
                    let mode = path.metadata().unwrap().permissions().mode() & 0o777;
                    found.insert(path.clone(), (fs::read_to_string(&path).unwrap(), mode));
                }
            }
        }
        found
    }

    #[test]
    fn another_node_changes_nothing_that_is_there() {
        let folder = tempfile::tempdir().unwrap();
        let (installation, choices) = (Installation::at(folder.path()), choices(folder.path()));
        let first = installation.write(&choices, &["a".parse().unwrap()], NOW).unwrap();
        let before = kept(folder.path());
        let both = ["a".parse().unwrap(), "b".parse().unwrap()];
        let second = installation.write(&choices, &both, NOW.plus_ms(86_400_000)).unwrap();
        let after = kept(folder.path());
        assert_eq!(first.nodes.len(), 1);
        let made: Vec<bool> = second.nodes.iter().map(|(.., made)| *made).collect();
        assert_eq!(made, [false, true]);
        assert_eq!(after.len(), before.len() + 1);
        assert!(before.iter().all(|(path, content)| after.get(path) == Some(content)));
        assert_eq!(installation.choices().unwrap(), Some(choices));
    }

    #[test]
    fn secrets_are_for_their_owner_alone() {
        let folder = tempfile::tempdir().unwrap();
        let installation = Installation::at(folder.path());
        installation.write(&choices(folder.path()), &["a".parse().unwrap()], NOW).unwrap();
        for (path, (text, mode)) in kept(folder.path()) {
            let is_secret = ["SEED", "PRIVATE KEY", "signing_key"].iter().any(|mark| text.contains(mark))
                || path.extension().is_some_and(|end| end == "seed");
            assert!(!is_secret || mode == 0o600, "{} has mode {mode:o}", path.display());
        }
        let text = fs::read_to_string(folder.path().join(CONFIGURATION)).unwrap();
        assert!(!text.contains("SEED") && !text.contains("PRIVATE"));
    }

    #[test]
    fn what_is_no_key_is_never_written_over() {
        let folder = tempfile::tempdir().unwrap();
        let installation = Installation::at(folder.path());
        installation.write(&choices(folder.path()), &[], NOW).unwrap();
        for name in ["keys/operator.seed", "keys/engine.seed", "keys/authority.key", "locations.key"] {
            let file = folder.path().join(name);
            let right = fs::read_to_string(&file).unwrap();
            fs::write(&file, "something else").unwrap();
            assert!(installation.write(&choices(folder.path()), &[], NOW).is_err(), "{name}");
            assert_eq!(fs::read_to_string(&file).unwrap(), "something else");
            fs::write(&file, right).unwrap();
        }
        assert!(installation.write(&choices(folder.path()), &[], NOW).is_ok());
    }
}
