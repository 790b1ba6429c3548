//! Checks the form of an address before a request. [`crate::browser_page`] checks the addresses that are shown to the
//! user.
//!
//! Pure functions: no name is resolved.

use url::{Host, Url};

use super::WebError;

/// Checks that an address is `https`, or `http` on this machine, without user info and fragment.
pub(super) fn check_url_form(url: &Url) -> Result<(), WebError> {
    if !is_secure(url) {
        return Err(WebError::Scheme { place: scheme_and_host(url) });
    }
    if has_login(url) || url.fragment().is_some() {
        Err(WebError::UserInfo { place: scheme_and_host(url) })
    } else {
        Ok(())
    }
}

/// The scheme and host: the rest may hold secrets.
pub(super) fn scheme_and_host(url: &Url) -> String {
    match url.host_str() {
        Some(host) => format!("{}://{host}", url.scheme()),
        None => format!("{}:", url.scheme()),
    }
}

/// Whether the connection is encrypted or stays on this machine.
fn is_secure(url: &Url) -> bool {
    match url.scheme() {
        "https" => url.has_host(),
        "http" => url.host().is_some_and(|host| is_this_machine(&host)),
        _ => false,
    }
}

fn has_login(url: &Url) -> bool {
    !url.username().is_empty() || url.password().is_some()
}

/// Whether the host is this machine, independent of name servers.
pub(crate) fn is_this_machine(host: &Host<&str>) -> bool {
    match host {
        Host::Domain(name) => is_localhost(name),
        Host::Ipv4(address) => address.is_loopback(),
        Host::Ipv6(address) => {
            address.is_loopback() || address.to_ipv4_mapped().is_some_and(|address| address.is_loopback())
        }
    }
}

/// Whether the name is one for this machine (RFC 6761, section 6.3).
pub(super) fn is_localhost(name: &str) -> bool {
    let name = name.trim_end_matches('.').to_ascii_lowercase();
    name == "localhost" || name.ends_with(".localhost")
}
