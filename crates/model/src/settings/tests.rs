//! Tests of the keys that each settings layer may set.

use super::*;
use crate::approval::Interactivity;
use crate::document::JsonDocument;
use crate::scope::Source;

fn read(layer: SettingsLayer, text: &str) -> MergedSettings {
    let document = JsonDocument::parse(Source::from_label("settings"), text).unwrap();
    let mut settings = MergedSettings::default();
    settings.read_layer(document.root().unwrap(), layer);
    settings
}

fn warnings(settings: &MergedSettings) -> Vec<String> {
    settings.warnings.iter().map(|warning| format!("{}: {}", warning.origin, warning.text)).collect()
}

const ALL_LAYERS: [SettingsLayer; 6] = [
    SettingsLayer::Managed,
    SettingsLayer::CommandLine,
    SettingsLayer::User,
    SettingsLayer::Private,
    SettingsLayer::Local,
    SettingsLayer::Project,
];

// C7 B25
#[test]
fn only_the_administrator_approves_by_name() {
    let text = r#"{"enabledMcpjsonServers": ["s"], "enableAllProjectMcpServers": true}"#;
    for layer in ALL_LAYERS {
        let choices = read(layer, text).choices;
        let is_managed = layer == SettingsLayer::Managed;
        let inside = matches!(layer, SettingsLayer::Local | SettingsLayer::Project);
        let by_name = matches!(layer, SettingsLayer::User | SettingsLayer::CommandLine);
        assert_eq!(choices.managed.len(), usize::from(is_managed), "{layer:?}");
        assert_eq!(choices.enable_all.is_some(), is_managed, "{layer:?}");
        assert_eq!(
            choices.claude_code.enabled.len(),
            usize::from(layer == SettingsLayer::Private),
            "{layer:?}"
        );
        assert_eq!(choices.by_name.len(), usize::from(by_name), "{layer:?}");
        assert_eq!(choices.claimed.len(), usize::from(inside), "{layer:?}");
    }
    assert_eq!(
        warnings(&read(SettingsLayer::Project, text)),
        [
            "settings:1:27: a repository cannot approve its own servers",
            "settings:1:64: a file in the project's folder cannot approve the project's servers",
        ]
    );
    assert_eq!(
        warnings(&read(SettingsLayer::User, text)),
        ["settings:1:64: `enableAllProjectMcpServers` counts only in managed settings; see `mcparley trust`"]
    );
}

// C7
#[test]
fn claude_code_trust_is_honored_only_from_outside_the_folder() {
    for layer in ALL_LAYERS {
        let choices = read(layer, r#"{"hasTrustDialogAccepted": true}"#).choices;
        assert_eq!(choices.claude_code.trusted.is_some(), layer == SettingsLayer::Private, "{layer:?}");
    }
}

// C7 C12 B121
#[test]
fn folder_variables_and_allow_rules_wait_and_other_rules_apply() {
    let text = r#"{"env": {"MCP_TIMEOUT": "1", "PATH": "x"},
        "permissions": {"allow": ["mcp__a"], "deny": ["mcp__b"], "ask": ["mcp__c"]}}"#;
    for layer in ALL_LAYERS {
        for session in
            [Interactivity::Interactive, Interactivity::Headless, Interactivity::HeadlessWithProject]
        {
            let mut settings = read(layer, text);
            assert_eq!(settings.apply_approvals(session), []);
            let counts = layer.is_outside_project() || session == Interactivity::HeadlessWithProject;
            let rules: Vec<&str> = settings.rules.iter().map(|rule| rule.text()).collect();
            assert_eq!(rules.contains(&"mcp__a"), counts, "{layer:?} {session:?}");
            assert!(rules.contains(&"mcp__b") && rules.contains(&"mcp__c"), "{layer:?}");
            assert_eq!(settings.env.len(), if counts { 2 } else { 0 }, "{layer:?} {session:?}");
            let waiting: Vec<&str> = settings.waiting.iter().map(|item| item.text.as_str()).collect();
            let expected: &[&str] = if counts { &[] } else { &["MCP_TIMEOUT=1", "PATH=x", "mcp__a"] };
            assert_eq!(waiting, expected, "{layer:?} {session:?}");
        }
    }
}

