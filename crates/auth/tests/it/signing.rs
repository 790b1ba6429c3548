//! A fake authorization server, the server behind it, and accounts of several simulated processes, for one
//! test.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use mcparley_auth::vault::{KeyStorage, Vault, VaultSettings};
use mcparley_auth::{Account, Accounts, AccountsSettings, Flow, SignInError, SignInMethod, UserIdentity};
use mcparley_model::config::{Era, OauthConfig, RemoteConfig};
use mcparley_model::name::ServerName;
use mcparley_model::secret::Secret;
use mcparley_testkit::{AuthServer, Browser, Page};
use mcparley_wire::handshake::{EstablishedConnection, Introduction, ServerConnector, connect};
use mcparley_wire::peer::{BoxedFuture, PeerCallOptions, PingHandler};
use mcparley_wire::transport::http::{HttpTarget, HttpTransport, Network};
use mcparley_wire::{Failure, RequestParams};
use serde_json::{Value, json};
use tempfile::TempDir;
use url::Url;

/// Longer than any step takes on a loaded machine.
pub(crate) const LONG: Duration = Duration::from_secs(60);

/// One vault, opened once per simulated process.
pub(crate) struct Vaults(TempDir);

impl Vaults {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn folder(&self) -> PathBuf {
        self.0.path().join("vault")
    }

    pub(crate) fn open(&self) -> Vault {
        Vault::new(VaultSettings { storage: KeyStorage::File, ..VaultSettings::new(self.folder()) })
    }
}

/// The servers and vault of one test.
pub(crate) struct Signing {
    pub(crate) server: AuthServer,
    vaults: Vaults,
}

impl Signing {
    pub(crate) fn start(lies: &[&str]) -> Self {
        Self { server: AuthServer::start(lies), vaults: Vaults::new() }
    }

    /// The folder of its vault.
    pub(crate) fn folder(&self) -> PathBuf {
        self.vaults.folder()
    }

    /// The accounts of a simulated process.
    pub(crate) fn accounts(&self) -> Accounts {
        accounts(Some(self.vaults.open()))
    }

    /// The account of a simulated process, for an entry without settings.
    pub(crate) fn account(&self) -> Account {
        self.account_as(OauthConfig::default())
    }

    /// The account of a simulated process, for an entry with these settings.
    pub(crate) fn account_as(&self, oauth: OauthConfig) -> Account {
        self.accounts().account_for(&ServerName::new("shared"), &remote(self.server.url(), oauth))
    }

    /// An account that is signed in.
    pub(crate) async fn signed_in(&self) -> Account {
        let account = self.account();
        sign_in(&account).await.unwrap();
        account
    }

    /// Sends a request with the credentials of the account.
    pub(crate) async fn request(&self, account: &Account) -> Result<String, Failure> {
        echo(&self.connect(account).await?, "hi").await
    }

    /// A connection that uses the account.
    pub(crate) async fn connect(
        &self,
        account: &Account,
    ) -> Result<EstablishedConnection<HttpTransport>, Failure> {
        connect_to(self.server.url(), account).await
    }

    /// The number of requests to the token endpoint for a grant.
    pub(crate) fn grants(&self, grant: &str) -> u64 {
        self.server.stats()["grants"][grant].as_u64().unwrap_or_default()
    }

    /// The number of requests to an endpoint.
    pub(crate) fn requests(&self, endpoint: &str) -> u64 {
        self.server.stats()["requests"][endpoint].as_u64().unwrap_or_default()
    }

    /// Waits until the statistics are as expected: requests may still be in flight.
    pub(crate) async fn until(&self, expected: impl Fn(&Value) -> bool) {
        let begun = Instant::now();
        loop {
            let stats = self.server.stats();
            if expected(&stats) {
                return;
            }
            assert!(begun.elapsed() < LONG, "{stats}");
            tokio::task::yield_now().await;
        }
    }
}

pub(crate) fn accounts(vault: Option<Vault>) -> Accounts {
    accounts_with(vault, None)
}

/// Accounts with an identity provider.
pub(crate) fn accounts_with(vault: Option<Vault>, identity: Option<UserIdentity>) -> Accounts {
    let folder = PathBuf::from("/");
    Accounts::new(AccountsSettings { network: Network::default(), vault, identity, folder })
}

/// A connection to a server that uses an account.
pub(crate) async fn connect_to(
    url: &str,
    account: &Account,
) -> Result<EstablishedConnection<HttpTransport>, Failure> {
    Site { account: account.clone(), url: url.parse().unwrap() }.connect().await
}

pub(crate) fn remote(url: &str, oauth: OauthConfig) -> RemoteConfig {
    let url = Secret::new(url.parse().unwrap());
    RemoteConfig { url, headers: Vec::new(), headers_helper: None, oauth: Some(oauth) }
}

/// Signs in as a user who consents.
pub(crate) async fn sign_in(account: &Account) -> Result<(), Arc<SignInError>> {
    let flow = account.begin_sign_in(SignInMethod::Browser).await?;
    browse(&flow).await;
    flow.wait_until_done().await
}

/// Opens the page of a sign-in and follows its redirects.
pub(crate) async fn browse(flow: &Flow) -> Page {
    open(flow.page().unwrap().as_str()).await
}

pub(crate) async fn open(url: &str) -> Page {
    let url = url.to_owned();
    tokio::task::spawn_blocking(move || Browser::new().open(&url)).await.unwrap()
}

/// The address that a browser on another machine ends on.
pub(crate) async fn last_address(flow: &Flow) -> String {
    let url = flow.page().unwrap().as_str().to_owned();
    let redirect = flow.page().unwrap().url().query_pairs().find(|(name, _)| name == "redirect_uri");
    let end = redirect.unwrap().1.into_owned();
    tokio::task::spawn_blocking(move || Browser::new().open_until(&url, &end).url).await.unwrap()
}

/// Calls the tool `echo`.
pub(crate) async fn echo(
    connected: &EstablishedConnection<HttpTransport>,
    message: &str,
) -> Result<String, Failure> {
    let params = RequestParams::new()
        .with_member("name", &"echo")
        .with_member("arguments", &json!({ "message": message }));
    let options = PeerCallOptions { limit: Some(LONG), ..PeerCallOptions::default() };
    let answer: Value = connected.session.call("tools/call", params, options).await?.decode().unwrap();
    Ok(answer["content"][0]["text"].as_str().unwrap_or_default().to_owned())
}

struct Site {
    account: Account,
    url: Url,
}

impl Site {
    async fn connect(&mut self) -> Result<EstablishedConnection<HttpTransport>, Failure> {
        let about = Introduction { info: json!({"name": "test", "version": "0"}), capabilities: json!({}) };
        connect(self, Era::Old, &about, LONG).await
    }
}

impl ServerConnector for Site {
    type Link = HttpTransport;

    fn open(&mut self) -> BoxedFuture<'_, Result<HttpTransport, Failure>> {
        let authorizer = Arc::new(self.account.clone());
        let target = HttpTarget { authorizer, ..HttpTarget::new(self.url.clone(), Vec::new()) };
        Box::pin(std::future::ready(HttpTransport::open(&target, &Network::default(), Arc::new(PingHandler))))
    }
}
