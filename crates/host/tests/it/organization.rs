//! Connectors behind the organization's proxy: fetched, planned, called, and let in by a token that expires.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use mcparley::config::{ConnectorList, load_config};
use mcparley::model::name::ServerName;
use mcparley::model::secret::Secret;
use mcparley::pool::connect::ConnectContext;
use mcparley::pool::connection::ServerStatus;
use mcparley::pool::organization::{Organization, StoredToken, TokenSource};
use mcparley::{Call, Host, HostBuilder};
use mcparley_testkit::HttpServer;
use mcparley_wire::peer::BoxedFuture;
use serde_json::{Value, json};

use crate::world::{World, chmod};

/// A timeout longer than any step here takes.
const LONG: Duration = Duration::from_secs(10);

/// An organization with a catalog and a proxy, and tokens that this test changes.
struct Proxy {
    world: World,
    server: HttpServer,
}

impl Proxy {
    /// With these pages in its catalog; `tokens` are accepted.
    fn start(pages: &[Value], tokens: &str) -> Self {
        let mut world = World::new();
        world.run_options.allowed_tools = vec!["mcp__claude_ai_Slack".into()];
        let pages: Vec<String> = pages.iter().map(ToString::to_string).collect();
        world.write("pages", &pages.join("\n"));
        world.write("tokens", tokens);
        let scripts = [("connectors", "pages"), ("token-file", "tokens")];
        let scripts = scripts.map(|(script, file)| format!("{script}:{}", world.path(file).display()));
        let server = HttpServer::start(&[&scripts[0], &scripts[1]]);
        Self { world, server }
    }

    fn organization(&self, tokens: Arc<dyn TokenSource>) -> Organization {
        Organization::from_url(&format!("http://{}", self.server.address()), tokens).unwrap()
    }

    async fn fetch(
        &self,
        organization: &Organization,
    ) -> Result<ConnectorList, mcparley::pool::organization::ConnectorError> {
        let context = ConnectContext::new(&self.world.run_options.env, &self.world.paths());
        organization.fetch_connectors(context.dialer.network(), LONG).await
    }

    /// A host with its connectors.
    async fn host(&self, organization: Organization) -> Host {
        let fetched = self.fetch(&organization).await;
        let list = fetched.unwrap_or_else(|error| ConnectorList::from_error(&error));
        let loaded = load_config(&self.world.paths(), &self.world.run_options).with_connectors(&list);
        let host = HostBuilder::new(&self.world.paths(), loaded);
        let host = host.organization(Some(organization)).without_built_in_server().start();
        host.wait_until_ready(LONG).await;
        host
    }
}

fn slack() -> Value {
    json!({ "data": [{ "id": "s", "display_name": "Slack" }], "has_more": false })
}

/// Its `n`th token is `n`.
#[derive(Default)]
struct Renewing {
    current: AtomicUsize,
    renewals: AtomicUsize,
}

impl TokenSource for Renewing {
    fn current_token(&self) -> Option<Secret<String>> {
        Some(Secret::new(self.current.load(Ordering::Relaxed).to_string()))
    }

    fn renew_token<'a>(&'a self, sent: &'a Secret<String>) -> BoxedFuture<'a, Option<Secret<String>>> {
        self.renewals.fetch_add(1, Ordering::Relaxed);
        let next: usize = sent.expose().parse::<usize>().unwrap() + 1;
        self.current.store(next, Ordering::Relaxed);
        Box::pin(std::future::ready(Some(Secret::new(next.to_string()))))
    }
}

/// Waits until the failed call is reported to the owner of its connection.
async fn until_it_needs_a_sign_in(host: &Host) {
    let mut events = host.server_events();
    let needs = |server: &mcparley::host::HostServer| matches!(server.state.status, ServerStatus::NeedsAuth);
    let waiting = async {
        while !host.servers().iter().any(needs) {
            // One that fell behind looks again.
            let _event = events.recv().await;
        }
    };
    tokio::time::timeout(LONG, waiting).await.unwrap();
}

fn echo(message: usize) -> Call {
    Call::new("mcp__claude_ai_Slack__echo", json!({ "message": message.to_string() }))
}

// T7 C1 N1
#[tokio::test]
async fn a_connector_is_called_through_the_proxy_with_the_token() {
    let proxy = Proxy::start(&[slack()], "0");
    let host = proxy.host(proxy.organization(Arc::new(Renewing::default()))).await;
    assert_eq!(proxy.world.lines(&host.loaded_config()), ["connectors claude.ai Slack ready"]);
    assert_eq!(host.call(echo(7)).await.unwrap().to_text(), "7");
    host.shut_down().await;
    assert_eq!(proxy.server.stats()["unauthorized"], 0);
}

