//! Hooks of a project: none runs before the user has approved its exact definition.

use mcparley::config::change;
use mcparley::model::hook::HookStatus;
use serde_json::json;

use crate::alive::{Alive, Making};
use crate::hooking::{echo, hooks, with_hooks};

fn project(settings: &serde_json::Value) -> Making {
    with_hooks(&json!({})).file("home/project/.claude/settings.json", settings).allow("mcp__one")
}

fn standings(alive: &Alive) -> Vec<HookStatus> {
    let loaded = alive.world.load();
    loaded.settings.hooks.hooks_with_status(loaded.session).into_iter().map(|judged| judged.status).collect()
}

fn ran(alive: &Alive) -> bool {
    alive.world.path("home/project/ran").exists()
}

// P5 H05 B26
#[tokio::test]
async fn hooks_of_a_repository_run_only_when_approved_as_they_are() {
    let mut settings = hooks("PreToolUse", "*", &["touch ran"]);
    settings["hooks"]["SessionStart"] = settings["hooks"]["PreToolUse"].clone();
    settings["hooks"]["Elicitation"] = settings["hooks"]["PreToolUse"].clone();
    let alive = project(&settings).ready().await;
    echo(&alive, "hi").await.unwrap();
    assert!(!ran(&alive));
    assert_eq!(
        standings(&alive),
        [HookStatus::NeedsApproval, HookStatus::NeedsApproval, HookStatus::NeedsApproval]
    );

    let (paths, loaded) = (alive.world.paths(), alive.world.load());
    let pending = change::pending_hooks(&loaded);
    assert_eq!(pending.len(), 3);
    let before = loaded.settings.hooks.all[0].definition_hash().to_string();
    let chosen = change::approve_hook(&paths, &loaded, &before["sha256:".len()..][..12]).unwrap();
    assert_eq!(chosen.file, paths.approvals, "outside of the project");
    alive.host.reload().await;
    echo(&alive, "hi").await.unwrap();
    assert!(ran(&alive));

    std::fs::remove_file(alive.world.path("home/project/ran")).unwrap();
    let changed = hooks("PreToolUse", "*", &["touch ran; true"]);
    alive.world.write("home/project/.claude/settings.json", &changed.to_string());
    alive.host.reload().await;
    echo(&alive, "hi").await.unwrap();
    assert!(!ran(&alive), "it is another one now");
    assert_eq!(standings(&alive), [HookStatus::NeedsApproval]);
}

// P5 H05 B25
#[tokio::test]
async fn a_project_cannot_approve_its_hooks_or_switch_off_those_of_others() {
    let theirs = hooks("PreToolUse", "*", &["touch ran"]);
    let definition = {
        let alive = project(&theirs).start();
        alive.world.load().settings.hooks.all[0].definition_hash().to_string()
    };
    let mut settings = theirs.clone();
    settings["approvedHooks"] = json!([definition]);
    settings["disableAllHooks"] = json!(true);
    settings["enableAllProjectMcpServers"] = json!(true);
    let own = hooks("PreToolUse", "*", &["touch mine"]);
    let making = with_hooks(&own).file("home/project/.claude/settings.json", &settings);
    let making = making.file("home/project/.claude/settings.local.json", &settings);
    let alive = making.allow("mcp__one").ready().await;
    echo(&alive, "hi").await.unwrap();
    assert!(!ran(&alive));
    assert!(alive.world.path("home/project/mine").exists());
}

// P5
#[tokio::test]
async fn rejected_hook_does_not_run_until_reset() {
    let alive = project(&hooks("PreToolUse", "*", &["touch ran"])).start();
    let (paths, loaded) = (alive.world.paths(), alive.world.load());
    let definition = loaded.settings.hooks.all[0].definition_hash().to_string();
    change::approve_hook(&paths, &loaded, &definition).unwrap();
    assert_eq!(standings(&alive), [HookStatus::Ready]);
    change::reject_hook(&paths, &loaded, &definition).unwrap();
    assert!(matches!(standings(&alive)[..], [HookStatus::Rejected { .. }]));
    change::reset_project_choices(&paths).unwrap();
    assert_eq!(standings(&alive), [HookStatus::NeedsApproval]);
    for wrong in ["", "sha256:", "abc", "sha256:ffffffffffff"] {
        assert!(change::approve_hook(&paths, &loaded, wrong).is_err(), "{wrong}");
    }
    let own = with_hooks(&hooks("PreToolUse", "*", &["touch ran"])).start();
    let error = change::approve_hook(&own.world.paths(), &own.world.load(), &definition).unwrap_err();
    assert!(error.to_string().contains("needs no approval"), "{error}");
}
