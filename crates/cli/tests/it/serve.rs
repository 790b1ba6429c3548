//! `serve`, run as agents run it: its standard streams, its end, and what is left of it.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::mem::MaybeUninit;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::time::{Duration, Instant};

use mcparley_cli::exit;
use mcparley_testkit::{ScriptedStdio, processes_tagged};
use rustix::fs::inotify;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::talk::{entry, world};
use crate::world::{World, wait_for};

const GREETING: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}"#;

/// A running gateway.
pub(crate) struct Served {
    pub(crate) child: Child,
    pub(crate) input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Served {
    pub(crate) fn start(world: &World, options: &[&str]) -> Self {
        let mut served = Self::start_silent(world, options);
        assert_eq!(served.ask(GREETING)["result"]["protocolVersion"], "2025-11-25");
        served
    }

    /// Starts a gateway whose client has said nothing yet.
    pub(crate) fn start_silent(world: &World, options: &[&str]) -> Self {
        let mut command = world.command(&[&["serve"], options].concat());
        let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = piped.spawn().unwrap();
        let (input, output) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        Self { child, input, output }
    }

    /// Sends a line and gives the next message.
    pub(crate) fn ask(&mut self, line: &str) -> Value {
        writeln!(self.input, "{line}").unwrap();
        self.next_message()
    }

    pub(crate) fn next_message(&mut self) -> Value {
        let mut message = String::new();
        self.output.read_line(&mut message).unwrap();
        serde_json::from_str(&message).unwrap()
    }

    /// Calls a tool without arguments and gives the text of its result; notifications before it are passed over.
    pub(crate) fn call(&mut self, tool: &str) -> String {
        let params = json!({ "name": tool, "arguments": {} });
        let call = json!({ "jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": params });
        let mut answer = self.ask(&call.to_string());
        while answer["id"] != 5 {
            answer = self.next_message();
        }
        answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
    }

    fn tools(&mut self) -> Vec<String> {
        let list = self.ask(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}"#);
        let tools = list["result"]["tools"].as_array().unwrap();
        tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    }
}

fn slow() -> String {
    let params = json!({ "name": "one__slow", "arguments": { "ms": 60_000 } });
    json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params }).to_string()
}

// G1 F91 L8 L9
#[test]
fn closed_input_ends_the_gateway_within_a_second_even_during_a_call() {
    let tag = format!("serve-end-{}", std::process::id());
    let server = ScriptedStdio::new(&["daemon"]).with_option("--tag", &tag);
    let world = world(&json!({ "one": entry(&server) }));
    for mid_call in [false, true] {
        let mut served = Served::start(&world, &["--allowed-tools", "mcp__one"]);
        assert!(served.tools().contains(&"one__echo".to_owned()));
        if mid_call {
            writeln!(served.input, "{}", slow()).unwrap();
            let echo = r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"one__echo","arguments":{"message":"behind it"}}}"#;
            assert_eq!(served.ask(echo)["result"]["content"][0]["text"], "behind it");
        }
        let begun = Instant::now();
        drop(served.input);
        let done = served.child.wait_with_output().unwrap();
        assert!(begun.elapsed() < Duration::from_secs(1), "{:?}", begun.elapsed());
        assert_eq!((done.status.code(), done.stderr), (Some(0), Vec::new()));
        wait_for("the end of the server", Duration::from_secs(1), || processes_tagged(&tag).is_empty());
    }
}

// F23 L9
#[test]
fn a_signal_ends_the_gateway_within_a_second_and_leaves_no_process() {
    for (signal, code) in [(Signal::INT, exit::INTERRUPTED), (Signal::TERM, exit::TERMINATED)] {
        let tag = format!("serve-signal-{}-{}", code.number, std::process::id());
        let server = ScriptedStdio::new(&["ignore-term"]).with_option("--tag", &tag);
        let world = world(&json!({ "one": entry(&server) }));
        let mut served = Served::start(&world, &["--allowed-tools", "mcp__one"]);
        served.tools();
        writeln!(served.input, "{}", slow()).unwrap();
        let begun = Instant::now();
        kill_process(Pid::from_child(&served.child), signal).unwrap();
        let status = served.child.wait().unwrap();
        assert!(begun.elapsed() < Duration::from_secs(1), "{:?}", begun.elapsed());
        assert_eq!(status.code(), Some(i32::from(code.number)));
        wait_for("the end of the server", Duration::from_secs(1), || processes_tagged(&tag).is_empty());
    }
}

// G1: what a shell makes of it: files on both sides.
#[test]
fn files_will_do_as_standard_streams() {
    let world = world(&json!({}));
    let echo = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"mcparley__echo","arguments":{"message":"from a file"}}}"#;
    world.write("in", &format!("{GREETING}\n{echo}\nnoise\n"));
    let mut command = world.command(&["serve", "--allowed-tools", "mcp__mcparley"]);
    command.stdin(File::open(world.root.join("in")).unwrap());
    command.stdout(File::create(world.root.join("out")).unwrap());
    assert_eq!(command.status().unwrap().code(), Some(0));
    let out = world.read("out");
    let mut ids: Vec<Value> =
        out.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["id"].clone()).collect();
    ids.sort_by_key(Value::to_string);
    assert_eq!(ids, [json!(0), json!(1), Value::Null], "{out}");
}

