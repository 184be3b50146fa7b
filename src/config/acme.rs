//! `[acme]`: certificates for custom domains, obtained from an authority by ACME (RFC 8555), and the listeners that serve them.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::config::listen_address::ListenAddress;
use crate::config::rule;

/// The settings of certificates.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default, expecting = "a table such as [acme]")]
pub struct AcmeConfig {
    /// Address of the authority's directory; `None` = no certificates are obtained.
    #[serde(deserialize_with = "rule::https_url")]
    pub directory_url: Option<String>,
    /// True if the operator has accepted the authority's terms of service.
    #[serde(deserialize_with = "rule::yes_or_no")]
    pub terms_accepted: bool,
    /// E-mail address for messages of the authority; `None` = no address is given.
    #[serde(deserialize_with = "rule::mail_address")]
    pub contact: Option<String>,
    /// Further authorities (PEM) that may have signed the certificate of the directory's server.
    #[serde(deserialize_with = "rule::file")]
    pub ca_file: Option<PathBuf>,
    /// Address for HTTPS, which visitors and the authority reach at port 443.
    #[serde(deserialize_with = "rule::https_address")]
    pub https_listen: Option<ListenAddress>,
    /// Address for HTTP, which visitors and the authority reach at port 80; `None` = TLS-ALPN-01 is the only challenge.
    #[serde(deserialize_with = "rule::http_address")]
    pub http_listen: Option<ListenAddress>,
}

impl AcmeConfig {
    /// Checks that the settings fit together.
    ///
    /// # Errors
    /// The setting that is missing, or has no effect, in one line.
    pub(super) fn check(&self) -> Result<(), String> {
        if self.directory_url.is_none() {
            let without_effect = [
                ("acme.terms_accepted", self.terms_accepted),
                ("acme.contact", self.contact.is_some()),
                ("acme.ca_file", self.ca_file.is_some()),
                ("acme.https_listen", self.https_listen.is_some()),
                ("acme.http_listen", self.http_listen.is_some()),
            ];
            return match without_effect.iter().find(|(_, is_set)| *is_set) {
                Some((key, _)) => Err(format!("{key} has no effect without acme.directory_url")),
                None => Ok(()),
            };
        }
        if !self.terms_accepted {
            return Err("acme.terms_accepted must be true: read the terms of service of the authority at \
                        acme.directory_url, and accept them by this setting"
                .into());
        }
        if self.https_listen.is_none() {
            return Err(
                "acme.https_listen is missing: certificates need an address for HTTPS, such as *:443".into(),
            );
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::off("", "")]
    #[case::complete("directory_url='https://ca.example/dir'\nterms_accepted=true\nhttps_listen='*:443'", "")]
    #[case::terms(
        "directory_url='https://ca.example/dir'\nhttps_listen='*:443'",
        "acme.terms_accepted must be true"
    )]
    #[case::refused_terms(
        "directory_url='https://ca.example/dir'\nterms_accepted='false'\nhttps_listen='*:443'",
        "acme.terms_accepted must be true"
    )]
    #[case::listener(
        "directory_url='https://ca.example/dir'\nterms_accepted='true'\nhttp_listen='*:80'",
        "acme.https_listen is missing"
    )]
    #[case::contact_alone("contact='ops@example.com'", "acme.contact has no effect")]
    #[case::listener_alone("http_listen='*:80'", "acme.http_listen has no effect")]
    #[case::plain("directory_url='http://ca.example/dir'", "an absolute https URL")]
    #[case::no_mail_address("contact='ops'", "an e-mail address")]
    #[case::neither_yes_nor_no("terms_accepted='maybe'", "true or false")]
    fn the_settings_fit_together(#[case] text: &str, #[case] expected: &str) {
        let read: Result<AcmeConfig, _> = toml::from_str(text);
        let refusal = match read {
            Ok(config) => config.check().err().unwrap_or_default(),
            Err(error) => error.to_string(),
        };
        assert!(refusal.contains(expected) && refusal.is_empty() == expected.is_empty(), "{refusal}");
    }
}
