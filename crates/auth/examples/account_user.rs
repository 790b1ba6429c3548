//! A process that is signed in to a server through a shared vault, for tests that start many and kill some.
//!
//! `account_user <folder> <url> <client>`: the sign-in of the server `shared`, stored in this folder, with
//! this client or, for `-`, one that registers itself. It prints `ready`, then for each line of its input
//! calls the server's tool `echo` with that line and prints `ok` and the result, or `failed` and the reason.
//! It ends with its input.

use std::io::{self, BufRead, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use mcparley_auth::vault::{KeyStorage, Vault, VaultSettings};
use mcparley_auth::{Account, Accounts, AccountsSettings};
use mcparley_model::config::{Era, OauthConfig, RemoteConfig};
use mcparley_model::name::ServerName;
use mcparley_model::secret::Secret;
use mcparley_wire::handshake::{EstablishedConnection, Introduction, ServerConnector, connect};
use mcparley_wire::peer::{BoxedFuture, PeerCallOptions, PingHandler};
use mcparley_wire::transport::http::{HttpTarget, HttpTransport, Network};
use mcparley_wire::{Failure, RequestParams};
use serde_json::{Value, json};
use url::Url;

const PATIENCE: Duration = Duration::from_secs(60);

#[tokio::main(flavor = "current_thread")]
async fn main() -> io::Result<ExitCode> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, url, client] = arguments.as_slice() else { return Ok(ExitCode::from(64)) };
    let url: Url = url.parse().map_err(io::Error::other)?;
    let mut site = Site { account: account(Path::new(folder), &url, client), url };
    let mut connected = None;
    say("ready")?;
    for line in io::stdin().lock().lines() {
        let called = match &connected {
            Some(connected) => call(connected, &line?).await,
            None => match site.connect().await {
                Ok(new) => call(connected.insert(new), &line?).await,
                Err(failure) => Err(failure),
            },
        };
        match called {
            Ok(text) => say(&format!("ok {text}"))?,
            Err(failure) => say(&format!("failed {failure}"))?,
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn say(line: &str) -> io::Result<()> {
    let mut out = io::stdout();
    writeln!(out, "{line}")?;
    out.flush()
}

fn account(folder: &Path, url: &Url, client: &str) -> Account {
    let vault = Vault::new(VaultSettings { storage: KeyStorage::File, ..VaultSettings::new(folder) });
    let client_id = (client != "-").then(|| client.to_owned());
    let oauth = Some(OauthConfig { client_id, ..OauthConfig::default() });
    let remote =
        RemoteConfig { url: Secret::new(url.clone()), headers: Vec::new(), headers_helper: None, oauth };
    let accounts = Accounts::new(AccountsSettings {
        network: Network::default(),
        vault: Some(vault),
        identity: None,
        folder: folder.to_owned(),
    });
    accounts.account_for(&ServerName::new("shared"), &remote)
}

struct Site {
    account: Account,
    url: Url,
}

impl Site {
    async fn connect(&mut self) -> Result<EstablishedConnection<HttpTransport>, Failure> {
        let about = Introduction { info: json!({"name": "user", "version": "0"}), capabilities: json!({}) };
        connect(self, Era::Old, &about, PATIENCE).await
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

async fn call(connected: &EstablishedConnection<HttpTransport>, message: &str) -> Result<String, Failure> {
    let params = RequestParams::new()
        .with_member("name", &"echo")
        .with_member("arguments", &json!({ "message": message }));
    let options = PeerCallOptions { limit: Some(PATIENCE), ..PeerCallOptions::default() };
    let answer = connected.session.call("tools/call", params, options).await?;
    let answer: Value = answer.decode().map_err(|error| Failure::Protocol(error.to_string().into()))?;
    Ok(answer["content"][0]["text"].as_str().unwrap_or_default().to_owned())
}
