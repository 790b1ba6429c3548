//! Clients with access tokens of an issuer: hostile tokens, and the sessions, tasks and questions of other
//! principals.

use mcparley_door::{AccessPolicy, DoorOptions, IssuerSettings, TokenFile, TokenPolicy};
use mcparley_gateway::GatewayView;
use mcparley_testkit::{ScriptedStdio, TokenIssuer, TokenKey, log_lines};
use mcparley_wire::transport::http::Network;
use serde_json::{Value, json};

use crate::door::{OpenDoors, call, options, request};
use crate::world::{Served, World, logged};

const RESOURCE: &str = "https://gateway.example/mcp";
const METADATA: &str = "https://gateway.example/.well-known/oauth-protected-resource/mcp";

/// An issuer with one key of each kind, and doors that accept its tokens with the scope `use`.
struct IssuerWorld {
    issuer: TokenIssuer,
    rsa: TokenKey,
    ec: TokenKey,
}

impl IssuerWorld {
    fn start() -> Self {
        let (rsa, ec) = (TokenKey::generate("rsa", "RS256"), TokenKey::generate("ec", "ES256"));
        Self { issuer: TokenIssuer::start(&[&rsa, &ec]), rsa, ec }
    }

    fn options(&self) -> DoorOptions {
        let settings = IssuerSettings {
            issuer: self.issuer.url(),
            resource: RESOURCE.to_owned(),
            scopes: vec!["use".to_owned()],
        };
        let issuer = AccessPolicy::new(&settings, &Network::default()).unwrap();
        DoorOptions { tokens: TokenPolicy::Issuer, issuer: Some(issuer), ..options() }
    }

    /// A token with changed claims, as an `Authorization` header.
    fn bearer(&self, change: impl FnOnce(&mut Value)) -> String {
        let mut claims = self.issuer.claims(RESOURCE);
        change(&mut claims);
        format!("Bearer {}", self.ec.sign(&json!({ "alg": "ES256", "kid": "ec" }), &claims))
    }

    fn bearer_of(&self, subject: &str) -> String {
        self.bearer(|claims| claims["sub"] = json!(subject))
    }

    /// Hostile tokens as headers, each with its name and the reason of its refusal.
    fn hostile_tokens(&self) -> Vec<(&'static str, String, &'static str)> {
        let other = TokenIssuer::start(&[&self.ec]);
        let with_header = |key: &TokenKey, header: Value| {
            format!("Bearer {}", key.sign(&header, &self.issuer.claims(RESOURCE)))
        };
        let now = self.issuer.claims("")["iat"].as_u64().unwrap();
        let stranger = TokenKey::generate("rsa", "RS256");
        vec![
            // First: later the issuer would have been asked too recently.
            ("unknown kid", with_header(&self.rsa, json!({ "alg": "RS256", "kid": "x" })), "token_key"),
            (
                "other audience",
                self.bearer(|claims| claims["aud"] = json!("https://x.example/mcp")),
                "token_audience",
            ),
            ("no audience", self.bearer(|claims| claims["aud"] = json!([])), "token_audience"),
            ("other issuer", self.bearer(|claims| claims["iss"] = json!(other.url())), "token_issuer"),
            (
                "issuer with a slash",
                self.bearer(|claims| claims["iss"] = json!(format!("{}/", self.issuer.url()))),
                "token_issuer",
            ),
            ("expired", self.bearer(|claims| claims["exp"] = json!(now - 31)), "token_expired"),
            ("without expiry", self.bearer(|claims| claims["exp"] = json!(null)), "token_no_expiry"),
            ("not yet valid", self.bearer(|claims| claims["nbf"] = json!(now + 60)), "token_not_yet_valid"),
            (
                "issued in the future",
                self.bearer(|claims| claims["iat"] = json!(now + 60)),
                "token_not_yet_valid",
            ),
            ("without subject", self.bearer(|claims| claims["sub"] = json!(null)), "token_subject"),
            ("bound to a key", self.bearer(|claims| claims["cnf"] = json!({ "jkt": "x" })), "token_bound"),
            ("alg none", with_header(&self.rsa, json!({ "alg": "none", "kid": "rsa" })), "token_algorithm"),
            (
                "HS256 with the public key",
                with_header(&self.rsa, json!({ "alg": "HS256", "kid": "rsa" })),
                "token_algorithm",
            ),
            (
                "kid of a key of another type",
                with_header(&self.rsa, json!({ "alg": "RS256", "kid": "ec" })),
                "token_key_type",
            ),
            (
                "key of a stranger",
                with_header(&stranger, json!({ "alg": "RS256", "kid": "rsa" })),
                "token_signature",
            ),
            ("oversized", format!("Bearer {}", "a".repeat(17 * 1024)), "token_size"),
            ("opaque", "Bearer secret-a".to_owned(), "token_form"),
        ]
    }
}

