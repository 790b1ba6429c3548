//! What becomes of declarations when several meet.

use super::*;
use crate::approval::Pending;
use crate::document::Document;
use crate::settings::Layer;
use proptest::prelude::*;

/// Declares `name` in `scope` with an entry; the file is named after the scope and a number.
fn declare(scope: Scope, number: u32, name: &str, entry: &str) -> Declaration {
    let source = Source::inline(&format!("{scope}{number}"));
    let document = Document::parse(source.clone(), entry).unwrap();
    Declaration {
        name: ServerName::new(name),
        scope,
        provenance: if scope == Scope::Project { Provenance::Folder } else { Provenance::Own },
        origin: Origin::whole(source),
        raw: RawServer::read(name, document.root().unwrap()),
        variables: Vec::new(),
    }
}

fn ground(layer: Layer, settings: &str) -> Ground {
    let document = Document::parse(Source::inline("settings"), settings).unwrap();
    let mut ground = Ground::default();
    ground.settings.read(document.root().unwrap(), layer);
    ground
}

/// `file: standing` of every declaration, in plan order.
fn standings(declarations: Vec<Declaration>, ground: &Ground) -> Vec<String> {
    let plan = Plan::make(declarations, ground);
    plan.servers.iter().map(|server| format!("{}: {}", server.origin, server.standing.as_str())).collect()
}