// G1 N3
#[test]
fn one_server_may_be_served_alone_and_without_a_prefix() {
    let good = entry(&ScriptedStdio::new(&[]));
    let world = world(&json!({ "one": good, "two": entry(&ScriptedStdio::new(&["exit-start"])) }));
    let mut served = Served::start(&world, &["--only", "one", "--no-prefix=one"]);
    let tools = served.tools();
    assert!(tools.contains(&"echo".to_owned()), "{tools:?}");
    assert!(!tools.iter().any(|name| name.starts_with("mcp__")), "{tools:?}");
    let done = world.mcparley(&["serve", "--only", "onne"]);
    assert_eq!(done.code, i32::from(exit::NOT_FOUND.number), "{done:?}");
    assert!(done.err.contains("one"), "{done:?}");
}

// N14 G11: a tool that is not offered can neither be seen nor called.
#[test]
fn only_the_wanted_tools_are_offered() {
    let world = world(&json!({ "one": entry(&ScriptedStdio::new(&[])) }));
    let start = |pattern: &str| Served::start(&world, &["--defer", "never", "--tools", pattern]);
    let listed = |pattern: &str| -> Vec<String> {
        let tools = start(pattern).tools();
        tools.into_iter().filter(|name| name.starts_with("one__")).collect()
    };
    let (all, wanted) = (listed("one"), "one__echo");
    let unwanted = all.iter().find(|name| *name != wanted).unwrap();
    assert!(all.iter().any(|name| name == wanted), "{all:?}");
    for pattern in ["one__echo", "mcp__one__ec*", "two,one__echo"] {
        assert_eq!(listed(pattern), [wanted], "{pattern}");
    }
    assert_eq!(listed("two"), [""; 0]);
    let params = json!({ "name": unwanted, "arguments": {} });
    let call = json!({ "jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": params });
    let mut served = start("one__echo");
    let mut answer = served.ask(&call.to_string());
    while answer["id"] != 5 {
        answer = served.next_message();
    }
    assert!(answer.get("error").is_some() || answer["result"]["isError"] == true, "{answer}");
}

fn echo(message: &str) -> String {
    let params = json!({ "name": "one__echo", "arguments": { "message": message } });
    json!({ "jsonrpc": "2.0", "id": 4, "method": "tools/call", "params": params }).to_string()
}

// P2 G2
#[test]
fn without_an_option_what_no_rule_decides_is_left_to_the_client() {
    let world = world(&json!({ "one": entry(&ScriptedStdio::new(&[])) }));
    let text = |options: &[&str]| {
        let mut served = Served::start(&world, options);
        served.tools();
        served.ask(&echo("hi"))["result"]["content"][0]["text"].as_str().unwrap().to_owned()
    };
    assert_eq!(text(&[]), "hi");
    assert!(text(&["--permission-mode", "default"]).contains("permission"), "the strict form");
    let ask = r#"{"permissions": {"ask": ["mcp__one__echo"]}}"#;
    assert!(text(&["--settings", ask]).contains("permission"), "an ask rule holds");
    let mode = r#"{"permissions": {"defaultMode": "dontAsk"}}"#;
    assert!(text(&["--settings", mode]).contains("denied"), "a mode that settings name holds");
}

// N14 P2
#[test]
fn in_mode_dont_ask_only_tools_that_a_rule_allows_are_listed() {
    let world = world(&json!({ "one": entry(&ScriptedStdio::new(&[])) }));
    let listed = |allow: &[&str]| {
        let settings = json!({ "permissions": { "defaultMode": "dontAsk", "allow": allow } }).to_string();
        let mut served = Served::start(&world, &["--defer", "never", "--settings", &settings]);
        let mut tools = served.tools();
        tools.retain(|name| name.starts_with("one__"));
        tools.sort();
        tools
    };
    assert_eq!(listed(&["mcp__one__add", "mcp__one__echo(message:hi)"]), ["one__add", "one__echo"]);
    assert_eq!(listed(&[]), [""; 0]);
}

// P1
#[test]
fn command_that_allows_a_denied_call_stands_on_standard_error_once_and_not_in_the_result() {
    let world = world(&json!({ "one": entry(&ScriptedStdio::new(&[])) }));
    for options in [&["--permission-mode", "default"][..], &["--permission-mode", "default", "--only", "one"]]
    {
        let mut served = Served::start(&world, options);
        for _ in 0..2 {
            let text = served.call("one__pid");
            assert!(text.contains("the user can allow it") && !text.contains("mcparley"), "{text}");
        }
        drop(served.input);
        let done = served.child.wait_with_output().unwrap();
        let said = String::from_utf8(done.stderr).unwrap();
        assert!(said.contains("warning: denied a call of `mcp__one__pid`: "), "{said}");
        let command = "hint: run `mcparley permissions allow mcp__one__pid` to allow it\n";
        assert_eq!(said.matches(command).count(), 1, "{said}");
    }
    assert!(world.ok(&["pending"]).contains("mcparley permissions allow mcp__one__pid"));
}