/// The lines of a host's audit log, once it has ended.
async fn audit_lines(served: Served, doors: OpenDoors) -> Vec<Value> {
    drop(doors);
    served.host().shut_down().await;
    let text = std::fs::read_to_string(served.world.audit_path()).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

// G4 B88 B91 H19
#[tokio::test]
async fn hostile_token_is_refused_with_the_same_text_whatever_the_cause() {
    let at = IssuerWorld::start();
    let served = World::one().audited().gateway();
    let doors = OpenDoors::open(&served, at.options()).await;
    let (table, good) = (at.hostile_tokens(), at.bearer(|_| ()));
    let list = request(1, "initialize", json!({}));
    let mut answers = Vec::new();
    for (name, header, _) in &table {
        let reply = doors.post(&auth(header), &list).await;
        let challenge = reply.header("www-authenticate").unwrap_or_default().to_owned();
        answers.push((*name, reply.status, challenge, reply.text().await));
    }
    let twice =
        doors.post(&[("Authorization", good.as_str()), ("Authorization", good.as_str())], &list).await;
    let challenge = twice.header("www-authenticate").unwrap_or_default().to_owned();
    answers.push(("twice", twice.status, challenge, twice.text().await));
    let (_, status, challenge, text) = answers[0].clone();
    assert_eq!(status, 401);
    assert_eq!(
        challenge,
        format!(
            "Bearer realm=\"mcparley\", error=\"invalid_token\", resource_metadata=\"{METADATA}\", scope=\"use\""
        )
    );
    for (name, status, other, body) in &answers {
        assert_eq!((*status, other, body), (401, &challenge, &text), "{name}");
    }
    // A token in the query is none.
    let token = good.strip_prefix("Bearer ").unwrap();
    let kind = [("Content-Type", "application/json"), ("Accept", "*/*")];
    let query = doors.send(&format!("POST /mcp?access_token={token}"), &kind, &list.to_string()).await;
    let challenge = query.header("www-authenticate").unwrap_or_default().to_owned();
    assert_eq!((query.status, query.text().await.contains("is required")), (401, true));
    assert_eq!(
        challenge,
        format!("Bearer realm=\"mcparley\", resource_metadata=\"{METADATA}\", scope=\"use\"")
    );
    check_scope_and_skew(&at, &doors).await;
    let audit = audit_lines(served, doors).await;
    let reasons: Vec<&str> = audit.iter().filter_map(|line| line["failure"].as_str()).collect();
    let expected: Vec<&str> =
        table.iter().map(|(_, _, reason)| *reason).chain(["token_header", "token_scope"]).collect();
    assert_eq!(reasons, expected);
    let first = &audit[0];
    assert_eq!(
        (&first["outcome"], &first["path"], &first["address"]),
        (&json!("refused"), &json!("/mcp"), &json!("127.0.0.1"))
    );
    assert!(!audit.iter().any(|line| line.to_string().contains(token)));
}

/// A token with too small a scope gets its own answer, and one within the clock skew is good.
async fn check_scope_and_skew(at: &IssuerWorld, doors: &OpenDoors) {
    let now = at.issuer.claims("")["iat"].as_u64().unwrap();
    // A scope that lacks is said, so that the client can ask for it.
    let narrow = at.bearer(|claims| claims["scope"] = json!("read"));
    let reply = doors.post(&auth(&narrow), &request(1, "initialize", hello())).await;
    assert_eq!(reply.status, 403);
    let challenge = reply.header("www-authenticate").unwrap();
    assert!(
        challenge.contains("error=\"insufficient_scope\"") && challenge.contains("scope=\"use\""),
        "{challenge}"
    );
    // Clocks may differ, and a good token is good after all of that.
    for name in ["exp", "nbf"] {
        let offset: i64 = if name == "exp" { -20 } else { 20 };
        let skewed = at.bearer(|claims| claims[name] = json!(i64::try_from(now).unwrap() + offset));
        let reply = doors.post(&auth(&skewed), &request(1, "initialize", hello())).await;
        assert_eq!(reply.status, 200, "{name}");
    }
}

/// The header of a token.
fn auth(bearer: &str) -> [(&str, &str); 1] {
    [("Authorization", bearer)]
}

fn hello() -> Value {
    json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "raw", "version": "1" } })
}

