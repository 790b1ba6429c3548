//! Servers that want a sign-in: how they are known, what is offered in the place of their tools, and when they come.

use std::time::{Duration, Instant};

use mcparley::model::permission::Mode;
use mcparley::{Answer, Approver, Boxed, CallError, Question, Status, Unavailable};
use mcparley_testkit::AuthServer;
use serde_json::json;

use crate::alive::{is_connected, scripted, with};
use crate::signing::{Home, Person, browse, count, guarded, last_address, needs_auth, until};

const STAND_INS: [&str; 2] = ["mcp__s__authenticate", "mcp__s__complete_authentication"];

/// The page in what a model is told.
fn page_in(text: &str) -> String {
    text.split_whitespace().find(|word| word.starts_with("http")).unwrap().to_owned()
}

// F44 A5
#[tokio::test]
async fn a_server_that_wants_a_sign_in_is_asked_once_and_offers_two_tools_instead_of_its_own() {
    for challenge in ["challenge:full", "challenge:bare", "challenge:none"] {
        let server = AuthServer::start(&[challenge]);
        let home = Home::new([("s", guarded(&server))]);
        let it = home.host().await;
        assert!(needs_auth(&it.status("s")), "{challenge}: {:?}", it.status("s"));
        assert_eq!(it.names(), STAND_INS, "{challenge}");
        let stats = server.stats();
        assert_eq!(stats["refused"], json!({ "unauthorized": 1 }), "{challenge}");
        assert_eq!(stats["requests"], json!({}), "{challenge}: nobody was asked who lets people in");
        let error = it.echo("s").await.unwrap_err();
        assert!(matches!(&error, CallError::Unavailable { why: Unavailable::NeedsAuth, .. }), "{error}");
        assert_eq!(error.hint().as_deref(), Some("sign in with `mcparley login s`"));
        assert_eq!(server.stats()["refused"], json!({ "unauthorized": 1 }), "{challenge}");
    }
}

// A5 N9 P1
#[tokio::test]
async fn beginning_to_sign_in_needs_no_permission_unless_the_server_is_denied() {
    for mode in [Mode::Default, Mode::Plan, Mode::DontAsk] {
        let server = AuthServer::start(&[]);
        let mut home = Home::new([("s", guarded(&server))]);
        home.world.run_options.mode = Some(mode);
        let it = home.host().await;
        let first = it.call("mcp__s__authenticate", json!({})).await.unwrap();
        assert!(!first.is_error, "{mode:?}: {}", first.text());
        let second = it.call("mcp__s__authenticate", json!({})).await.unwrap();
        assert_eq!(page_in(&first.text()), page_in(&second.text()), "{mode:?}: it joins");
        assert_eq!(count(&server, "requests", "register"), 1);
    }
    for rule in ["mcp__s", "mcp__s__authenticate"] {
        let server = AuthServer::start(&[]);
        let mut home = Home::new([("s", guarded(&server))]);
        home.world.run_options.disallowed_tools.push(rule.to_owned());
        let error = home.host().await.call("mcp__s__authenticate", json!({})).await.unwrap_err();
        let is_denied = matches!(error, CallError::Denied { .. } | CallError::UnknownTool { .. });
        assert!(is_denied, "{rule}: {error}");
        assert_eq!(server.stats()["requests"], json!({}), "{rule}");
    }
}

