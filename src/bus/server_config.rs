//! The text of `nats-server.conf`.
//!
//! It contains no secret: operator and accounts are signed tokens, keys are named by path. Tokens alone decide who may
//! connect, so a new location or node needs no change here.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// Maximum number of connections to the server, of all accounts.
pub const CONNECTIONS: u32 = 4_096;

/// The operator's choices for the server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerChoices {
    /// Address and port of the listener.
    pub listen: String,
    /// Names and addresses of the server, which its certificate contains.
    pub names: Vec<String>,
    /// The folder of the configuration and the certificates, on the server's machine.
    pub server_folder: PathBuf,
    /// The folder of the streams, on the server's machine.
    pub store_folder: PathBuf,
    /// Maximum size of all streams together, in bytes.
    pub max_bytes: u64,
    /// The operator's own certificate; `None` for a certificate that is signed by the authority created here.
    pub own_certificate: Option<OwnCertificate>,
}

/// The operator's own certificate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnCertificate {
    /// The certificate with its chain (PEM) on the server's machine.
    pub certificate: PathBuf,
    /// Key (PEM) of that certificate, on the server's machine.
    pub key: PathBuf,
    /// The authority that signed the certificate (PEM), for clients to pin.
    pub authority: PathBuf,
}

/// The tokens in the configuration.
#[derive(Clone, Debug)]
pub struct ServerTokens {
    /// Token of the operator.
    pub operator: String,
    /// Public key of the system account.
    pub system_account: String,
    /// Accounts: public key and token.
    pub accounts: Vec<(String, String)>,
}

impl ServerChoices {
    /// The certificate on the server's machine.
    #[must_use]
    pub fn certificate(&self) -> PathBuf {
        let made = || self.server_folder.join("tls/server.pem");
        self.own_certificate.as_ref().map_or_else(made, |own| own.certificate.clone())
    }

    /// The certificate's key on the server's machine.
    #[must_use]
    pub fn key(&self) -> PathBuf {
        let made = || self.server_folder.join("tls/server.key");
        self.own_certificate.as_ref().map_or_else(made, |own| own.key.clone())
    }
}

/// Returns the text of the configuration.
#[must_use]
pub fn text(choices: &ServerChoices, tokens: &ServerTokens) -> String {
    let accounts: String = tokens.accounts.iter().map(|(key, token)| format!("  {key}: {token}\n")).collect();
    format!(
        "# Made by watchkeeper nats-config, which overwrites it; it contains no secret. Needs nats-server 2.11 or newer.
server_name: \"watchkeeper\"
listen: {listen}

# Every connection is encrypted; clients pin the authority.
tls {{
  cert_file: {certificate}
  key_file: {key}
  timeout: 5
}}

jetstream {{
  store_dir: {store}
  max_file_store: {max_bytes}
  max_memory_store: 268435456
  # An acknowledged message is on the disk, not only in the memory of the machine.
  sync_interval: \"always\"
}}

max_payload: 1048576
max_connections: {CONNECTIONS}
write_deadline: \"10s\"

operator: {operator}
system_account: {system_account}
resolver: MEMORY
resolver_preload {{
{accounts}}}
",
        listen = quoted(&choices.listen),
        certificate = quoted_path(&choices.certificate()),
        key = quoted_path(&choices.key()),
        store = quoted_path(&choices.store_folder),
        max_bytes = choices.max_bytes,
        operator = tokens.operator,
        system_account = tokens.system_account,
    )
}

fn quoted_path(path: &Path) -> String {
    quoted(&path.to_string_lossy())
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_certificate_files_replace_those_in_the_server_folder() {
        let mut choices = ServerChoices {
            listen: "0.0.0.0:4222".into(),
            names: vec!["localhost".into()],
            server_folder: "/etc/nats \"x\"".into(),
            store_folder: "/var/lib/nats".into(),
            max_bytes: 7,
            own_certificate: None,
        };
        let tokens = ServerTokens { operator: "O".into(), system_account: "S".into(), accounts: Vec::new() };
        let made = text(&choices, &tokens);
        assert!(made.contains("cert_file: \"/etc/nats \\\"x\\\"/tls/server.pem\""), "{made}");
        assert!(made.contains("sync_interval: \"always\""), "{made}");
        choices.own_certificate = Some(OwnCertificate {
            certificate: "/c.pem".into(),
            key: "/c.key".into(),
            authority: "/ca.pem".into(),
        });
        let own = text(&choices, &tokens);
        assert!(own.contains("cert_file: \"/c.pem\"\n  key_file: \"/c.key\""), "{own}");
    }
}
