//! For which names hooks are, and which of them run.

use super::*;
use crate::approval::{FolderApprovals, Session};
use crate::document::Document;
use crate::scope::Source;
use crate::settings::Settings;

const LAYERS: [Layer; 6] =
    [Layer::User, Layer::Project, Layer::Private, Layer::Local, Layer::CommandLine, Layer::Managed];

fn read(settings: &mut Settings, layer: Layer, text: &str) {
    let document = Document::parse(Source::inline("settings"), text).unwrap();
    settings.read(document.root().unwrap(), layer);
}

fn one(layer: Layer, text: &str) -> Settings {
    let mut settings = Settings::default();
    read(&mut settings, layer, text);
    settings
}

fn hook(command: &str) -> String {
    format!(
        r#"{{"hooks": {{"PreToolUse": [{{"matcher": "mcp__s__.*", "hooks": [{{"type": "command", "command": "{command}"}}]}}]}}}}"#
    )
}

fn standings(settings: &Settings, session: Session) -> Vec<&'static str> {
    settings.hooks.judged(session).iter().map(|judged| judged.standing.as_str()).collect()
}

// P5
#[test]
fn a_matcher_is_for_whole_names() {
    let name = "mcp__s__t";
    let fitting = ["*", "", " ", "mcp__s__t", "mcp__s__.*", "mcp__.*__t", "x|mcp__s__t", ".*"];
    for text in fitting {
        assert!(Matcher::new(text).unwrap().fits(name), "{text}");
    }
    assert!(Matcher::all().fits(name));
    for text in ["mcp__s", "t", "mcp__s__", "x|t", "MCP__s__t", "^$", "a)|(?:.*"] {
        assert!(!Matcher::new(text).is_ok_and(|matcher| matcher.fits(name)), "{text}");
    }
}

// P5 B103
#[test]
fn a_matcher_that_could_take_for_ever_is_none() {
    assert_eq!(Matcher::new("(?=a)").unwrap_err(), MatcherError::Syntax);
    assert_eq!(Matcher::new(r"(a)\1").unwrap_err(), MatcherError::Syntax);
    assert_eq!(Matcher::new("a)|(?:.*").unwrap_err(), MatcherError::Syntax);
    assert_eq!(Matcher::new(&"a".repeat(2000)).unwrap_err(), MatcherError::TooLong);
    assert_eq!(Matcher::new("((a{100}){100}){100}").unwrap_err(), MatcherError::TooLarge);
}

// P5 H05 B26
#[test]
fn only_hooks_from_outside_of_the_project_run_unasked() {
    for layer in LAYERS {
        let settings = one(layer, &hook("check"));
        let outside = !matches!(layer, Layer::Project | Layer::Local);
        let expected = if outside { "ready" } else { "needs approval" };
        for session in [Session::Interactive, Session::Headless] {
            assert_eq!(standings(&settings, session), [expected], "{layer:?}");
        }
        let named = standings(&settings, Session::HeadlessWithProject);
        assert_eq!(named, ["ready"], "{layer:?}");
    }
}

/// The settings with what the approval store holds about the folder.
fn settled(mut settings: Settings, folder: &str) -> Settings {
    let document = Document::parse(Source::inline("approvals"), folder).unwrap();
    settings.choices.recorded = FolderApprovals::read(document.root().unwrap());
    settings.settle_folder_items(Session::Interactive);
    settings
}