// N9 N14
#[test]
fn tools_for_a_model_budget_and_serve_show_one_set_without_our_own_server() {
    let world = world(&json!({ "one": entry(&ScriptedStdio::new(&["app-tool:panel"])) }));
    let mut served = Served::start(&world, &["--defer", "never"]).tools();
    served.sort();
    assert!(!served.iter().any(|name| name.starts_with("mcparley__")), "{served:?}");
    assert!(served.contains(&"ReadResult".to_owned()), "{served:?}");
    let names = |list: &Value| {
        let mut names: Vec<String> = Vec::new();
        // Clients add a prefix of their own.
        let bare = |name: &str| name.strip_prefix("mcp__").unwrap_or(name).to_owned();
        names.extend(list.as_array().unwrap().iter().map(|tool| bare(tool["name"].as_str().unwrap())));
        names.sort();
        names
    };
    let for_model = world.mcparley(&["tools", "--for", "anthropic"]);
    assert_eq!(names(&serde_json::from_str(&for_model.out).unwrap()), served);
    let budget: Value = serde_json::from_str(&world.mcparley(&["budget", "--json"]).out).unwrap();
    let rows =
        budget["groups"].as_array().unwrap().iter().flat_map(|group| group["tools"].as_array().unwrap());
    assert_eq!(names(&rows.cloned().collect()), served);

    let own = Served::start(&world, &["--only", "mcparley"]).tools();
    assert!(own.contains(&"mcparley__list_servers".to_owned()), "asked for, it is there: {own:?}");
    let person = world.mcparley(&["tools"]).out;
    assert!(person.contains("mcparley\n  list_servers("), "a person is shown all: {person}");
}

// G3 X8
#[test]
fn log_messages_of_a_server_served_alone_reach_the_client() {
    let world = world(
        &json!({ "one": entry(&ScriptedStdio::new(&["logging"])), "two": entry(&ScriptedStdio::new(&[])) }),
    );
    let mut served = Served::start(&world, &["--only", "one"]);
    served.tools();
    let level = r#"{"jsonrpc":"2.0","id":5,"method":"logging/setLevel","params":{"level":"error"}}"#;
    assert_eq!(served.ask(level)["result"], json!({}));
    // The level is on its way to the server while the first calls are made.
    let mut heard = None;
    for _ in 0..50 {
        let mut message = served.ask(&echo("hi"));
        while message["id"] != 4 {
            heard = Some(message);
            let mut line = String::new();
            served.output.read_line(&mut line).unwrap();
            message = serde_json::from_str(&line).unwrap();
        }
        if heard.is_some() {
            break;
        }
    }
    let message = heard.expect("no log message came");
    assert_eq!(message["method"], "notifications/message", "{message}");
    assert_eq!(message["params"]["logger"], "one/kit", "{message}");
}

// C13: the plan is made from one read of each file, and other files that appear cause no second one.
#[test]
fn serve_opens_each_configuration_file_once() {
    let tag = format!("opened-once-{}", std::process::id());
    let world = world(&json!({ "one": entry(&ScriptedStdio::new(&[]).with_option("--tag", &tag)) }));
    for file in [".mcp.json", ".claude/settings.json", ".claude/settings.local.json"] {
        world.write(&format!("home/project/{file}"), "{}");
    }
    let files = [
        "home/.claude.json",
        "home/project/.mcp.json",
        "home/project/.claude/settings.json",
        "home/project/.claude/settings.local.json",
    ];
    let watch = inotify::init(inotify::CreateFlags::NONBLOCK).unwrap();
    let watched = files
        .map(|file| inotify::add_watch(&watch, world.root.join(file), inotify::WatchFlags::OPEN).unwrap());
    let mut served = Served::start(&world, &[]);
    let old: u32 = served.call("one__pid").parse().unwrap();
    // The request wakes the file watcher of the gateway. The command itself opens each file once.
    assert_eq!(world.mcparley(&["reconnect", "one"]).code, 0);
    wait_for("the end of the old process", Duration::from_secs(30), || {
        !processes_tagged(&tag).contains(&old)
    });

    let mut opened = files.map(|_| 0);
    let mut buffer = [const { MaybeUninit::uninit() }; 4096];
    let mut events = inotify::Reader::new(watch, &mut buffer);
    while let Ok(event) = events.next() {
        opened[watched.iter().position(|wd| *wd == event.wd()).unwrap()] += 1;
    }
    assert_eq!(opened, [2, 2, 2, 2], "{files:?}");
}
