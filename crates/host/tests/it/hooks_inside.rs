//! Hooks of the program that embeds the host.

use std::sync::{Arc, Mutex};

use mcparley::hooks::{HookEvent, Hooks, PreHookAnswer, ToolUse};
use mcparley::model::permission::PermissionVerdict;
use mcparley::{BoxedFuture, CallError};
use serde_json::json;

use crate::hooking::{echo, hooks, says, with_hooks};

/// Hooks that record their events, and give all the same answer.
#[derive(Clone)]
struct Always {
    said: PreHookAnswer,
    heard: Arc<Mutex<Vec<String>>>,
}

impl Always {
    fn new(said: PreHookAnswer) -> Self {
        Self { said, heard: Arc::default() }
    }
}

impl Hooks for Always {
    fn events(&self) -> &[HookEvent] {
        &[HookEvent::PreToolUse]
    }

    fn before_tool<'h>(&'h self, about: ToolUse<'h>) -> BoxedFuture<'h, PreHookAnswer> {
        let server = about.server.map(|server| server.as_str());
        self.heard.lock().unwrap().push(format!("{} {server:?} {}", about.name, about.arguments));
        Box::pin(std::future::ready(self.said.clone()))
    }
}

// P5
#[tokio::test]
async fn hooks_of_a_program_get_events_and_decide_like_commands() {
    let allowing =
        Always::new(PreHookAnswer { verdict: Some(PermissionVerdict::Allow), ..PreHookAnswer::default() });
    let alive = with_hooks(&json!({})).start_as(|builder| builder.hooks(allowing.clone()));
    assert_eq!(echo(&alive, "hi").await.unwrap(), "hi");
    assert_eq!(*allowing.heard.lock().unwrap(), [r#"mcp__one__echo Some("one") {"message":"hi"}"#]);
    let reason = Some("not\u{202e} today".to_owned());
    let denying = Always::new(PreHookAnswer {
        verdict: Some(PermissionVerdict::Deny),
        reason,
        ..PreHookAnswer::default()
    });
    let alive = with_hooks(&json!({})).allow("mcp__one").start_as(|builder| builder.hooks(denying));
    let error = echo(&alive, "hi").await.unwrap_err();
    assert!(matches!(error, CallError::Denied { .. }) && error.to_string().contains("not today"), "{error}");
}

// P5
#[tokio::test]
async fn configured_hooks_have_the_last_word_about_arguments() {
    let arguments = Some(json!({ "message": "of the program" }));
    let inside = Always::new(PreHookAnswer {
        verdict: Some(PermissionVerdict::Allow),
        arguments,
        ..PreHookAnswer::default()
    });
    let alive = with_hooks(&json!({})).start_as(|builder| builder.hooks(inside.clone()));
    assert_eq!(echo(&alive, "hi").await.unwrap(), "of the program");
    let command = says("PreToolUse", json!({ "updatedInput": { "message": "of the user" } }));
    let settings = hooks("PreToolUse", "*", &[&command]);
    let alive = with_hooks(&settings).start_as(|builder| builder.hooks(inside));
    assert_eq!(echo(&alive, "hi").await.unwrap(), "of the user");
}