// C7
#[test]
fn every_layer_can_reject_and_disable() {
    let text = r#"{"disabledMcpjsonServers": ["s"], "disabledMcpServers": ["t"]}"#;
    for layer in ALL_LAYERS {
        let settings = read(layer, text);
        assert_eq!(settings.choices.rejected.len(), 1, "{layer:?}");
        assert_eq!(settings.disabled.len(), 1, "{layer:?}");
        assert_eq!(warnings(&settings), [] as [&str; 0], "{layer:?}");
    }
}

// C7 H05
#[test]
fn no_file_in_the_projects_folder_can_widen_the_permission_mode() {
    let cases = PermissionMode::ALL
        .into_iter()
        .flat_map(|mode| [(mode, SettingsLayer::Project), (mode, SettingsLayer::Local)]);
    for (mode, layer) in cases {
        let text = format!(r#"{{"permissions": {{"defaultMode": "{mode}"}}}}"#);
        let settings = read(layer, &text);
        let narrows = matches!(mode, PermissionMode::Default | PermissionMode::Plan);
        assert_eq!(settings.mode.is_some(), narrows, "{mode}");
        assert_eq!(settings.warnings.len(), usize::from(!narrows), "{mode}");
        assert_eq!(read(SettingsLayer::User, &text).mode.unwrap().value, mode);
    }
}

// C9
#[test]
fn policy_applies_in_managed_and_user_settings_only() {
    let text = r#"{"allowedMcpServers": [], "deniedMcpServers": [], "allowManagedMcpServersOnly": true,
        "requirePinnedPackages": true}"#;
    for layer in ALL_LAYERS {
        let count = if matches!(layer, SettingsLayer::Managed | SettingsLayer::User) { 0 } else { 4 };
        assert_eq!(read(layer, text).warnings.len(), count, "{layer:?}");
    }
}

// C5 C9
#[test]
fn invalid_managed_list_breaks_the_policy() {
    for text in [
        r#"{"deniedMcpServers": {"serverName": "a"}}"#,
        r#"{"allowedMcpServers": "a"}"#,
        r#"{"allowManagedMcpServersOnly": "yes"}"#,
        r#"{"requirePinnedPackages": "yes"}"#,
    ] {
        assert!(read(SettingsLayer::Managed, text).broken_policy.is_some(), "{text}");
        assert!(read(SettingsLayer::User, text).broken_policy.is_none(), "{text}");
    }
}

// C9
#[test]
fn broken_policy_entry_is_reported_and_the_rest_applies() {
    let settings = read(
        SettingsLayer::Managed,
        r#"{"deniedMcpServers": [{"serverName": "a"}, {"bogus": 1}, {"serverName": "b"}]}"#,
    );
    assert_eq!(settings.warnings.len(), 1);
    let judge = |name: &str| {
        let name = ServerName::new(name);
        let target = crate::policy::PolicyTarget::Other;
        settings.policy.check_server(&crate::policy::PolicySubject {
            name: &name,
            scope: crate::scope::Scope::User,
            target,
        })
    };
    assert!(judge("a").is_err() && judge("b").is_err());
    assert_eq!(judge("c"), Ok(()));
}

