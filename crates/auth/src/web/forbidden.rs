//! The error for an address that sign-in may not access.

use std::net::IpAddr;

use mcparley_model::explain::Explain;
use mcparley_model::text::display_line;

use super::address::{AddressReach, ForbiddenAddress};

/// An address that sign-in may not access.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{}`{} is {}", display_line(host), format_address(*address), reason.text())]
pub struct Forbidden {
    /// The host, as it was named.
    pub host: String,
    /// Its address, where the host is a name.
    pub address: Option<IpAddr>,
    /// The reason.
    pub reason: ForbiddenReason,
}

/// The reason why an address is not allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ForbiddenReason {
    /// The address is in a private network, and the server is not.
    Private,
    /// The address is on this machine, and the server is not.
    Loopback,
    /// The address is link-local.
    LinkLocal,
    /// The address is a cloud metadata address, which hands out credentials.
    Metadata,
    /// The address is reserved.
    Unassigned,
    /// The name does not resolve to where it did before, or must.
    Unexpected,
}

impl ForbiddenReason {
    fn text(self) -> &'static str {
        match self {
            Self::Private => "in a private network, and the server is not",
            Self::Loopback => "this machine, and the server is elsewhere",
            Self::LinkLocal => "a link-local address",
            Self::Metadata => "a cloud metadata address",
            Self::Unassigned => "a reserved address",
            Self::Unexpected => "not the expected address of that name",
        }
    }
}

impl From<ForbiddenAddress> for ForbiddenReason {
    fn from(never: ForbiddenAddress) -> Self {
        match never {
            ForbiddenAddress::LinkLocal => Self::LinkLocal,
            ForbiddenAddress::Metadata => Self::Metadata,
            ForbiddenAddress::Unassigned => Self::Unassigned,
        }
    }
}

impl From<AddressReach> for ForbiddenReason {
    /// The reason for an address of this reach. Public ones are always allowed, unless another reach was
    /// expected.
    fn from(reach: AddressReach) -> Self {
        match reach {
            AddressReach::Public => Self::Unexpected,
            AddressReach::Private => Self::Private,
            AddressReach::Loopback => Self::Loopback,
        }
    }
}

impl Explain for Forbidden {
    fn hint(&self) -> Option<String> {
        match self.reason {
            ForbiddenReason::Private | ForbiddenReason::Loopback => Some(
                "a server may not refer to a more private network than its own; if it is yours, set \
                 the metadata URL of its authorization server in `oauth.authServerMetadataUrl`"
                    .to_owned(),
            ),
            ForbiddenReason::Unexpected => Some("check how this machine resolves that name".to_owned()),
            ForbiddenReason::LinkLocal | ForbiddenReason::Metadata | ForbiddenReason::Unassigned => None,
        }
    }
}

fn format_address(address: Option<IpAddr>) -> String {
    address.map(|address| format!(" at `{address}`")).unwrap_or_default()
}
