//! Decides what is shown for a token where the entry leaves that to the authorization server (A8).
//!
//! An entry with a client's secret or key may be meant for a person or for a program. The authorization server's metadata
//! says which it takes: one that sends nobody to a page wants the client's own credentials.

use mcparley_model::config::Grant;

use super::Account;
use crate::discover;
use crate::error::SignInError;

const CODE: &str = "authorization_code";
const DEVICE: &str = "urn:ietf:params:oauth:grant-type:device_code";
const JWT_BEARER: &str = "urn:ietf:params:oauth:grant-type:jwt-bearer";

/// What the entry holds to show in the place of a person's consent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Means {
    /// A client with a secret or a key.
    client: bool,
    /// A statement that somebody else has signed.
    assertion: bool,
}

/// The grant to use at an authorization server that takes `offered`; one that does not say takes a person's consent.
fn choose_grant(offered: Option<&[String]>, means: Means) -> Grant {
    let Some(offered) = offered else { return Grant::Person };
    let takes = |name: &str| offered.iter().any(|grant| grant == name);
    if takes(CODE) || takes(DEVICE) {
        return Grant::Person;
    }
    if means.assertion && takes(JWT_BEARER) {
        return Grant::JwtBearer;
    }
    match means.client && takes(Grant::ClientCredentials.as_str()) {
        true => Grant::ClientCredentials,
        false => Grant::Person,
    }
}

impl Account {
    /// What is shown for a token: what the entry says, or what the authorization server takes.
    pub(super) fn grant(&self) -> Grant {
        self.0.learnt_grant.get().copied().unwrap_or(self.0.oauth.grant)
    }

    /// Asks the authorization server's metadata which grant it takes, once for all who want to know, and only where the
    /// entry holds something else than a person's consent to show.
    ///
    /// What cannot be found out is left as it is: the sign-in that follows says why.
    pub(super) async fn learn_grant(&self) {
        let oauth = &self.0.oauth;
        if oauth.grant != Grant::Person || oauth.xaa {
            return;
        }
        let secret = self.client_secret().await.ok().flatten();
        let has_proof = secret.is_some() || oauth.private_key.is_some();
        let means =
            Means { client: oauth.client_id.is_some() && has_proof, assertion: oauth.assertion.is_some() };
        if means.client || means.assertion {
            let learnt = self.0.learnt_grant.get_or_try_init(|| self.offered_grant(means)).await;
            drop(learnt);
        }
    }

    async fn offered_grant(&self, means: Means) -> Result<Grant, SignInError> {
        let (asked, wished) = (self.asked(), self.0.oauth.auth_server_metadata_url.as_ref());
        let found = discover::find(&self.0.web, &self.0.url, asked.as_ref(), wished).await?;
        Ok(choose_grant(found.server.grants.as_deref(), means))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // A8
    #[test]
    fn grant_is_the_one_the_server_takes_and_the_entry_has_the_means_for() {
        let nothing = Means { client: false, assertion: false };
        let client = Means { client: true, ..nothing };
        let assertion = Means { assertion: true, ..nothing };
        let table = [
            (None, client, Grant::Person),
            (Some(&["authorization_code", "client_credentials"][..]), client, Grant::Person),
            (Some(&[DEVICE, "client_credentials"]), client, Grant::Person),
            (Some(&["client_credentials"]), client, Grant::ClientCredentials),
            (Some(&["client_credentials"]), nothing, Grant::Person),
            (Some(&["client_credentials"]), assertion, Grant::Person),
            (Some(&[JWT_BEARER]), assertion, Grant::JwtBearer),
            (Some(&[JWT_BEARER]), client, Grant::Person),
            (Some(&[]), client, Grant::Person),
        ];
        for (offered, means, wanted) in table {
            let offered: Option<Vec<String>> =
                offered.map(|names| names.iter().map(|&name| name.to_owned()).collect());
            assert_eq!(choose_grant(offered.as_deref(), means), wanted, "{offered:?} {means:?}");
        }
    }
}
