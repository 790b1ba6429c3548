//! The way through the program that everybody goes: add, list, get, plan, approve, remove (U1).

use serde_json::json;

use crate::world::{Output, World};

const CLAUDE_JSON: &str = "home/.claude.json";

/// One server in each scope a person writes to.
fn three() -> World {
    let mut world = World::new();
    world.ok(&["add", "fs", "npx", "-y", "@modelcontextprotocol/server-filesystem", "."]);
    // Somebody else wrote this one.
    world.write(
        "home/project/.mcp.json",
        r#"{
  "mcpServers": {
    "api": {"type": "http", "url": "https://example.com/mcp", "headers": {"Authorization": "Bearer ${TOKEN}"}}
  }
}
"#,
    );
    world.ok(&["add", "-s", "user", "notes", "--", "notes-server", "--fast"]);
    world.set("TOKEN", "token-canary");
    world
}

// U1 C4
#[test]
fn a_local_server_goes_to_the_users_own_file_outside_of_the_project() {
    let world = World::new();
    let done = world.mcparley(&["add", "fs", "npx", "-y", "@modelcontextprotocol/server-filesystem", "."]);
    let out = format!("Added stdio server fs to local scope\nFile: {CLAUDE_JSON}\n");
    assert_eq!(done, Output { code: 0, out, err: String::new() });
    assert_eq!(world.files(), [CLAUDE_JSON]);
    assert_eq!(
        world.relative(&world.read(CLAUDE_JSON)),
        r#"{
  "projects": {
    "home/project": {
      "mcpServers": {
        "fs": {
          "type": "stdio",
          "command": "npx",
          "args": ["-y", "@modelcontextprotocol/server-filesystem", "."],
          "env": {}
        }
      }
    }
  }
}
"#
    );
}

// U1 C3 C6
#[test]
fn a_project_server_goes_to_the_shared_file_with_its_variables_unexpanded() {
    let mut world = World::new();
    world.set("TOKEN", "token-canary");
    let done = world.mcparley(&[
        "add",
        "-s",
        "project",
        "api",
        "https://example.com/mcp",
        "-t",
        "http",
        "-H",
        "Authorization: Bearer ${TOKEN}",
    ]);
    assert_eq!(
        done,
        Output {
            code: 0,
            out: "Added http server api to project scope\nFile: home/project/.mcp.json\n".to_owned(),
            err: "hint: everyone else has to approve it first: `mcparley approve api`\n".to_owned(),
        }
    );
    assert_eq!(
        world.read("home/project/.mcp.json"),
        r#"{
  "mcpServers": {
    "api": {
      "type": "http",
      "url": "https://example.com/mcp",
      "headers": {
        "Authorization": "Bearer ${TOKEN}"
      }
    }
  }
}
"#
    );
}

// U1 C2
#[test]
fn a_user_server_goes_to_the_users_own_file() {
    let world = World::new();
    world.ok(&["add", "-s", "user", "notes", "notes-server"]);
    assert_eq!(world.files(), [CLAUDE_JSON]);
}

// U1 C4
#[test]
fn user_and_local_servers_stand_where_the_other_program_reads_them() {
    let world = World::new();
    world.ok(&["add", "-s", "user", "everywhere", "x"]);
    world.ok(&["add", "here", "x"]);
    let entry = json!({"type": "stdio", "command": "x", "args": [], "env": {}});
    assert_eq!(world.files(), ["home/.claude.json"]);
    assert_eq!(
        world.read_json("home/.claude.json"),
        json!({
            "mcpServers": {"everywhere": entry},
            "projects": {world.project.to_string_lossy().replace(&format!("{}/", world.root.display()), ""): {"mcpServers": {"here": entry}}},
        })
    );
    assert_eq!(world.plan(), ["here local ready", "everywhere user ready"]);
}

