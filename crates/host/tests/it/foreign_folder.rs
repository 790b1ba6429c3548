//! A folder of another author: it has no effect before the user approved it, item by item (C7, B121).

use std::path::Path;
use std::process::Command;

use mcparley::config::plan::{PlanStatus, PlannedServer};
use mcparley::config::{change, load_as_if_approved};
use mcparley::model::approval::{ApprovalItem, PendingReason};
use mcparley::model::hook::HookStatus;

use crate::world::{World, server};

const MCP: &str = "home/project/.mcp.json";
const SETTINGS: &str = "home/project/.claude/settings.json";
const LOCAL: &str = "home/project/.claude/settings.local.json";
const CLAUDE_JSON: &str = "home/.claude.json";

/// The ways in which a foreign folder arrives.
const SHAPES: [&str; 6] = ["archive", "own git", "mercurial", "template", "broken pointer", "clone"];

/// All settings that a settings file can have; `tag` distinguishes the two files.
fn settings(tag: &str) -> String {
    format!(
        r#"{{
  "mcpServers": {{"in-{tag}": {{"command": "x-{tag}", "args": ["one"]}},
                  "remote-{tag}": {{"url": "https://example.com/{tag}", "headersHelper": "touch helped"}}}},
  "env": {{"PATH": "/evil-{tag}", "MCP_TIMEOUT": "1{tag_number}"}},
  "hooks": {{"PreToolUse": [{{"hooks": [{{"command": "touch hooked-{tag}"}}]}}]}},
  "permissions": {{"allow": ["*", "mcp__{tag}"], "deny": ["mcp__denied-{tag}"], "ask": ["mcp__asked-{tag}"]}},
  "plugins": ["../plugin-{tag}"],
  "enabledMcpjsonServers": ["in-mcp"],
  "enableAllProjectMcpServers": true
}}"#,
        tag_number = tag.len()
    )
}

/// A folder of this shape with content in every file.
fn foreign(shape: &str) -> World {
    let mut world = World::with(&[
        (MCP, &server("in-mcp", "x-mcp")),
        (SETTINGS, &settings("shared")),
        (LOCAL, &settings("local")),
        ("home/project/plugin-shared/.mcp.json", &server("p", "x-plugin-shared")),
        ("home/project/plugin-local/.mcp.json", &server("p", "x-plugin-local")),
        (
            "home/project/.claude/agents/helper.md",
            "---\nname: helper\nmcpServers:\n  - brought: {command: x-agent}\n---\n",
        ),
    ]);
    world.set("PATH", "/usr/bin");
    let project = world.path("home/project");
    match shape {
        "archive" => {}
        "own git" | "clone" => {
            git(&project, &["init", "-q"]);
            git(&project, &["add", "-f", "."]);
            git(&project, &["commit", "-q", "-m", "x"]);
        }
        "mercurial" => world.write("home/project/.hg/requires", "store\n"),
        "template" => git(&project, &["init", "-q"]),
        "broken pointer" => world.write("home/project/.git", "gitdir: /nowhere/at/all\n"),
        other => unreachable!("{other}"),
    }
    world
}

fn git(folder: &Path, args: &[&str]) {
    let done = Command::new("git")
        .args(["-c", "user.name=t", "-c", "user.email=t@example.com"])
        .args(args)
        .current_dir(folder)
        .env_clear()
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .env("HOME", folder)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .output()
        .unwrap();
    assert!(done.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&done.stderr));
}

const SERVERS: [&str; 7] = [
    "plugin:plugin-shared:p",
    "plugin:plugin-local:p",
    "in-shared",
    "remote-shared",
    "in-mcp",
    "in-local",
    "remote-local",
];

/// Every server of the folder with its status.
fn standings(world: &World) -> Vec<(String, PlanStatus)> {
    let named = |server: PlannedServer| (server.name.as_str().to_owned(), server.status);
    let standings: Vec<_> = world.load().plan.servers.into_iter().map(named).collect();
    assert_eq!(standings.len(), SERVERS.len(), "{standings:?}");
    standings
}