// G4
#[tokio::test]
async fn issuer_that_is_away_is_no_refusal_of_the_token_and_static_tokens_go_on() {
    let at = IssuerWorld::start();
    at.issuer.set_status(503);
    let served = World::one().gateway();
    let path = served.world.path("tokens");
    drop(TokenFile::open(&path).unwrap());
    std::fs::write(&path, "a:secret-a\n").unwrap();
    let (file, _) = TokenFile::open(&path).unwrap();
    let doors =
        OpenDoors::open(&served, DoorOptions { tokens: TokenPolicy::File(file), ..at.options() }).await;
    let good = at.bearer(|_| ());
    let hello = request(1, "initialize", hello());
    let reply = doors.post(&auth(&good), &hello).await;
    assert_eq!((reply.status, reply.header("retry-after")), (503, Some("1")));
    assert_eq!(doors.post(&auth("Bearer secret-a"), &hello).await.status, 200);
    assert_eq!(doors.post(&auth("Bearer secret-b"), &hello).await.status, 401);
}

// G4
#[tokio::test]
async fn metadata_says_where_clients_get_a_token() {
    let at = IssuerWorld::start();
    let served = World::one().gateway();
    let doors = OpenDoors::open(&served, at.options()).await;
    for path in ["", "/mcp"] {
        let path = format!("GET /.well-known/oauth-protected-resource{path}");
        let metadata = doors.send(&path, &[], "").await.json().await;
        let expected = json!({
            "resource": RESOURCE, "authorization_servers": [at.issuer.url()],
            "bearer_methods_supported": ["header"], "scopes_supported": ["use"],
        });
        assert_eq!(metadata, expected, "{path}");
    }
    assert_eq!(doors.send("POST /.well-known/oauth-protected-resource", &[], "").await.status, 405);
    let open = OpenDoors::open_plain(&served).await;
    assert_eq!(open.send("GET /.well-known/oauth-protected-resource", &[], "").await.status, 404);
}

// G4 B91 H19
#[tokio::test]
async fn token_of_a_client_never_reaches_a_server() {
    let at = IssuerWorld::start();
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let served = World::with([("one", logged(&[], &log))]).allow("mcp__one").audited().gateway();
    let doors = OpenDoors::open(&served, at.options()).await;
    let bearer = at.bearer_of("canary-subject");
    let reply = doors
        .post_new(
            &auth(&bearer),
            "tools/call",
            json!({ "name": "one__echo", "arguments": { "message": "hi" } }),
        )
        .await;
    assert_eq!(reply.status, 200);
    let token = bearer.strip_prefix("Bearer ").unwrap();
    assert!(!log_lines(&log).is_empty());
    let heard = std::fs::read_to_string(&log).unwrap();
    assert!(!heard.contains(token) && !heard.contains("canary-subject"), "{heard}");
    let audit = audit_lines(served, doors).await;
    assert_eq!(audit[0]["outcome"], "ok");
    assert!(audit[0]["principal"].as_str().unwrap().starts_with("jwt:"), "{}", audit[0]);
    assert!(audit[0]["principalName"].as_str().unwrap().starts_with("canary-subject (jwt:"), "{}", audit[0]);
    assert!(!audit[0].to_string().contains(token));
}