// C14
#[test]
fn new_files_are_private_where_they_are_the_users_and_shared_where_they_are_the_projects() {
    use std::os::unix::fs::PermissionsExt;
    let world = three();
    world.ok(&["add", "--file", "settings", "mine", "x"]);
    world.ok(&["add", "-s", "user", "--file", "settings", "ours", "x"]);
    let mode = |path: &str| world.root.join(path).metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(CLAUDE_JSON), 0o600);
    assert_eq!(mode("home/project/.claude/settings.local.json"), 0o600);
    assert_eq!(mode("home/.claude/settings.json"), 0o600);
    assert_eq!(mode("home/.claude"), 0o700);
    assert_eq!(mode("home/project/.mcp.json") & 0o600, 0o600);
    assert_eq!(mode("home/project/.mcp.json") & 0o002, 0);
}

// U1
#[test]
fn the_list_has_one_line_for_each_server() {
    let done = three().mcparley(&["list", "--offline"]);
    let out = "\
api: https://example.com/mcp (HTTP) - needs approval: comes with the project and was not approved yet
fs: npx -y @modelcontextprotocol/server-filesystem . - ready
notes: notes-server --fast - ready
";
    assert_eq!(done, Output { code: 0, out: out.to_owned(), err: String::new() });
}

// U1 B63
#[test]
fn getting_a_server_shows_its_variables_and_never_their_values() {
    let done = three().mcparley(&["get", "api"]);
    let shown = done.out.lines().take(7).collect::<Vec<_>>();
    assert_eq!(
        shown,
        [
            "api  needs approval",
            "  reason: comes with the project and was not approved yet",
            "  scope: project",
            "  declared in: home/project/.mcp.json:3:5",
            "  type: http",
            "  url: https://example.com/mcp",
            "  header: Authorization: Bearer ${TOKEN} (from ${TOKEN})",
        ]
    );
    assert!(!format!("{done:?}").contains("token-canary"));
}

// C15 U3
#[test]
fn the_plan_as_json_holds_every_declaration() {
    let plan = three().json(&["plan"]);
    let mut servers = plan["servers"].as_array().unwrap().clone();
    let definition = servers[1].as_object_mut().unwrap().remove("definition").unwrap();
    assert!(definition.as_str().unwrap().starts_with("sha256:"));
    assert_eq!(
        servers[1],
        json!({
            "name": "api",
            "scope": "project",
            "standing": {"is": "needs approval", "reason": "comes with the project and was not approved yet"},
            "hint": "look at it with `mcparley get api`, then `mcparley approve api`",
            "origin": {"file": "home/project/.mcp.json", "line": 3, "column": 5},
            "type": "http",
            "entry": {
                "type": "http",
                "url": "https://example.com/mcp",
                "headers": {"Authorization": "Bearer ${TOKEN}"},
                "variables": ["TOKEN"],
            },
        })
    );
    assert_eq!(plan["problems"], json!([]));
    assert_eq!(plan["warnings"], json!([]));
    assert_eq!(plan["managed"], json!({"is": "absent"}));
    assert_eq!(plan["leftOut"], json!([]));
}

// U1 C14
#[test]
fn removing_takes_a_server_out_and_leaves_the_others() {
    let world = three();
    let before = world.read(CLAUDE_JSON);
    world.ok(&["add", "-s", "user", "more", "x"]);
    let done = world.mcparley(&["remove", "more"]);
    let out = "Removed server more from user scope\nFile: home/.claude.json\n".to_owned();
    assert_eq!(done, Output { code: 0, out, err: String::new() });
    assert_eq!(world.read(CLAUDE_JSON), before);
    world.ok(&["remove", "api"]);
    world.ok(&["remove", "fs"]);
    world.ok(&["remove", "notes"]);
    assert!(world.plan().is_empty());
}

// U1 C7
#[test]
fn a_project_server_runs_after_what_get_says_was_followed() {
    let world = three();
    let shown = world.ok(&["get", "api"]);
    let command = shown.lines().find_map(|line| line.strip_prefix("  approve: mcparley ")).unwrap();
    world.ok(&command.split(' ').collect::<Vec<_>>());
    assert_eq!(world.plan(), ["fs local ready", "api project ready", "notes user ready"]);
}

// U1
#[test]
fn without_servers_the_list_says_how_to_add_one() {
    let done = World::new().mcparley(&["list", "--offline"]);
    assert_eq!(done.out, "No servers are configured.\n");
    assert!(done.err.starts_with("hint: add one with `mcparley add "), "{done:?}");
}
