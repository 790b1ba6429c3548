//! Chooses how a client proves who it is at the token endpoint.
//!
//! Pure, because servers describe themselves wrongly here more than anywhere: every case is a line in a table test.

use crate::client::{Client, Proof};

/// What a client has to prove who it is with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Held {
    /// A secret.
    pub secret: bool,
    /// A key it signs with.
    pub key: bool,
}

/// How a client that holds `held` proves who it is to a server that takes `offered`, after a registration that
/// answered `agreed`.
///
/// What the registration agreed on goes before what the metadata says, as long as we hold what it takes. A server that
/// says nothing takes `client_secret_basic` (RFC 8414, 2); of one that takes both, `client_secret_post` is asked first,
/// which more implementations get right. When it says that it takes nothing we have, the strongest thing we have is tried
/// all the same: whoever configured it knows better than the description.
#[must_use]
pub fn choose(offered: Option<&[Proof]>, held: Held, agreed: Option<Proof>) -> Proof {
    if let Some(agreed) = agreed.filter(|proof| held.has(*proof)) {
        return agreed;
    }
    let takes = |proof: &Proof| offered.is_none_or(|offered| offered.contains(proof));
    let order = match offered {
        Some(_) => [Proof::Signature, Proof::Post, Proof::Basic, Proof::Nothing],
        None => [Proof::Signature, Proof::Basic, Proof::Post, Proof::Nothing],
    };
    let mut ours = order.into_iter().filter(|proof| held.has(*proof));
    let strongest = ours.clone().next().unwrap_or(Proof::Nothing);
    ours.find(takes).unwrap_or(strongest)
}

/// The other way in which a client could show its secret, for a server that refuses the first one. None for a client
/// without a secret, and for one that signs: a secret is no second choice for a key.
pub(super) fn other_proof(client: &Client) -> Option<Proof> {
    client.secret.as_ref()?;
    match client.proof {
        Proof::Basic | Proof::Nothing => Some(Proof::Post),
        Proof::Post => Some(Proof::Basic),
        Proof::Signature => None,
    }
}

impl Held {
    fn has(self, proof: Proof) -> bool {
        match proof {
            Proof::Nothing => true,
            Proof::Basic | Proof::Post => self.secret,
            Proof::Signature => self.key,
        }
    }
}