// G4 G9 B93 H20
#[tokio::test]
async fn ids_of_one_principal_are_unknown_to_another() {
    let at = IssuerWorld::start();
    let served = World::one().allow("mcp__one").audited().gateway();
    let doors = OpenDoors::open(&served, at.options()).await;
    let (ada, eve) = (at.bearer_of("ada"), at.bearer_of("eve"));
    let session = doors.initialize("2025-11-25", json!({}), &auth(&ada)).await;
    let ping = request(2, "ping", json!({}));
    let with = |id: &'static str, who: &str| (id, who.to_owned());
    // A newer token of the same subject is the same principal.
    let newer = at.bearer(|claims| claims["jti"] = json!("2"));
    for who in [&ada, &newer] {
        let headers = [("Authorization", who.as_str()), ("Mcp-Session-Id", session.as_str())];
        assert_eq!(doors.post(&headers, &ping).await.status, 200);
    }
    let unknown = "mp1.AAAA";
    let mut answers = Vec::new();
    for (name, id) in [with("of ada", &session), with("invented", unknown)] {
        let headers = [("Authorization", eve.as_str()), ("Mcp-Session-Id", id.as_str())];
        let mut texts = vec![(doors.post(&headers, &ping).await.status, String::new())];
        for start in ["GET /mcp", "DELETE /mcp"] {
            let all = [&headers[..], &[("Accept", "text/event-stream")]].concat();
            let reply = doors.send(start, &all, "").await;
            texts.push((reply.status, reply.text().await));
        }
        answers.push((name, texts));
    }
    assert_eq!(answers[0].1, answers[1].1);
    assert!(answers[0].1.iter().all(|(status, _)| *status == 404), "{answers:?}");
    let headers = [("Authorization", ada.as_str()), ("Mcp-Session-Id", session.as_str())];
    assert_eq!(doors.post(&headers, &ping).await.status, 200, "not deleted by another");
    let audit = audit_lines(served, doors).await;
    let misuse: Vec<_> = audit.iter().filter(|line| line["outcome"] == "refused").collect();
    assert_eq!(misuse.len(), 3, "{audit:?}");
    assert!(misuse.iter().all(|line| line["failure"] == "session_of_another"), "{audit:?}");
    assert!(misuse[0]["principalName"].as_str().unwrap().starts_with("eve "), "{audit:?}");
}

