//! `tools`, `state` and `logs` against real servers.

use mcparley_cli::exit;
use mcparley_testkit::{HttpServer, ScriptedStdio, log_starts};
use serde_json::json;

use crate::talk::{good, scripted, world};
use crate::world::World;

fn names(report: &serde_json::Value) -> Vec<&str> {
    report["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

// U2
#[test]
fn tools_prints_one_line_per_tool_with_signature_and_description() {
    let out = good().ok(&["tools", "good"]);
    assert_eq!(
        out,
        "\
good
  echo(message: string)      Repeat a message  [read-only]
  add(a: number, b: number)  Add two numbers
  fail()                     Fail, as a tool fails
  slow(ms: number)           Take some milliseconds
  big(bytes: number)         Return that many characters
  env()                      Return the environment of the server
  pid()                      Return the process of the server
  crash()                    Exit with code 9
"
    );
}

// U2 U3
#[test]
fn tools_are_grouped_by_server_in_alphabetical_order_and_cut_to_the_width() {
    let mut world = world(&json!({ "zoo": scripted(&[]), "good": scripted(&["many-tools:2"]) }));
    world.set("COLUMNS", "60");
    let out = world.ok(&["tools"]);
    let groups: Vec<&str> = out.lines().filter(|line| !line.starts_with(' ')).collect();
    assert_eq!(groups, ["good", "mcparley", "zoo", "built-in tools"], "{out}");
    assert!(out.lines().all(|line| line.chars().count() <= 60), "{out}");
    assert!(out.contains('…'), "{out}");
    assert_eq!(world.ok(&["tools"]), out, "the same order from the cache");
}

// U2: with an empty home the built-in server's tools are there.
#[test]
fn without_configuration_the_built_in_tools_are_listed() {
    let out = World::new().ok(&["tools"]);
    assert!(out.contains("mcparley\n") && out.contains("  echo(message: string)"), "{out}");
}

// U2 N8
#[test]
fn one_tool_is_shown_in_full() {
    let world = good();
    let text = world.ok(&["tools", "good", "echo"]);
    assert_eq!(
        text,
        "\
echo(message: string)
  Repeat a message

  Arguments:
    --message <string>
          [required]

  effects:   read-only, open world
  server:    good
  full name: mcp__good__echo
  try it:    mcparley call good.echo message=…
"
    );
    assert_eq!(world.ok(&["tools", "mcp__good__echo"]), text);
    let with_schema = world.ok(&["tools", "good", "echo", "--schema"]);
    assert!(
        with_schema.contains("  schema of the arguments:\n    {\n      \"type\": \"object\",\n"),
        "{with_schema}"
    );
    let report = world.json(&["tools", "good", "echo"]);
    let schema =
        json!({"type": "object", "properties": {"message": {"type": "string"}}, "required": ["message"]});
    assert_eq!(names(&report), ["mcp__good__echo"]);
    assert_eq!(report["tools"][0]["inputSchema"], schema);
    assert!(world.ok(&["-v", "tools", "good"]).matches("\n  full name: mcp__good__").count() >= 8);
}

// N13 U2
#[test]
fn the_list_for_a_model_is_printed_as_its_api_wants_it() {
    let world = good();
    let list = |api: &str| -> serde_json::Value {
        serde_json::from_str(&world.ok(&["tools", "good", "echo", "--for", api])).unwrap()
    };
    let schema =
        json!({"type": "object", "properties": {"message": {"type": "string"}}, "required": ["message"]});
    let (name, description) = ("mcp__good__echo", "Repeat a message");
    assert_eq!(
        list("anthropic"),
        json!([{"name": name, "description": description, "input_schema": schema}])
    );
    let declaration = json!({"name": name, "description": description, "parameters": schema});
    assert_eq!(list("gemini"), json!([{"functionDeclarations": [declaration]}]));
    assert_eq!(list("openai")[0]["parameters"], schema);
    assert_eq!(list("openai-chat")[0]["function"]["parameters"], schema);
    let wrong = world.mcparley(&["tools", "--for", "other"]);
    assert_eq!(wrong.code, i32::from(exit::USAGE.number), "{wrong:?}");
}

// N13 N8: what is left out is told beside the list.
#[test]
fn tools_left_out_for_a_model_are_reported_on_standard_error() {
    let world = world(&json!({ "many": scripted(&["many-tools:140"]) }));
    let done = world.mcparley(&["tools", "many", "--for", "gemini"]);
    let list: serde_json::Value = serde_json::from_str(&done.out).unwrap();
    assert_eq!(list[0]["functionDeclarations"].as_array().unwrap().len(), 128);
    assert!(done.err.lines().filter(|line| line.contains("skipped `")).count() >= 12, "{}", done.err);
}

// L13 C15: nothing is silently missing.
#[test]
fn servers_that_do_not_work_are_reported_with_the_reason() {
    let locked = HttpServer::start(&["www-authenticate"]);
    let world = world(&json!({
        "good": scripted(&[]),
        "bad": scripted(&["bad-tools"]),
        "exits": scripted(&["exit-start"]),
        "locked": {"url": locked.url()},
        "off": {"command": "x"},
    }));
    world.ok(&["disable", "off"]);
    world.write("home/project/.mcp.json", r#"{"mcpServers": {"waits": {"command": "x"}}}"#);
    let done = world.mcparley(&["tools"]);
    assert_eq!(done.code, 0, "{done:?}");
    assert!(done.out.contains("good\n  echo(") && done.out.contains("bad\n  echo("), "{done:?}");
    for told in [
        "warning: server `exits`: failed: the connection ended: the server exited with code 3\n",
        "warning: server `locked`: needs-auth\n",
        "warning: server `off`: disabled: switched off in ",
        "warning: server `waits`: needs approval: ",
        "hint: look at it with `mcparley get waits`",
        "warning: server `bad`: withheld: tool ",
    ] {
        assert!(done.err.contains(told), "{told}: {}", done.err);
    }
    let report = world.json(&["tools"]);
    let servers = report["servers"].as_array().unwrap();
    let is = |name: &str| servers.iter().find(|server| server["server"] == name).unwrap()["is"].clone();
    assert_eq!(
        [is("exits"), is("locked"), is("off"), is("waits"), is("bad")],
        // What `bad` offers is remembered, so it does not run.
        ["failed", "needs-auth", "disabled", "needs approval", "pending"]
    );
    let codes = [("exits", exit::UNREACHABLE), ("locked", exit::NEEDS_AUTH), ("off", exit::DENIED)];
    for (name, code) in codes.into_iter().chain([("waits", exit::DENIED), ("nobody", exit::NOT_FOUND)]) {
        assert_eq!(world.mcparley(&["tools", name]).code, i32::from(code.number), "{name}");
    }
}

// L12
#[test]
fn cached_tools_are_shown_without_starting_a_server_until_refresh() {
    let folder = tempfile::tempdir().unwrap();
    let log = |name: &str| folder.path().join(name);
    let entry = |name: &str| {
        let scripted = ScriptedStdio::new(&[]).with_log(&log(name));
        json!({"command": scripted.program, "args": scripted.args})
    };
    let names: Vec<String> = (0..20).map(|number| format!("s{number}")).collect();
    let servers: serde_json::Map<_, _> = names.iter().map(|name| (name.clone(), entry(name))).collect();
    let world = world(&serde_json::Value::Object(servers));
    let starts = || names.iter().map(|name| log_starts(&log(name)).len()).sum::<usize>();
    let first = world.ok(&["tools"]);
    let begun = starts();
    assert!(begun >= 20);
    assert_eq!(world.ok(&["tools"]), first);
    assert!(world.ok(&["tools", "s7"]).starts_with("s7\n  echo("));
    assert_eq!(starts(), begun, "nothing was started");
    assert_eq!(world.ok(&["call", "s7", "echo", "message=hi"]).trim(), "hi");
    assert_eq!(starts(), begun + 1, "one was started");
    world.ok(&["tools", "--refresh"]);
    assert_eq!(starts(), begun + 21);
}

// N12 B63
#[test]
fn the_state_is_one_document_without_secrets() {
    let mut entry = scripted(&[]);
    entry["env"] = json!({"API_KEY": "canary-5d1c"});
    let world = world(&json!({"good": entry, "exits": scripted(&["exit-start"])}));
    for args in [&["state"][..], &["--json", "state"]] {
        let out = world.ok(args);
        let state: serde_json::Value = serde_json::from_str(&out).unwrap();
        let clients = state["clients"].as_array().unwrap();
        let is = |name: &str| clients.iter().find(|client| client["name"] == name).unwrap()["state"].clone();
        assert_eq!([is("good"), is("exits"), is("mcparley")], ["connected", "failed", "connected"]);
        assert!(names(&state).contains(&"mcp__good__echo"));
        assert!(!out.contains("canary-5d1c"), "{out}");
    }
}

// U2 B62
#[test]
fn logs_show_the_stderr_of_an_earlier_run() {
    let script = "echo \"no entry with $API_KEY\" >&2; exit 3";
    let world = world(&json!({
        "loud": {"command": "/bin/sh", "args": ["-c", script], "env": {"API_KEY": "canary-9a2b"}},
        "good": scripted(&[]),
    }));
    assert_eq!(world.ok(&["logs"]), "", "nothing has run yet");
    world.mcparley(&["call", "loud", "echo"]);
    world.ok(&["call", "good", "echo", "message=hi"]);
    let out = world.ok(&["logs", "loud"]);
    assert!(out.starts_with("loud\n  20") && out.contains("Z stderr  no entry with ***\n"), "{out}");
    assert!(!out.contains("canary-9a2b"), "{out}");
    assert_eq!(world.ok(&["logs", "loud", "--lines", "1"]).lines().count(), 2);
    let report = world.json(&["logs"]);
    let lines = |at: usize| report["servers"][at]["lines"].as_array().unwrap().len();
    assert_eq!(report["servers"][0]["server"], "good");
    assert!(lines(0) == 0 && lines(1) >= 2, "{report}");
    assert_eq!(world.mcparley(&["logs", "nobody"]).code, i32::from(exit::NOT_FOUND.number));
}

// X8 U2
#[test]
fn logs_show_messages_of_servers_with_their_level_and_can_leave_out_the_less_important() {
    let world = world(&json!({ "good": scripted(&["logging"]) }));
    world.ok(&["call", "good", "echo", "message=hi"]);
    let out = world.ok(&["logs", "good"]);
    assert!(
        out.contains("Z server debug kit  {\"said\":\"a debug\"}\n") && out.contains("a warning"),
        "{out}"
    );
    let out = world.ok(&["logs", "good", "--level", "warning"]);
    assert!(!out.contains("a notice") && out.contains("a warning") && out.contains("a alert"), "{out}");
    assert_eq!(world.mcparley(&["logs", "--level", "loud"]).code, 2);
}

// L13
#[test]
fn wait_ready_prints_the_outcome_of_each_server() {
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let mut required = scripted(&[]);
    required["required"] = json!(true);
    let world = world(&json!({
        "good": required,
        "closed": {"url": format!("http://127.0.0.1:{port}/mcp")},
    }));
    world.write("home/project/.mcp.json", r#"{"mcpServers": {"waits": {"command": "x"}}}"#);
    for args in [&["wait-ready", "good"][..], &["wait-ready", "--required"]] {
        let report = world.json(args);
        assert_eq!((&report["ready"], &report["servers"][0]["is"]), (&json!(true), &json!("connected")));
        assert_eq!(report["servers"].as_array().unwrap().len(), 1);
    }
    let done = world.mcparley(&["wait-ready", "--timeout", "1500"]);
    assert!(
        [exit::UNREACHABLE, exit::TIMED_OUT].map(|code| i32::from(code.number)).contains(&done.code),
        "{done:?}"
    );
    assert!(done.out.contains("good: connected, ") && done.out.contains("closed: "), "{done:?}");
    assert!(done.err.contains("server `waits`: needs approval"), "{done:?}");
    assert_eq!(world.mcparley(&["wait-ready", "goood"]).code, i32::from(exit::NOT_FOUND.number));
}

// L13: a server that comes late is waited for.
#[test]
fn waiting_goes_on_until_a_late_server_answers() {
    let folder = tempfile::tempdir().unwrap();
    let flag = folder.path().join("ready");
    let program = ScriptedStdio::new(&[]);
    let script = format!(
        "test -e '{0}' || {{ touch '{0}'; exit 1; }}; exec '{1}' {2}",
        flag.display(),
        program.program.display(),
        program.args.join(" ")
    );
    let world = world(&json!({"late": {"command": "sh", "args": ["-c", script]}}));
    let report = world.json(&["wait-ready", "late"]);
    assert_eq!(report["ready"], json!(true), "{report}");
}

// B44
#[test]
fn tools_with_look_alike_names_are_warned_about_and_stay_two_tools() {
    let world = world(&json!({
        "good": scripted(&[]), "twin": scripted(&["also-tool:\u{435}\u{441}ho"])
    }));
    let report = world.json(&["tools"]);
    let of_twin = report["tools"].as_array().unwrap().iter().filter(|tool| tool["server"] == "twin");
    let twins: Vec<_> = of_twin.filter(|tool| tool["tool"].as_str().unwrap().ends_with("ho")).collect();
    assert_eq!(twins.len(), 2, "{report}");
    assert_ne!(twins[0]["name"], twins[1]["name"]);
    assert_eq!(report["cautions"][0]["is"], "lookAlike");
    let told = world.mcparley(&["tools"]);
    let warning = "warning: different tools have names that look alike: `\u{435}\u{441}ho` of `twin` (with U+0435, U+0441)";
    assert!(told.err.contains(warning), "{told:?}");
    let of_one = world.mcparley(&["tools", "twin"]);
    assert!(of_one.err.contains(warning), "{of_one:?}");
}
