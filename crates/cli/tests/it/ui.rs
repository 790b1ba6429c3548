//! `ui` and `serve --ui`: the address, the page behind it, and the end by a signal.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::talk::world;
use crate::world::wait_for;

/// A child that is killed with this value.
struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        self.0.kill().unwrap_or_default();
        self.0.wait().unwrap();
    }
}

fn send(address: &str, start: &str, headers: &str, body: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    let length = body.len();
    write!(
        stream,
        "{start} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nContent-Length: {length}\r\n{headers}\r\n{body}"
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

/// Exchanges a token for the cookie of the page.
fn open_session(address: &str, token: &str) -> String {
    let headers =
        format!("Authorization: Bearer {token}\r\nX-Mcparley-Ui: 1\r\nContent-Type: application/json\r\n");
    send(address, "POST /ui/session", &headers, "{}")
}

// U6
#[test]
fn page_is_served_until_a_signal_ends_it() {
    let world = world(&json!({}));
    let mut command = world.command(&["ui", "--no-open", "--json"]);
    let mut page = Killed(command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap());
    let mut line = String::new();
    BufReader::new(page.0.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let printed: Value = serde_json::from_str(&line).unwrap();
    let url = printed["address"].as_str().unwrap().strip_prefix("http://").unwrap();
    let (address, token) = url.split_once("/ui/#token=").unwrap();
    let html = send(address, "GET /ui/", "", "");
    assert!(html.starts_with("HTTP/1.1 200") && html.contains("<title>mcparley</title>"), "{html}");
    let session = open_session(address, token);
    assert!(session.contains("HttpOnly; SameSite=Strict"), "{session}");
    assert!(open_session(address, token).starts_with("HTTP/1.1 401"), "the token is valid once");
    assert!(send(address, "POST /mcp", "", "{}").starts_with("HTTP/1.1 404"), "it is no gateway");
    kill_process(Pid::from_child(&page.0), Signal::TERM).unwrap();
    assert_eq!(page.0.wait().unwrap().code(), Some(0));
}

// U6
#[test]
fn port_that_is_taken_is_an_error_with_a_hint() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let done = world(&json!({})).mcparley(&["ui", "--no-open", "--port", &port]);
    assert_ne!(done.code, 0, "{done:?}");
    assert!(
        done.err.contains("cannot listen on") && done.err.contains("port 0 takes a free one"),
        "{done:?}"
    );
}

// U6 G4
#[test]
fn gateway_serves_the_page_for_its_token_and_only_with_the_option() {
    let world = world(&json!({}));
    for has_page in [true, false] {
        let option: &[&str] = if has_page { &["--ui"] } else { &[] };
        let words = [&["serve", "--http", "127.0.0.1:0", "--token-file", "tokens"], option].concat();
        world.write("home/project/tokens", "me:secret\n");
        let file = world.project.join("tokens");
        let private = std::os::unix::fs::PermissionsExt::from_mode(0o600);
        std::fs::set_permissions(file, private).unwrap();
        let mut command = world.command(&words);
        let mut gateway = Killed(command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap());
        let mut lines = BufReader::new(gateway.0.stderr.take().unwrap()).lines().map_while(Result::ok);
        let address = lines
            .find_map(|line| line.split("http://").nth(1)?.strip_suffix("/mcp").map(str::to_owned))
            .unwrap();
        let html = send(&address, "GET /ui/", "", "");
        if !has_page {
            assert!(html.starts_with("HTTP/1.1 404"), "{html}");
            continue;
        }
        assert!(html.starts_with("HTTP/1.1 200") && html.contains("content-security-policy"), "{html}");
        assert!(open_session(&address, "wrong").starts_with("HTTP/1.1 401"));
        let session = open_session(&address, "secret");
        let cookie = session.lines().find_map(|line| line.strip_prefix("set-cookie: ")).unwrap();
        let cookie = cookie.split(';').next().unwrap();
        let headers = format!("Cookie: {cookie}\r\nX-Mcparley-Ui: 1\r\n");
        let tools = send(&address, "GET /ui/api/tools", &headers, "");
        assert!(tools.starts_with("HTTP/1.1 200") && tools.contains("\"tools\":["), "{tools}");
        // A token named `ui` is the only one for the page, so that agents cannot answer their own questions.
        world.write("home/project/tokens", "me:secret\nui:mine\n");
        wait_for("the new tokens", Duration::from_secs(30), || {
            open_session(&address, "secret").starts_with("HTTP/1.1 403")
        });
        assert!(open_session(&address, "mine").starts_with("HTTP/1.1 200"));
        // The cookie is for the page, not for MCP.
        let headers = format!("{headers}Content-Type: application/json\r\n");
        assert!(send(&address, "POST /mcp", &headers, "{}").starts_with("HTTP/1.1 401"));
    }
}
