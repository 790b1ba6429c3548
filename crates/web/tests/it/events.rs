//! The event stream: states of servers as they change, actions, and logs.

use mcparley::RunOptions;
use mcparley_testkit::{AuthServer, Browser, ScriptedStdio};
use serde_json::{Value, json};

use crate::browser::TestPage;

fn state_of<'v>(value: &'v Value, name: &str) -> &'v Value {
    let servers = value["servers"].as_array().unwrap();
    &servers.iter().find(|server| server["name"] == name).unwrap()["state"]
}

// U6
#[tokio::test]
async fn failure_and_recovery_of_a_server_are_events() {
    let broken = ScriptedStdio { program: "/nonexistent/program".into(), args: Vec::new() };
    let page = TestPage::open(&[("good", ScriptedStdio::new(&[])), ("broken", broken)]).await;
    let mut events = page.events("/ui/events").await;
    let about = events.wait_for("about", |_| true).await;
    assert!(about["project"].as_str().unwrap().ends_with("home/project"), "{about}");
    let both =
        |value: &Value| state_of(value, "good") == "connected" && state_of(value, "broken") == "failed";
    let value = events.wait_for("servers", both).await;
    let servers = value["servers"].as_array().unwrap();
    let failed = servers.iter().find(|server| server["name"] == "broken").unwrap();
    assert!(failed["reason"].as_str().unwrap().contains("/nonexistent/program"), "{failed}");
    assert_eq!(failed["actions"], json!(["reconnect", "disable"]));
    let good = servers.iter().find(|server| server["name"] == "good").unwrap();
    assert!(good["tools"].as_u64().unwrap() > 1 && good["protocol"].is_string(), "{good}");
    // The entry is mended, and reconnecting reads it again.
    let mended = ScriptedStdio::new(&[]);
    let entry = json!({ "command": mended.program, "args": mended.args });
    let file = page.path("home/.claude.json");
    std::fs::write(&file, json!({ "mcpServers": { "good": entry, "broken": entry } }).to_string()).unwrap();
    let request = json!({ "server": "broken", "action": "reconnect" });
    let reply = page.post("/ui/api/server", &request).await.json();
    assert_eq!(reply["message"], "broken is connected", "{reply}");
    events.wait_for("servers", |value| state_of(value, "broken") == "connected").await;
    page.close().await;
}

// U6
#[tokio::test]
async fn disabled_server_is_recorded_and_enabled_again() {
    let page = TestPage::open(&[("one", ScriptedStdio::new(&[]))]).await;
    let mut events = page.events("/ui/events").await;
    events.wait_for("servers", |value| state_of(value, "one") == "connected").await;
    let act =
        async |action: &str| page.post("/ui/api/server", &json!({ "server": "one", "action": action })).await;
    assert_eq!(act("disable").await.json()["message"], "one is disabled");
    events.wait_for("servers", |value| state_of(value, "one") == "off").await;
    let recorded = std::fs::read_to_string(page.path("home/.claude.json")).unwrap();
    assert!(recorded.contains("disabledMcpServers"), "{recorded}");
    assert_eq!(act("enable").await.json()["message"], "one is enabled");
    events.wait_for("servers", |value| state_of(value, "one") == "connected").await;
    let no_sign_in = act("sign-in").await;
    assert_eq!(no_sign_in.status, 502, "{no_sign_in:?}");
    let unknown = page.post("/ui/api/server", &json!({ "server": "two", "action": "enable" })).await;
    assert_eq!(unknown.status, 404);
    page.close().await;
}

// U6
#[tokio::test]
async fn log_of_a_failed_server_is_followed() {
    let broken = ScriptedStdio { program: "/nonexistent/program".into(), args: Vec::new() };
    let page = TestPage::open(&[("broken", broken)]).await;
    let mut log = page.events("/ui/api/logs?server=broken").await;
    let has_reason = |lines: &Value| lines.to_string().contains("/nonexistent/program");
    log.wait_for("lines", has_reason).await;
    page.post("/ui/api/server", &json!({ "server": "broken", "action": "reconnect" })).await;
    log.wait_for("lines", has_reason).await;
    page.close().await;
}

// U6
#[tokio::test]
async fn sign_in_gives_the_page_to_open_and_its_end_is_a_notice() {
    let server = AuthServer::start(&[]);
    let entry = json!({ "mcpServers": { "guarded": { "type": "http", "url": server.url() } } }).to_string();
    let files = [("home/.claude.json", entry.as_str())];
    let page = TestPage::open_with(&[], RunOptions::default(), &files).await;
    let mut events = page.events("/ui/events").await;
    let value = events.wait_for("servers", |value| state_of(value, "guarded") == "sign-in").await;
    assert_eq!(value["servers"][0]["actions"][0], "sign-in");
    let request = json!({ "server": "guarded", "action": "sign-in" });
    let reply = page.post("/ui/api/server", &request).await.json();
    let address = reply["page"].as_str().unwrap_or_else(|| panic!("{reply}")).to_owned();
    let visited = tokio::task::spawn_blocking(move || Browser::new().open(&address).status).await.unwrap();
    assert_eq!(visited, 200);
    events.wait_for("notice", |notice| notice["message"] == "Signed in to guarded").await;
    let mut events = page.events("/ui/events").await;
    events.wait_for("servers", |value| state_of(value, "guarded") == "connected").await;
    page.close().await;
}
