//! Two principals of one gateway at one server that requires a sign-in: each acts there as itself.

use std::sync::Arc;

use mcparley::auth::vault::{KeyStorage, Vault, VaultSettings};
use mcparley::auth::{Accounts, AccountsSettings, CallbackEndpoint, PrincipalSignIn};
use mcparley::model::config::RemoteConfig;
use mcparley::model::name::ServerName;
use mcparley::model::secret::Secret;
use mcparley_cluster::{ClusterMember, InProcessStore, KeyNames, SharedStore};
use mcparley_door::{DoorOptions, TokenFile, TokenPolicy};
use mcparley_gateway::{ClusterOptions, Seal};
use mcparley_testkit::{Browser, OpenIdProvider, Page};
use mcparley_wire::transport::http::Network;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::client::LONG;
use crate::door::{HttpReply, OpenDoors, call, options};
use crate::world::{Served, World};

const ALICE: Member = Member { token: "Bearer secret-a", principal: "token:a", person: "alice" };
const BOB: Member = Member { token: "Bearer secret-b", principal: "token:b", person: "bob" };

/// A member of a team, with the token for the gateway and the account at the server's provider.
#[derive(Clone, Copy)]
struct Member {
    token: &'static str,
    principal: &'static str,
    person: &'static str,
}

/// A gateway of a team, before a server that requires a sign-in.
struct Team {
    provider: OpenIdProvider,
    served: Served,
    doors: OpenDoors,
}

impl Team {
    async fn start(options: &[&str]) -> Self {
        Self::start_with(options, |world| world).await
    }

    async fn start_with(options: &[&str], change: impl FnOnce(World) -> World) -> Self {
        let provider = OpenIdProvider::start(options);
        let world = World::with_url("guarded", provider.url()).with_vault().allow("mcp__guarded");
        let served = change(world).gateway();
        let doors = OpenDoors::open_for_two(&served, &served.world.path("home")).await;
        Self { provider, served, doors }
    }

    /// The result of a request of a client with these capabilities.
    async fn ask(&self, member: Member, method: &str, params: Value, able: &Value) -> Value {
        let headers = [("Authorization", member.token)];
        let reply = self.doors.post_capable(&headers, method, params, able).await;
        let answer = read_answer(reply).await;
        assert!(answer["error"].is_null(), "{answer}");
        answer["result"].clone()
    }

