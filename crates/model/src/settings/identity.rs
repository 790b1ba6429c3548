//! Reads `xaaIdp`: the identity provider that knows the person, for sign-in across applications (A6).
//!
//! Whoever names it is asked who the person is, so a file that a repository can bring does not count.

use url::{Host, Url};

use super::{Layer, Settings};
use crate::config::Spanned;
use crate::document::Node;

/// An identity provider, and who we are to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdentityProvider {
    /// Its name, byte for byte; its description is looked for there.
    pub issuer: String,
    /// The id it knows us by.
    pub client_id: String,
    /// A fixed port for the browser's way back.
    pub callback_port: Option<u16>,
}

impl IdentityProvider {
    /// Where it stands in settings.
    pub const KEY: &str = "xaaIdp";

    /// Whether a provider may have this name: `https`, or `http` on this machine, and nothing behind the path.
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

impl Settings {
    pub(super) fn read_identity(&mut self, value: Node<'_>, layer: Layer) {
        match layer {
            Layer::Managed | Layer::CommandLine | Layer::User => {}
            Layer::Private | Layer::Local | Layer::Project => {
                return self.warn(value, "`xaaIdp` counts only in managed and user settings".to_owned());
            }
        }
        match provider(value) {
            Some(found) => self.identity = Some(Spanned { value: found, origin: value.origin() }),
            None => self.warn(
                value,
                r#"`xaaIdp` is written `{"issuer": "https://…", "clientId": "…", "callbackPort": 8080}`; the port may be left out"#
                    .to_owned(),
            ),
        }
    }
}

fn provider(value: Node<'_>) -> Option<IdentityProvider> {
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
