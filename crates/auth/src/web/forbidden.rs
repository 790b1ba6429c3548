//! An address that sign-in does not ask, and why.

use std::net::IpAddr;

use mcparley_model::explain::Explain;
use mcparley_model::text::display;

use super::address::{Never, Reach};

/// An address that sign-in does not ask.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{}`{} is {}", display(host), at(*address), reason.text())]
pub struct Forbidden {
    /// The host, as it was named.
    pub host: String,
    /// Its address, where the host is a name.
    pub address: Option<IpAddr>,
    /// Why it is not asked.
    pub reason: Reason,
}

/// Why an address is not asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// It is in a private network, and the server is not.
    Private,
    /// It is on this machine, and the server is not.
    Loopback,
    /// Only what is on the same cable has it.
    LinkLocal,
    /// A cloud keeps the credentials of its machines there.
    Metadata,
    /// Nobody has it.
    Unassigned,
    /// It is not where something of that name was, or must be.
    Elsewhere,
}

impl Reason {
    fn text(self) -> &'static str {
        match self {
            Self::Private => "in a private network, where the server is not",
            Self::Loopback => "this machine, where the server is not",
            Self::LinkLocal => "an address of one cable only",
            Self::Metadata => "where a cloud keeps the credentials of its machines",
            Self::Unassigned => "an address that no server has",
            Self::Elsewhere => "not where that name belongs",
        }
    }
}

impl From<Never> for Reason {
    fn from(never: Never) -> Self {
        match never {
            Never::LinkLocal => Self::LinkLocal,
            Never::Metadata => Self::Metadata,
            Never::Unassigned => Self::Unassigned,
        }
    }
}

impl From<Reach> for Reason {
    /// Why an address that is so near is not asked. Public ones always are, unless another was to be found.
    fn from(reach: Reach) -> Self {
        match reach {
            Reach::Public => Self::Elsewhere,
            Reach::Private => Self::Private,
            Reach::Loopback => Self::Loopback,
        }
    }
}

impl Explain for Forbidden {
    fn hint(&self) -> Option<String> {
        match self.reason {
            Reason::Private | Reason::Loopback => Some(
                "a server may not send us nearer than it is itself; if this one is yours, name the description of its \
                 authorization server in `oauth.authServerMetadataUrl`"
                    .to_owned(),
            ),
            Reason::Elsewhere => {
                Some("look what the name servers of this machine say about that name".to_owned())
            }
            Reason::LinkLocal | Reason::Metadata | Reason::Unassigned => None,
        }
    }
}

fn at(address: Option<IpAddr>) -> String {
    address.map(|address| format!(" at `{address}`")).unwrap_or_default()
}