    /// The names of the server's tools that a member sees.
    async fn tools(&self, member: Member) -> Vec<String> {
        let listed = self.ask(member, "tools/list", json!({}), &json!({})).await;
        let names = listed["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap());
        names.filter(|name| name.starts_with("guarded__")).map(str::to_owned).collect()
    }

    /// Calls a tool without arguments by a client without capabilities.
    async fn call(&self, member: Member, tool: &str) -> (String, bool) {
        let (headers, params) = ([("Authorization", member.token)], json!({ "name": tool, "arguments": {} }));
        let answer = read_answer(self.doors.post_new(&headers, "tools/call", params).await).await;
        match answer["error"]["message"].as_str() {
            Some(message) => (message.to_owned(), true),
            None => {
                let text = answer["result"]["content"][0]["text"].as_str().unwrap_or_default().to_owned();
                (text, answer["result"]["isError"] == true)
            }
        }
    }

    /// The account as which the server knows a member.
    async fn subject(&self, member: Member) -> Result<String, String> {
        let (text, is_error) = self.call(member, "guarded__whoami").await;
        let answer: Value = serde_json::from_str(&text).map_err(|_| text.clone())?;
        if is_error { Err(text) } else { Ok(answer["subject"].as_str().unwrap_or_default().to_owned()) }
    }

    /// Opens a page of the provider in the browser of a member, and follows its redirects.
    async fn visit(&self, member: Member, page: String) -> Page {
        let choice = format!("{}/person/{}", self.provider.issuer(), member.person);
        let visiting = move || {
            let mut browser = Browser::new();
            browser.open(&choice);
            browser.open(&page)
        };
        tokio::task::spawn_blocking(visiting).await.unwrap()
    }

    /// Signs a member in by the tool that stands in for those of the server.
    async fn sign_in(&self, member: Member) -> Page {
        let (text, is_error) = self.call(member, "guarded__authenticate").await;
        assert!(!is_error, "{text}");
        let page = self.visit(member, find_url(&text)).await;
        self.wait_for_tool(member, "guarded__whoami").await;
        page
    }

    async fn wait_for_tool(&self, member: Member, tool: &str) {
        let waiting = async {
            while !self.tools(member).await.iter().any(|name| name == tool) {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(LONG, waiting).await.expect("the tool in time");
    }

    /// Signs a member out, as another process of the gateway's user does.
    async fn sign_out(&self, member: Member) {
        let folder = self.served.world.paths().secrets.unwrap();
        let settings = VaultSettings { storage: KeyStorage::File, ..VaultSettings::new(folder.clone()) };
        let vault = Some(Vault::new(settings));
        let accounts =
            Accounts::new(AccountsSettings { network: Network::default(), vault, identity: None, folder });
        let url = Secret::new(self.provider.url().parse().unwrap());
        let remote = RemoteConfig { url, headers: Vec::new(), headers_helper: None, oauth: None };
        let accounts = accounts.for_principal(member.principal, PrincipalSignIn::default());
        let out = accounts.account_for(&ServerName::new("guarded"), &remote).sign_out().await.unwrap();
        assert!(out.revoked.is_some(), "{} was signed in", member.principal);
    }

    fn grants(&self, kind: &str) -> u64 {
        self.provider.stats()["grants"][kind].as_u64().unwrap_or_default()
    }
}

/// The answer to a request, as JSON or at the end of an event stream.
async fn read_answer(mut reply: HttpReply) -> Value {
    if reply.header("content-type") != Some("text/event-stream") {
        return reply.json().await;
    }
    loop {
        let message = reply.event().await.expect("an answer");
        if message["method"].is_null() {
            return message;
        }
    }
}

/// The first address in a text.
fn find_url(text: &str) -> String {
    let found = text.split_whitespace().find(|word| word.starts_with("http"));
    found.unwrap_or_else(|| panic!("no address: {text}")).to_owned()
}

// G4 H19 H35 B91 B117
#[tokio::test]
async fn fleet_two_principals_act_at_one_server_each_as_itself() {
    let team = Arc::new(Team::start(&["--access-ttl", "2"]).await);
    assert_eq!(team.tools(ALICE).await, ["guarded__authenticate", "guarded__complete_authentication"]);
    let page = team.sign_in(ALICE).await;
    assert_eq!(page.status, 200, "{}", page.text());
    assert!(page.url.starts_with(&format!("http://{}/oauth/callback?", team.doors.address)), "{}", page.url);
    let of_bob = team.tools(BOB).await;
    assert_eq!(of_bob, ["guarded__authenticate", "guarded__complete_authentication"], "a list of another");
    let refused = team.subject(BOB).await.unwrap_err();
    assert!(!refused.contains("alice"), "{refused}");
    team.sign_in(BOB).await;
    // Tokens end after two seconds, so calls run before, during and after renewals of both.
    let begun = std::time::Instant::now();
    while team.grants("refresh_token") < 4 {
        assert!(begun.elapsed() < LONG, "{}", team.provider.stats());
        let mut calls = JoinSet::new();
        for number in 0..8 {
            let (team, member) = (Arc::clone(&team), if number % 2 == 0 { ALICE } else { BOB });
            calls.spawn(async move { (member.person, team.subject(member).await) });
        }
        while let Some(called) = calls.join_next().await {
            let (person, subject) = called.unwrap();
            assert_eq!(subject.as_deref(), Ok(person));
        }
    }
    assert_eq!(team.provider.stats()["errors"], json!({}), "a token was shown twice");
    team.sign_out(ALICE).await;
    let waiting = async {
        loop {
            match team.subject(ALICE).await {
                Ok(person) => assert_eq!(person, "alice"),
                Err(text) => break text,
            }
        }
    };
    let refused = tokio::time::timeout(LONG, waiting).await.expect("the token ends");
    assert!(refused.contains("sign-in") && refused.contains(team.provider.issuer()), "{refused}");
    for _ in 0..3 {
        assert_eq!(team.subject(BOB).await.as_deref(), Ok("bob"));
    }
    let again = team.visit(ALICE, find_url(&refused)).await;
    assert_eq!(again.status, 200, "{}", again.text());
    team.wait_for_tool(ALICE, "guarded__whoami").await;
    assert_eq!(team.subject(ALICE).await.as_deref(), Ok("alice"));
}

// G4 A5 X5
#[tokio::test]
async fn fleet_call_waits_until_the_user_has_signed_in_on_the_page_that_its_client_shows() {
    let team = Team::start(&[]).await;
    let able = json!({ "elicitation": { "url": {} } });
    let params = json!({ "name": "guarded__authenticate", "arguments": {} });
    let asked = team.ask(ALICE, "tools/call", params.clone(), &able).await;
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    let question = &asked["inputRequests"]["mcparley-sign-in"]["params"];
    assert_eq!(question["mode"], "url", "{asked}");
    let mut again = params;
    again["requestState"] = asked["requestState"].clone();
    again["inputResponses"] = json!({ "mcparley-sign-in": { "action": "accept" } });
    // Another principal cannot take the call over.
    let stolen = team.doors.post_capable(&[("Authorization", BOB.token)], "tools/call", again.clone(), &able);
    assert_eq!(read_answer(stolen.await).await["error"]["code"], -32602);
    let page = question["url"].as_str().unwrap().to_owned();
    let (done, page) = tokio::join!(team.ask(ALICE, "tools/call", again, &able), team.visit(ALICE, page));
    assert_eq!(page.status, 200, "{}", page.text());
    assert!(done["content"][0]["text"].as_str().unwrap().starts_with("Signed in"), "{done}");
    team.wait_for_tool(ALICE, "guarded__whoami").await;
    assert_eq!(team.subject(ALICE).await.as_deref(), Ok("alice"));
    // A code works once, and so does its state.
    let visited = tokio::task::spawn_blocking(move || Browser::new().open(&page.url)).await.unwrap();
    assert_eq!(visited.status, 400);
}

// G4 A5 X5
#[tokio::test]
async fn fleet_client_of_the_old_era_is_asked_during_its_call_and_told_of_the_new_tools() {
    let team = Team::start(&[]).await;
    let headers = [("Authorization", ALICE.token)];
    let id = team.doors.initialize("2025-11-25", json!({ "elicitation": { "url": {} } }), &headers).await;
    let session = [("Authorization", ALICE.token), ("Mcp-Session-Id", &id)];
    let listed = team.doors.post(&session, &crate::door::request(1, "tools/list", json!({}))).await;
    assert!(listed.text().await.contains("guarded__authenticate"));
    let accept = [("Accept", "text/event-stream"), session[0], session[1]];
    let mut channel = team.doors.send("GET /mcp", &accept, "").await;
    let mut reply = team.doors.post(&session, &call(2, "guarded__authenticate", json!({}))).await;
    let question = reply.event().await.unwrap();
    assert_eq!(question["method"], "elicitation/create", "{question}");
    assert_eq!(question["params"]["mode"], "url");
    let accepted = json!({ "jsonrpc": "2.0", "id": question["id"], "result": { "action": "accept" } });
    assert_eq!(team.doors.post(&session, &accepted).await.status, 202);
    let page = question["params"]["url"].as_str().unwrap().to_owned();
    assert_eq!(team.visit(ALICE, page).await.status, 200);
    let done = read_answer(reply).await;
    assert!(done["result"]["content"][0]["text"].as_str().unwrap().starts_with("Signed in"), "{done}");
    let told = channel.event().await.unwrap();
    assert_eq!(told["method"], "notifications/tools/list_changed", "{told}");
    let asked = team.doors.post(&session, &call(3, "guarded__whoami", json!({}))).await;
    assert!(read_answer(asked).await.to_string().contains("alice"));
}

// G4
#[tokio::test]
async fn fleet_entry_with_shared_credentials_refuses_the_sign_in_of_a_client() {
    let team =
        Team::start_with(&[], |world| world.set_member("guarded", "credentials", json!("shared"))).await;
    let (text, is_error) = team.call(ALICE, "guarded__authenticate").await;
    assert!(is_error && text.contains("share"), "{text}");
    assert_eq!(team.provider.stats()["registrations"], 0, "a client began a sign-in for all");
}

/// A gateway of a cluster of two, which sends browsers to `callback`.
async fn open_member(
    store: &Arc<InProcessStore>,
    provider: &OpenIdProvider,
    callback: Option<CallbackEndpoint>,
) -> (Served, OpenDoors) {
    let shared: Arc<dyn SharedStore> = Arc::<InProcessStore>::clone(store);
    let (member, mailbox) = ClusterMember::join(shared, KeyNames::new("test"), "here").await.unwrap();
    let seal = Seal::from_cluster(&member).await.unwrap();
    let served = World::with_url("guarded", provider.url()).with_vault().allow("mcp__guarded").gateway();
    let path = served.world.path("home/tokens");
    drop(TokenFile::open(&path).unwrap());
    std::fs::write(&path, "a:secret-a\nb:secret-b\n").unwrap();
    let tokens = TokenPolicy::File(TokenFile::open(&path).unwrap().0);
    let cluster = Some(ClusterOptions { member, mailbox, is_required: false });
    let opened = DoorOptions { tokens, seal, cluster, callback, ..options() };
    let doors = OpenDoors::open(&served, opened).await;
    (served, doors)
}

// G4 G9 A5
#[tokio::test]
async fn fleet_browser_that_comes_back_at_another_gateway_ends_the_sign_in() {
    let (provider, store) = (OpenIdProvider::start(&[]), Arc::<InProcessStore>::default());
    let (_other_served, other) = open_member(&store, &provider, None).await;
    // The address for browsers leads to the other gateway, as that of a load balancer may do.
    let public = CallbackEndpoint::at_address(other.address).unwrap();
    let (served, doors) = open_member(&store, &provider, Some(public)).await;
    let team = Team { provider, served, doors };
    let page = team.sign_in(ALICE).await;
    assert_eq!(page.status, 200, "{}", page.text());
    assert!(page.url.starts_with(&format!("http://{}/oauth/callback?", other.address)), "{}", page.url);
    assert_eq!(team.subject(ALICE).await.as_deref(), Ok("alice"));
    // The response is accepted once.
    let address = page.url.clone();
    let again = tokio::task::spawn_blocking(move || Browser::new().open(&address)).await.unwrap();
    assert_eq!(again.status, 400, "{}", again.text());
    // Without the gateway that began it a sign-in cannot go on, and the page says so.
    let Team { mut doors, .. } = team;
    drop(doors.stop.take());
    tokio::time::timeout(LONG, &mut doors.serving).await.expect("an end in time").unwrap();
    let lost = tokio::task::spawn_blocking(move || Browser::new().open(&page.url)).await.unwrap();
    assert_eq!(lost.status, 503, "{}", lost.text());
    assert!(lost.text().contains("Start the sign-in again"), "{}", lost.text());
}
