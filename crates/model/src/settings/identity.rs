//! Reads `xaaIdp`: the identity provider for cross-application sign-in (XAA).
//!
//! The provider vouches for the user's identity, so a file that a repository can bring must not set it.

use url::{Host, Url};

use super::{MergedSettings, SettingsLayer};
use crate::config::Spanned;
use crate::document::Node;

/// An identity provider, and our client id there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdentityProvider {
    /// The issuer identifier, compared byte for byte; the provider's metadata is looked up there.
    pub issuer: String,
    /// Our client id at the provider.
    pub client_id: String,
    /// A fixed port for the browser's callback.
    pub callback_port: Option<u16>,
}

impl IdentityProvider {
    /// The key in settings.
    pub const KEY: &str = "xaaIdp";

    /// Whether the text is a valid issuer: `https`, or `http` on this machine, without query and fragment.
    #[must_use]
    pub fn is_issuer(text: &str) -> bool {
        let Ok(url) = Url::parse(text) else { return false };
        let is_here = match url.host() {
            Some(Host::Ipv4(address)) => address.is_loopback(),
            Some(Host::Ipv6(address)) => address.is_loopback(),
            Some(Host::Domain(name)) => name == "localhost",
            None => return false,
        };
        let is_plain = url.query().is_none() && url.fragment().is_none();
        let has_login = !url.username().is_empty() || url.password().is_some();
        is_plain && !has_login && (url.scheme() == "https" || (url.scheme() == "http" && is_here))
    }
}

impl MergedSettings {
    pub(super) fn read_identity(&mut self, value: Node<'_>, layer: SettingsLayer) {
        match layer {
            SettingsLayer::Managed | SettingsLayer::CommandLine | SettingsLayer::User => {}
            SettingsLayer::Private | SettingsLayer::Local | SettingsLayer::Project => {
                return self
                    .add_warning(value, "`xaaIdp` counts only in managed and user settings".to_owned());
            }
        }
        match parse_provider(value) {
            Some(found) => self.identity = Some(Spanned { value: found, origin: value.origin() }),
            None => self.add_warning(
                value,
                r#"`xaaIdp` is written `{"issuer": "https://…", "clientId": "…", "callbackPort": 8080}`; the port may be left out"#
                    .to_owned(),
            ),
        }
    }
}

fn parse_provider(value: Node<'_>) -> Option<IdentityProvider> {
    let text = |name: &str| value.get(name).and_then(Node::as_str).filter(|text| !text.is_empty());
    let callback_port = match value.get("callbackPort") {
        None => None,
        Some(port) => Some(port.as_number()?.parse::<u16>().ok().filter(|port| *port > 0)?),
    };
    let issuer = text("issuer").filter(|issuer| IdentityProvider::is_issuer(issuer))?;
    Some(IdentityProvider {
        issuer: issuer.to_owned(),
        client_id: text("clientId")?.to_owned(),
        callback_port,
    })
}