// A5 N11
#[tokio::test]
async fn when_somebody_has_signed_in_the_tools_take_their_place_and_no_other_moves() {
    let server = AuthServer::start(&[]);
    let home = Home::new([("a", scripted(&[])), ("s", guarded(&server)), ("z", scripted(&[]))]);
    let person = Person::default();
    let it = home.host_as(|builder| builder.page_opener(person.clone())).await;
    let others = |names: &[String]| -> Vec<String> {
        names.iter().filter(|name| !name.starts_with("mcp__s__")).cloned().collect()
    };
    let before = it.names();
    assert!(STAND_INS.iter().all(|name| before.contains(&(*name).to_owned())), "{before:?}");
    let told = it.call("mcp__s__authenticate", json!({})).await.unwrap().text();
    assert!(told.starts_with("A browser was opened at"), "{told}");
    it.until("s", is_connected).await;
    let after = it.names();
    assert!(after.contains(&"mcp__s__echo".to_owned()), "{after:?}");
    assert!(!STAND_INS.iter().any(|name| after.contains(&(*name).to_owned())), "{after:?}");
    assert_eq!(others(&before), others(&after));
    assert_eq!(person.shown(), ["s"]);
    assert_eq!(it.echo("s").await.unwrap(), "hi");
}

// A5 A8
#[tokio::test]
async fn where_the_browser_is_elsewhere_the_address_it_ended_on_completes_the_sign_in() {
    let server = AuthServer::start(&[]);
    let home = Home::new([("s", guarded(&server))]);
    let it = home.host().await;
    let complete = |url: String| it.call("mcp__s__complete_authentication", json!({ "callback_url": url }));
    let early = complete("http://localhost/?code=x&state=y".to_owned()).await.unwrap();
    assert!(early.is_error && early.text().contains("no sign-in was begun"), "{}", early.text());
    let told = it.call("mcp__s__authenticate", json!({})).await.unwrap().text();
    assert!(told.starts_with("Ask the user to open"), "{told}");
    let page = page_in(&told);
    for wrong in ["nonsense", "https://evil.example/?code=canary-x&state=y", "http://127.0.0.1:1/callback"] {
        let refused = complete(wrong.to_owned()).await.unwrap();
        assert!(refused.is_error && !refused.text().contains("canary"), "{wrong}: {}", refused.text());
    }
    let address = last_address(&page).await;
    let done = complete(address).await.unwrap();
    assert!(!done.is_error && done.text().starts_with("Signed in to `s`"), "{}", done.text());
    it.until("s", is_connected).await;
    assert_eq!(it.echo("s").await.unwrap(), "hi");
}

/// Says no, and remembers what it was asked about.
#[derive(Clone, Default)]
struct No(std::sync::Arc<std::sync::Mutex<Vec<String>>>);

impl Approver for No {
    fn ask<'q>(&'q self, question: Question<'q>) -> Boxed<'q, Answer> {
        self.0.lock().unwrap().push(question.entry.name.to_string());
        Box::pin(std::future::ready(Answer::Deny("no".to_owned())))
    }
}

// B38 N9
#[tokio::test]
async fn a_tool_of_the_server_that_is_called_authenticate_has_another_name_and_is_asked_about() {
    let server = AuthServer::start_with(&[], &["also-tool:authenticate"], &[]);
    let home = Home::new([("s", guarded(&server))]);
    let approver = No::default();
    let it = home.host_as(|builder| builder.approver(approver.clone())).await;
    it.sign_in("s").await;
    it.until("s", is_connected).await;
    let names = it.names();
    let own: Vec<&String> = names.iter().filter(|name| name.contains("authenticate")).collect();
    let [renamed] = own.as_slice() else { unreachable!("{names:?}") };
    assert_ne!(renamed.as_str(), "mcp__s__authenticate");
    let denied = it.call(renamed, json!({ "message": "x" })).await.unwrap_err();
    assert!(matches!(denied, CallError::Denied { .. }), "{denied}");
    assert_eq!(*approver.0.lock().unwrap(), [renamed.as_str()]);
    let gone = it.call("mcp__s__authenticate", json!({ "message": "x" })).await.unwrap_err();
    assert!(matches!(gone, CallError::UnknownTool { .. }), "{gone}");
    assert_eq!(server.server().stats()["post"]["tools/call"], serde_json::Value::Null);
}

