//! Without a terminal: nobody is prompted, and programs can take part all the same.

use std::time::{Duration, Instant};

use mcparley_cli::exit;
use mcparley_testkit::AuthServer;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use super::person::{Waiting, health, last_address, windows, world_with};

// A8: a page whose answer nobody waits for is not shown.
#[test]
fn a_script_gets_pending_sign_ins_and_none_is_started() {
    let server = AuthServer::start(&[]);
    let world = world_with(server.url());
    for args in [&["login", "one"][..], &["login"]] {
        let done = world.mcparley(args);
        assert_eq!(done.code, i32::from(exit::NEEDS_AUTH.number), "{done:?}");
        assert_eq!(done.out, "one: needs sign-in\n");
        assert!(done.err.contains("`mcparley login one`"), "{done:?}");
        let report = world.json(args);
        assert_eq!(report["pendingAuth"], json!([{ "server": "one", "command": "mcparley login one" }]));
        assert_eq!(report["servers"][0]["is"], "needs-auth");
    }
    assert_eq!(server.stats()["requests"]["register"], Value::Null);
    assert!(windows(&world).is_empty());
}

// A8: what a browser elsewhere ended on is pasted; what is pasted wrongly does no harm.
#[test]
fn the_redirect_url_of_a_browser_elsewhere_can_be_pasted() {
    let server = AuthServer::start(&[]);
    let world = world_with(server.url());
    let mut login = Waiting::start(&world, &["login", "one", "--no-browser"]);
    let pending = login.pending();
    assert_eq!((&pending["server"], &pending["command"]), (&json!("one"), &json!("mcparley login one")));
    login.paste("what is this?");
    login.paste("http://127.0.0.1:1/callback?code=canary&state=another");
    login.paste(&last_address(&pending["url"]));
    let result = login.line();
    assert_eq!(result["servers"][0]["is"], "signed-in", "{result}");
    assert_eq!(result["pendingAuth"], json!([]));
    let done = login.end();
    assert_eq!(done.code, 0, "{done:?}");
    assert!(done.err.matches("warning: ").count() == 2 && !done.err.contains("canary"), "{done:?}");
    assert!(windows(&world).is_empty());
    assert_eq!(health(&world, "one"), "connected");
}

// A8: RFC 8628.
#[test]
fn a_code_can_be_typed_on_another_device() {
    let server = AuthServer::start(&["device-pending:1"]);
    let world = world_with(server.url());
    let mut login = Waiting::start(&world, &["login", "one", "--device"]);
    let pending = login.pending();
    assert!(pending["userCode"].is_string() && pending["url"].is_string(), "{pending}");
    assert_eq!(login.line()["servers"][0]["is"], "signed-in");
    assert_eq!(login.end().code, 0);
    assert_eq!(health(&world, "one"), "connected");
}

// A8: with no browser, no screen and no hands, the ladder's next rung is another device.
#[test]
fn without_a_browser_and_without_pasting_the_device_flow_is_used() {
    let server = AuthServer::start(&["device-pending:0"]);
    let mut world = world_with(server.url());
    world.set("BROWSER", "");
    let done = world.mcparley(&["login", "one", "--wait"]);
    assert_eq!(done.code, 0, "{done:?}");
    assert!(done.err.contains("Enter this code on the page: "), "{done:?}");
    assert_eq!(server.stats()["grants"]["urn:ietf:params:oauth:grant-type:device_code"], 1);
}

// A8 F23: the person takes too long, or somebody presses Ctrl-C.
#[test]
fn waiting_for_a_person_ends_in_time_and_at_a_signal() {
    let server = AuthServer::start(&[]);
    let world = world_with(server.url());
    let late = world.mcparley(&["login", "one", "--no-browser", "--timeout", "50"]);
    assert_eq!(late.code, i32::from(exit::TIMED_OUT.number), "{late:?}");
    assert!(late.err.contains("no sign-in to server `one` within 50ms"), "{late:?}");

    let mut login = Waiting::start(&world, &["login", "one", "--no-browser"]);
    login.pending();
    let start = Instant::now();
    kill_process(Pid::from_child(login.child()), Signal::INT).unwrap();
    let done = login.end();
    assert!(start.elapsed() < Duration::from_secs(1), "{:?}", start.elapsed());
    assert_eq!(done.code, i32::from(exit::INTERRUPTED.number), "{done:?}");
}
