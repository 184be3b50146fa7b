//! `[console]`: how people are signed in to the console besides passwords.

use serde::{Deserialize, Serialize};

use crate::config::choice::ProxyUserRole;
use crate::config::network::IpNetwork;
use crate::config::rule;

/// The settings of the console.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default, expecting = "a table such as [console]")]
pub struct ConsoleConfig {
    /// Header by which a trusted proxy names the signed-in user; `None` = no proxy signs users in.
    #[serde(deserialize_with = "rule::header_name")]
    pub proxy_user_header: Option<String>,
    /// Role of users whom the proxy names and nobody has invited; `None` = they are refused.
    #[serde(deserialize_with = "rule::proxy_user_role")]
    pub proxy_user_role: Option<ProxyUserRole>,
}

impl ConsoleConfig {
    /// Checks that the settings fit together, and that somebody may send the header, but not everybody.
    ///
    /// # Errors
    /// A sentence with the key of the first setting that does not fit.
    pub fn check(&self, trusted_proxies: &[IpNetwork]) -> Result<(), String> {
        if self.proxy_user_header.is_none() {
            return match self.proxy_user_role {
                Some(_) => {
                    Err("console.proxy_user_role has no effect without console.proxy_user_header".into())
                }
                None => Ok(()),
            };
        }
        if trusted_proxies.is_empty() {
            return Err(
                "console.proxy_user_header needs trusted_proxies: name the addresses of the proxy that \
                        signs users in, because the header is ignored from any other address"
                    .into(),
            );
        }
        if trusted_proxies.iter().any(IpNetwork::contains_everything) {
            return Err(
                "console.proxy_user_header needs trusted_proxies without 0.0.0.0/0 and ::/0: with them \
                        anybody could sign in as any user"
                    .into(),
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
    #[case::off("", "", "")]
    #[case::complete("proxy_user_header = 'X-Forwarded-Email'", "10.0.0.0/8", "")]
    #[case::with_role("proxy_user_header = 'X-User'\nproxy_user_role = 'viewer'", "10.0.0.1", "")]
    #[case::unset("proxy_user_header = ''\nproxy_user_role = ''", "", "")]
    #[case::no_proxy("proxy_user_header = 'X-User'", "", "needs trusted_proxies: name")]
    #[case::everybody("proxy_user_header = 'X-User'", "10.0.0.1,0.0.0.0/0", "anybody could sign in")]
    #[case::everybody_v6("proxy_user_header = 'X-User'", "::/0", "anybody could sign in")]
    #[case::role_alone("proxy_user_role = 'viewer'", "10.0.0.1", "proxy_user_role has no effect")]
    #[case::unknown_role("proxy_user_role = 'guest'", "10.0.0.1", "owner, editor, responder or viewer")]
    #[case::no_header("proxy_user_header = 'X User'", "10.0.0.1", "the name of a header")]
    #[case::other_meaning("proxy_user_header = 'Cookie'", "10.0.0.1", "the name of a header")]
    fn the_settings_fit_together(#[case] text: &str, #[case] proxies: &str, #[case] expected: &str) {
        let proxies: Vec<IpNetwork> =
            proxies.split(',').filter(|one| !one.is_empty()).map(|one| one.parse().unwrap()).collect();
        let read: Result<ConsoleConfig, _> = toml::from_str(text);
        let refusal = match read {
            Ok(config) => config.check(&proxies).err().unwrap_or_default(),
            Err(error) => error.to_string(),
        };
        assert!(refusal.contains(expected) && refusal.is_empty() == expected.is_empty(), "{refusal}");
    }
}
