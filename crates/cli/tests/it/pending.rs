//! `pending`: questions of running gateways, answered from another process.

use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use mcparley_cli::exit;
use mcparley_testkit::{Key, ScriptedStdio, TerminalSession};
use serde_json::{Value, json};

use crate::completion::offered;
use crate::serve::Served;
use crate::talk::{entry, world};
use crate::world::{World, wait_for};

const SOCKETS: &str = "home/.local/state/mcparley/gateway/control";
const LONG: Duration = Duration::from_secs(30);
const ASKING: &[&str] = &["--permission-mode", "default"];

/// A request of a client of the new era that can be asked.
fn new_request(id: u64, mut params: Value) -> String {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": { "elicitation": { "form": {}, "url": {} } },
        "io.modelcontextprotocol/clientInfo": { "name": "probe", "version": "1" },
    });
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }).to_string()
}

fn echo(message: &str) -> Value {
    json!({ "name": "one__echo", "arguments": { "message": message } })
}

/// Sends a request and gives its answer; notifications before it are passed over.
fn answer(served: &mut Served, id: u64, line: &str) -> Value {
    let mut answer = served.ask(line);
    while answer["id"] != id {
        answer = served.next_message();
    }
    answer["result"].clone()
}

/// Starts a gateway, and parks a call of a client of the new era; returns the request to come back with.
fn park(world: &World, message: &str) -> (Served, Value) {
    let mut served = Served::start_silent(world, ASKING);
    let result = answer(&mut served, 1, &new_request(1, echo(message)));
    assert_eq!(result["resultType"], "input_required", "{result}");
    let mut again = echo(message);
    again["requestState"] = result["requestState"].clone();
    (served, again)
}

/// The listed questions, once there are so many.
fn wait_for_questions(world: &World, count: usize) -> Vec<Value> {
    let mut questions = Vec::new();
    wait_for("the questions", LONG, || {
        questions = world.json(&["pending"])["questions"].as_array().unwrap().clone();
        questions.len() == count
    });
    questions
}

fn sockets(world: &World) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(world.root.join(SOCKETS)).into_iter().flatten();
    entries.map(|entry| entry.unwrap().path()).filter(|path| path.extension().is_some()).collect()
}

fn one_server() -> World {
    world(&json!({ "one": entry(&ScriptedStdio::new(&[])) }))
}

// G3
#[test]
fn parked_call_is_answered_from_another_process_and_its_client_gets_the_result() {
    let world = one_server();
    let (mut served, again) = park(&world, "secret words");
    let [question] = &wait_for_questions(&world, 1)[..] else { panic!("one question") };
    let id = question["id"].as_str().unwrap();
    assert_eq!(
        (&question["server"], &question["tool"], &question["kind"], &question["client"]),
        (&json!("one"), &json!("mcp__one__echo"), &json!("permission"), &json!("probe"))
    );
    let table = world.ok(&["pending"]);
    assert!(table.starts_with("ID ") && table.contains(id) && !table.contains("secret"), "{table}");
    assert!(world.ok(&["pending", "--show"]).contains("secret words"));
    // Without a terminal the question is shown.
    assert!(world.ok(&["pending", id]).contains("secret words"));
    let wrong = world.mcparley(&["pending", "answer", id, "--accept", "{}"]);
    assert_eq!(wrong.code, i32::from(exit::USAGE.number), "{wrong:?}");
    assert!(wrong.err.contains("allow or deny the call"), "{wrong:?}");

    assert_eq!(world.ok(&["pending", "answer", id, "--allow"]), format!("Answered {id}\n"));
    let twice = world.mcparley(&["pending", "answer", id, "--deny"]);
    assert_eq!(twice.code, i32::from(exit::NOT_FOUND.number), "{twice:?}");
    let result = answer(&mut served, 2, &new_request(2, again));
    assert_eq!(result["content"][0]["text"], "secret words", "{result}");
}

// G3: an id is of one gateway, and a denial says why.
#[test]
fn questions_of_two_gateways_are_told_apart() {
    let world = one_server();
    let mut gateways = [park(&world, "first"), park(&world, "second")];
    let questions = wait_for_questions(&world, 2);
    let shown = world.json(&["pending", "--show"]);
    for question in shown["questions"].as_array().unwrap() {
        let id = question["id"].as_str().unwrap();
        let arguments: &[&str] = match question["arguments"]["message"].as_str().unwrap() {
            "first" => &["--allow"],
            _ => &["--deny", "--reason", "not now"],
        };
        world.ok(&[&["pending", "answer", id], arguments].concat());
    }
    assert_ne!(questions[0]["id"], questions[1]["id"]);
    let [first, second] = gateways.each_mut().map(|(served, again)| {
        answer(served, 2, &new_request(2, again.clone()))["content"][0]["text"].clone()
    });
    assert_eq!(first, "first");
    assert!(second.as_str().unwrap().contains("the user denied it: not now"), "{second}");
}

