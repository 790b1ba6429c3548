//! Looks names up, as the system does it, and names the one that could not be (F32).
//!
//! In threads of its own: a name server that says nothing holds the system's function up for as long as it likes, and a
//! program that ends must not wait for that.

use std::error::Error;
use std::fmt::Debug;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs as _};
use std::sync::Arc;

use mcparley_model::text::display;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use tokio::sync::oneshot;

use super::proxy::Proxies;
use crate::peer::Boxed;

/// Looks names up. Whoever connects to a name connects to one of the addresses it gives and to no other, so it may also
/// decide which addresses are connected to.
pub trait Names: Debug + Send + Sync + 'static {
    /// The addresses of a name. What is wrong with it is found again among the causes of the request's error.
    fn addresses<'a>(&'a self, name: &'a str)
    -> Boxed<'a, Result<Vec<IpAddr>, Box<dyn Error + Send + Sync>>>;
}

/// The system's way to look names up.
#[derive(Clone, Copy, Debug)]
pub(super) struct System;

/// A name that has no address, or of which nobody knows.
#[derive(Clone, Debug, thiserror::Error)]
#[error("the name `{}` cannot be looked up: {why}", display(name))]
pub(in crate::transport::http) struct Unresolved {
    name: Arc<str>,
    why: Arc<str>,
}

impl Names for System {
    fn addresses<'a>(
        &'a self,
        name: &'a str,
    ) -> Boxed<'a, Result<Vec<IpAddr>, Box<dyn Error + Send + Sync>>> {
        let name: Arc<str> = Arc::from(name);
        Box::pin(async move {
            let unresolved = |why: &str| Unresolved { name: Arc::clone(&name), why: Arc::from(why) };
            let (sender, found) = oneshot::channel();
            let asked = Arc::clone(&name);
            let work = move || {
                // Nobody may wait for it any more.
                let _gone = sender.send(look_up(&asked));
            };
            let thread = std::thread::Builder::new().name("look up".to_owned()).spawn(work);
            thread.map_err(|error| unresolved(&error.to_string()))?;
            let found = found.await.map_err(|_| unresolved("the search broke off"))?;
            Ok(found.map_err(|why| unresolved(&why))?)
        })
    }
}

/// The library's way to ask for addresses. Proxies are of the user's choice, so nobody but the system is asked for theirs.
#[derive(Debug)]
pub(super) struct Resolver {
    pub(super) names: Arc<dyn Names>,
    pub(super) proxies: Arc<Proxies>,
}

impl Resolve for Resolver {
    fn resolve(&self, name: Name) -> Resolving {
        let names = match self.proxies.has(name.as_str()) {
            true => Arc::new(System),
            false => Arc::clone(&self.names),
        };
        Box::pin(async move {
            let found = names.addresses(name.as_str()).await?;
            let addresses: Addrs = Box::new(found.into_iter().map(|address| SocketAddr::new(address, 0)));
            Ok(addresses)
        })
    }
}

fn look_up(name: &str) -> Result<Vec<IpAddr>, String> {
    match (name, 0).to_socket_addrs() {
        Ok(found) => Ok(found.map(|address| address.ip()).collect()),
        Err(error) => {
            let text = error.to_string();
            // Ours says it already.
            Err(text.strip_prefix("failed to lookup address information: ").unwrap_or(&text).to_owned())
        }
    }
}
