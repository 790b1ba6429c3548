//! Decides by its looks whether an address may be asked. Which may be shown to a person is decided in [`crate::page`].
//!
//! Pure: nothing is looked up.

use url::{Host, Url};

use super::WebError;

/// Whether the address is one that sign-in asks: `https`, or `http` on this machine, and nothing else in it.
pub(super) fn check(url: &Url) -> Result<(), WebError> {
    if !is_guarded(url) {
        return Err(WebError::Scheme { place: place(url) });
    }
    match has_login(url) || url.fragment().is_some() {
        true => Err(WebError::Adorned { place: place(url) }),
        false => Ok(()),
    }
}

/// Scheme and host: whatever follows may hold secrets.
pub(super) fn place(url: &Url) -> String {
    match url.host_str() {
        Some(host) => format!("{}://{host}", url.scheme()),
        None => format!("{}:", url.scheme()),
    }
}

/// Whether nobody on the way can read along.
fn is_guarded(url: &Url) -> bool {
    match url.scheme() {
        "https" => url.has_host(),
        "http" => url.host().is_some_and(|host| is_here(&host)),
        _ => false,
    }
}

fn has_login(url: &Url) -> bool {
    !url.username().is_empty() || url.password().is_some()
}

/// Whether this names the machine we run on, whatever name servers say.
pub(crate) fn is_here(host: &Host<&str>) -> bool {
    match host {
        Host::Domain(name) => is_localhost(name),
        Host::Ipv4(address) => address.is_loopback(),
        Host::Ipv6(address) => {
            address.is_loopback() || address.to_ipv4_mapped().is_some_and(|address| address.is_loopback())
        }
    }
}

/// Whether the name is one for the machine we run on (RFC 6761, section 6.3).
pub(super) fn is_localhost(name: &str) -> bool {
    let name = name.trim_end_matches('.').to_ascii_lowercase();
    name == "localhost" || name.ends_with(".localhost")
}
