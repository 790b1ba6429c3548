//! The checks of the page: session, header, host, origin, method, size, and the headers of every response.

use mcparley_testkit::ScriptedStdio;
use serde_json::json;

use crate::browser::{TestPage, UI};

/// Requests that change something, each with a body.
const POSTS: [&str; 4] = ["/ui/api/call", "/ui/api/answer", "/ui/api/server", "/ui/api/trust"];
/// Requests that read.
const GETS: [&str; 4] = ["/ui/events", "/ui/api/tools", "/ui/api/tool?name=x", "/ui/api/logs?server=x"];

// U6
#[tokio::test]
async fn every_request_needs_the_cookie_and_the_header() {
    let page = TestPage::open(&[]).await;
    let json = ("Content-Type", "application/json");
    let cookie = ("Cookie", page.cookie.as_str());
    let forged = format!("{}=AAAA", page.cookie.split('=').next().unwrap());
    for (path, method, body) in
        POSTS.map(|path| (path, "POST", "{}")).into_iter().chain(GETS.map(|path| (path, "GET", "")))
    {
        let start = format!("{method} {path}");
        assert_eq!(page.send(&start, &[json, UI], body).await.status, 401, "{start} without a cookie");
        assert_eq!(page.send(&start, &[json, UI, ("Cookie", &forged)], body).await.status, 401, "{start}");
        assert_eq!(page.send(&start, &[json, cookie], body).await.status, 403, "{start} without the header");
        let other = ("X-Mcparley-Ui", "0");
        assert_eq!(page.send(&start, &[json, cookie, other], body).await.status, 403, "{start}");
    }
    page.close().await;
}

// U6
#[tokio::test]
async fn hostile_origin_and_host_are_refused_on_every_path() {
    let page = TestPage::open(&[]).await;
    let cookie = ("Cookie", page.cookie.as_str());
    for path in ["/ui/", "/ui/ui.js", "/ui/api/tools"] {
        let start = format!("GET {path}");
        for (name, value) in [
            ("Origin", "http://evil.example"),
            ("Origin", "null"),
            ("Origin", "http://127.0.0.1:1"),
            ("Host", "evil.example"),
            ("Host", "127.0.0.1:1"),
        ] {
            let reply = page.send(&start, &[cookie, UI, (name, value)], "").await;
            assert_eq!(reply.status, 403, "{start} with {name}: {value}");
            assert_eq!(reply.header("access-control-allow-origin"), None);
        }
    }
    let own = format!("http://{}", page.address);
    let reply = page.send("GET /ui/api/tools", &[cookie, UI, ("Origin", &own)], "").await;
    assert_eq!(reply.status, 200);
    // A preflight request of another page is never answered.
    let preflight = page.send("OPTIONS /ui/api/call", &[("Origin", "http://evil.example")], "").await;
    assert_eq!(preflight.status, 405);
    page.close().await;
}

// U6
#[tokio::test]
async fn token_is_valid_once_and_gives_a_cookie_for_scripts_out_of_reach() {
    let page = TestPage::open(&[]).await;
    let bearer = format!("Bearer {}", page.token);
    let json = ("Content-Type", "application/json");
    let again = page.send("POST /ui/session", &[json, UI, ("Authorization", &bearer)], "{}").await;
    assert_eq!(again.status, 401, "the token was used before");
    let none = page.send("POST /ui/session", &[json, UI], "{}").await;
    assert_eq!(none.status, 401);
    assert!(page.cookie.starts_with(&format!("mcparley-ui-{}=", page.address.port())), "{}", page.cookie);
    assert!(page.cookie.len() > 50, "a long secret");
    page.close().await;
}

// U6
#[tokio::test]
async fn actions_are_posts_with_json_of_a_limited_size() {
    let page = TestPage::open(&[]).await;
    for path in POSTS.into_iter().chain(["/ui/session"]) {
        let reply = page.get(path).await;
        assert_eq!((reply.status, reply.header("allow")), (405, Some("POST")), "GET {path}");
    }
    for path in GETS.into_iter().chain(["/ui/", "/ui/ui.css"]) {
        assert_eq!(page.post(path, &json!({})).await.status, 405, "POST {path}");
    }
    let large = json!({ "name": "x".repeat(1024 * 1024) });
    assert_eq!(page.post("/ui/api/call", &large).await.status, 413);
    let cookie = ("Cookie", page.cookie.as_str());
    let form = ("Content-Type", "application/x-www-form-urlencoded");
    assert_eq!(page.send("POST /ui/api/call", &[cookie, UI, form], "{}").await.status, 415);
    for body in ["", "[]", "{\"name\":1}", "{\"name\":\"a\",\"other\":1}"] {
        let json = ("Content-Type", "application/json");
        let reply = page.send("POST /ui/api/call", &[cookie, UI, json], body).await;
        assert_eq!(reply.status, 400, "{body}: {reply:?}");
        assert!(reply.json()["error"].is_string());
    }
    for path in ["/ui/other", "/ui/api/", "/ui/../etc/passwd", "/ui/%2e%2e/x", "/mcp"] {
        assert_eq!(page.get(path).await.status, 404, "{path}");
    }
    page.close().await;
}

// U6
#[tokio::test]
async fn every_response_has_the_security_headers() {
    let page = TestPage::open(&[]).await;
    for path in ["/ui/", "/ui/ui.css", "/ui/ui.js", "/ui/api/tools", "/ui/nothing", "/ui"] {
        let reply = page.get(path).await;
        let policy = reply.header("content-security-policy").unwrap();
        for rule in [
            "default-src 'none'",
            "script-src 'self'",
            "style-src 'self'",
            "img-src 'self' data:",
            "connect-src 'self'",
            "base-uri 'none'",
            "form-action 'none'",
            "frame-ancestors 'none'",
        ] {
            assert!(policy.contains(rule), "{path}: {policy}");
        }
        assert!(!policy.contains("unsafe"), "{policy}");
        assert_eq!(reply.header("x-content-type-options"), Some("nosniff"), "{path}");
        assert_eq!(reply.header("referrer-policy"), Some("no-referrer"), "{path}");
        assert_eq!(reply.header("cache-control"), Some("no-store"), "{path}");
    }
    page.close().await;
}

// U6
#[tokio::test]
async fn text_of_servers_is_sent_as_json_without_hidden_characters() {
    let text = "<img src=x onerror=alert(1)>\u{202e}\u{200b}</script><script>alert(2)</script>";
    let page = TestPage::open(&[("one", ScriptedStdio::new(&[]))]).await;
    let mut events = page.events("/ui/events").await;
    events.wait_for("servers", |value| value["servers"][0]["state"] == "connected").await;
    let call = json!({ "name": "mcp__one__echo", "arguments": { "message": text } });
    let reply = page.post("/ui/api/call", &call).await;
    assert_eq!(reply.header("content-type"), Some("application/json"));
    let shown = reply.json()["outcome"]["blocks"][0].clone();
    let clean = "<img src=x onerror=alert(1)></script><script>alert(2)</script>";
    assert_eq!(shown, json!({ "kind": "text", "text": clean }));
    page.close().await;
}
