//! Tests of hook matchers and hook status.

use super::*;
use crate::approval::{FolderApprovals, Interactivity};
use crate::document::JsonDocument;
use crate::scope::Source;
use crate::settings::MergedSettings;

const LAYERS: [SettingsLayer; 6] = [
    SettingsLayer::User,
    SettingsLayer::Project,
    SettingsLayer::Private,
    SettingsLayer::Local,
    SettingsLayer::CommandLine,
    SettingsLayer::Managed,
];

fn read(settings: &mut MergedSettings, layer: SettingsLayer, text: &str) {
    let document = JsonDocument::parse(Source::from_label("settings"), text).unwrap();
    settings.read_layer(document.root().unwrap(), layer);
}

fn one(layer: SettingsLayer, text: &str) -> MergedSettings {
    let mut settings = MergedSettings::default();
    read(&mut settings, layer, text);
    settings
}

fn hook(command: &str) -> String {
    format!(
        r#"{{"hooks": {{"PreToolUse": [{{"matcher": "mcp__s__.*", "hooks": [{{"type": "command", "command": "{command}"}}]}}]}}}}"#
    )
}

fn standings(settings: &MergedSettings, session: Interactivity) -> Vec<&'static str> {
    settings.hooks.hooks_with_status(session).iter().map(|judged| judged.status.as_str()).collect()
}

// P5
#[test]
fn matcher_matches_whole_names() {
    let name = "mcp__s__t";
    let fitting = ["*", "", " ", "mcp__s__t", "mcp__s__.*", "mcp__.*__t", "x|mcp__s__t", ".*"];
    for text in fitting {
        assert!(Matcher::new(text).unwrap().matches(name), "{text}");
    }
    assert!(Matcher::for_all_names().matches(name));
    for text in ["mcp__s", "t", "mcp__s__", "x|t", "MCP__s__t", "^$", "a)|(?:.*"] {
        assert!(!Matcher::new(text).is_ok_and(|matcher| matcher.matches(name)), "{text}");
    }
}

// P5 B103
#[test]
fn matcher_with_exponential_features_is_refused() {
    assert_eq!(Matcher::new("(?=a)").unwrap_err(), MatcherError::Syntax);
    assert_eq!(Matcher::new(r"(a)\1").unwrap_err(), MatcherError::Syntax);
    assert_eq!(Matcher::new("a)|(?:.*").unwrap_err(), MatcherError::Syntax);
    assert_eq!(Matcher::new(&"a".repeat(2000)).unwrap_err(), MatcherError::TooLong);
    assert_eq!(Matcher::new("((a{100}){100}){100}").unwrap_err(), MatcherError::TooLarge);
}

// P5 H05 B26
#[test]
fn only_hooks_from_outside_the_project_run_without_approval() {
    for layer in LAYERS {
        let settings = one(layer, &hook("check"));
        let outside = !matches!(layer, SettingsLayer::Project | SettingsLayer::Local);
        let expected = if outside { "ready" } else { "needs approval" };
        for session in [Interactivity::Interactive, Interactivity::Headless] {
            assert_eq!(standings(&settings, session), [expected], "{layer:?}");
        }
        let named = standings(&settings, Interactivity::HeadlessWithProject);
        assert_eq!(named, ["ready"], "{layer:?}");
    }
}

/// The settings after applying the approval store's record of the folder.
fn settled(mut settings: MergedSettings, folder: &str) -> MergedSettings {
    let document = JsonDocument::parse(Source::from_label("approvals"), folder).unwrap();
    settings.choices.recorded = FolderApprovals::from_node(document.root().unwrap());
    settings.apply_approvals(Interactivity::Interactive);
    settings
}

