//! Chooses the grant for a token request where the entry leaves that to the authorization server.
//!
//! An entry with a client's secret or key may be meant for a user or for a program. The authorization
//! server's metadata tells which: one without a sign-in page wants the client's own credentials.

use mcparley_model::config::ConfiguredGrant;

use super::Account;
use crate::discover;
use crate::error::SignInError;

const CODE: &str = "authorization_code";
const DEVICE: &str = "urn:ietf:params:oauth:grant-type:device_code";
const JWT_BEARER: &str = "urn:ietf:params:oauth:grant-type:jwt-bearer";

/// Credentials of the entry that can replace the user's consent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct GrantMeans {
    /// A client with a secret or a key.
    client: bool,
    /// An assertion that another party has signed.
    assertion: bool,
}

/// The grant to use at an authorization server that supports `offered`; without a list it is the user's
/// consent.
fn choose_grant(offered: Option<&[String]>, means: GrantMeans) -> ConfiguredGrant {
    let Some(offered) = offered else { return ConfiguredGrant::Person };
    let takes = |name: &str| offered.iter().any(|grant| grant == name);
    if takes(CODE) || takes(DEVICE) {
        return ConfiguredGrant::Person;
    }
    if means.assertion && takes(JWT_BEARER) {
        return ConfiguredGrant::JwtBearer;
    }
    if means.client && takes(ConfiguredGrant::ClientCredentials.as_str()) {
        ConfiguredGrant::ClientCredentials
    } else {
        ConfiguredGrant::Person
    }
}

impl Account {
    /// The grant for token requests: the entry's, or the one the authorization server supports.
    pub(super) fn active_grant(&self) -> ConfiguredGrant {
        self.0.learnt_grant.get().copied().unwrap_or(self.0.oauth.grant)
    }

    /// Looks up in the authorization server's metadata which grant it supports, once for all callers, and
    /// only where the entry holds credentials other than the user's consent.
    ///
    /// Without metadata the grant stays as it is: the sign-in that follows reports the reason.
    pub(super) async fn learn_grant(&self) {
        let oauth = &self.0.oauth;
        if oauth.grant != ConfiguredGrant::Person || oauth.xaa {
            return;
        }
        let secret = self.client_secret().await.ok().flatten();
        let has_proof = secret.is_some() || oauth.private_key.is_some();
        let means = GrantMeans {
            client: oauth.client_id.is_some() && has_proof,
            assertion: oauth.assertion.is_some(),
        };
        if means.client || means.assertion {
            let learnt = self.0.learnt_grant.get_or_try_init(|| self.discover_grant(means)).await;
            drop(learnt);
        }
    }

    async fn discover_grant(&self, means: GrantMeans) -> Result<ConfiguredGrant, SignInError> {
        let (asked, wished) = (self.last_challenge(), self.0.oauth.auth_server_metadata_url.as_ref());
        let found = discover::discover_auth_server(&self.0.web, &self.0.url, asked.as_ref(), wished).await?;
        Ok(choose_grant(found.server.grants.as_deref(), means))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // A8
    #[test]
    fn grant_is_one_the_server_supports_and_the_entry_has_credentials_for() {
        let nothing = GrantMeans { client: false, assertion: false };
        let client = GrantMeans { client: true, ..nothing };
        let assertion = GrantMeans { assertion: true, ..nothing };
        let table = [
            (None, client, ConfiguredGrant::Person),
            (Some(&["authorization_code", "client_credentials"][..]), client, ConfiguredGrant::Person),
            (Some(&[DEVICE, "client_credentials"]), client, ConfiguredGrant::Person),
            (Some(&["client_credentials"]), client, ConfiguredGrant::ClientCredentials),
            (Some(&["client_credentials"]), nothing, ConfiguredGrant::Person),
            (Some(&["client_credentials"]), assertion, ConfiguredGrant::Person),
            (Some(&[JWT_BEARER]), assertion, ConfiguredGrant::JwtBearer),
            (Some(&[JWT_BEARER]), client, ConfiguredGrant::Person),
            (Some(&[]), client, ConfiguredGrant::Person),
        ];
        for (offered, means, wanted) in table {
            let offered: Option<Vec<String>> =
                offered.map(|names| names.iter().map(|&name| name.to_owned()).collect());
            assert_eq!(choose_grant(offered.as_deref(), means), wanted, "{offered:?} {means:?}");
        }
    }
}
