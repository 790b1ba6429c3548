//! Hosts that store sign-ins, the servers they sign in to, and a user that agrees to every question.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use mcparley::auth::{BrowserPage, Flow, SignInMethod};
use mcparley::call::PageOpener;
use mcparley::catalog::{CatalogEntry, ToolProvider};
use mcparley::config::StartPolicy;
use mcparley::model::name::ServerName;
use mcparley::permission::Consent;
use mcparley::pool::connection::ServerStatus;
use mcparley::{BoxedFuture, Call, CallError, CallOutcome, Host, HostBuilder, Paths};
use mcparley_testkit::{AuthServer, Browser};
use serde_json::{Value, json};

use crate::alive::LONG;
use crate::world::World;

/// Files that several hosts share, as the processes of one user do.
pub(crate) struct Home {
    pub(crate) world: World,
}

impl Home {
    pub(crate) fn new<'s>(entries: impl IntoIterator<Item = (&'s str, Value)>) -> Self {
        let mut world = World::new();
        world.set("PATH", "/usr/bin:/bin");
        world.set("MCPARLEY_VAULT_STORAGE", "file");
        let servers: serde_json::Map<String, Value> =
            entries.into_iter().map(|(name, entry)| (name.to_owned(), entry)).collect();
        world.write("home/.claude.json", &json!({ "mcpServers": servers }).to_string());
        Self { world }
    }

    fn paths(&self) -> Paths {
        let mut paths = self.world.paths();
        paths.secrets = Some(self.world.path("secrets"));
        paths.cache = Some(self.world.path("cache"));
        paths
    }

    /// A host as in a process of its own, when its servers have settled.
    pub(crate) async fn host(&self) -> Signed {
        self.host_as(|builder| builder).await
    }

    pub(crate) async fn host_as(&self, change: impl FnOnce(HostBuilder) -> HostBuilder) -> Signed {
        let builder = Host::builder(&self.paths(), &self.world.run_options).start_with(StartPolicy::All);
        let host = change(builder.without_built_in_server()).start();
        assert!(host.wait_until_ready(LONG).await.settled);
        Signed { host }
    }

    /// The cached facts about servers that require a sign-in.
    pub(crate) fn noted(&self) -> Value {
        let text = std::fs::read_to_string(self.world.path("cache/mcp-needs-auth-cache.json"));
        text.map(|text| serde_json::from_str(&text).unwrap()).unwrap_or_default()
    }
}

/// The entry of a server that wants a sign-in.
pub(crate) fn guarded(server: &AuthServer) -> Value {
    json!({ "type": "http", "url": server.url() })
}

/// A host.
pub(crate) struct Signed {
    pub(crate) host: Host,
}

impl Signed {
    pub(crate) fn status(&self, name: &str) -> ServerStatus {
        let servers = self.host.servers();
        servers.into_iter().find(|server| server.name.as_str() == name).unwrap().state.status
    }

    /// The names in the catalog, but for the host's own tools.
    pub(crate) fn names(&self) -> Vec<String> {
        let catalog = self.host.publish_catalog();
        let is_own = |entry: &CatalogEntry| matches!(entry.provider, ToolProvider::Host(_));
        catalog.iter().filter(|entry| !is_own(entry)).map(|entry| entry.name.to_string()).collect()
    }

    pub(crate) async fn begin(&self, name: &str) -> Flow {
        self.host.sign_in(&ServerName::new(name), SignInMethod::Browser).await.unwrap()
    }

    /// Signs in as a user that agrees.
    pub(crate) async fn sign_in(&self, name: &str) {
        let flow = self.begin(name).await;
        browse(flow.page().unwrap().as_str()).await;
        flow.wait_until_done().await.unwrap();
    }

    /// Waits until the server is as wanted.
    pub(crate) async fn until(&self, name: &str, wanted: fn(&ServerStatus) -> bool) {
        let mut events = self.host.server_events();
        let waiting = async {
            while !wanted(&self.status(name)) {
                // One that fell behind looks again.
                let _event = events.recv().await;
            }
        };
        let waited = tokio::time::timeout(LONG, waiting).await;
        assert!(waited.is_ok(), "{:?}", self.status(name));
    }

    /// Calls a tool as a model does.
    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> Result<CallOutcome, CallError> {
        self.host.call(Call::new(tool, arguments)).await
    }

    /// Calls `echo` as a person does.
    pub(crate) async fn echo(&self, server: &str) -> Result<String, CallError> {
        let call = Call::on_server(server, "echo", json!({ "message": "hi" })).with_consent(Consent::Given);
        self.host.call(call).await.map(|outcome| outcome.to_text())
    }
}

/// Opens a page and follows where it leads.
pub(crate) async fn browse(url: &str) {
    let url = url.to_owned();
    tokio::task::spawn_blocking(move || Browser::new().open(&url)).await.unwrap();
}

/// The address a browser on another machine ends on.
pub(crate) async fn last_address(page: &str) -> String {
    let page = page.to_owned();
    let address: url::Url = page.parse().unwrap();
    let redirect = address.query_pairs().find(|(name, _)| name == "redirect_uri").unwrap().1.into_owned();
    tokio::task::spawn_blocking(move || Browser::new().open_until(&page, &redirect).url).await.unwrap()
}

pub(crate) fn needs_auth(status: &ServerStatus) -> bool {
    matches!(status, ServerStatus::NeedsAuth)
}

/// The number of requests of a kind that the authorization server received.
pub(crate) fn count(server: &AuthServer, kind: &str, name: &str) -> u64 {
    server.stats()[kind][name].as_u64().unwrap_or_default()
}

/// Waits until the figures of a server are as expected.
pub(crate) async fn until(server: &AuthServer, expected: impl Fn(&Value) -> bool) {
    let begun = Instant::now();
    while !expected(&server.stats()) {
        assert!(begun.elapsed() < LONG, "{}", server.stats());
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// A user at a browser, with a count of the pages.
#[derive(Clone, Debug, Default)]
pub(crate) struct Person {
    shown: Arc<Mutex<Vec<String>>>,
    /// Whether there is no screen.
    is_blind: bool,
}

impl Person {
    /// No page can be shown.
    pub(crate) fn without_screen() -> Self {
        Self { is_blind: true, ..Self::default() }
    }

    pub(crate) fn shown(&self) -> Vec<String> {
        self.shown.lock().unwrap().clone()
    }
}

impl PageOpener for Person {
    fn open_page<'p>(&'p self, server: &'p ServerName, page: &'p BrowserPage) -> BoxedFuture<'p, bool> {
        self.shown.lock().unwrap().push(server.to_string());
        let url = page.as_str().to_owned();
        if !self.is_blind {
            // The thread ends with the page.
            std::thread::spawn(move || Browser::new().open(&url));
        }
        Box::pin(std::future::ready(!self.is_blind))
    }
}