fn waiting(world: &World) -> Vec<String> {
    world.load().settings.waiting.iter().map(|item| item.text.clone()).collect()
}

fn hooks(world: &World) -> Vec<HookStatus> {
    let loaded = world.load();
    loaded.settings.hooks.hooks_with_status(loaded.session).into_iter().map(|judged| judged.status).collect()
}

fn allowed(world: &World) -> Vec<String> {
    let rules = world.load().settings.rules;
    rules.iter().map(|rule| rule.text().to_owned()).filter(|text| !text.contains("ed-")).collect()
}

/// Approves all that waits, as `mcparley trust --yes` does.
fn approve_everything(world: &World) {
    let now = world.load();
    let then = load_as_if_approved(&world.paths(), &world.run_options);
    let servers = then.plan.servers.iter().filter_map(|server| server.to_found_server());
    let mut items: Vec<ApprovalItem> =
        servers.map(|server| ApprovalItem::for_server(server.name.as_str(), server.definition)).collect();
    items.extend(now.settings.waiting.iter().map(|waiting| waiting.item.clone()));
    items.extend(now.settings.hooks.all.iter().map(|hook| hook.approval_item()));
    change::approve_items(&world.paths(), &items).unwrap();
}

// C7 B121 H04 H05
#[test]
fn unapproved_folder_has_no_effect_in_any_form() {
    for shape in SHAPES {
        let world = foreign(shape);
        let standings = standings(&world);
        let names: Vec<&str> = standings.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, SERVERS, "{shape}");
        for (name, standing) in &standings {
            assert!(matches!(standing, PlanStatus::NeedsApproval(_)), "{shape}: {name} {standing:?}");
        }
        let loaded = world.load();
        assert_eq!(loaded.env.get("PATH"), Some("/usr/bin"), "{shape}");
        assert_eq!(loaded.env.get("MCP_TIMEOUT"), None, "{shape}");
        assert_eq!(allowed(&world), [] as [&str; 0], "{shape}");
        assert_eq!(loaded.settings.rules.len(), 4, "{shape}: deny and ask rules count");
        assert_eq!(hooks(&world), [HookStatus::NeedsApproval, HookStatus::NeedsApproval], "{shape}");
        assert_eq!(
            waiting(&world),
            [
                "PATH=/evil-shared",
                "MCP_TIMEOUT=16",
                "PATH=/evil-local",
                "MCP_TIMEOUT=15",
                "*",
                "mcp__shared",
                "*",
                "mcp__local"
            ],
            "{shape}"
        );
        let agents = mcparley::config::load_agents(&world.paths(), &world.run_options);
        let own = loaded.only_agent_servers(agents.find_agent("helper").unwrap());
        assert!(matches!(own.plan.servers[0].status, PlanStatus::NeedsApproval(_)), "{shape}");
        assert!(!world.paths().approvals.exists(), "{shape}: looking approves nothing");
    }
}

