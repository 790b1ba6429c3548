//! Servers that require a sign-in: detection, the sign-in tools in place of their own, and the reconnect.

use std::time::{Duration, Instant};

use mcparley::model::permission::PermissionMode;
use mcparley::pool::connection::{ServerStatus, Unavailable};
use mcparley::{Approver, BoxedFuture, CallError, PermissionAnswer, PermissionQuestion};
use mcparley_testkit::AuthServer;
use serde_json::json;

use crate::alive::{is_connected, scripted, with};
use crate::signing::{Home, Person, browse, count, guarded, last_address, needs_auth, until};

const STAND_INS: [&str; 2] = ["mcp__s__authenticate", "mcp__s__complete_authentication"];

/// The page in the text for a model.
fn page_in(text: &str) -> String {
    text.split_whitespace().find(|word| word.starts_with("http")).unwrap().to_owned()
}

// F44 A5
#[tokio::test]
async fn server_that_requires_a_sign_in_is_probed_once_and_offers_two_sign_in_tools() {
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
    for mode in [PermissionMode::Default, PermissionMode::Plan, PermissionMode::DontAsk] {
        let server = AuthServer::start(&[]);
        let mut home = Home::new([("s", guarded(&server))]);
        home.world.run_options.mode = Some(mode);
        let it = home.host().await;
        let first = it.call("mcp__s__authenticate", json!({})).await.unwrap();
        assert!(!first.is_error, "{mode:?}: {}", first.to_text());
        let second = it.call("mcp__s__authenticate", json!({})).await.unwrap();
        assert_eq!(page_in(&first.to_text()), page_in(&second.to_text()), "{mode:?}: it joins");
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
async fn after_sign_in_the_tools_appear_and_no_other_tool_moves() {
    let server = AuthServer::start(&[]);
    let home = Home::new([("a", scripted(&[])), ("s", guarded(&server)), ("z", scripted(&[]))]);
    let person = Person::default();
    let it = home.host_as(|builder| builder.page_opener(person.clone())).await;
    let others = |names: &[String]| -> Vec<String> {
        names.iter().filter(|name| !name.starts_with("mcp__s__")).cloned().collect()
    };
    let before = it.names();
    assert!(STAND_INS.iter().all(|name| before.contains(&(*name).to_owned())), "{before:?}");
    let told = it.call("mcp__s__authenticate", json!({})).await.unwrap().to_text();
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
async fn pasted_callback_url_completes_the_sign_in() {
    let server = AuthServer::start(&[]);
    let home = Home::new([("s", guarded(&server))]);
    let it = home.host().await;
    let complete = |url: String| it.call("mcp__s__complete_authentication", json!({ "callback_url": url }));
    let early = complete("http://localhost/?code=x&state=y".to_owned()).await.unwrap();
    assert!(early.is_error && early.to_text().contains("no sign-in is in progress"), "{}", early.to_text());
    let told = it.call("mcp__s__authenticate", json!({})).await.unwrap().to_text();
    assert!(told.starts_with("Ask the user to open"), "{told}");
    let page = page_in(&told);
    for wrong in ["nonsense", "https://evil.example/?code=canary-x&state=y", "http://127.0.0.1:1/callback"] {
        let refused = complete(wrong.to_owned()).await.unwrap();
        assert!(refused.is_error && !refused.to_text().contains("canary"), "{wrong}: {}", refused.to_text());
    }
    let address = last_address(&page).await;
    let done = complete(address).await.unwrap();
    assert!(!done.is_error && done.to_text().starts_with("Signed in to `s`"), "{}", done.to_text());
    it.until("s", is_connected).await;
    assert_eq!(it.echo("s").await.unwrap(), "hi");
}

/// Denies every call, and records the questions.
#[derive(Clone, Default)]
struct No(std::sync::Arc<std::sync::Mutex<Vec<String>>>);

impl Approver for No {
    fn ask_permission<'q>(&'q self, question: PermissionQuestion<'q>) -> BoxedFuture<'q, PermissionAnswer> {
        self.0.lock().unwrap().push(question.entry.name.to_string());
        Box::pin(std::future::ready(PermissionAnswer::Deny("no".to_owned())))
    }
}

// B38 N9 H13
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
    // A caller that requests the server all the time must not keep it from checking.
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
async fn entry_with_own_credentials_fails_and_never_starts_a_sign_in() {
    let server = AuthServer::start(&[]);
    let helper = "echo '{\"Authorization\": \"Bearer canary-helped\"}'";
    for entry in [
        with(guarded(&server), "headers", json!({ "Authorization": "Bearer canary-static" })),
        with(guarded(&server), "headersHelper", helper),
    ] {
        let home = Home::new([("s", entry)]);
        let it = home.host().await;
        let ServerStatus::Failed(error) = it.status("s") else { unreachable!("{:?}", it.status("s")) };
        assert!(!format!("{error} {error:?}").contains("canary"), "{error:?}");
        assert!(it.names().is_empty(), "{:?}", it.names());
        assert_eq!(home.noted(), serde_json::Value::Null);
    }
}

// A7 A5
#[tokio::test]
async fn header_helper_for_other_headers_does_not_replace_the_sign_in() {
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
async fn expired_sign_in_is_refreshed_once_or_required_again() {
    let server = AuthServer::start(&[]);
    let home = Home::new([("s", guarded(&server))]);
    let it = home.host().await;
    it.sign_in("s").await;
    it.until("s", is_connected).await;
    server.expire_access_tokens();
    assert_eq!(it.echo("s").await.unwrap(), "hi");
    assert_eq!(count(&server, "grants", "refresh_token"), 1);
    server.expire_access_tokens();
    server.apply_lies(&["token-error:invalid_grant"]);
    let error = it.echo("s").await.unwrap_err();
    assert!(matches!(&error, CallError::Unavailable { why: Unavailable::NeedsAuth, .. }), "{error}");
    it.until("s", needs_auth).await;
    assert_eq!(it.names(), STAND_INS);
    assert_eq!(count(&server, "grants", "refresh_token"), 2, "no loop");
    server.apply_lies(&["token-error:"]);
    it.sign_in("s").await;
    it.until("s", is_connected).await;
    assert_eq!(it.echo("s").await.unwrap(), "hi");
}

// F81 K4
#[tokio::test]
async fn authorization_server_error_is_reported_and_the_server_stays_connected() {
    let server = AuthServer::start(&[]);
    let home = Home::new([("s", guarded(&server))]);
    let it = home.host().await;
    it.sign_in("s").await;
    it.until("s", is_connected).await;
    server.expire_access_tokens();
    server.apply_lies(&["token:500", "token-times:1"]);
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
    server.apply_lies(&["token-after:400", "token-on:refresh_token"]);
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
async fn failed_sign_in_is_reported_and_can_be_started_again() {
    let server = AuthServer::start(&["authorize:access_denied"]);
    let home = Home::new([("s", guarded(&server))]);
    let it = home.host().await;
    let flow = it.begin("s").await;
    browse(flow.page().unwrap().as_str()).await;
    let error = flow.wait_until_done().await.unwrap_err();
    assert!(error.to_string().starts_with("the authorization server refused: access was denied"), "{error}");
    assert!(needs_auth(&it.status("s")));
    server.apply_lies(&["authorize:code"]);
    it.sign_in("s").await;
    it.until("s", is_connected).await;
}

// A6 A5
#[tokio::test]
async fn servers_of_one_identity_provider_share_one_sign_in_page() {
    let provider = AuthServer::start(&[]);
    let servers = [AuthServer::start(&[]), AuthServer::start(&[]), AuthServer::start(&[])];
    let us = json!({
        "xaa": true,
        "clientId": mcparley_testkit::STATIC_CLIENT,
        "clientSecret": mcparley_testkit::STATIC_SECRET,
    });
    let entries = ["a", "b", "c"].into_iter().zip(&servers);
    let home = Home::new(entries.map(|(name, server)| (name, with(guarded(server), "oauth", us.clone()))));
    let identity = mcparley::auth::IdentitySettings {
        issuer: provider.issuer().to_owned(),
        client_id: mcparley_testkit::STATIC_CLIENT.to_owned(),
        client_secret: Some(mcparley::model::secret::Secret::new(mcparley_testkit::STATIC_SECRET.to_owned())),
        callback_port: None,
        id_token: None,
    };
    let person = Person::default();
    let it =
        home.host_as(|builder| builder.identity_settings(Some(identity)).page_opener(person.clone())).await;
    for name in ["a", "b", "c"] {
        assert!(needs_auth(&it.status(name)), "{:?}", it.status(name));
    }
    // The others connect by themselves when the identity of the user is known.
    let told = it.call("mcp__a__authenticate", json!({})).await.unwrap();
    assert!(!told.is_error, "{}", told.to_text());
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
            // A listener is optional.
            let _gone = reader.get_mut().write_all(refusal);
        }
    });
    url
}

// A1
#[tokio::test]
async fn forbidden_connection_requires_a_sign_in_unless_the_entry_has_credentials() {
    let url = forbidding();
    let open = json!({ "type": "http", "url": url });
    let keyed = json!({ "type": "http", "url": url, "headers": { "Authorization": "Bearer x" } });
    let it = Home::new([("open", open), ("keyed", keyed)]).host().await;
    assert!(needs_auth(&it.status("open")), "{:?}", it.status("open"));
    assert!(matches!(it.status("keyed"), ServerStatus::Failed { .. }), "{:?}", it.status("keyed"));
}
