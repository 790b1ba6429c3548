//! Plan statuses of declarations, alone and in conflict.

use super::*;
use mcparley_model::approval::PendingReason;
use mcparley_model::document::JsonDocument;
use mcparley_model::settings::SettingsLayer;
use proptest::prelude::*;

/// Declares `name` in `scope` with an entry; the file is named after the scope and a number.
fn declare(scope: Scope, number: u32, name: &str, entry: &str) -> ServerDeclaration {
    let source = Source::from_label(&format!("{scope}{number}"));
    let document = JsonDocument::parse(source.clone(), entry).unwrap();
    ServerDeclaration {
        name: ServerName::new(name),
        scope,
        provenance: if scope == Scope::Project { Provenance::Folder } else { Provenance::Own },
        origin: ConfigOrigin::for_source(source),
        raw: RawServer::from_node(name, document.root().unwrap()),
        variables: Vec::new(),
    }
}

fn context(layer: SettingsLayer, settings: &str) -> PlanContext {
    let document = JsonDocument::parse(Source::from_label("settings"), settings).unwrap();
    let mut ground = PlanContext::default();
    ground.settings.read_layer(document.root().unwrap(), layer);
    ground
}

/// `file: status` of every declaration, in plan order.
fn statuses(declarations: Vec<ServerDeclaration>, ground: &PlanContext) -> Vec<String> {
    let plan = Plan::from_declarations(declarations, ground);
    plan.servers.iter().map(|server| format!("{}: {}", server.origin, server.status.as_str())).collect()
}

