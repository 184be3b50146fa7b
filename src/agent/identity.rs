//! The identity of this location: a machine becomes a location by an enrolment, with keys that it creates and keeps secret.
//!
//! The keys are on the disk before the request is sent, so that a machine without an answer repeats the request
//! with the same keys.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use secrecy::{ExposeSecret as _, SecretString};
use serde::{Deserialize, Serialize};

use crate::bus::connection::{BusConnection, BusServers};
use crate::bus::credentials::{self, BusCredentials};
use crate::bus::messages::enrolment::{EnrolmentGrant, EnrolmentRequest, JoinToken};
use crate::bus::private_files::{make_folder, read_secret, replace, write_secret};
use crate::bus::requests::ask;
use crate::bus::sealing::SealingKey;
use crate::bus::subjects::BusSubject;
use crate::bus::users::enrolment_of;
use crate::config::limits::BusLimits;
use crate::model::location::LocationCode;

/// The folder within the data folder that has these files.
const FOLDER: &str = "location";
/// The public data: code, name, servers.
const FILE: &str = "location.toml";
const AUTHORITY: &str = "ca.pem";
const USER_SEED: &str = "user.seed";
const SEALING_SEED: &str = "sealing.seed";
/// The token for the user's key; useless without that key.
const TOKEN: &str = "user.jwt";

/// The identity of this location.
#[derive(Clone, Debug)]
pub struct LocationIdentity {
    /// Code of the location.
    pub code: LocationCode,
    /// Display name of the location.
    pub name: String,
    /// The NATS servers.
    pub servers: BusServers,
    /// The key that opens the location's definitions.
    pub sealing: SealingKey,
    folder: PathBuf,
    user_seed: SecretString,
    token: String,
}

#[derive(Deserialize, Serialize)]
struct StoredIdentity {
    code: String,
    name: String,
    url: String,
    has_authority: bool,
}

impl LocationIdentity {
    /// Loads the identity of this machine; `None` if it is not a location yet.
    ///
    /// # Errors
    ///
    /// When a file cannot be used; the message is one line that names it.
    pub fn load(data_dir: &Path) -> anyhow::Result<Option<Self>> {
        let folder = data_dir.join(FOLDER);
        let file = folder.join(FILE);
        let text = match fs::read_to_string(&file) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error).with_context(|| file.display().to_string()),
        };
        let stored: StoredIdentity = toml::from_str(&text).with_context(|| file.display().to_string())?;
        let token = folder.join(TOKEN);
        Ok(Some(Self {
            code: stored.code.parse().with_context(|| file.display().to_string())?,
            name: stored.name,
            servers: servers(stored.url, stored.has_authority, &folder),
            sealing: SealingKey::from_seed(&secret(&folder, SEALING_SEED)?)?,
            user_seed: secret(&folder, USER_SEED)?,
            token: fs::read_to_string(&token).with_context(|| token.display().to_string())?,
            folder,
        }))
    }

    /// Enrols this machine as the location of the token.
    ///
    /// # Errors
    ///
    /// When the folder cannot be written, no node answers, or the request is refused; the message is one line.
    pub async fn enrol(data_dir: &Path, token: &JoinToken, limits: &BusLimits) -> anyhow::Result<Self> {
        let folder = data_dir.join(FOLDER);
        make_folder(&folder)?;
        let user_seed = kept_secret(&folder, USER_SEED, || Ok(credentials::new_user_seed()?))?;
        let sealing_seed = kept_secret(&folder, SEALING_SEED, || Ok(SealingKey::random().seed()?))?;
        let sealing = SealingKey::from_seed(&sealing_seed)?;
        if let Some(authority) = &token.authority {
            replace(&folder.join(AUTHORITY), authority)?;
        }
        let has_authority = token.authority.is_some();
        let servers = servers(token.url.clone(), has_authority, &folder);
        let enrolment = BusCredentials::parse(token.credentials.expose_secret())?;
        let Some(id) = enrolment_of(&enrolment.holder().name) else {
            bail!("this join token has no enrolment")
        };
        let request = EnrolmentRequest {
            user_key: credentials::public_key_of(&user_seed)?,
            sealing_key: sealing.public(),
        };
        let connection = BusConnection::open(&servers, enrolment, limits).await?;
        let answer: EnrolmentGrant = ask(&connection, &BusSubject::Enrol(id), &request)
            .await
            .context("this machine was not accepted as a location")?;
        let EnrolmentGrant { code, name, token } = answer;
        replace(&folder.join(TOKEN), &token)?;
        let stored = StoredIdentity {
            code: code.clone(),
            name: name.clone(),
            url: servers.url.clone(),
            has_authority,
        };
        // Written last: its presence means that all files exist.
        replace(&folder.join(FILE), &toml::to_string(&stored)?)?;
        Ok(Self { code: code.parse()?, name, servers, sealing, folder, user_seed, token })
    }

    /// Returns the credentials for the bus.
    ///
    /// # Errors
    ///
    /// When token and key in the files do not belong together.
    pub fn credentials(&self) -> anyhow::Result<BusCredentials> {
        let credentials = BusCredentials::from_seed(self.token.trim().to_owned(), &self.user_seed);
        credentials.with_context(|| format!("{} contains no location", self.folder.display()))
    }

    /// Stores a renewed token of the location.
    ///
    /// # Errors
    ///
    /// When the token is invalid, or cannot be written.
    pub fn renew(&mut self, token: String) -> anyhow::Result<BusCredentials> {
        let credentials = BusCredentials::from_seed(token.clone(), &self.user_seed)?;
        replace(&self.folder.join(TOKEN), &token)?;
        self.token = token;
        Ok(credentials)
    }
}

fn servers(url: String, has_authority: bool, folder: &Path) -> BusServers {
    BusServers { url, ca_file: has_authority.then(|| folder.join(AUTHORITY)) }
}

fn secret(folder: &Path, name: &str) -> anyhow::Result<SecretString> {
    let file = folder.join(name);
    read_secret(&file)?
        .with_context(|| format!("{} is missing; put it back, or enrol this machine again", file.display()))
}

fn kept_secret(
    folder: &Path,
    name: &str,
    make: impl FnOnce() -> anyhow::Result<SecretString>,
) -> anyhow::Result<SecretString> {
    let file = folder.join(name);
    if let Some(stored) = read_secret(&file)? {
        return Ok(stored);
    }
    let made = make()?;
    write_secret(&file, &made)?;
    Ok(made)
}
