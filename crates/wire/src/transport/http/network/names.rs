//! Looks names up, as the system does it, and names the one that could not be (F32).
//!
//! In threads of its own: a name server that says nothing holds the system's function up for as long as it likes, and a
//! program that ends must not wait for that.

use std::net::{SocketAddr, ToSocketAddrs as _};
use std::sync::Arc;

use mcparley_model::text::display;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use tokio::sync::oneshot;

/// The system's way to look names up.
#[derive(Debug)]
pub(super) struct Names;

/// A name that has no address, or of which nobody knows.
#[derive(Clone, Debug, thiserror::Error)]
#[error("the name `{}` cannot be looked up: {why}", display(name))]
pub(in crate::transport::http) struct Unresolved {
    name: Arc<str>,
    why: Arc<str>,
}

impl Resolve for Names {
    fn resolve(&self, name: Name) -> Resolving {
        let name: Arc<str> = Arc::from(name.as_str());
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
            let found = found.map_err(|why| unresolved(&why))?;
            let addresses: Addrs = Box::new(found.into_iter());
            Ok(addresses)
        })
    }
}

fn look_up(name: &str) -> Result<Vec<SocketAddr>, String> {
    match (name, 0).to_socket_addrs() {
        Ok(found) => Ok(found.collect()),
        Err(error) => {
            let text = error.to_string();
            // Ours says it already.
            Err(text.strip_prefix("failed to lookup address information: ").unwrap_or(&text).to_owned())
        }
    }
}