// G4 B94 H21
#[tokio::test]
async fn view_has_its_own_servers_and_is_unknown_to_others() {
    let at = IssuerWorld::start();
    let served = World::with([("one", ScriptedStdio::new(&[])), ("two", ScriptedStdio::new(&[]))])
        .allow("mcp__one")
        .allow("mcp__two")
        .audited()
        .gateway();
    let agent = served.host().start_agent(mcparley::AgentSpec::new("ops").share_server("two")).await.unwrap();
    let view = GatewayView {
        name: "ops".to_owned(),
        gateway: served.open_view(
            "ops",
            mcparley::Host::clone(&agent),
            mcparley_gateway::GatewayMode::default(),
        ),
        rate: None,
        principals: vec!["sub:ada".parse().unwrap()],
    };
    let doors = OpenDoors::open(&served, DoorOptions { views: vec![view], ..at.options() }).await;
    let (ada, eve) = (at.bearer_of("ada"), at.bearer_of("eve"));
    let at_path = async |path: &str, who: Option<&str>, message: &Value| {
        let mut headers =
            vec![("Content-Type", "application/json"), ("Accept", "application/json, text/event-stream")];
        headers.extend(who.map(|who| ("Authorization", who)));
        let reply = doors.send(&format!("POST {path}"), &headers, &message.to_string()).await;
        let session = reply.header("mcp-session-id").map(str::to_owned);
        let challenge = reply.header("www-authenticate").map(str::to_owned);
        (reply.status, session, challenge, reply.text().await)
    };
    let hello = request(1, "initialize", hello());
    let (status, session, _, _) = at_path("/mcp/ops", Some(&ada), &hello).await;
    assert_eq!(status, 200);
    let session = session.unwrap();
    // Others get the same answer as for a view that does not exist, with and without a token.
    let [hidden, missing] =
        [at_path("/mcp/ops", Some(&eve), &hello).await, at_path("/mcp/none", Some(&eve), &hello).await];
    assert_eq!((hidden.0, &hidden), (404, &missing));
    let [hidden, missing] =
        [at_path("/mcp/ops", None, &hello).await, at_path("/mcp/none", None, &hello).await];
    assert_eq!((hidden.0, &hidden.3), (401, &missing.3));
    assert_eq!(hidden.2.unwrap().replace("/ops", "/none"), missing.2.unwrap());
    let metadata = async |name: &str| {
        doors
            .send(&format!("GET /.well-known/oauth-protected-resource/mcp/{name}"), &[], "")
            .await
            .json()
            .await
    };
    assert_eq!(metadata("ops").await["resource"], format!("{RESOURCE}/ops"));
    assert_eq!(metadata("none").await["resource"], format!("{RESOURCE}/none"));
    check_calls_in_view(&doors, &[("Authorization", ada.as_str()), ("Mcp-Session-Id", session.as_str())])
        .await;
    let audit = audit_lines(served, doors).await;
    assert!(audit.iter().any(|line| line["failure"] == "view_of_others"), "{audit:?}");
    assert!(audit.iter().any(|line| line["agent"] == "ops" && line["outcome"] == "ok"), "{audit:?}");
}

async fn check_calls_in_view(doors: &OpenDoors, headers: &[(&str, &str)]) {
    // The view lists and calls its own server only, and its sessions are not those of the main endpoint.
    let kind = [("Content-Type", "application/json"), ("Accept", "application/json, text/event-stream")];
    let in_view = async |path: &str, message: Value| {
        let all = [headers, &kind[..]].concat();
        let reply = doors.send(&format!("POST {path}"), &all, &message.to_string()).await;
        (reply.status, reply.text().await)
    };
    let (_, listed) = in_view("/mcp/ops", request(2, "tools/list", json!({}))).await;
    assert!(listed.contains("two__echo") && !listed.contains("one__echo"), "{listed}");
    let (_, called) = in_view("/mcp/ops", call(3, "two__echo", json!({ "message": "hi" }))).await;
    assert!(called.contains("hi") && !called.contains("isError\":true"), "{called}");
    let (_, hidden) = in_view("/mcp/ops", call(4, "one__echo", json!({ "message": "hi" }))).await;
    assert!(!hidden.contains(r#""text":"hi""#) && hidden.contains("one__echo"), "{hidden}");
    assert_eq!(in_view("/mcp", request(5, "tools/list", json!({}))).await.0, 404, "a session of the view");
}

// G4 B88: whoever sends a token without a verified signature may claim anything.
#[tokio::test]
async fn expired_tokens_are_challenged_always_and_audited_within_the_limit_of_guesses() {
    let at = IssuerWorld::start();
    let served = World::one().audited().gateway();
    let doors = OpenDoors::open(&served, at.options()).await;
    let expired = at.bearer(|claims| claims["exp"] = json!(1));
    for _ in 0..40 {
        let reply = doors.post(&auth(&expired), &request(1, "initialize", json!({}))).await;
        assert_eq!(reply.status, 401);
        assert!(reply.header("www-authenticate").unwrap().contains("invalid_token"));
    }
    let good = at.bearer(|_| ());
    assert_eq!(doors.post(&auth(&good), &request(1, "initialize", json!({}))).await.status, 200);
    let lines = audit_lines(served, doors).await;
    assert_eq!(lines.iter().filter(|line| line["failure"] == "token_expired").count(), 30);
}