// A4 A5
#[tokio::test]
async fn a_sign_in_of_another_process_is_noticed_also_by_a_host_that_is_kept_busy() {
    let server = AuthServer::start(&[]);
    let home = Home::new([("s", guarded(&server))]);
    let waiting = home.host().await;
    assert!(needs_auth(&waiting.status("s")));
    home.host().await.sign_in("s").await;
    let begun = Instant::now();
    // Whoever asks for the server all the time must not keep it from looking.
    while !is_connected(&waiting.status("s")) {
        assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", waiting.status("s"));
        if let Ok(answer) = waiting.echo("s").await {
            assert_eq!(answer, "hi");
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(waiting.echo("s").await.unwrap(), "hi");
    assert_eq!(count(&server, "grants", "authorization_code"), 1);
}

// A4 F44
#[tokio::test]
async fn a_second_process_does_not_ask_the_server_and_offers_the_same_until_somebody_signs_in() {
    let server = AuthServer::start(&[]);
    let home = Home::new([("s", guarded(&server))]);
    let first = home.host().await;
    assert!(home.noted()["s"]["timestamp"].is_u64(), "{}", home.noted());
    let before = server.stats();
    let second = home.host().await;
    assert!(needs_auth(&second.status("s")));
    assert_eq!(second.names(), STAND_INS);
    assert_eq!(server.stats(), before, "it was asked");
    second.sign_in("s").await;
    for host in [&first, &second] {
        host.until("s", is_connected).await;
    }
    assert_eq!(home.noted(), json!({}), "it wants none any more");
    let third = home.host().await;
    assert!(is_connected(&third.status("s")));
}

// A1 A7
#[tokio::test]
async fn an_entry_that_says_itself_who_we_are_fails_and_is_never_signed_in_to() {
    let server = AuthServer::start(&[]);
    let helper = "echo '{\"Authorization\": \"Bearer canary-helped\"}'";
    for entry in [
        with(guarded(&server), "headers", json!({ "Authorization": "Bearer canary-static" })),
        with(guarded(&server), "headersHelper", helper),
    ] {
        let home = Home::new([("s", entry)]);
        let it = home.host().await;
        let Status::Failed(error) = it.status("s") else { unreachable!("{:?}", it.status("s")) };
        assert!(!format!("{error} {error:?}").contains("canary"), "{error:?}");
        assert!(it.names().is_empty(), "{:?}", it.names());
        assert_eq!(home.noted(), serde_json::Value::Null);
    }
}

// A7 A5
#[tokio::test]
async fn a_command_that_makes_other_headers_leaves_the_sign_in_to_us() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let server = AuthServer::start_with(&[], &[], &["--log", &log.to_string_lossy()]);
    let home = Home::new([(
        "s",
        with(guarded(&server), "headersHelper", "echo '{\"X-Gateway\": \"let-me-pass\"}'"),
    )]);
    let it = home.host().await;
    assert!(needs_auth(&it.status("s")), "{:?}", it.status("s"));
    it.sign_in("s").await;
    it.until("s", is_connected).await;
    assert_eq!(it.echo("s").await.unwrap(), "hi");
    let call = mcparley_testkit::log_lines(&log).into_iter().find(|line| line.text.contains("tools/call"));
    let call: serde_json::Value = serde_json::from_str(&call.unwrap().text).unwrap();
    assert_eq!(call["headers"]["x-gateway"], "let-me-pass");
    assert!(call["headers"]["authorization"].as_str().unwrap().starts_with("Bearer canary-access"));
}

// A1 A3
#[tokio::test]
async fn servers_of_the_older_transport_and_behind_a_socket_are_signed_in_to_and_renewed_too() {
    let sse = AuthServer::start_with(&[], &["legacy-sse-only"], &[]);
    let ws = AuthServer::start(&[]);
    for (server, kind, url) in [(&sse, "sse", sse.url().to_owned()), (&ws, "ws", ws.server().socket_url())] {
        let home = Home::new([("s", json!({ "type": kind, "url": url }))]);
        let it = home.host().await;
        assert!(needs_auth(&it.status("s")), "{kind}: {:?}", it.status("s"));
        it.sign_in("s").await;
        it.until("s", is_connected).await;
        assert_eq!(it.echo("s").await.unwrap(), "hi", "{kind}");
        it.host.shut_down().await;
        server.expire_access_tokens();
        let later = home.host().await;
        assert!(is_connected(&later.status("s")), "{kind}: {:?}", later.status("s"));
        assert_eq!(later.echo("s").await.unwrap(), "hi", "{kind}");
        assert_eq!(count(server, "grants", "refresh_token"), 1, "{kind}");
    }
}

// F45 K4
#[tokio::test]
async fn a_sign_in_that_ends_while_the_server_is_used_is_renewed_once_or_wanted_anew() {
    let server = AuthServer::start(&[]);
    let home = Home::new([("s", guarded(&server))]);
    let it = home.host().await;
    it.sign_in("s").await;
    it.until("s", is_connected).await;
    server.expire_access_tokens();
    assert_eq!(it.echo("s").await.unwrap(), "hi");
    assert_eq!(count(&server, "grants", "refresh_token"), 1);
    server.expire_access_tokens();
    server.tell(&["token-error:invalid_grant"]);
    let error = it.echo("s").await.unwrap_err();
    assert!(matches!(&error, CallError::Unavailable { why: Unavailable::NeedsAuth, .. }), "{error}");
    it.until("s", needs_auth).await;
    assert_eq!(it.names(), STAND_INS);
    assert_eq!(count(&server, "grants", "refresh_token"), 2, "no loop");
    server.tell(&["token-error:"]);
    it.sign_in("s").await;
    it.until("s", is_connected).await;
    assert_eq!(it.echo("s").await.unwrap(), "hi");
}

// F81 K4
#[tokio::test]
async fn trouble_of_the_authorization_server_is_told_and_the_server_stays_connected() {
    let server = AuthServer::start(&[]);
    let home = Home::new([("s", guarded(&server))]);
    let it = home.host().await;
    it.sign_in("s").await;
    it.until("s", is_connected).await;
    server.expire_access_tokens();
    server.tell(&["token:500", "token-times:1"]);
    let error = it.echo("s").await.unwrap_err();
    assert!(error.to_string().contains("the sign-in cannot be renewed"), "{error}");
    assert_eq!(error.hint().as_deref(), Some("try again later"));
    assert!(!error.is_outcome_unknown());
    assert!(is_connected(&it.status("s")), "{:?}", it.status("s"));
    assert_eq!(it.echo("s").await.unwrap(), "hi");
    assert_eq!(count(&server, "grants", "refresh_token"), 2);
}

// A3
#[tokio::test]
async fn a_host_that_is_shut_down_while_a_token_is_renewed_keeps_the_new_one() {
    let server = AuthServer::start(&[]);
    let home = Home::new([("s", guarded(&server))]);
    let it = home.host().await;
    it.sign_in("s").await;
    it.until("s", is_connected).await;
    server.expire_access_tokens();
    server.tell(&["token-after:400", "token-on:refresh_token"]);
    let shut_down = async {
        until(&server, |stats| stats["grants"]["refresh_token"] == 1).await;
        it.host.shut_down().await;
    };
    let (called, ()) = tokio::join!(it.echo("s"), shut_down);
    assert!(called.is_err(), "{called:?}");
    let next = home.host().await;
    assert_eq!(next.echo("s").await.unwrap(), "hi");
    let stats = server.stats();
    assert_eq!((&stats["grants"]["refresh_token"], &stats["replays"]), (&json!(1), &json!(0)));
}

// A3 A5
#[tokio::test]
async fn a_host_that_is_shut_down_while_a_code_is_redeemed_keeps_the_sign_in() {
    let server = AuthServer::start(&["token-after:400"]);
    let home = Home::new([("s", guarded(&server))]);
    let it = home.host().await;
    let flow = it.begin("s").await;
    let shut_down = async {
        until(&server, |stats| stats["grants"]["authorization_code"] == 1).await;
        it.host.shut_down().await;
    };
    tokio::join!(browse(flow.page().unwrap().as_str()), shut_down);
    let next = home.host().await;
    assert!(is_connected(&next.status("s")), "{:?}", next.status("s"));
    assert_eq!(count(&server, "grants", "authorization_code"), 1);
}

// A5
#[tokio::test]
async fn a_sign_in_that_fails_is_told_and_a_second_one_can_be_begun() {
    let server = AuthServer::start(&["authorize:access_denied"]);
    let home = Home::new([("s", guarded(&server))]);
    let it = home.host().await;
    let flow = it.begin("s").await;
    browse(flow.page().unwrap().as_str()).await;
    let error = flow.wait().await.unwrap_err();
    assert!(error.to_string().starts_with("the authorization server refused: access was denied"), "{error}");
    assert!(needs_auth(&it.status("s")));
    server.tell(&["authorize:code"]);
    it.sign_in("s").await;
    it.until("s", is_connected).await;
}

// A6 A5
#[tokio::test]
async fn servers_behind_one_identity_provider_open_one_window_and_all_come() {
    let provider = AuthServer::start(&[]);
    let servers = [AuthServer::start(&[]), AuthServer::start(&[]), AuthServer::start(&[])];
    let us = json!({
        "xaa": true,
        "clientId": mcparley_testkit::STATIC_CLIENT,
        "clientSecret": mcparley_testkit::STATIC_SECRET,
    });
    let entries = ["a", "b", "c"].into_iter().zip(&servers);
    let home = Home::new(entries.map(|(name, server)| (name, with(guarded(server), "oauth", us.clone()))));
    let identity = mcparley::IdentitySettings {
        issuer: provider.issuer().to_owned(),
        client_id: mcparley_testkit::STATIC_CLIENT.to_owned(),
        client_secret: Some(mcparley::model::secret::Secret::new(mcparley_testkit::STATIC_SECRET.to_owned())),
        callback_port: None,
        id_token: None,
    };
    let person = Person::default();
    let it = home.host_as(|builder| builder.identity(Some(identity)).page_opener(person.clone())).await;
    for name in ["a", "b", "c"] {
        assert!(needs_auth(&it.status(name)), "{:?}", it.status(name));
    }
    // The others come by themselves when it is known who the person is.
    let told = it.call("mcp__a__authenticate", json!({})).await.unwrap();
    assert!(!told.is_error, "{}", told.text());
    for name in ["a", "b", "c"] {
        it.until(name, is_connected).await;
        assert_eq!(it.echo(name).await.unwrap(), "hi");
    }
    assert_eq!(person.shown(), ["a"]);
    assert_eq!(count(&provider, "requests", "authorize"), 1);
}

/// A server that answers every request with 403 and says nothing more.
fn forbidding() -> String {
    use std::io::{BufRead as _, BufReader, Write as _};
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut reader = BufReader::new(stream.unwrap());
            let mut line = String::new();
            while reader.read_line(&mut line).is_ok_and(|read| read > 2) {
                line.clear();
            }
            let refusal = b"HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
            // Who does not want to hear it need not.
            let _gone = reader.get_mut().write_all(refusal);
        }
    });
    url
}

// A1
#[tokio::test]
async fn server_that_forbids_the_connection_needs_a_sign_in_unless_its_entry_says_who_we_are() {
    let url = forbidding();
    let open = json!({ "type": "http", "url": url });
    let keyed = json!({ "type": "http", "url": url, "headers": { "Authorization": "Bearer x" } });
    let it = Home::new([("open", open), ("keyed", keyed)]).host().await;
    assert!(needs_auth(&it.status("open")), "{:?}", it.status("open"));
    assert!(matches!(it.status("keyed"), Status::Failed { .. }), "{:?}", it.status("keyed"));
}
