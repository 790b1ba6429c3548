//! Decides which addresses may be connected to (SSRF guard).
//!
//! A server may name addresses of its own reach or wider: a public one only public addresses, one in a
//! private network also private ones, one on this machine also this machine. Otherwise a server could make us
//! send requests that only we can send. A name is checked by all its addresses at the moment of the
//! connection, which then goes to one of them; it is not resolved a second time in between, so DNS rebinding
//! does not work.

use std::error::Error;
use std::net::IpAddr;
use std::sync::Arc;

use mcparley_wire::peer::BoxedFuture;
use mcparley_wire::transport::http::NameResolver;
use tokio::sync::OnceCell;
use url::{Host, Url};

use super::address::{AddressReach, ForbiddenAddress, classify_address};
use super::address_form::is_localhost;
use super::forbidden::{Forbidden, ForbiddenReason};

/// The host names of cloud metadata services: a proxy that resolves them does not show us the address.
const METADATA_NAMES: [&str; 3] = ["metadata.google.internal", "metadata.goog", "instance-data.ec2.internal"];

/// Checks names and addresses for one sign-in.
#[derive(Clone, Debug)]
pub(super) struct AddressGuard {
    names: Arc<dyn NameResolver>,
    /// The server of the sign-in, and other places that the user has configured.
    trusted: Vec<TrustedPlace>,
}

/// A place that the user has configured.
#[derive(Clone, Debug)]
struct TrustedPlace {
    host: Host<String>,
    /// Its reach, once it is known. It is fixed then: otherwise the owner of a name could lift the
    /// restriction by changing its address.
    reach: Arc<OnceCell<AddressReach>>,
    /// Whether names are resolved here, rather than by a proxy.
    is_local: bool,
}

impl AddressGuard {
    pub(super) fn new(names: Arc<dyn NameResolver>) -> Self {
        Self { names, trusted: Vec::new() }
    }

    /// Also allows addresses as private as `url`.
    #[must_use]
    pub(super) fn with_trusted(&self, url: &Url, is_local: bool) -> Self {
        let host = url.host().map(|host| host.to_owned());
        let chosen = host.map(|host| TrustedPlace { host, reach: Arc::default(), is_local });
        let mut watch = self.clone();
        watch.trusted.extend(chosen);
        watch
    }

    /// Checks a host, as far as that is possible without resolving it.
    pub(super) async fn check_host(&self, host: &Host<&str>) -> Result<(), Forbidden> {
        let forbidden = |reason| Forbidden { host: host.to_string(), address: None, reason };
        let judged = match host {
            Host::Ipv4(address) => classify_address((*address).into()),
            Host::Ipv6(address) => classify_address((*address).into()),
            Host::Domain(name) if is_localhost(name) => Ok(AddressReach::Loopback),
            Host::Domain(name) if is_metadata(name) => Err(ForbiddenAddress::Metadata),
            Host::Domain(_) => Ok(AddressReach::Public),
        };
        let reach = judged.map_err(|never| forbidden(never.into()))?;
        if reach == AddressReach::Public || reach <= self.nearest_reach().await {
            Ok(())
        } else {
            Err(forbidden(reach.into()))
        }
    }

    /// The most private reach of all places that the user has configured.
    async fn nearest_reach(&self) -> AddressReach {
        let mut nearest = AddressReach::Public;
        for chosen in &self.trusted {
            nearest = nearest.max(self.reach_of_place(chosen).await);
        }
        nearest
    }

    /// The reach of a place. One that cannot be resolved counts as public until it can.
    async fn reach_of_place(&self, chosen: &TrustedPlace) -> AddressReach {
        let found = chosen.reach.get_or_try_init(async || match &chosen.host {
            Host::Ipv4(address) => classify_address((*address).into()).map_err(|_| ()),
            Host::Ipv6(address) => classify_address((*address).into()).map_err(|_| ()),
            Host::Domain(name) if is_localhost(name) => Ok(AddressReach::Loopback),
            Host::Domain(_) if !chosen.is_local => Ok(AddressReach::Public),
            Host::Domain(name) => {
                let found = self.names.resolve_name(name).await.map_err(|_| ())?;
                let reaches = found
                    .into_iter()
                    .map(|address| classify_address(address).unwrap_or(AddressReach::Public));
                reaches.min().ok_or(())
            }
        });
        found.await.copied().unwrap_or(AddressReach::Public)
    }

    /// Checks one address of a name.
    async fn check_address(&self, name: &str, address: IpAddr) -> Result<(), Forbidden> {
        let forbidden = |reason| Forbidden { host: name.to_owned(), address: Some(address), reason };
        let reach = classify_address(address).map_err(|never| forbidden(never.into()))?;
        if is_localhost(name) && reach != AddressReach::Loopback {
            return Err(forbidden(ForbiddenReason::Unexpected));
        }
        let is_this = |chosen: &&TrustedPlace| matches!(&chosen.host, Host::Domain(host) if host == name);
        if let Some(chosen) = self.trusted.iter().find(is_this)
            && reach < self.reach_of_place(chosen).await
        {
            return Err(forbidden(ForbiddenReason::Unexpected));
        }
        if reach <= self.nearest_reach().await { Ok(()) } else { Err(forbidden(reach.into())) }
    }
}

impl NameResolver for AddressGuard {
    fn resolve_name<'a>(
        &'a self,
        name: &'a str,
    ) -> BoxedFuture<'a, Result<Vec<IpAddr>, Box<dyn Error + Send + Sync>>> {
        Box::pin(async move {
            let found = self.names.resolve_name(name).await?;
            for address in &found {
                self.check_address(name, *address).await?;
            }
            Ok(found)
        })
    }
}

fn is_metadata(name: &str) -> bool {
    let name = name.trim_end_matches('.').to_ascii_lowercase();
    METADATA_NAMES.contains(&name.as_str())
}

#[cfg(test)]
pub(super) mod tests;
