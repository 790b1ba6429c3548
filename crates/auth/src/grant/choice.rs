//! Chooses the client authentication method at the token endpoint.
//!
//! Pure functions, because metadata is wrong here more often than elsewhere: every case is a row of a table
//! test.

use crate::client::{ClientAuthMethod, OAuthClient};

/// The credentials a client has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HeldCredentials {
    /// A secret.
    pub secret: bool,
    /// A key it signs with.
    pub key: bool,
}

/// Chooses the authentication method of a client that has `held`, at a server that supports `offered`, after
/// a registration that returned `agreed`.
///
/// The registered method takes precedence over the metadata, as long as we have its credentials. A server
/// without a list supports `client_secret_basic` (RFC 8414, 2); if it lists both, `client_secret_post` is
/// preferred, which more implementations get right. If no listed method fits our credentials, the strongest
/// one we have is tried nevertheless: the user's configuration is more reliable than the metadata.
#[must_use]
pub fn choose_auth_method(
    offered: Option<&[ClientAuthMethod]>,
    held: HeldCredentials,
    agreed: Option<ClientAuthMethod>,
) -> ClientAuthMethod {
    if let Some(agreed) = agreed.filter(|proof| held.can_use(*proof)) {
        return agreed;
    }
    let takes = |proof: &ClientAuthMethod| offered.is_none_or(|offered| offered.contains(proof));
    let order = match offered {
        Some(_) => [
            ClientAuthMethod::Signature,
            ClientAuthMethod::Post,
            ClientAuthMethod::Basic,
            ClientAuthMethod::Nothing,
        ],
        None => [
            ClientAuthMethod::Signature,
            ClientAuthMethod::Basic,
            ClientAuthMethod::Post,
            ClientAuthMethod::Nothing,
        ],
    };
    let mut ours = order.into_iter().filter(|proof| held.can_use(*proof));
    let strongest = ours.clone().next().unwrap_or(ClientAuthMethod::Nothing);
    ours.find(takes).unwrap_or(strongest)
}

/// The other method to send a client secret, for a server that refuses the first one. `None` for a client
/// without a secret, and for one that signs: a secret is no fallback for a key.
pub(super) fn alternative_method(client: &OAuthClient) -> Option<ClientAuthMethod> {
    client.secret.as_ref()?;
    match client.proof {
        ClientAuthMethod::Basic | ClientAuthMethod::Nothing => Some(ClientAuthMethod::Post),
        ClientAuthMethod::Post => Some(ClientAuthMethod::Basic),
        ClientAuthMethod::Signature => None,
    }
}

impl HeldCredentials {
    fn can_use(self, proof: ClientAuthMethod) -> bool {
        match proof {
            ClientAuthMethod::Nothing => true,
            ClientAuthMethod::Basic | ClientAuthMethod::Post => self.secret,
            ClientAuthMethod::Signature => self.key,
        }
    }
}
