//! `connect` with the real clients, each in an empty home folder and a network of its own, which has a loopback
//! interface only.

use mcparley_testkit::testkit_path;
use serde_json::{Value, json};

use super::place::{Place, installed};
use super::servers::EVERYTHING;
use crate::world::Output;

const PROGRAM: &str = env!("CARGO_BIN_EXE_mcparley");
const CLAUDE: &str = "clients/node_modules/@anthropic-ai/claude-code-linux-x64/claude";
const CODEX: &str = "clients/node_modules/@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex";
const CLAUDE_JSON: &str = "home/.claude.json";

/// A home folder whose Claude Code has the server `everything`.
fn place() -> (Place, String) {
    let place = Place::new();
    let (everything, _) = (EVERYTHING.entry)(&place);
    let text = format!("{:#}\n", json!({ "mcpServers": { "everything": everything } }));
    place.world.write(CLAUDE_JSON, &text);
    (place, text)
}

/// Runs a shell script with loopback only; no process outlives it.
fn run_alone(place: &Place, script: &str) -> Output {
    let script = format!("ip link set lo up && {script}");
    let arguments =
        ["--map-root-user", "--net", "--pid", "--fork", "--kill-child", "sh", "-c", script.as_str()];
    let mut command = place.world.command_of("unshare".as_ref(), &arguments);
    command.env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1").env("DISABLE_AUTOUPDATER", "1");
    place.world.finish(&mut command)
}

fn assert_undone(place: &Place, client: &str, before: &[(&str, &str)]) {
    place.world.ok(&["connect", client, "--undo"]);
    for (file, text) in before {
        assert_eq!(&place.world.read(file), text, "{file}");
    }
}

// G11
#[test]
fn fleet_claude_code_is_connected_for_the_user() {
    let (place, _) = place();
    place.world.ok(&["connect", "claude-code", "--take-over", "--yes"]);
    let listed = run_alone(&place, &format!("'{}' mcp list", installed(CLAUDE).display()));
    let lines: Vec<&str> = listed.out.lines().filter(|line| line.contains(" - ")).collect();
    let [line] = lines.as_slice() else { panic!("the gateway and no server beside it: {listed:?}") };
    assert!(line.starts_with("mcparley: ") && line.ends_with("Connected"), "{listed:?}");

    // Claude Code writes to its file whenever it runs: the rest stays, and no byte more changes.
    let connected: Value = serde_json::from_str(&place.world.read(CLAUDE_JSON)).unwrap();
    place.world.ok(&["connect", "claude-code", "--undo"]);
    let mut undone: Value = serde_json::from_str(&place.world.read(CLAUDE_JSON)).unwrap();
    let servers = undone["mcpServers"].take();
    assert_eq!(servers.as_object().unwrap().keys().collect::<Vec<_>>(), ["everything"]);
    undone["mcpServers"] = connected["mcpServers"].clone();
    assert_eq!(undone, connected);
}

// G11
#[test]
fn fleet_claude_code_is_connected_in_a_project_and_back_byte_for_byte() {
    let (place, _) = place();
    let text = "{\n\t\"mcpServers\": {}\n}\n";
    place.world.write("home/project/.mcp.json", text);
    place.world.ok(&["connect", "claude-code", "--scope", "project", "--yes"]);
    let listed = run_alone(&place, &format!("'{}' mcp get mcparley", installed(CLAUDE).display()));
    assert!(listed.out.contains("Project config") && listed.out.contains(PROGRAM), "{listed:?}");
    place.world.ok(&["connect", "claude-code", "--scope", "project", "--undo"]);
    assert_eq!(place.world.read("home/project/.mcp.json"), text);
}

// G11
#[test]
fn fleet_codex_is_connected_and_back_byte_for_byte() {
    let (place, claude) = place();
    let text = "# mine\nmodel = \"gpt-5\" # keep\n\n[mcp_servers.other]\ncommand = \"other\"\n";
    place.world.write("home/.codex/config.toml", text);
    place.world.ok(&["connect", "codex", "--only", "everything", "--yes"]);
    let listed = run_alone(&place, &format!("'{}' mcp list --json", installed(CODEX).display()));
    let servers: Value = serde_json::from_str(&listed.out).unwrap_or_else(|_| panic!("{listed:?}"));
    let gateway = servers.as_array().unwrap().iter().find(|server| server["name"] == "mcparley").unwrap();
    assert_eq!(gateway["enabled"], true);
    assert_eq!(gateway["transport"]["args"], json!(["serve", "--only", "everything"]));
    assert_undone(&place, "codex", &[("home/.codex/config.toml", text), (CLAUDE_JSON, &claude)]);
}

// G11 G2: the model asks Claude Code for a tool, Claude Code calls it through the gateway, and the model gets the
// result. In project scope, because Claude Code writes to its own file whenever it runs.
#[test]
fn fleet_claude_code_calls_a_tool_through_the_gateway_and_the_file_is_put_back() {
    let (place, _) = place();
    let before = "{\n\t\"mcpServers\": {}\n}\n";
    place.world.write("home/project/.mcp.json", before);
    place.world.ok(&["connect", "claude-code", "--scope", "project", "--yes"]);
    let tool = "mcp__mcparley__everything__echo";
    let turns = json!({ "turns": [
        { "calls": [{ "name": tool, "arguments": { "message": "ping-4711" } }], "expect": [tool] },
        { "text": "The answer has arrived.", "expect": ["Echo: ping-4711"] },
    ] });
    place.world.write("script.json", &turns.to_string());
    let script = format!(
        "mkfifo ../../address && (tail -f /dev/null | '{testkit}' model --script ../../script.json --lenient > ../../address &) \
         && read -r _ url < ../../address \
         && ANTHROPIC_BASE_URL=$url ANTHROPIC_API_KEY=none '{claude}' -p 'use the tool' --allowedTools mcp__mcparley \
            --settings '{{\"enableAllProjectMcpServers\":true}}'",
        testkit = testkit_path().display(),
        claude = installed(CLAUDE).display(),
    );
    let done = run_alone(&place, &script);
    assert_eq!((done.code, done.out.trim()), (0, "The answer has arrived."), "{done:?}");
    place.world.ok(&["connect", "claude-code", "--scope", "project", "--undo"]);
    assert_eq!(place.world.read("home/project/.mcp.json"), before);
}
