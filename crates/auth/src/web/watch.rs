//! Decides which addresses are connected to (H15).
//!
//! A server may send us to places that are as far away as it is itself, or farther: one on the web to the web, one in a
//! private network also into private networks, one on this machine also to this machine. Otherwise a server could have us
//! ask what only we can reach. A name is judged by all its addresses at the moment of the connection, which then goes to
//! one of them; there is no second look-up in between (B69).

use std::error::Error;
use std::net::IpAddr;
use std::sync::Arc;

use mcparley_wire::peer::Boxed;
use mcparley_wire::transport::http::Names;
use tokio::sync::OnceCell;
use url::{Host, Url};

use super::address::{Never, Reach, judge};
use super::forbidden::{Forbidden, Reason};
use super::rule::is_localhost;

/// Names that clouds give to where they keep credentials: a proxy that looks them up does not show us the address.
const METADATA_NAMES: [&str; 3] = ["metadata.google.internal", "metadata.goog", "instance-data.ec2.internal"];

/// Judges names and addresses for one sign-in.
#[derive(Clone, Debug)]
pub(super) struct Watch {
    names: Arc<dyn Names>,
    /// The server that is signed in to, and whatever else the user has named himself.
    chosen: Vec<Chosen>,
}

/// A place that the user has named.
#[derive(Clone, Debug)]
struct Chosen {
    host: Host<String>,
    /// How near it is, once that is known. It stays so: a name that could be near for once and far the next time would lift
    /// the barrier for whoever owns it.
    reach: Arc<OnceCell<Reach>>,
    /// Whether names are looked up here, rather than by a proxy.
    is_local: bool,
}

impl Watch {
    pub(super) fn new(names: Arc<dyn Names>) -> Self {
        Self { names, chosen: Vec::new() }
    }

    /// Also trusts the neighbourhood of `url`.
    #[must_use]
    pub(super) fn with(&self, url: &Url, is_local: bool) -> Self {
        let host = url.host().map(|host| host.to_owned());
        let chosen = host.map(|host| Chosen { host, reach: Arc::default(), is_local });
        let mut watch = self.clone();
        watch.chosen.extend(chosen);
        watch
    }

    /// Judges a host as far as it can be without looking it up.
    pub(super) async fn check(&self, host: &Host<&str>) -> Result<(), Forbidden> {
        let forbidden = |reason| Forbidden { host: host.to_string(), address: None, reason };
        let judged = match host {
            Host::Ipv4(address) => judge((*address).into()),
            Host::Ipv6(address) => judge((*address).into()),
            Host::Domain(name) if is_localhost(name) => Ok(Reach::Loopback),
            Host::Domain(name) if is_metadata(name) => Err(Never::Metadata),
            Host::Domain(_) => Ok(Reach::Public),
        };
        let reach = judged.map_err(|never| forbidden(never.into()))?;
        match reach == Reach::Public || reach <= self.reach().await {
            true => Ok(()),
            false => Err(forbidden(reach.into())),
        }
    }

    /// How near the nearest place is that the user has named himself.
    async fn reach(&self) -> Reach {
        let mut nearest = Reach::Public;
        for chosen in &self.chosen {
            nearest = nearest.max(self.reach_of(chosen).await);
        }
        nearest
    }

    /// Whoever cannot be found counts as far away, for as long as that is so.
    async fn reach_of(&self, chosen: &Chosen) -> Reach {
        let found = chosen.reach.get_or_try_init(async || match &chosen.host {
            Host::Ipv4(address) => judge((*address).into()).map_err(|_| ()),
            Host::Ipv6(address) => judge((*address).into()).map_err(|_| ()),
            Host::Domain(name) if is_localhost(name) => Ok(Reach::Loopback),
            Host::Domain(_) if !chosen.is_local => Ok(Reach::Public),
            Host::Domain(name) => {
                let found = self.names.addresses(name).await.map_err(|_| ())?;
                let reaches = found.into_iter().map(|address| judge(address).unwrap_or(Reach::Public));
                reaches.min().ok_or(())
            }
        });
        found.await.copied().unwrap_or(Reach::Public)
    }

    /// Judges one address of a name.
    async fn judge(&self, name: &str, address: IpAddr) -> Result<(), Forbidden> {
        let forbidden = |reason| Forbidden { host: name.to_owned(), address: Some(address), reason };
        let reach = judge(address).map_err(|never| forbidden(never.into()))?;
        if is_localhost(name) && reach != Reach::Loopback {
            return Err(forbidden(Reason::Elsewhere));
        }
        let is_this = |chosen: &&Chosen| matches!(&chosen.host, Host::Domain(host) if host == name);
        if let Some(chosen) = self.chosen.iter().find(is_this)
            && reach < self.reach_of(chosen).await
        {
            return Err(forbidden(Reason::Elsewhere));
        }
        match reach <= self.reach().await {
            true => Ok(()),
            false => Err(forbidden(reach.into())),
        }
    }
}

impl Names for Watch {
    fn addresses<'a>(
        &'a self,
        name: &'a str,
    ) -> Boxed<'a, Result<Vec<IpAddr>, Box<dyn Error + Send + Sync>>> {
        Box::pin(async move {
            let found = self.names.addresses(name).await?;
            for address in &found {
                self.judge(name, *address).await?;
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