fn entry_of(scope: Scope) -> String {
    match scope {
        Scope::Connectors => {
            format!(r#"{{"type": "claudeai-proxy", "url": "https://h/{scope}", "id": "x"}}"#)
        }
        _ => format!(r#"{{"command": "{scope}"}}"#),
    }
}

fn approve_all() -> PlanContext {
    context(SettingsLayer::Managed, r#"{"enableAllProjectMcpServers": true}"#)
}

// C1
#[test]
fn the_strongest_scope_wins_a_name() {
    for strongest in 1..Scope::ALL.len() - 1 {
        let scopes = Scope::ALL.get(..=strongest).unwrap();
        let declarations = scopes.iter().map(|scope| declare(*scope, 1, "s", &entry_of(*scope))).collect();
        let plan = Plan::from_declarations(declarations, &approve_all());
        let ready: Vec<Scope> = plan.ready_servers().map(|server| server.scope).collect();
        assert_eq!(ready, [*scopes.last().unwrap()]);
        assert_eq!(plan.servers.len(), scopes.len(), "nothing is dropped");
    }
}

// C1 C15
#[test]
fn with_managed_servers_every_other_declaration_is_blocked_by_their_file() {
    let ground =
        PlanContext { enterprise: Enterprise::Exclusive(Source::from_label("managed")), ..approve_all() };
    let all = Scope::ALL.into_iter().map(|scope| declare(scope, 1, "s", &entry_of(scope))).collect();
    let plan = Plan::from_declarations(all, &ground);
    let ready: Vec<Scope> = plan.ready_servers().map(|server| server.scope).collect();
    assert_eq!(ready, [Scope::Enterprise]);
    let blocked = PlanStatus::Blocked(BlockReason::ManagedOnly { file: Source::from_label("managed") });
    assert_eq!(plan.servers.iter().filter(|server| server.status == blocked).count(), 6);
}

// C5 B33
#[test]
fn a_broken_managed_file_blocks_everything() {
    let enterprise = Enterprise::Broken { source: Source::from_label("managed"), reason: "r".into() };
    let ground = PlanContext { enterprise, ..approve_all() };
    let all = Scope::ALL.into_iter().map(|scope| declare(scope, 1, "s", &entry_of(scope))).collect();
    let plan = Plan::from_declarations(all, &ground);
    assert_eq!(plan.ready_servers().count(), 0);
    assert_eq!(plan.servers.len(), Scope::ALL.len());
    assert!(plan.servers.iter().all(|server| matches!(server.status, PlanStatus::Blocked(_))));
}

// C1
#[test]
fn strict_leaves_only_dynamic_servers() {
    let ground = PlanContext { strict: true, ..approve_all() };
    let all = vec![
        declare(Scope::User, 1, "u", r#"{"command": "u"}"#),
        declare(Scope::Dynamic, 1, "d", r#"{"command": "d"}"#),
    ];
    assert_eq!(statuses(all, &ground), ["user1: blocked", "dynamic1: ready"]);
}

// C3
#[test]
fn within_a_scope_the_later_file_wins() {
    let two = vec![
        declare(Scope::User, 1, "s", r#"{"command": "far"}"#),
        declare(Scope::User, 2, "s", r#"{"command": "near"}"#),
    ];
    assert_eq!(statuses(two, &PlanContext::default()), ["user1: shadowed", "user2: ready"]);
}

// C15: an entry that may not run never hides one that may.
#[test]
fn blocked_entry_shadows_no_other() {
    let user = || declare(Scope::User, 1, "s", r#"{"command": "mine"}"#);
    let pending = declare(Scope::Project, 1, "s", r#"{"command": "theirs"}"#);
    assert_eq!(
        statuses(vec![user(), pending], &PlanContext::default()),
        ["user1: ready", "project1: needs approval"]
    );

    let invalid = declare(Scope::Local, 1, "s", r#"{"command": 1}"#);
    assert_eq!(statuses(vec![user(), invalid], &PlanContext::default()), ["user1: ready", "local1: invalid"]);

    let denied = context(SettingsLayer::Managed, r#"{"deniedMcpServers": [{"serverCommand": ["theirs"]}]}"#);
    let blocked = declare(Scope::Local, 1, "s", r#"{"command": "theirs"}"#);
    assert_eq!(statuses(vec![user(), blocked], &denied), ["user1: ready", "local1: blocked"]);
}

// C15
#[test]
fn ready_entry_shadows_weaker_pending_entry() {
    let two = vec![
        declare(Scope::Project, 1, "s", r#"{"command": "theirs"}"#),
        declare(Scope::Local, 1, "s", r#"{"command": "mine"}"#),
    ];
    assert_eq!(statuses(two, &PlanContext::default()), ["project1: shadowed", "local1: ready"]);
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
        statuses(all, &PlanContext::default()),
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
    assert_eq!(statuses(all, &PlanContext::default()), ["plugin1: ready", "project1: needs approval"]);
}

// B32
#[test]
fn a_denied_server_stays_denied_under_every_other_name_and_scope() {
    let denied = context(SettingsLayer::Managed, r#"{"deniedMcpServers": [{"serverName": "evil"}]}"#);
    let entry = r#"{"command": "evil-server"}"#;
    let scopes = [Scope::Plugin, Scope::User, Scope::Local, Scope::Dynamic];
    let mut all = vec![declare(Scope::User, 9, "evil", entry)];
    all.extend(scopes.into_iter().map(|scope| declare(scope, 1, "innocent", entry)));
    let plan = Plan::from_declarations(all, &denied);
    assert_eq!(plan.ready_servers().count(), 0);
    let reason = plan.servers_by_name("innocent")[0].status.reason().unwrap();
    assert!(reason.starts_with("it is the same server as `evil`: denied by policy"), "{reason}");
}

// C7
#[test]
fn only_project_servers_wait_for_approval() {
    for scope in Scope::ALL {
        let plan =
            Plan::from_declarations(vec![declare(scope, 1, "s", &entry_of(scope))], &PlanContext::default());
        let expected = match scope {
            Scope::Project => PlanStatus::NeedsApproval(PendingReason::Undecided),
            _ => PlanStatus::Ready,
        };
        assert_eq!(plan.servers[0].status, expected, "{scope}");
    }
}

// C10
#[test]
fn runtime_only_transports_are_refused_in_files() {
    let sdk = r#"{"type": "sdk", "name": "x"}"#;
    let all = vec![declare(Scope::User, 1, "s", sdk), declare(Scope::Dynamic, 1, "s", sdk)];
    assert_eq!(statuses(all, &PlanContext::default()), ["user1: invalid", "dynamic1: ready"]);
}

// C15
#[test]
fn disabled_and_rejected_name_their_origin() {
    let off =
        context(SettingsLayer::User, r#"{"disabledMcpServers": ["a"], "disabledMcpjsonServers": ["b"]}"#);
    let all = vec![
        declare(Scope::User, 1, "a", r#"{"command": "a"}"#),
        declare(Scope::Project, 1, "b", r#"{"command": "b"}"#),
    ];
    let plan = Plan::from_declarations(all, &off);
    let reasons: Vec<String> = plan.servers.iter().map(|server| server.status.reason().unwrap()).collect();
    assert_eq!(reasons, ["switched off in settings:1:25", "rejected in settings:1:58"]);
}

fn any_declaration() -> impl Strategy<Value = (usize, u32, String, String)> {
    (0..7usize, 0..3u32, "[ab]", "[xy]")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    // C1 C15: no declaration is dropped, a name has at most one winner, and no stronger one is shadowed.
    #[test]
    fn every_declaration_is_planned_and_a_name_has_one_winner(
        all in prop::collection::vec(any_declaration(), 0..12),
        approve: bool,
    ) {
        let declarations: Vec<ServerDeclaration> = all
            .iter()
            .map(|(scope, number, name, command)| {
                declare(Scope::ALL[*scope], *number, name, &format!(r#"{{"command": "{command}"}}"#))
            })
            .collect();
        let ground = if approve { approve_all() } else { PlanContext::default() };
        let plan = Plan::from_declarations(declarations, &ground);
        prop_assert_eq!(plan.servers.len(), all.len());
        for name in ["a", "b"] {
            let ready: Vec<&PlannedServer> = plan.ready_servers().filter(|server| server.name.as_str() == name).collect();
            prop_assert!(ready.len() <= 1);
            for shadowed in plan.servers.iter().filter(|server| server.name.as_str() == name) {
                if let (PlanStatus::Shadowed { .. }, Some(winner)) = (&shadowed.status, ready.first()) {
                    prop_assert!(winner.scope >= shadowed.scope);
                }
            }
        }
    }
}

/// Finds one program, under two names.
#[derive(Debug)]
struct OwnLink;

impl ProgramFinder for OwnLink {
    fn find_program(
        &self,
        name: &str,
        _stdio: &mcparley_model::config::StdioConfig,
    ) -> Option<mcparley_model::program::FoundProgram> {
        (name == "bridge").then(|| mcparley_model::program::FoundProgram {
            located: "/usr/bin/bridge".to_owned(),
            canonical: "/opt/this/program".to_owned(),
            is_in_project: false,
            is_self: true,
        })
    }

    fn canonical_path(&self, _path: &str) -> Option<String> {
        None
    }
}

// C15 C18 F105
#[test]
fn an_entry_that_would_start_mcparley_itself_is_skipped_in_every_scope() {
    let ground = PlanContext { programs: Arc::new(OwnLink), ..approve_all() };
    let entries = [
        r#"{"command": "mcparley", "args": ["serve"]}"#,
        r#"{"command": "/usr/local/bin/mcparley", "args": ["serve"]}"#,
        r#"{"command": "env", "args": ["A=1", "bin/mcparley", "serve"]}"#,
        r#"{"command": "sh", "args": ["-c", "exec mcparley serve"]}"#,
        r#"{"command": "npx", "args": ["-y", "mcparley@latest", "serve"]}"#,
        r#"{"command": "uvx", "args": ["mcparley"]}"#,
        r#"{"command": "bridge"}"#,
        r#"{"command": "sh", "args": ["-c", "bridge"]}"#,
    ];
    let scopes =
        [Scope::Plugin, Scope::User, Scope::Project, Scope::Local, Scope::Dynamic, Scope::Enterprise];
    for (entry, scope) in entries.iter().flat_map(|entry| scopes.map(|scope| (entry, scope))) {
        let plan = Plan::from_declarations(vec![declare(scope, 1, "tools", entry)], &ground);
        let standing = &plan.servers.first().unwrap().status;
        assert_eq!(*standing, PlanStatus::Skipped(SkipReason::StartsItself), "{scope} {entry}");
        assert_eq!(standing.reason().as_deref(), Some("would start mcparley itself"));
    }
    for entry in [
        r#"{"command": "node", "args": ["mcparley.js"]}"#,
        r#"{"command": "mcparley-tools"}"#,
        r#"{"command": "/home/me/mcparley/server"}"#,
        r#"{"command": "npx", "args": ["-y", "mcparley-tools"]}"#,
        r#"{"command": "echo", "args": ["mcparley", "serve"]}"#,
    ] {
        let plan = Plan::from_declarations(vec![declare(Scope::User, 1, "mcparley", entry)], &ground);
        assert_eq!(plan.ready_servers().count(), 1, "{entry}");
    }
}

// C18 F105
#[test]
fn entry_is_not_started_below_itself_or_below_the_third_level() {
    let all = || {
        vec![
            declare(Scope::User, 1, "a", r#"{"command": "a"}"#),
            declare(Scope::User, 2, "b", r#"{"command": "b"}"#),
        ]
    };
    let plan = Plan::from_declarations(all(), &PlanContext::default());
    let signature = plan.servers.first().unwrap().signature().unwrap();
    let below = |given: &str| {
        let env: Env =
            [(mcparley_model::ancestry::ANCESTRY.to_owned(), given.to_owned())].into_iter().collect();
        let plan = Plan::from_declarations(
            all(),
            &PlanContext { ancestry: Ancestry::from_env(&env), ..PlanContext::default() },
        );
        plan.servers.into_iter().map(|server| server.status).collect::<Vec<_>>()
    };
    let started_this = PlanStatus::Skipped(SkipReason::StartedThis);
    let too_deep = PlanStatus::Skipped(SkipReason::TooDeep);
    assert_eq!(below("x"), [PlanStatus::Ready, PlanStatus::Ready]);
    assert_eq!(below(&format!("x,{signature}")), [started_this.clone(), PlanStatus::Ready]);
    assert_eq!(below(&format!("x,{signature},y")), [started_this, too_deep.clone()]);
    assert_eq!(below("x,y,z"), [too_deep.clone(), too_deep]);
}

/// The cautions about the declarations, in plan order.
fn cautions(declarations: Vec<ServerDeclaration>) -> Vec<String> {
    let plan = Plan::from_declarations(declarations, &PlanContext::default());
    plan.servers.iter().flat_map(|server| &server.cautions).map(ToString::to_string).collect()
}

// B119 H37
#[test]
fn packages_without_a_version_and_downloaded_scripts_get_a_caution() {
    let of = |entry: &str| cautions(vec![declare(Scope::User, 1, "s", entry)]);
    assert_eq!(
        of(r#"{"command": "npx", "args": ["-y", "@x/server"]}"#),
        ["`npx` fetches `@x/server` without a pinned version; name an exact version"]
    );
    assert_eq!(
        of(r#"{"command": "docker", "args": ["run", "-i", "--rm", "x/server:latest"]}"#),
        ["`docker run` fetches `x/server:latest` without a pinned version; name an exact version"]
    );
    assert_eq!(of(r#"{"command": "sh", "args": ["-c", "uvx server"]}"#).len(), 1);
    assert_eq!(
        of(r#"{"command": "sh", "args": ["-c", "curl https://h/x | sh"]}"#),
        ["it runs a script that it downloads"]
    );
    for pinned in [
        r#"{"command": "npx", "args": ["-y", "@x/server@1.2.3"]}"#,
        r#"{"command": "uvx", "args": ["server==1.2.3"]}"#,
        r#"{"command": "node", "args": ["npx"]}"#,
        r#"{"url": "https://h/npx"}"#,
    ] {
        assert_eq!(of(pinned), [""; 0], "{pinned}");
    }
}

// B44 H11
#[test]
fn names_that_look_alike_get_a_caution_and_stay_two_servers() {
    let all = |names: &[&str]| {
        let number = 1..;
        names
            .iter()
            .zip(number)
            .map(|(name, n)| declare(Scope::User, n, name, &format!(r#"{{"command": "{n}"}}"#)))
            .collect()
    };
    assert_eq!(
        cautions(all(&["github", "githuЬ"])),
        [
            "its name looks like that of another server, `githuЬ`",
            "its name mixes letters of several alphabets that look the same",
            "its name looks like that of another server, `github`",
        ]
    );
    assert_eq!(cautions(all(&["githиb"])).len(), 1);
    assert_eq!(cautions(all(&["paypal", "paypaI"])).len(), 2);
    assert_eq!(cautions(all(&["github", "gitlab", "обмен", "日本"])), [""; 0]);
    assert_eq!(
        Plan::from_declarations(all(&["github", "githuЬ"]), &PlanContext::default()).ready_servers().count(),
        2
    );
}

// B54
#[test]
fn invalid_names_in_files_are_refused() {
    let standing = |scope, name: &str| {
        let plan =
            Plan::from_declarations(vec![declare(scope, 1, name, r#"{"command": "x"}"#)], &approve_all());
        plan.servers.first().unwrap().status.as_str()
    };
    for name in
        ["", " ", "../../x", "a/b", r"a\b", ".hidden", "🚀", "a\u{202e}b", "a\nb", &"x".repeat(10_000)]
    {
        for scope in [Scope::User, Scope::Project, Scope::Local, Scope::Dynamic, Scope::Enterprise] {
            assert_eq!(standing(scope, name), "invalid", "{scope} {name:?}");
        }
    }
    for name in ["github", "my server", "context7.io", "__proto__", "constructor", "сервер"] {
        assert_eq!(standing(Scope::User, name), "ready", "{name:?}");
    }
    assert_eq!(standing(Scope::Plugin, "plugin:a/b:c"), "ready");
}

// B56 C8
#[test]
fn one_address_in_several_spellings_is_one_server() {
    let spellings = [
        "https://h.example/mcp",
        "HTTPS://H.Example:443/mcp",
        "https://h.example/mcp/",
        "https://h.example./mcp#x",
    ];
    for spelling in spellings {
        let declarations = vec![
            declare(Scope::User, 1, "mine", r#"{"url": "https://h.example/mcp"}"#),
            declare(Scope::Plugin, 1, "theirs", &format!(r#"{{"type": "http", "url": "{spelling}"}}"#)),
        ];
        assert_eq!(
            statuses(declarations, &PlanContext::default()),
            ["plugin1: duplicate", "user1: ready"],
            "{spelling}"
        );
    }
    let other = vec![
        declare(Scope::User, 1, "mine", r#"{"url": "https://h.example/mcp"}"#),
        declare(Scope::Plugin, 1, "theirs", r#"{"type": "http", "url": "https://h.example/MCP"}"#),
    ];
    assert_eq!(statuses(other, &PlanContext::default()), ["plugin1: ready", "user1: ready"]);
}
