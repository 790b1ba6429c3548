//! A fake authorization server, the server behind it, and processes' worth of accounts, for one test.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use mcparley_auth::vault::{Storage, Vault, VaultSettings};
use mcparley_auth::{Account, Accounts, AccountsSettings, Flow, Identity, SignInError, Way};
use mcparley_model::config::{Era, Oauth, Remote};
use mcparley_model::name::ServerName;
use mcparley_model::secret::Secret;
use mcparley_testkit::{AuthServer, Browser, Page};
use mcparley_wire::handshake::{Connect, Connected, Introduction, connect};
use mcparley_wire::peer::{Boxed, CallOptions, Deaf};
use mcparley_wire::transport::http::{Http, HttpTarget, Network};
use mcparley_wire::{Failure, Params};
use serde_json::{Value, json};
use tempfile::TempDir;
use url::Url;

/// Longer than anything takes on a loaded machine.
pub(crate) const LONG: Duration = Duration::from_secs(60);

/// One vault, opened as often as there are processes.
pub(crate) struct Vaults(TempDir);

impl Vaults {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn folder(&self) -> PathBuf {
        self.0.path().join("vault")
    }

    pub(crate) fn open(&self) -> Vault {
        Vault::new(VaultSettings { storage: Storage::File, ..VaultSettings::new(self.folder()) })
    }
}

/// What a test has of its own.
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

    /// What a process of its own would have.
    pub(crate) fn accounts(&self) -> Accounts {
        accounts(Some(self.vaults.open()))
    }

    /// The account of a process of its own, for an entry that says nothing.
    pub(crate) fn account(&self) -> Account {
        self.account_as(Oauth::default())
    }

    /// The same for an entry that says this.
    pub(crate) fn account_as(&self, oauth: Oauth) -> Account {
        self.accounts().of(&ServerName::new("shared"), &remote(self.server.url(), oauth))
    }

    /// An account that somebody has signed in to.
    pub(crate) async fn signed_in(&self) -> Account {
        let account = self.account();
        sign_in(&account).await.unwrap();
        account
    }

    /// Makes a request with what the account gives.
    pub(crate) async fn request(&self, account: &Account) -> Result<String, Failure> {
        echo(&self.connect(account).await?, "hi").await
    }

    /// A connection through the account.
    pub(crate) async fn connect(&self, account: &Account) -> Result<Connected<Http>, Failure> {
        connect_to(self.server.url(), account).await
    }

    /// How many requests the token endpoint has got for a grant.
    pub(crate) fn grants(&self, grant: &str) -> u64 {
        self.server.stats()["grants"][grant].as_u64().unwrap_or_default()
    }

    /// How many requests an endpoint has got.
    pub(crate) fn requests(&self, endpoint: &str) -> u64 {
        self.server.stats()["requests"][endpoint].as_u64().unwrap_or_default()
    }

    /// Waits until its figures are as expected: what was sent may be on its way.
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

/// The same with somebody who knows the person.
pub(crate) fn accounts_with(vault: Option<Vault>, identity: Option<Identity>) -> Accounts {
    let folder = PathBuf::from("/");
    Accounts::new(AccountsSettings { network: Network::default(), vault, identity, folder })
}

/// A connection to a server through an account.
pub(crate) async fn connect_to(url: &str, account: &Account) -> Result<Connected<Http>, Failure> {
    Site { account: account.clone(), url: url.parse().unwrap() }.connect().await
}

pub(crate) fn remote(url: &str, oauth: Oauth) -> Remote {
    let url = Secret::new(url.parse().unwrap());
    Remote { url, headers: Vec::new(), headers_helper: None, oauth: Some(oauth) }
}

/// Signs in as a person does who agrees to everything.
pub(crate) async fn sign_in(account: &Account) -> Result<(), Arc<SignInError>> {
    let flow = account.begin(Way::Browser).await?;
    browse(&flow).await;
    flow.wait().await
}

/// Opens the page of a sign-in and follows where it leads.
pub(crate) async fn browse(flow: &Flow) -> Page {
    open(flow.page().unwrap().as_str()).await
}

pub(crate) async fn open(url: &str) -> Page {
    let url = url.to_owned();
    tokio::task::spawn_blocking(move || Browser::new().open(&url)).await.unwrap()
}

/// The address a browser on another machine ends on.
pub(crate) async fn last_address(flow: &Flow) -> String {
    let url = flow.page().unwrap().as_str().to_owned();
    let redirect = flow.page().unwrap().url().query_pairs().find(|(name, _)| name == "redirect_uri");
    let end = redirect.unwrap().1.into_owned();
    tokio::task::spawn_blocking(move || Browser::new().open_until(&url, &end).url).await.unwrap()
}

/// Calls the tool `echo`.
pub(crate) async fn echo(connected: &Connected<Http>, message: &str) -> Result<String, Failure> {
    let params = Params::new().with("name", &"echo").with("arguments", &json!({ "message": message }));
    let options = CallOptions { limit: Some(LONG), ..CallOptions::default() };
    let answer: Value = connected.session.call("tools/call", params, options).await?.decode().unwrap();
    Ok(answer["content"][0]["text"].as_str().unwrap_or_default().to_owned())
}

struct Site {
    account: Account,
    url: Url,
}

impl Site {
    async fn connect(&mut self) -> Result<Connected<Http>, Failure> {
        let about = Introduction { info: json!({"name": "test", "version": "0"}), capabilities: json!({}) };
        connect(self, Era::Old, &about, LONG).await
    }
}

impl Connect for Site {
    type Link = Http;

    fn open(&mut self) -> Boxed<'_, Result<Http, Failure>> {
        let authorizer = Arc::new(self.account.clone());
        let target = HttpTarget { authorizer, ..HttpTarget::new(self.url.clone(), Vec::new()) };
        Box::pin(std::future::ready(Http::open(&target, &Network::default(), Arc::new(Deaf))))
    }
}
