//! The way to the network, the same for every server of a process (T8).
//!
//! Nothing here reads the environment: whoever starts us hands the values in. The HTTP library is set up when
//! the first request needs it, and once. Reading the system's certificates takes longer than all the rest, so
//! servers without TLS have a set-up of their own, which does without.

mod names;
mod proxy;
mod settings;
mod trust;
mod verifier;

use std::sync::Arc;
use std::time::Duration;

use mcparley_model::limits::REQUEST_LIMIT;
use reqwest::redirect::Policy;
use reqwest::{Client, ClientBuilder, Proxy, retry};
use tokio::sync::OnceCell;
use url::Url;

use super::trouble;
use crate::failure::Failure;
pub use names::Names;
pub(super) use names::Unresolved;
use names::{Resolver, System};
use proxy::Proxies;
pub use settings::{KeepAlive, NetworkSettings, ProxySettings};
use trust::Trust;
pub(super) use verifier::SelfSigned;

/// Many servers close a connection after five idle seconds; a request sent in that moment has an unknown end.
const IDLE: Duration = Duration::from_secs(4);

/// After a burst of calls, how many connections to one server are kept for the next.
const IDLE_CONNECTIONS: usize = 32;

/// Who we say we are.
pub(super) const USER_AGENT: &str = concat!("mcparley/", env!("CARGO_PKG_VERSION"));

/// The way to the network. Cheap to clone; all clones share their connections.
#[derive(Clone, Debug)]
pub struct Network(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    proxies: Arc<Proxies>,
    trust: Arc<Trust>,
    keep_alive: KeepAlive,
    names: Arc<dyn Names>,
    /// Kept only when it worked: a file that is missing now may be there later.
    plain: OnceCell<Client>,
    secure: OnceCell<Client>,
}

impl Default for Network {
    /// Without proxies, and trusting whom the system trusts.
    fn default() -> Self {
        Self::new(NetworkSettings::default())
    }
}

impl Network {
    /// Takes the settings; what is wrong with them is told to the first request that needs it.
    #[must_use]
    pub fn new(settings: NetworkSettings) -> Self {
        let NetworkSettings { proxies, extra_ca, client_certificate, client_key, keep_alive } = settings;
        Self(Arc::new(Shared {
            proxies: Arc::new(Proxies::new(&proxies)),
            trust: Arc::new(Trust::new(extra_ca, client_certificate, client_key)),
            keep_alive,
            names: Arc::new(System),
            plain: OnceCell::new(),
            secure: OnceCell::new(),
        }))
    }

    /// The same way, on which names are looked up by `names`. It shares all but the connections: one that was made to an
    /// address which somebody else found must not be used again. What a proxy looks up is beyond us.
    #[must_use]
    pub fn with_names(&self, names: Arc<dyn Names>) -> Self {
        Self(Arc::new(Shared {
            proxies: Arc::clone(&self.0.proxies),
            trust: Arc::clone(&self.0.trust),
            keep_alive: self.0.keep_alive,
            names,
            plain: OnceCell::new(),
            secure: OnceCell::new(),
        }))
    }

    /// Who looks names up.
    #[must_use]
    pub fn names(&self) -> &Arc<dyn Names> {
        &self.0.names
    }

    /// A client that can reach `url`, set up as all our requests want it.
    ///
    /// # Errors
    /// [`Failure::Refused`] when a proxy or certificate in the settings cannot be used.
    pub async fn client(&self, url: &Url) -> Result<Client, Failure> {
        let proxy = self.proxy(url)?;
        let is_secure = url.scheme() == "https" || proxy.is_some_and(|proxy| proxy.scheme() == "https");
        let client = match is_secure {
            true => self.0.secure.get_or_try_init(|| self.build_secure()).await,
            false => {
                let build = async || self.build(|client| Ok(client.tls_certs_only([])));
                self.0.plain.get_or_try_init(build).await
            }
        };
        client.cloned()
    }

    /// What it means that a request to `url` could not be made, or that its answer's head could not be read.
    #[must_use]
    pub fn meaning(&self, error: &reqwest::Error, url: &Url) -> Failure {
        trouble::unanswered(error, self.proxy(url).ok().flatten())
    }

    /// Whether a proxy stands on the way to `url`, usable or not.
    #[must_use]
    pub fn is_proxied(&self, url: &Url) -> bool {
        !matches!(self.proxy(url), Ok(None))
    }

    /// The proxy on the way to `url`, if there is one.
    pub(super) fn proxy(&self, url: &Url) -> Result<Option<&Url>, Failure> {
        self.0.proxies.of(url)
    }

    /// Files are read, which may take a while, so it does not hold up the other servers of this thread.
    async fn build_secure(&self) -> Result<Client, Failure> {
        let network = self.clone();
        let work = move || network.build(|client| network.0.trust.apply(client));
        let stopped = || Err(Failure::Closed { exit: None, sent: false });
        crate::task::run_blocking(work).await.unwrap_or_else(stopped)
    }

    fn build(
        &self,
        trust: impl FnOnce(ClientBuilder) -> Result<ClientBuilder, Failure>,
    ) -> Result<Client, Failure> {
        let proxies = Arc::clone(&self.0.proxies);
        let resolver = Resolver { names: Arc::clone(&self.0.names), proxies: Arc::clone(&self.0.proxies) };
        let KeepAlive { after, every, tries, unacknowledged } = self.0.keep_alive;
        let client = Client::builder()
            .user_agent(USER_AGENT)
            // The library would look for some in the environment itself.
            .no_proxy()
            .proxy(Proxy::custom(move |url| proxies.of(url).ok().flatten().cloned()))
            .dns_resolver(Arc::new(resolver))
            .redirect(Policy::none())
            .retry(retry::never())
            .referer(false)
            .connect_timeout(REQUEST_LIMIT)
            .pool_idle_timeout(IDLE)
            .pool_max_idle_per_host(IDLE_CONNECTIONS)
            .tcp_keepalive(after)
            .tcp_keepalive_interval(every)
            .tcp_keepalive_retries(tries);
        #[cfg(any(target_os = "android", target_os = "fuchsia", target_os = "linux"))]
        let client = client.tcp_user_timeout(unacknowledged);
        #[cfg(not(any(target_os = "android", target_os = "fuchsia", target_os = "linux")))]
        let _elsewhere = unacknowledged;
        trust(client)?.build().map_err(|error| trouble::refused(trouble::cause(&error), None))
    }
}
