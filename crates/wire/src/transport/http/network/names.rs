//! Resolves host names (DNS) by the system's resolver, with the name in the error.
//!
//! On threads of its own: a name server that does not respond blocks the system's function for an unknown
//! time, and a program that ends must not wait for that.

use std::error::Error;
use std::fmt::Debug;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs as _};
use std::sync::Arc;

use mcparley_model::text::display_line;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use tokio::sync::oneshot;

use super::proxy::Proxies;
use crate::peer::BoxedFuture;

/// Resolver of host names. A connection to a name goes to one of the returned addresses and to no other, so a
/// resolver may also restrict the addresses that are connected to.
pub trait NameResolver: Debug + Send + Sync + 'static {
    /// Resolves a name. Its error is found again among the sources of the request's error.
    fn resolve_name<'a>(
        &'a self,
        name: &'a str,
    ) -> BoxedFuture<'a, Result<Vec<IpAddr>, Box<dyn Error + Send + Sync>>>;
}

/// The system's resolver.
#[derive(Clone, Copy, Debug)]
pub(super) struct SystemResolver;

/// Error: a host name that cannot be resolved.
#[derive(Clone, Debug, thiserror::Error)]
#[error("the name `{}` cannot be resolved: {why}", display_line(name))]
pub(in crate::transport::http) struct UnresolvedHost {
    name: Arc<str>,
    why: Arc<str>,
}

impl NameResolver for SystemResolver {
    fn resolve_name<'a>(
        &'a self,
        name: &'a str,
    ) -> BoxedFuture<'a, Result<Vec<IpAddr>, Box<dyn Error + Send + Sync>>> {
        let name: Arc<str> = Arc::from(name);
        Box::pin(async move {
            let unresolved = |why: &str| UnresolvedHost { name: Arc::clone(&name), why: Arc::from(why) };
            let (sender, found) = oneshot::channel();
            let asked = Arc::clone(&name);
            let work = move || {
                // The caller may have been dropped.
                let _gone = sender.send(resolve_by_system(&asked));
            };
            let thread = std::thread::Builder::new().name("look up".to_owned()).spawn(work);
            thread.map_err(|error| unresolved(&error.to_string()))?;
            let found = found.await.map_err(|_| unresolved("the lookup was interrupted"))?;
            Ok(found.map_err(|why| unresolved(&why))?)
        })
    }
}

/// Adapter for the HTTP library. The user chooses the proxies, so their names are resolved by the system
/// only.
#[derive(Debug)]
pub(super) struct ReqwestResolver {
    pub(super) names: Arc<dyn NameResolver>,
    pub(super) proxies: Arc<Proxies>,
}

impl Resolve for ReqwestResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let names = if self.proxies.has_proxy_host(name.as_str()) {
            Arc::new(SystemResolver)
        } else {
            Arc::clone(&self.names)
        };
        Box::pin(async move {
            let found = names.resolve_name(name.as_str()).await?;
            let addresses: Addrs = Box::new(found.into_iter().map(|address| SocketAddr::new(address, 0)));
            Ok(addresses)
        })
    }
}

fn resolve_by_system(name: &str) -> Result<Vec<IpAddr>, String> {
    match (name, 0).to_socket_addrs() {
        Ok(found) => Ok(found.map(|address| address.ip()).collect()),
        Err(error) => {
            let text = error.to_string();
            // Our message says that already.
            Err(text.strip_prefix("failed to lookup address information: ").unwrap_or(&text).to_owned())
        }
    }
}