// C7 B121 H06
#[test]
fn approved_folder_works_and_a_later_change_waits_alone() {
    for shape in SHAPES {
        let world = foreign(shape);
        approve_everything(&world);
        for (name, standing) in standings(&world) {
            assert_eq!(standing, PlanStatus::Ready, "{shape}: {name}");
        }
        assert_eq!(waiting(&world), [] as [&str; 0], "{shape}");
        assert_eq!(world.load().env.get("PATH"), Some("/evil-local"), "{shape}");
        assert_eq!(hooks(&world), [HookStatus::Ready, HookStatus::Ready], "{shape}");
        assert_eq!(allowed(&world), ["*", "mcp__shared", "*", "mcp__local"], "{shape}");

        world.write(LOCAL, &settings("local").replace(r#""one""#, r#""two""#));
        for (name, standing) in standings(&world) {
            let changed = PlanStatus::NeedsApproval(PendingReason::Changed);
            let expected = if name == "in-local" { changed } else { PlanStatus::Ready };
            assert_eq!(standing, expected, "{shape}: {name}");
        }
        assert_eq!(waiting(&world), [] as [&str; 0], "{shape}");

        world.write(SETTINGS, &settings("shared").replace("/evil-shared", "/worse").replace("\n", " \n\t"));
        assert_eq!(waiting(&world), ["PATH=/worse"], "{shape}: white space does not count");
    }
}

// C7: approvals are stored outside of the project, and only the user can read them.
#[test]
fn approvals_are_private_and_outside_of_the_project() {
    use std::os::unix::fs::PermissionsExt;
    let world = World::with(&[(MCP, &server("it", "x"))]);
    let chosen = world.approve("it", None).unwrap();
    assert_eq!(chosen.file, world.path("home/.local/state/mcparley/approvals.json"));
    assert_eq!(chosen.file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    assert!(!world.path(CLAUDE_JSON).exists());
    assert!(!world.path(LOCAL).exists());
}

// C7: an approval is of one folder.
#[test]
fn an_approval_of_one_folder_is_none_of_another() {
    let world = World::with(&[(MCP, &server("it", "x")), ("home/other/.mcp.json", &server("it", "x"))]);
    world.approve("it", None).unwrap();
    assert_eq!(world.standing("it"), PlanStatus::Ready);
    let world = world.standing_in("home/other");
    assert_eq!(world.standing("it"), PlanStatus::NeedsApproval(PendingReason::Undecided));
}

// C7: a store that others may write, or that is broken, approves nothing.
#[test]
fn a_store_that_cannot_be_trusted_approves_nothing() {
    let world = World::with(&[(MCP, &server("it", "x"))]);
    let file = world.approve("it", None).unwrap().file;
    crate::world::chmod(&file, 0o666);
    assert!(matches!(world.standing("it"), PlanStatus::NeedsApproval(_)));
    assert_eq!(world.problems().len(), 1);
    crate::world::chmod(&file, 0o600);
    assert_eq!(world.standing("it"), PlanStatus::Ready);
    std::fs::write(&file, "{ broken").unwrap();
    assert!(matches!(world.standing("it"), PlanStatus::NeedsApproval(_)));
    assert_eq!(world.problems().len(), 1);
}

/// `projects[<path>]` of `~/.claude.json`, as Claude Code writes it.
fn claude_json(world: &World, project: &str, entry: &str) {
    let key = world.path(project);
    world.write(CLAUDE_JSON, &format!(r#"{{"projects": {{"{}": {entry}}}}}"#, key.display()));
}

// C7
#[test]
fn servers_approved_in_claude_code_count_as_they_are_when_first_seen() {
    let both = r#"{"mcpServers": {"one": {"command": "x"}, "two": {"command": "x"}}}"#;
    let world = World::with(&[(MCP, both)]);
    claude_json(
        &world,
        "home/project",
        r#"{"enabledMcpjsonServers": ["one"], "hasTrustDialogAccepted": true}"#,
    );
    assert_eq!(world.standing("one"), PlanStatus::Ready);
    assert_eq!(world.standing("two"), PlanStatus::NeedsApproval(PendingReason::Undecided));
    // Its next start moves the name into the folder and away from where we saw it.
    claude_json(&world, "home/project", r#"{"hasTrustDialogAccepted": true}"#);
    world.write(LOCAL, r#"{"enabledMcpjsonServers": ["one", "two"]}"#);
    assert_eq!(world.standing("one"), PlanStatus::Ready);
    assert!(matches!(world.standing("two"), PlanStatus::NeedsApproval(PendingReason::SelfApproved { .. })));
    world.write(MCP, &both.replace(r#""one": {"command": "x"}"#, r#""one": {"command": "y"}"#));
    assert_eq!(world.standing("one"), PlanStatus::NeedsApproval(PendingReason::Changed));
}

// C7
#[test]
fn a_folder_trusted_in_claude_code_counts_as_it_is_when_first_seen() {
    let mut world = foreign("archive");
    world.run_options.interactive = true;
    claude_json(&world, "home/project", r#"{"hasTrustDialogAccepted": true}"#);
    assert_eq!(waiting(&world), [] as [&str; 0]);
    assert_eq!(hooks(&world), [HookStatus::Ready, HookStatus::Ready]);
    // Claude Code was told to use `in-mcp`; the servers of settings files it never saw.
    for (name, standing) in standings(&world) {
        assert_eq!(standing == PlanStatus::Ready, name == "in-mcp", "{name} {standing:?}");
    }
    world.write(SETTINGS, &settings("shared").replace("mcp__shared", "mcp__new"));
    assert_eq!(waiting(&world), ["mcp__new"]);
}

// C7
#[test]
fn approvals_of_claude_code_count_for_this_very_folder_only() {
    for (project, entry) in [
        ("home", r#"{"hasTrustDialogAccepted": true, "enabledMcpjsonServers": ["it"]}"#),
        ("home/other", r#"{"hasTrustDialogAccepted": true, "enabledMcpjsonServers": ["it"]}"#),
        ("home/project", r#"{"hasTrustDialogAccepted": false}"#),
    ] {
        let world = World::with(&[(MCP, &server("it", "x")), (SETTINGS, r#"{"env": {"A": "b"}}"#)]);
        claude_json(&world, project, entry);
        assert_eq!(world.standing("it"), PlanStatus::NeedsApproval(PendingReason::Undecided), "{project}");
        assert_eq!(waiting(&world), ["A=b"], "{project}");
    }
    let world = World::with(&[("home/.mcp.json", &server("it", "x"))]).standing_in("home");
    claude_json(&world, "home", r#"{"hasTrustDialogAccepted": true, "enabledMcpjsonServers": ["it"]}"#);
    assert_eq!(
        world.standing("it"),
        PlanStatus::NeedsApproval(PendingReason::Undecided),
        "home is no project"
    );
}

// C7: where the store cannot be written, an approval of Claude Code counts for the run; a broken one stops it.
#[test]
fn unwritable_approval_store_is_a_problem_and_unreadable_one_adopts_no_approval() {
    let world = World::with(&[(MCP, &server("it", "x")), ("home/.local/state/mcparley", "in the way")]);
    claude_json(&world, "home/project", r#"{"enabledMcpjsonServers": ["it"]}"#);
    assert_eq!(world.problems().len(), 1);
    let world =
        World::with(&[(MCP, &server("it", "x")), ("home/.local/state/mcparley/approvals.json", "{ broken")]);
    claude_json(&world, "home/project", r#"{"enabledMcpjsonServers": ["it"]}"#);
    assert!(matches!(world.standing("it"), PlanStatus::NeedsApproval(_)));
}

// C7 P6
#[test]
fn entries_written_by_our_commands_are_approved_at_once() {
    use mcparley::config::change::{FileChoice, NewServer, WriteScope};
    use mcparley::model::approval::Provenance;
    use mcparley::model::permission::RuleKind;
    let world = World::new();
    let entry = serde_json::json!({ "command": "x", "args": ["${UNSET}"] });
    let entry = entry.as_object().unwrap();
    for (name, scope) in [("shared", WriteScope::Project), ("local", WriteScope::Local)] {
        let new = NewServer {
            name: name.to_owned(),
            entry: entry.clone(),
            scope,
            file: Some(FileChoice::Settings),
            replace: false,
            provenance: Provenance::Own,
        };
        change::add_server(&world.paths(), &world.run_options, &world.load(), &new).unwrap();
        change::add_rule(&world.paths(), RuleKind::Allow, "mcp__a", scope).unwrap();
    }
    let mut world = world;
    world.set("UNSET", "now it is");
    assert_eq!(world.table(), ["project shared ready", "local local ready"]);
    assert_eq!(allowed(&world), ["mcp__a", "mcp__a"]);

    // A removed entry loses its approval: if the folder brings it back, it is a foreign one.
    change::remove_server(&world.paths(), &world.load(), "shared", None).unwrap();
    change::remove_rule(&world.paths(), &world.load(), "mcp__a", None).unwrap();
    world.write(MCP, &format!(r#"{{"mcpServers": {{"shared": {}}}}}"#, serde_json::json!(entry)));
    world.write(SETTINGS, r#"{"permissions": {"allow": ["mcp__a"]}}"#);
    assert_eq!(world.standing("shared"), PlanStatus::NeedsApproval(PendingReason::Undecided));
    assert_eq!(waiting(&world), ["mcp__a"]);
}

// C7 B126
#[test]
fn an_entry_taken_from_the_folder_stays_in_it_and_waits() {
    use mcparley::config::change::{ChangeError, FileChoice, NewServer, WriteScope};
    use mcparley::model::approval::Provenance;
    let world = World::new();
    let entry = serde_json::json!({ "command": "x" });
    let entry = entry.as_object().unwrap().clone();
    let mut new = NewServer {
        name: "it".to_owned(),
        entry,
        scope: WriteScope::User,
        file: Some(FileChoice::ClaudeJson),
        replace: false,
        provenance: Provenance::Folder,
    };
    let refused = change::add_server(&world.paths(), &world.run_options, &world.load(), &new).unwrap_err();
    assert!(matches!(refused, ChangeError::FromFolder { .. }));
    new.scope = WriteScope::Local;
    let added = change::add_server(&world.paths(), &world.run_options, &world.load(), &new).unwrap();
    assert_eq!(added.file, world.path(LOCAL));
    assert_eq!(world.standing("it"), PlanStatus::NeedsApproval(PendingReason::Undecided));
}

// C7: the approval is of a content, not of a file.
#[test]
fn removing_an_entry_keeps_the_approval_of_an_equal_one_in_another_file() {
    use mcparley::config::change::WriteScope;
    let agent = "home/project/.claude/agents/helper.md";
    let brings = "---\nname: helper\nmcpServers:\n  - shared: {command: x}\n---\n";
    for (kept, kept_text, standing) in [
        (LOCAL, server("shared", "x"), "ready"),
        (LOCAL, server("shared", "y"), "needs approval"),
        (LOCAL, server("other", "x"), "needs approval"),
        (agent, brings.to_owned(), "ready"),
    ] {
        let world = World::with(&[(MCP, &server("shared", "x")), (kept, &kept_text)]);
        let waiting = change::PendingApprovals::find_in_project(&world.paths(), &world.run_options);
        let is_x =
            |item: &ApprovalItem| item.name == "shared" && item.content == waiting.to_items()[0].content;
        let approved: Vec<ApprovalItem> = waiting.to_items().into_iter().filter(is_x).collect();
        change::approve_items(&world.paths(), &approved).unwrap();
        change::remove_server(&world.paths(), &world.load(), "shared", Some(WriteScope::Project)).unwrap();
        // The same entry comes back: it is approved as long as its content was never gone.
        world.write(MCP, &server("shared", "x"));
        world.write(LOCAL, "{}");
        assert_eq!(world.standing("shared").as_str(), standing, "{kept}: {kept_text}");
    }
}

// C7 P6
#[test]
fn removing_a_rule_keeps_the_approval_of_an_equal_one_in_another_file() {
    use mcparley::config::change::WriteScope;
    let rules = r#"{"permissions": {"allow": ["mcp__a"]}}"#;
    let world = World::with(&[(SETTINGS, rules), (LOCAL, rules)]);
    let waiting = change::PendingApprovals::find_in_project(&world.paths(), &world.run_options);
    change::approve_items(&world.paths(), &waiting.to_items()).unwrap();
    change::remove_rule(&world.paths(), &world.load(), "mcp__a", Some(WriteScope::Local)).unwrap();
    assert_eq!((allowed(&world), self::waiting(&world)), (vec!["mcp__a".to_owned()], vec![]));
    change::remove_rule(&world.paths(), &world.load(), "mcp__a", None).unwrap();
    world.write(SETTINGS, rules);
    assert_eq!(self::waiting(&world), ["mcp__a"]);
}