// G3 U4
#[test]
fn question_is_asked_on_a_terminal_with_the_dialogs_of_call() {
    let server = ScriptedStdio::new(&["server-request:elicitation/create"]);
    let mut world = world(&json!({ "one": entry(&server) }));
    let (mut served, again) = park(&world, "hi");
    world.set("TERM", "xterm-256color");
    let id = wait_for_questions(&world, 1)[0]["id"].as_str().unwrap().to_owned();
    let mut session = TerminalSession::start(&world.command(&["pending", &id]));
    session.wait_for_text("Esc deny");
    session.type_text("y");
    assert_eq!(session.wait_for_exit().0, 0);
    // The call goes on to its server, which asks.
    let mut form = Value::Null;
    wait_for("the form", LONG, || {
        let questions = world.json(&["pending", "--show"])["questions"].clone();
        form = questions[0].clone();
        form["kind"] == "form"
    });
    let mut session = TerminalSession::start(&world.command(&["pending", form["id"].as_str().unwrap()]));
    session.wait_for_text("Enter send");
    session.type_text("Ada");
    session.press_keys(&[Key::Enter]);
    let (code, screen) = session.wait_for_exit();
    assert_eq!(code, 0, "{screen}");
    let result = answer(&mut served, 2, &new_request(2, again));
    assert!(result["content"][0]["text"].as_str().unwrap().contains("Ada"), "{result}");
}

// G3 P1: a client that cannot be asked.
#[test]
fn call_that_an_ask_rule_stopped_is_listed_with_the_command_that_allows_it() {
    let world = one_server();
    world.ok(&["permissions", "ask", "mcp__one__pid"]);
    let mut served = Served::start(&world, &[]);
    let text = served.call("one__pid");
    assert!(text.contains("permission") && !text.contains("mcparley"), "{text}");
    let pending = world.json(&["pending"]);
    assert_eq!(pending["questions"], json!([]));
    assert_eq!(pending["pending"][0]["command"], "mcparley permissions remove mcp__one__pid", "{pending}");
    world.ok(&["permissions", "remove", "mcp__one__pid"]);
    assert_eq!(world.json(&["pending"])["pending"], json!([]));
}

// G3
#[test]
fn control_socket_is_private_and_gone_with_its_gateway() {
    let world = one_server();
    let mut served = Served::start(&world, &[]);
    wait_for("the socket", LONG, || sockets(&world).iter().any(|path| path.extension().unwrap() == "sock"));
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&world.root.join(SOCKETS)), mode(&sockets(&world)[0])), (0o700, 0o600));
    drop(served.input);
    served.child.wait().unwrap();
    assert_eq!(sockets(&world), Vec::<PathBuf>::new());
}

// G3
#[test]
fn socket_of_a_killed_gateway_is_skipped_and_removed() {
    let world = one_server();
    let (mut killed, _) = park(&world, "lost");
    let (_alive, _) = park(&world, "kept");
    wait_for_questions(&world, 2);
    killed.child.kill().unwrap();
    killed.child.wait().unwrap();
    assert_eq!(sockets(&world).len(), 2);
    let shown = world.json(&["pending", "--show"])["questions"].clone();
    assert_eq!((shown.as_array().unwrap().len(), &shown[0]["arguments"]["message"]), (1, &json!("kept")));
    assert_eq!(sockets(&world).len(), 1);
}

// G3 U9: ids are completed.
#[test]
fn shell_completes_the_ids_of_open_questions() {
    let mut world = one_server();
    let (_served, _) = park(&world, "hi");
    let id = wait_for_questions(&world, 1)[0]["id"].as_str().unwrap().to_owned();
    let completed = offered(&mut world, &["mcparley", "pending", ""]);
    assert!(completed.contains(&id), "{completed:?}");
}

// G3 G4
#[test]
fn parked_call_of_a_client_over_http_is_listed_with_its_principal() {
    let world = one_server();
    let folder = world.root.join("run");
    std::fs::create_dir(&folder).unwrap();
    std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o700)).unwrap();
    let path = folder.join("mcp.sock");
    let mut served = Served::start_silent(&world, &[ASKING, &["--unix", path.to_str().unwrap()]].concat());
    let mut stream = None;
    wait_for("the door", LONG, || {
        stream = UnixStream::connect(&path).ok();
        stream.is_some()
    });
    let (mut stream, body) = (stream.unwrap(), new_request(1, echo("hi")));
    write!(
        stream,
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\n\
         Mcp-Method: tools/call\r\nMcp-Name: one__echo\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    let question = wait_for_questions(&world, 1)[0].clone();
    let principal = question["principal"].as_str().unwrap();
    assert!(principal.starts_with("unix:"), "{question}");
    assert!(world.ok(&["pending"]).contains(principal));
    served.child.kill().unwrap();
    served.child.wait().unwrap();
}
