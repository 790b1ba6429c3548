//! HTTP clients with proxies, TLS and DNS, shared by all servers of a process.
//!
//! No code here reads the environment: the caller passes the values in. The HTTP client is built when the
//! first request needs it, and once. Loading the system's certificates takes longer than all the rest, so
//! servers without TLS have a client of their own, which does without.

mod names;
mod proxy;
mod trust;
mod verifier;

use std::sync::Arc;
use std::time::Duration;

use mcparley_model::limits::REQUEST_LIMIT;
use reqwest::redirect::Policy;
use reqwest::{Client, ClientBuilder, Proxy, retry};
use tokio::sync::OnceCell;
use url::Url;

use super::super::network_settings::{KeepAlive, NetworkSettings};
use super::http_error;
use crate::failure::Failure;
pub use names::NameResolver;
pub(super) use names::UnresolvedHost;
use names::{ReqwestResolver, SystemResolver};
use proxy::Proxies;
use trust::TlsTrust;
pub(super) use verifier::SelfSignedCertificate;

/// Idle timeout of pooled connections. Many servers close a connection after five idle seconds; the outcome
/// of a request sent at that moment would be unknown.
const IDLE: Duration = Duration::from_secs(4);

/// Limit of idle connections to one server that are kept after a burst of calls.
const IDLE_CONNECTIONS: usize = 32;

/// The value of `User-Agent`.
pub(super) const USER_AGENT: &str = concat!("mcparley/", env!("CARGO_PKG_VERSION"));

/// The network settings with their HTTP clients. Cheap to clone; all clones share their connections.
#[derive(Clone, Debug)]
pub struct Network(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    proxies: Arc<Proxies>,
    trust: Arc<TlsTrust>,
    keep_alive: KeepAlive,
    names: Arc<dyn NameResolver>,
    /// Stored only on success: a file that is missing now may be there later.
    plain: OnceCell<Client>,
    secure: OnceCell<Client>,
}

impl Default for Network {
    /// No proxies, and the certificates that the system trusts.
    fn default() -> Self {
        Self::new(NetworkSettings::default())
    }
}

impl Network {
    /// Takes the settings; an error in them fails the first request that needs them.
    #[must_use]
    pub fn new(settings: NetworkSettings) -> Self {
        let NetworkSettings { proxies, extra_ca, client_certificate, client_key, keep_alive } = settings;
        Self(Arc::new(Shared {
            proxies: Arc::new(Proxies::new(&proxies)),
            trust: Arc::new(TlsTrust::new(extra_ca, client_certificate, client_key)),
            keep_alive,
            names: Arc::new(SystemResolver),
            plain: OnceCell::new(),
            secure: OnceCell::new(),
        }))
    }

    /// A network with the same settings, on which host names are resolved by `names`. It has connections of
    /// its own: one to an address that another resolver returned must not be reused. Names that a proxy
    /// resolves are beyond our control.
    #[must_use]
    pub fn with_resolver(&self, names: Arc<dyn NameResolver>) -> Self {
        Self(Arc::new(Shared {
            proxies: Arc::clone(&self.0.proxies),
            trust: Arc::clone(&self.0.trust),
            keep_alive: self.0.keep_alive,
            names,
            plain: OnceCell::new(),
            secure: OnceCell::new(),
        }))
    }

    /// The resolver for host names.
    #[must_use]
    pub fn resolver(&self) -> &Arc<dyn NameResolver> {
        &self.0.names
    }

    /// The HTTP client for `url`, with the settings of all our requests.
    ///
    /// # Errors
    /// [`Failure::Refused`] when a proxy or certificate in the settings cannot be used.
    pub async fn client_for(&self, url: &Url) -> Result<Client, Failure> {
        let proxy = self.proxy_for(url)?;
        let is_secure = url.scheme() == "https" || proxy.is_some_and(|proxy| proxy.scheme() == "https");
        let client = if is_secure {
            self.0.secure.get_or_try_init(|| self.build_secure()).await
        } else {
            let build = async || self.build(|client| Ok(client.tls_certs_only([])));
            self.0.plain.get_or_try_init(build).await
        };
        client.cloned()
    }

    /// Classifies the error of a request to `url` that could not be sent, or whose response head could not be
    /// read.
    #[must_use]
    pub fn classify_error(&self, error: &reqwest::Error, url: &Url) -> Failure {
        http_error::classify_request_error(error, self.proxy_for(url).ok().flatten())
    }

    /// Whether requests to `url` go through a proxy, usable or not.
    #[must_use]
    pub fn is_proxied(&self, url: &Url) -> bool {
        !matches!(self.proxy_for(url), Ok(None))
    }

    /// The proxy for requests to `url`, if there is one.
    pub(super) fn proxy_for(&self, url: &Url) -> Result<Option<&Url>, Failure> {
        self.0.proxies.proxy_for(url)
    }

    /// Builds the TLS client on another thread, because reading certificate files may take a while.
    async fn build_secure(&self) -> Result<Client, Failure> {
        let network = self.clone();
        let work = move || network.build(|client| network.0.trust.apply_to(client));
        let stopped = || Err(Failure::Closed { exit: None, sent: false });
        mcparley_platform::thread::run_blocking(work).await.unwrap_or_else(stopped)
    }

    fn build(
        &self,
        trust: impl FnOnce(ClientBuilder) -> Result<ClientBuilder, Failure>,
    ) -> Result<Client, Failure> {
        let proxies = Arc::clone(&self.0.proxies);
        let resolver =
            ReqwestResolver { names: Arc::clone(&self.0.names), proxies: Arc::clone(&self.0.proxies) };
        let KeepAlive { after, every, tries, unacknowledged } = self.0.keep_alive;
        let client = Client::builder()
            .user_agent(USER_AGENT)
            // The library would read the environment itself.
            .no_proxy()
            .proxy(Proxy::custom(move |url| proxies.proxy_for(url).ok().flatten().cloned()))
            .dns_resolver(Arc::new(resolver))
            .redirect(Policy::none())
            .retry(retry::never())
            .referer(false)
            .connect_timeout(REQUEST_LIMIT)
            .pool_idle_timeout(IDLE)
            .pool_max_idle_per_host(IDLE_CONNECTIONS)
            .tcp_keepalive(after)
            .tcp_keepalive_interval(every)
            .tcp_keepalive_retries(tries)
            .tcp_user_timeout(unacknowledged);
        trust(client)?
            .build()
            .map_err(|error| http_error::unreachable_failure(http_error::innermost_cause(&error), None))
    }
}