// T7
#[tokio::test]
async fn fifty_calls_with_an_expired_token_cause_one_renewal_and_all_succeed() {
    let proxy = Proxy::start(&[slack()], "0");
    let tokens = Arc::new(Renewing::default());
    let host = proxy.host(proxy.organization(Arc::<Renewing>::clone(&tokens))).await;
    proxy.world.write("tokens", "1");
    let mut calls = tokio::task::JoinSet::new();
    for number in 0..50 {
        let host = host.clone();
        calls.spawn(async move { (number.to_string(), host.call(echo(number)).await.unwrap().to_text()) });
    }
    while let Some(answer) = calls.join_next().await {
        let (sent, answered) = answer.unwrap();
        assert_eq!(sent, answered);
    }
    assert_eq!(tokens.renewals.load(Ordering::Relaxed), 1);
    let refused = proxy.server.stats()["unauthorized"].as_u64().unwrap();
    assert!((1..=51).contains(&refused), "each request is refused at most once: {refused}");
    host.shut_down().await;
}

// T7 L1
#[tokio::test]
async fn rejected_organization_token_requires_a_sign_in_and_is_not_retried_for_ever() {
    let proxy = Proxy::start(&[slack()], "0");
    let tokens = Arc::new(Renewing::default());
    let host = proxy.host(proxy.organization(Arc::<Renewing>::clone(&tokens))).await;
    proxy.world.write("tokens", "never");
    let before = proxy.server.stats()["unauthorized"].as_u64().unwrap();
    assert!(host.call(echo(1)).await.is_err());
    until_it_needs_a_sign_in(&host).await;
    assert_eq!(tokens.renewals.load(Ordering::Relaxed), 1);
    // The call and its repetition; the session's end is told once more, in vain.
    let refused = proxy.server.stats()["unauthorized"].as_u64().unwrap() - before;
    assert!((2..=4).contains(&refused), "{refused}");
    host.shut_down().await;
}

// T7
#[tokio::test]
async fn connector_at_another_origin_gets_no_token() {
    let proxy = Proxy::start(&[slack()], "0");
    let elsewhere = Proxy::start(&[slack()], "0");
    let mut world = World::new();
    let url = format!("http://{}/v1/mcp/x", elsewhere.server.address());
    let entry = json!({ "mcpServers": { "x": { "type": "claudeai-proxy", "url": url, "id": "x" } } });
    world.run_options.mcp_config = vec![entry.to_string()];
    let organization = proxy.organization(Arc::new(Renewing::default()));
    let host = HostBuilder::new(&world.paths(), world.load()).organization(Some(organization)).start();
    let error = host.connect_server(&ServerName::new("x")).await.unwrap_err();
    assert!(error.to_string().contains("only sent to the origin of the catalog"), "{error}");
    assert_eq!(elsewhere.server.stats()["unauthorized"], 0);
    host.shut_down().await;
}

// C1
#[tokio::test]
async fn every_connector_page_is_read_and_bad_entries_are_problems() {
    let page = |id: &str, next: &str| json!({ "data": [{ "id": id, "name": id }, { "id": "bad" }], "has_more": true, "next_page": next });
    let proxy = Proxy::start(&[page("a", "1"), page("b", "2"), page("c", "7")], "0");
    let organization = proxy.organization(Arc::new(Renewing::default()));
    let known = proxy.fetch(&organization).await;
    let list = known.unwrap_or_else(|error| ConnectorList::from_error(&error));
    let loaded = load_config(&proxy.world.paths(), &proxy.world.run_options).with_connectors(&list);
    let ready = ["a", "b", "c"].map(|name| format!("connectors claude.ai {name} ready"));
    assert_eq!(proxy.world.lines(&loaded), ready);
    let problems: Vec<String> = loaded.problems.iter().map(ToString::to_string).collect();
    let bad = |place: usize| {
        format!("the connector catalog: connector {place} is left out: it has no `display_name`")
    };
    let lost = "the connector catalog: the connectors could not be fetched: \
                the server answered with status 404: no such page";
    assert_eq!(problems, [bad(2), bad(4), bad(6), lost.to_owned()]);
    assert_eq!(proxy.server.stats()["catalog"], 4);
}

// C1 T7
#[tokio::test]
async fn connector_list_error_is_a_problem_with_a_reason() {
    let told = async |proxy: &Proxy| {
        let organization = proxy.organization(Arc::new(Renewing::default()));
        proxy.fetch(&organization).await.unwrap_err().to_string()
    };
    let proxy = Proxy::start(&[slack()], "never");
    assert_eq!(told(&proxy).await, "the connectors could not be fetched: the token is refused");
    assert_eq!(proxy.server.stats()["unauthorized"], 2);
    let proxy = Proxy::start(&[], "0");
    assert!(told(&proxy).await.ends_with("status 404: no such page"));
    proxy.world.write("pages", "<html>");
    assert_eq!(told(&proxy).await, "the connector catalog is malformed: it is not JSON");
    proxy.world.write("pages", &format!("{{\"data\": [\"{}\"]}}", "x".repeat(1024 * 1024)));
    assert!(told(&proxy).await.ends_with("larger than 1048576 bytes"));
    let organization = proxy.organization(Arc::new(Renewing::default()));
    drop(proxy.server);
    let context = ConnectContext::new(&proxy.world.run_options.env, &proxy.world.paths());
    let error = organization.fetch_connectors(context.dialer.network(), LONG).await.unwrap_err().to_string();
    assert!(error.starts_with("the connectors could not be fetched: cannot reach the server"), "{error}");
}