// C7 H05
#[test]
fn plugins_keep_their_settings_layer() {
    for layer in ALL_LAYERS {
        let plugins = read(layer, r#"{"plugins": ["./evil"]}"#).plugins;
        assert_eq!(plugins.iter().map(|(by, _)| *by).collect::<Vec<_>>(), [layer]);
    }
}

// B53
#[test]
fn wrong_shapes_are_warnings() {
    let text = r#"{"enabledMcpjsonServers": "s", "disabledMcpServers": {}, "enableAllProjectMcpServers": 1,
        "permissions": {"allow": [1, "mcp__s"], "deny": "x", "defaultMode": "bogus"}, "plugins": 1, "env": {"A": 1}}"#;
    let settings = read(SettingsLayer::User, text);
    assert_eq!(settings.rules.len(), 1);
    assert_eq!(settings.warnings.len(), 8, "{:?}", warnings(&settings));
}

// C1
#[test]
fn only_user_and_administrator_can_set_the_connectors_url() {
    for layer in ALL_LAYERS {
        let settings = read(layer, r#"{"connectors": {"url": "https://o.example"}}"#);
        let counts =
            matches!(layer, SettingsLayer::Managed | SettingsLayer::CommandLine | SettingsLayer::User);
        let found = settings.connectors.as_ref().map(|(by, url)| (*by, url.value.as_str()));
        assert_eq!(found, counts.then_some((layer, "https://o.example")));
        let warned = ["settings:1:16: `connectors` counts only in managed and user settings"];
        assert_eq!(warnings(&settings), if counts { &[][..] } else { &warned[..] }, "{layer:?}");
    }
    for wrong in [r#"{"connectors": "https://o.example"}"#, r#"{"connectors": {"url": 7}}"#] {
        let settings = read(SettingsLayer::User, wrong);
        assert!(settings.connectors.is_none());
        assert_eq!(warnings(&settings), [r#"settings:1:16: `connectors` is written `{"url": "https://…"}`"#]);
    }
}

// A6: the provider learns the user's identity.
#[test]
fn only_user_and_administrator_can_set_the_identity_provider() {
    let text = r#"{"xaaIdp": {"issuer": "https://idp.example", "clientId": "us", "callbackPort": 7777}}"#;
    let named = IdentityProvider {
        issuer: "https://idp.example".to_owned(),
        client_id: "us".to_owned(),
        callback_port: Some(7777),
    };
    for layer in ALL_LAYERS {
        let settings = read(layer, text);
        let counts =
            matches!(layer, SettingsLayer::Managed | SettingsLayer::CommandLine | SettingsLayer::User);
        assert_eq!(settings.identity.as_ref().map(|found| &found.value), counts.then_some(&named));
        let warned = ["settings:1:12: `xaaIdp` counts only in managed and user settings"];
        assert_eq!(warnings(&settings), if counts { &[][..] } else { &warned[..] }, "{layer:?}");
    }
    for wrong in [
        r#"{"xaaIdp": "https://idp.example"}"#,
        r#"{"xaaIdp": {"issuer": "https://idp.example"}}"#,
        r#"{"xaaIdp": {"issuer": "http://idp.example", "clientId": "us"}}"#,
        r#"{"xaaIdp": {"issuer": "https://us:pw@idp.example", "clientId": "us"}}"#,
        r#"{"xaaIdp": {"issuer": "https://idp.example", "clientId": "us", "callbackPort": 0}}"#,
    ] {
        let settings = read(SettingsLayer::User, wrong);
        assert!(settings.identity.is_none(), "{wrong}");
        assert_eq!(settings.warnings.len(), 1, "{wrong}");
    }
}

// H09 B25
#[test]
fn project_can_only_make_pins_stricter_and_managed_pin_wins() {
    use crate::permission::ToolPin::{Off, Strict, Warn};
    let in_force = |said: &[(SettingsLayer, &str)]| {
        let mut settings = MergedSettings::default();
        for (layer, word) in said {
            let text = format!(r#"{{"toolPin": "{word}"}}"#);
            let document = JsonDocument::parse(Source::from_label("settings"), &text).unwrap();
            settings.read_layer(document.root().unwrap(), *layer);
        }
        settings.pins.effective_pin()
    };
    for (said, expected) in [
        (&[] as &[_], Warn),
        (&[(SettingsLayer::User, "off")], Off),
        (&[(SettingsLayer::Project, "off")], Warn),
        (&[(SettingsLayer::Local, "off")], Warn),
        (&[(SettingsLayer::Project, "strict")], Strict),
        (&[(SettingsLayer::User, "off"), (SettingsLayer::Project, "warn")], Warn),
        (&[(SettingsLayer::User, "strict"), (SettingsLayer::Project, "off")], Strict),
        (&[(SettingsLayer::Project, "strict"), (SettingsLayer::Local, "off")], Strict),
        (&[(SettingsLayer::User, "strict"), (SettingsLayer::Private, "off")], Off),
        (&[(SettingsLayer::User, "strict"), (SettingsLayer::CommandLine, "warn")], Warn),
        (&[(SettingsLayer::Project, "strict"), (SettingsLayer::Managed, "warn")], Warn),
        (&[(SettingsLayer::User, "off"), (SettingsLayer::Managed, "strict")], Strict),
    ] {
        assert_eq!(in_force(said), expected, "{said:?}");
    }
    assert_eq!(
        warnings(&read(SettingsLayer::Project, r#"{"toolPin": "off"}"#)),
        ["settings:1:13: a file in the project's folder can only make `toolPin` stricter"]
    );
    assert_eq!(
        warnings(&read(SettingsLayer::User, r#"{"toolPin": true}"#)),
        ["settings:1:13: `toolPin` is none of `off`, `warn`, `strict`"]
    );
}

// P2 B25
#[test]
fn only_user_and_administrator_can_set_a_classifier() {
    let text = r#"{"autoClassifier": {"command": "judge", "args": ["-x"], "timeout": 500}}"#;
    for layer in ALL_LAYERS {
        let settings = read(layer, text);
        let counts =
            matches!(layer, SettingsLayer::Managed | SettingsLayer::CommandLine | SettingsLayer::User);
        let expected = ClassifierCommand {
            command: "judge".to_owned(),
            args: vec!["-x".to_owned()],
            timeout: Some(std::time::Duration::from_millis(500)),
        };
        assert_eq!(settings.classifier.map(|it| it.value), counts.then_some(expected), "{layer:?}");
        assert_eq!(settings.warnings.len(), usize::from(!counts), "{layer:?}");
    }
    for wrong in [
        r#""judge""#,
        r#"{"command": ""}"#,
        r#"{"command": "a", "args": [1]}"#,
        r#"{"command": "a", "timeout": 0}"#,
    ] {
        let settings = read(SettingsLayer::User, &format!(r#"{{"autoClassifier": {wrong}}}"#));
        assert!(settings.classifier.is_none() && settings.warnings.len() == 1, "{wrong}");
    }
}

// G4 C12
#[test]
fn views_and_the_issuer_of_a_gateway_are_read_from_outside_the_project_only() {
    let text = r#"{"tokenIssuer": {"issuer": "https://issuer.example", "scopes": ["use"]},
        "gateways": {"ops": {"servers": ["a"], "tools": ["a__*"], "mode": "client", "rate": 5,
            "principals": ["token:ada", "claim:groups=ops"], "forModel": false, "prefix": "mcp"}}}"#;
    for layer in ALL_LAYERS {
        let settings = read(layer, text);
        let counts =
            matches!(layer, SettingsLayer::Managed | SettingsLayer::CommandLine | SettingsLayer::User);
        assert_eq!(settings.token_issuer.is_some(), counts, "{layer:?}");
        assert_eq!(settings.gateways.len(), usize::from(counts), "{layer:?}");
        assert_eq!(warnings(&settings).len(), if counts { 0 } else { 2 }, "{layer:?}");
    }
    assert_eq!(
        warnings(&read(SettingsLayer::Project, text)),
        [
            "settings:1:17: `tokenIssuer` counts only in managed and user settings, and in `--settings`",
            "settings:2:21: `gateways` counts only in managed and user settings, and in `--settings`",
        ]
    );
    let settings = read(SettingsLayer::User, text);
    let view = &settings.gateways[0].value;
    assert_eq!((view.name.as_str(), view.rate, view.for_model), ("ops", Some(5), Some(false)));
    assert_eq!((view.mode, view.prefix), (Some(PermissionMode::Client), Some(ViewPrefix::Mcp)));
    assert_eq!(view.principals.len(), 2);
}

// G4
#[test]
fn view_with_a_mistake_is_left_out_with_its_place() {
    for (view, expected) in [
        (r#"{}"#, "`principals` must name the clients that may use it, or `*`"),
        (r#"{"principals": ["ada"]}"#, "`ada` names no client: write `token:NAME`"),
        (r#"{"principals": ["*"], "server": ["a"]}"#, "`server` is unknown; a view has `servers`"),
        (r#"{"principals": ["*"], "servers": "a"}"#, "not a list of texts"),
        (r#"{"principals": ["*"], "servers": [7]}"#, "not a text"),
        (r#"{"principals": ["*"], "mode": "all"}"#, "all"),
        (r#"{"principals": ["*"], "rate": 0}"#, "`rate` is a whole number above 0"),
        (r#"{"principals": ["*"], "prefix": "x"}"#, "`prefix` is `server`, `mcp` or `none`"),
        (r#"{"principals": ["*"], "forModel": 1}"#, "`forModel` is true or false"),
        (r#"7"#, "not an object"),
    ] {
        let settings = read(SettingsLayer::User, &format!(r#"{{"gateways": {{"ops": {view}}}}}"#));
        let warnings = warnings(&settings);
        assert!(settings.gateways.is_empty(), "{view}");
        assert_eq!(warnings.len(), 1, "{view}: {warnings:?}");
        assert!(warnings[0].starts_with("settings:1:"), "{view}: {warnings:?}");
        assert!(
            warnings[0].contains("the view `ops` is left out: ") && warnings[0].contains(expected),
            "{view}: {warnings:?}"
        );
    }
    let named = read(SettingsLayer::User, r#"{"gateways": {"a/b": {"principals": ["*"]}}}"#);
    assert!(named.gateways.is_empty() && warnings(&named)[0].contains("1 to 64 letters"));
}

// G4
#[test]
fn view_of_a_stronger_layer_replaces_that_of_a_weaker_one() {
    let mut settings = MergedSettings::default();
    for (layer, name) in [(SettingsLayer::User, "user"), (SettingsLayer::Managed, "managed")] {
        let text = format!(r#"{{"gateways": {{"ops": {{"principals": ["token:{name}"]}}}}}}"#);
        let document = JsonDocument::parse(Source::from_label("settings"), &text).unwrap();
        settings.read_layer(document.root().unwrap(), layer);
    }
    let [view] = &settings.gateways[..] else { panic!("{:?}", settings.gateways) };
    assert_eq!(view.value.principals[0].to_string(), "managed");
}

// N10 C7
#[test]
fn vectors_of_the_search_are_chosen_outside_the_project() {
    let text = r#"{"search": {"vectors": "/v"}}"#;
    for layer in ALL_LAYERS {
        let settings = read(layer, text);
        let path = settings.search_vectors.as_ref().map(|path| path.value.to_str().unwrap());
        assert_eq!(path, layer.is_outside_project().then_some("/v"), "{layer:?}");
    }
    assert_eq!(
        warnings(&read(SettingsLayer::Project, text)),
        ["settings:1:12: a file in the project's folder cannot choose the vectors of the tool search"]
    );
    for wrong in
        [r#"{"search": {"vectors": "relative"}}"#, r#"{"search": {"vectors": 1}}"#, r#"{"search": true}"#]
    {
        let settings = read(SettingsLayer::User, wrong);
        assert_eq!((settings.search_vectors.is_none(), warnings(&settings).len()), (true, 1), "{wrong}");
    }
}