fn entry_of(scope: Scope) -> String {
    match scope {
        Scope::Connectors => {
            format!(r#"{{"type": "claudeai-proxy", "url": "https://h/{scope}", "id": "x"}}"#)
        }
        _ => format!(r#"{{"command": "{scope}"}}"#),
    }
}

fn approve_all() -> Ground {
    ground(Layer::Managed, r#"{"enableAllProjectMcpServers": true}"#)
}

// C1
#[test]
fn the_strongest_scope_wins_a_name() {
    for strongest in 1..Scope::ALL.len() - 1 {
        let scopes = Scope::ALL.get(..=strongest).unwrap();
        let declarations = scopes.iter().map(|scope| declare(*scope, 1, "s", &entry_of(*scope))).collect();
        let plan = Plan::make(declarations, &approve_all());
        let ready: Vec<Scope> = plan.ready().map(|server| server.scope).collect();
        assert_eq!(ready, [*scopes.last().unwrap()]);
        assert_eq!(plan.servers.len(), scopes.len(), "nothing is dropped");
    }
}

// C1 C15
#[test]
fn with_managed_servers_every_other_declaration_is_blocked_by_their_file() {
    let ground = Ground { enterprise: Enterprise::Exclusive(Source::inline("managed")), ..approve_all() };
    let all = Scope::ALL.into_iter().map(|scope| declare(scope, 1, "s", &entry_of(scope))).collect();
    let plan = Plan::make(all, &ground);
    let ready: Vec<Scope> = plan.ready().map(|server| server.scope).collect();
    assert_eq!(ready, [Scope::Enterprise]);
    let blocked = Standing::Blocked(Block::ManagedOnly { file: Source::inline("managed") });
    assert_eq!(plan.servers.iter().filter(|server| server.standing == blocked).count(), 6);
}

// C5 B33
#[test]
fn a_broken_managed_file_blocks_everything() {
    let enterprise = Enterprise::Broken { source: Source::inline("managed"), reason: "r".into() };
    let ground = Ground { enterprise, ..approve_all() };
    let all = Scope::ALL.into_iter().map(|scope| declare(scope, 1, "s", &entry_of(scope))).collect();
    let plan = Plan::make(all, &ground);
    assert_eq!(plan.ready().count(), 0);
    assert_eq!(plan.servers.len(), Scope::ALL.len());
    assert!(plan.servers.iter().all(|server| matches!(server.standing, Standing::Blocked(_))));
}

// C1
#[test]
fn strict_leaves_only_dynamic_servers() {
    let ground = Ground { strict: true, ..approve_all() };
    let all = vec![
        declare(Scope::User, 1, "u", r#"{"command": "u"}"#),
        declare(Scope::Dynamic, 1, "d", r#"{"command": "d"}"#),
    ];
    assert_eq!(standings(all, &ground), ["user1: blocked", "dynamic1: ready"]);
}

// C3
#[test]
fn within_a_scope_the_later_file_wins() {
    let two = vec![
        declare(Scope::User, 1, "s", r#"{"command": "far"}"#),
        declare(Scope::User, 2, "s", r#"{"command": "near"}"#),
    ];
    assert_eq!(standings(two, &Ground::default()), ["user1: shadowed", "user2: ready"]);
}

// C15: what may not run never hides what may.
#[test]
fn an_entry_that_may_not_run_hides_no_other() {
    let user = || declare(Scope::User, 1, "s", r#"{"command": "mine"}"#);
    let pending = declare(Scope::Project, 1, "s", r#"{"command": "theirs"}"#);
    assert_eq!(
        standings(vec![user(), pending], &Ground::default()),
        ["user1: ready", "project1: needs approval"]
    );

    let invalid = declare(Scope::Local, 1, "s", r#"{"command": 1}"#);
    assert_eq!(standings(vec![user(), invalid], &Ground::default()), ["user1: ready", "local1: invalid"]);

    let denied = ground(Layer::Managed, r#"{"deniedMcpServers": [{"serverCommand": ["theirs"]}]}"#);
    let blocked = declare(Scope::Local, 1, "s", r#"{"command": "theirs"}"#);
    assert_eq!(standings(vec![user(), blocked], &denied), ["user1: ready", "local1: blocked"]);
}

// C15
#[test]
fn a_stronger_ready_entry_also_shadows_one_that_waits() {
    let two = vec![
        declare(Scope::Project, 1, "s", r#"{"command": "theirs"}"#),
        declare(Scope::Local, 1, "s", r#"{"command": "mine"}"#),
    ];
    assert_eq!(standings(two, &Ground::default()), ["project1: shadowed", "local1: ready"]);
}

// C8
#[test]
fn the_same_server_from_a_plugin_or_connector_is_a_duplicate() {
    let same = r#"{"command": "x", "args": ["a"]}"#;
    let all = vec![
        declare(Scope::Plugin, 1, "plugin:p:x", same),
        declare(Scope::Plugin, 2, "plugin:q:y", r#"{"command": "y"}"#),
        declare(Scope::Plugin, 3, "plugin:r:y", r#"{"command": "y"}"#),
        declare(
            Scope::Connectors,
            1,
            "claude.ai h",
            r#"{"type": "claudeai-proxy", "url": "https://h/", "id": "1"}"#,
        ),
        declare(
            Scope::Connectors,
            2,
            "claude.ai i",
            r#"{"type": "claudeai-proxy", "url": "https://i/", "id": "2"}"#,
        ),
        declare(Scope::User, 1, "mine", same),
        declare(Scope::User, 2, "i", r#"{"type": "http", "url": "https://i/"}"#),
        declare(Scope::Local, 1, "mine-too", same),
    ];
    assert_eq!(
        standings(all, &Ground::default()),
        [
            "connectors1: ready",
            "connectors2: duplicate",
            "plugin1: duplicate",
            "plugin2: ready",
            "plugin3: duplicate",
            "user1: ready",
            "user2: ready",
            "local1: ready",
        ]
    );
}

// C8
#[test]
fn a_plugin_is_no_duplicate_of_a_server_that_may_not_run() {
    let all = vec![
        declare(Scope::Plugin, 1, "plugin:p:x", r#"{"command": "x"}"#),
        declare(Scope::Project, 1, "x", r#"{"command": "x"}"#),
    ];
    assert_eq!(standings(all, &Ground::default()), ["plugin1: ready", "project1: needs approval"]);
}

// B32
#[test]
fn a_denied_server_stays_denied_under_every_other_name_and_scope() {
    let denied = ground(Layer::Managed, r#"{"deniedMcpServers": [{"serverName": "evil"}]}"#);
    let entry = r#"{"command": "evil-server"}"#;
    let scopes = [Scope::Plugin, Scope::User, Scope::Local, Scope::Dynamic];
    let mut all = vec![declare(Scope::User, 9, "evil", entry)];
    all.extend(scopes.into_iter().map(|scope| declare(scope, 1, "innocent", entry)));
    let plan = Plan::make(all, &denied);
    assert_eq!(plan.ready().count(), 0);
    let reason = plan.named("innocent")[0].standing.reason().unwrap();
    assert!(reason.starts_with("it is the same server as `evil`: denied by policy"), "{reason}");
}

// C7
#[test]
fn only_project_servers_wait_for_approval() {
    for scope in Scope::ALL {
        let plan = Plan::make(vec![declare(scope, 1, "s", &entry_of(scope))], &Ground::default());
        let expected = match scope {
            Scope::Project => Standing::NeedsApproval(Pending::Undecided),
            _ => Standing::Ready,
        };
        assert_eq!(plan.servers[0].standing, expected, "{scope}");
    }
}

// C10
#[test]
fn kinds_of_running_programs_are_refused_in_files() {
    let sdk = r#"{"type": "sdk", "name": "x"}"#;
    let all = vec![declare(Scope::User, 1, "s", sdk), declare(Scope::Dynamic, 1, "s", sdk)];
    assert_eq!(standings(all, &Ground::default()), ["user1: invalid", "dynamic1: ready"]);
}

// C15
#[test]
fn disabled_and_rejected_name_their_place() {
    let off = ground(Layer::User, r#"{"disabledMcpServers": ["a"], "disabledMcpjsonServers": ["b"]}"#);
    let all = vec![
        declare(Scope::User, 1, "a", r#"{"command": "a"}"#),
        declare(Scope::Project, 1, "b", r#"{"command": "b"}"#),
    ];
    let plan = Plan::make(all, &off);
    let reasons: Vec<String> = plan.servers.iter().map(|server| server.standing.reason().unwrap()).collect();
    assert_eq!(reasons, ["switched off in settings:1:25", "rejected in settings:1:58"]);
}

fn any_declaration() -> impl Strategy<Value = (usize, u32, String, String)> {
    (0..7usize, 0..3u32, "[ab]", "[xy]")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    // C1 C15: nothing is dropped, one name has at most one winner, and nobody stronger stands behind it.
    #[test]
    fn every_declaration_is_planned_and_a_name_has_one_winner(
        all in prop::collection::vec(any_declaration(), 0..12),
        approve: bool,
    ) {
        let declarations: Vec<Declaration> = all
            .iter()
            .map(|(scope, number, name, command)| {
                declare(Scope::ALL[*scope], *number, name, &format!(r#"{{"command": "{command}"}}"#))
            })
            .collect();
        let ground = if approve { approve_all() } else { Ground::default() };
        let plan = Plan::make(declarations, &ground);
        prop_assert_eq!(plan.servers.len(), all.len());
        for name in ["a", "b"] {
            let ready: Vec<&Planned> = plan.ready().filter(|server| server.name.as_str() == name).collect();
            prop_assert!(ready.len() <= 1);
            for shadowed in plan.servers.iter().filter(|server| server.name.as_str() == name) {
                if let (Standing::Shadowed { .. }, Some(winner)) = (&shadowed.standing, ready.first()) {
                    prop_assert!(winner.scope >= shadowed.scope);
                }
            }
        }
    }
}