// C1
#[tokio::test]
async fn silent_connector_list_times_out() {
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let world = World::new();
    let tokens = Arc::new(Renewing::default());
    let organization =
        Organization::from_url(&format!("http://{}", silent.local_addr().unwrap()), tokens).unwrap();
    let context = ConnectContext::new(&world.run_options.env, &world.paths());
    let limit = Duration::from_millis(200);
    let begun = std::time::Instant::now();
    let error = organization.fetch_connectors(context.dialer.network(), limit).await.unwrap_err().to_string();
    assert!(error.contains("timed out after 200ms"), "{error}");
    assert!(begun.elapsed() >= limit && begun.elapsed() < Duration::from_secs(5));
}

fn credentials(world: &World, text: &str, mode: u32) -> PathBuf {
    world.write("home/.claude/.credentials.json", text);
    let path = world.path("home/.claude/.credentials.json");
    chmod(&path, mode);
    path
}

// T7 H32
#[tokio::test]
async fn the_token_in_the_file_is_used_if_the_file_is_private_and_read_again_when_refused() {
    let world = World::new();
    let path = credentials(&world, r#"{"claudeAiOauth": {"accessToken": "one", "expiresAt": 0}}"#, 0o600);
    let token = StoredToken::new(None, path.clone());
    let current = || token.current_token().map(|token| token.expose().clone());
    assert_eq!(current().as_deref(), Some("one"));
    let one = Secret::new("one".to_owned());
    assert_eq!(token.renew_token(&one).await, None, "nobody has renewed it");
    credentials(&world, r#"{"claudeAiOauth": {"accessToken": "two"}}"#, 0o600);
    assert_eq!(current().as_deref(), Some("one"), "it is read again only when it is refused");
    assert!(token.renew_token(&one).await.is_some());
    assert_eq!(current().as_deref(), Some("two"));
    assert!(!format!("{token:?}").contains("two"));
    let given = StoredToken::new(Some(Secret::new("given".to_owned())), path);
    assert_eq!(given.current_token().unwrap().expose(), "given");
    assert_eq!(given.renew_token(&Secret::new("given".to_owned())).await, None);
}

// T7 H32
#[test]
fn a_file_that_others_can_read_has_no_token_and_the_reason_is_told() {
    let world = World::new();
    let missing = StoredToken::new(None, world.path("home/none.json"));
    assert_eq!(world.relative(&missing.missing_reason().unwrap()), "`home/none.json` does not exist");
    for (text, mode, why) in [
        (r#"{"claudeAiOauth": {"accessToken": "t"}}"#, 0o644, "is open to other users (mode 644)"),
        (r#"{"claudeAiOauth": {}}"#, 0o600, "has no `claudeAiOauth.accessToken`"),
        (r#"{"claudeAiOauth": {"accessToken": ""}}"#, 0o600, "has no `claudeAiOauth.accessToken`"),
        ("not JSON", 0o600, "has no `claudeAiOauth.accessToken`"),
    ] {
        let path = credentials(&world, text, mode);
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, mode);
        let token = StoredToken::new(None, path);
        assert!(token.current_token().is_none());
        let told = world.relative(&token.missing_reason().unwrap());
        assert_eq!(told, format!("`home/.claude/.credentials.json` {why}"));
    }
}

// C1
#[tokio::test]
async fn without_a_token_no_connectors_are_fetched() {
    let proxy = Proxy::start(&[slack()], "0");
    let tokens = Arc::new(StoredToken::new(None, proxy.world.path("none")));
    let error = proxy.fetch(&proxy.organization(tokens)).await.unwrap_err();
    let told = proxy.world.relative(&error.to_string());
    assert_eq!(told, "there is no token for the connectors: `none` does not exist");
    assert_eq!(proxy.server.stats()["unauthorized"], 0);
}

// C1 C13
#[tokio::test]
async fn host_fetches_connectors_in_the_background() {
    let proxy = Proxy::start(&[slack()], "0");
    let organization = proxy.organization(Arc::new(Renewing::default()));
    let host = Host::builder(&proxy.world.paths(), &proxy.world.run_options)
        .organization(Some(organization))
        .without_built_in_server()
        .start();
    assert_eq!(host.servers().len(), 0, "nobody waits for them");
    let mut changes = host.server_events();
    let there = async {
        while !host
            .servers()
            .iter()
            .any(|server| matches!(server.state.status, ServerStatus::Connected { .. }))
        {
            // One that fell behind looks again.
            let _event = changes.recv().await;
        }
    };
    tokio::time::timeout(LONG, there).await.unwrap();
    assert_eq!(host.call(echo(7)).await.unwrap().to_text(), "7");
    assert_eq!(
        host.reload().await,
        mcparley::host::ServerChanges::default(),
        "they stay when files are read again"
    );
    assert_eq!(
        host.set_connectors(ConnectorList::default()).await.removed,
        [ServerName::new("claude.ai Slack")]
    );
    assert_eq!(host.servers().len(), 0);
}