// P5 H05 B26 C7
#[test]
fn an_approval_is_of_one_definition_and_counts_from_the_store_only() {
    let project = one(Layer::Project, &hook("check"));
    let definition = project.hooks.all[0].definition().to_string();
    let approval = format!(r#"{{"approved": {{"hooks": {{"PreToolUse": ["{definition}"]}}}}}}"#);
    let ready = settled(project.clone(), &approval);
    assert_eq!(standings(&ready, Session::Interactive), ["ready"]);
    for layer in LAYERS {
        let mut settings = project.clone();
        let forged = format!(r#"{{"approvedHooks": ["{definition}"], "approved": {approval}}}"#);
        read(&mut settings, layer, &forged);
        let settings = settled(settings, "{}");
        assert_eq!(standings(&settings, Session::Interactive), ["needs approval"], "{layer:?}");
    }
    for changed in [
        hook("check --twice"),
        hook("check").replace("mcp__s__.*", "*"),
        hook("check").replace("Pre", "Post"),
        hook("check").replace(r#""command": "check""#, r#""command": "check", "args": []"#),
    ] {
        let settings = settled(one(Layer::Project, &changed), &approval);
        assert_eq!(standings(&settings, Session::Interactive), ["needs approval"], "{changed}");
    }
}

// P5
#[test]
fn a_no_to_what_a_project_brings_wins_and_spares_the_users_own() {
    let mut settings = one(Layer::Project, &hook("check"));
    let definition = settings.hooks.all[0].definition().to_string();
    read(&mut settings, Layer::User, &hook("check"));
    let both = format!(
        r#"{{"approved": {{"hooks": {{"PreToolUse": ["{definition}"]}}}}, "rejected": {{"hooks": ["{definition}"]}}}}"#
    );
    let settings = settled(settings, &both);
    assert_eq!(standings(&settings, Session::Interactive), ["rejected", "ready"]);
}

// P5 C9
#[test]
fn whoever_may_switches_hooks_off_and_never_the_administrators() {
    let off = r#"{"disableAllHooks": true}"#;
    for layer in LAYERS {
        let mut settings = one(Layer::User, &hook("mine"));
        read(&mut settings, Layer::Managed, &hook("theirs"));
        read(&mut settings, layer, off);
        let expected = match layer {
            Layer::Managed => ["disabled", "disabled"],
            Layer::Project | Layer::Local => ["ready", "ready"],
            Layer::User | Layer::Private | Layer::CommandLine => ["disabled", "ready"],
        };
        assert_eq!(standings(&settings, Session::Interactive), expected, "{layer:?}");
    }
    for (layer, expected) in [(Layer::Managed, ["disabled", "ready"]), (Layer::User, ["ready", "ready"])] {
        let mut settings = one(Layer::User, &hook("mine"));
        read(&mut settings, Layer::Managed, &hook("theirs"));
        read(&mut settings, layer, r#"{"allowManagedHooksOnly": true}"#);
        assert_eq!(standings(&settings, Session::Interactive), expected, "{layer:?}");
    }
}

// P5
#[test]
fn the_same_hook_in_two_files_runs_once() {
    let mut settings = one(Layer::User, &hook("check"));
    read(&mut settings, Layer::Managed, &hook("check"));
    assert_eq!(standings(&settings, Session::Interactive), ["ready", "duplicate"]);
    assert_eq!(settings.hooks.ready(Session::Interactive).len(), 1);
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
    let settings = one(Layer::User, text);
    let hooks: Vec<_> = settings.hooks.all.iter().map(|hook| (hook.shown(), hook.limit)).collect();
    assert_eq!(hooks, [("good --token ***".to_owned(), Duration::from_millis(1500))]);
    let told = |warnings: &[Warning]| -> Vec<String> {
        warnings.iter().map(|warning| format!("{}: {}", warning.origin, warning.text)).collect()
    };
    assert_eq!(
        told(&settings.warnings),
        [
            "settings:3:13: hooks left out: `matcher` is not a regular expression without look-around and back-references",
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
            "settings:9:81: `if` of a hook means nothing here",
            "settings:1:11: hooks for `Stop`, `Notification` do not run here",
        ]
    );
}

// P5
#[test]
fn limits_are_bounded_and_there_are_not_too_many_hooks() {
    let hooks: Vec<String> = (0..300).map(|n| format!(r#"{{"command": "c{n}", "timeout": 1e9}}"#)).collect();
    let text = format!(r#"{{"hooks": {{"Elicitation": [{{"hooks": [{}]}}]}}}}"#, hooks.join(","));
    let settings = one(Layer::User, &text);
    assert_eq!((settings.hooks.all.len(), settings.warnings.len()), (256, 44));
    assert!(settings.hooks.all.iter().all(|hook| hook.limit == Duration::from_secs(600)));
}