// P5 H05 B26 C7
#[test]
fn hook_approval_is_bound_to_its_definition_and_to_the_store() {
    let project = one(SettingsLayer::Project, &hook("check"));
    let definition = project.hooks.all[0].definition_hash().to_string();
    let approval = format!(r#"{{"approved": {{"hooks": {{"PreToolUse": ["{definition}"]}}}}}}"#);
    let ready = settled(project.clone(), &approval);
    assert_eq!(standings(&ready, Interactivity::Interactive), ["ready"]);
    for layer in LAYERS {
        let mut settings = project.clone();
        let forged = format!(r#"{{"approvedHooks": ["{definition}"], "approved": {approval}}}"#);
        read(&mut settings, layer, &forged);
        let settings = settled(settings, "{}");
        assert_eq!(standings(&settings, Interactivity::Interactive), ["needs approval"], "{layer:?}");
    }
    for changed in [
        hook("check --twice"),
        hook("check").replace("mcp__s__.*", "*"),
        hook("check").replace("Pre", "Post"),
        hook("check").replace(r#""command": "check""#, r#""command": "check", "args": []"#),
    ] {
        let settings = settled(one(SettingsLayer::Project, &changed), &approval);
        assert_eq!(standings(&settings, Interactivity::Interactive), ["needs approval"], "{changed}");
    }
}

// P5
#[test]
fn rejection_wins_for_project_hooks_and_spares_user_hooks() {
    let mut settings = one(SettingsLayer::Project, &hook("check"));
    let definition = settings.hooks.all[0].definition_hash().to_string();
    read(&mut settings, SettingsLayer::User, &hook("check"));
    let both = format!(
        r#"{{"approved": {{"hooks": {{"PreToolUse": ["{definition}"]}}}}, "rejected": {{"hooks": ["{definition}"]}}}}"#
    );
    let settings = settled(settings, &both);
    assert_eq!(standings(&settings, Interactivity::Interactive), ["rejected", "ready"]);
}

// P5 C9
#[test]
fn outside_layers_can_disable_hooks_except_managed_ones() {
    let off = r#"{"disableAllHooks": true}"#;
    for layer in LAYERS {
        let mut settings = one(SettingsLayer::User, &hook("mine"));
        read(&mut settings, SettingsLayer::Managed, &hook("theirs"));
        read(&mut settings, layer, off);
        let expected = match layer {
            SettingsLayer::Managed => ["disabled", "disabled"],
            SettingsLayer::Project | SettingsLayer::Local => ["ready", "ready"],
            SettingsLayer::User | SettingsLayer::Private | SettingsLayer::CommandLine => {
                ["disabled", "ready"]
            }
        };
        assert_eq!(standings(&settings, Interactivity::Interactive), expected, "{layer:?}");
    }
    for (layer, expected) in
        [(SettingsLayer::Managed, ["disabled", "ready"]), (SettingsLayer::User, ["ready", "ready"])]
    {
        let mut settings = one(SettingsLayer::User, &hook("mine"));
        read(&mut settings, SettingsLayer::Managed, &hook("theirs"));
        read(&mut settings, layer, r#"{"allowManagedHooksOnly": true}"#);
        assert_eq!(standings(&settings, Interactivity::Interactive), expected, "{layer:?}");
    }
}

// P5
#[test]
fn the_same_hook_in_two_files_runs_once() {
    let mut settings = one(SettingsLayer::User, &hook("check"));
    read(&mut settings, SettingsLayer::Managed, &hook("check"));
    assert_eq!(standings(&settings, Interactivity::Interactive), ["ready", "duplicate"]);
    assert_eq!(settings.hooks.ready_hooks(Interactivity::Interactive).len(), 1);
}

// P5 C10
#[test]
fn one_bad_hook_hides_no_other() {
    let text = r#"{"hooks": {
        "PreToolUse": [
            {"matcher": "(", "hooks": [{"command": "a"}]},
            {"matcher": 7, "hooks": [{"command": "b"}]},
            {"hooks": {}},
            {"hooks": [
                {"type": "prompt", "prompt": "hm"}, "x", {"type": "command"}, {"command": "c", "timeout": 0},
                {"command": "d", "args": ["a", 1]},
                {"command": "good", "args": ["--token", "abc"], "timeout": 1.5, "if": "Bash"}
            ]}
        ],
        "PostToolUse": 7, "Stop": [], "Notification": []
    }}"#;
    let settings = one(SettingsLayer::User, text);
    let hooks: Vec<_> = settings.hooks.all.iter().map(|hook| (hook.display_command(), hook.limit)).collect();
    assert_eq!(hooks, [("good --token ***".to_owned(), Duration::from_millis(1500))]);
    let told = |warnings: &[SettingsWarning]| -> Vec<String> {
        warnings.iter().map(|warning| format!("{}: {}", warning.origin, warning.text)).collect()
    };
    assert_eq!(
        told(&settings.warnings),
        [
            "settings:3:13: hooks left out: `matcher` is not a regular expression (look-around and back-references are not supported)",
            "settings:4:13: hooks left out: `matcher` is a number, not a string",
            "settings:5:13: hooks left out: an entry of `hooks.PreToolUse` has no array `hooks`",
            "settings:7:17: hook left out: hooks of type `prompt` are not run here",
            "settings:7:53: hook left out: a hook is an object, not a string",
            "settings:7:58: hook left out: it has no `command`",
            "settings:7:79: hook left out: `timeout` is not a positive number of seconds",
            "settings:8:17: hook left out: `args` holds something that is not a string",
            "settings:12:24: `hooks.PostToolUse` is a number, not an array",
        ]
    );
    assert_eq!(
        told(&settings.hooks.hints),
        [
            "settings:9:81: `if` of a hook has no effect here",
            "settings:1:11: hooks for `Stop`, `Notification` do not run here",
        ]
    );
}

// P5
#[test]
fn hook_timeouts_and_their_number_are_limited() {
    let hooks: Vec<String> = (0..300).map(|n| format!(r#"{{"command": "c{n}", "timeout": 1e9}}"#)).collect();
    let text = format!(r#"{{"hooks": {{"Elicitation": [{{"hooks": [{}]}}]}}}}"#, hooks.join(","));
    let settings = one(SettingsLayer::User, &text);
    assert_eq!((settings.hooks.all.len(), settings.warnings.len()), (256, 44));
    assert!(settings.hooks.all.iter().all(|hook| hook.limit == Duration::from_secs(600)));
}
