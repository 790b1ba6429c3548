//! Hooks of the program that embeds the host.

use std::sync::{Arc, Mutex};

use mcparley::hooks::{Before, HookEvent, Hooks, ToolUse};
use mcparley::model::permission::Verdict;
use mcparley::{Boxed, CallError};
use serde_json::json;

use crate::hooking::{echo, hooks, says, with_hooks};

/// Remembers what it hears, and says the same to all.
#[derive(Clone)]
struct Always {
    said: Before,
    heard: Arc<Mutex<Vec<String>>>,
}

impl Always {
    fn new(said: Before) -> Self {
        Self { said, heard: Arc::default() }
    }
}

impl Hooks for Always {
    fn events(&self) -> &[HookEvent] {
        &[HookEvent::PreToolUse]
    }

    fn before<'h>(&'h self, about: ToolUse<'h>) -> Boxed<'h, Before> {
        let server = about.server.map(|server| server.as_str());
        self.heard.lock().unwrap().push(format!("{} {server:?} {}", about.name, about.arguments));
        Box::pin(std::future::ready(self.said.clone()))
    }
}

// P5
#[tokio::test]
async fn a_program_hears_and_decides_like_a_command() {
    let allowing = Always::new(Before { verdict: Some(Verdict::Allow), ..Before::default() });
    let alive = with_hooks(&json!({})).start_as(|builder| builder.hooks(allowing.clone()));
    assert_eq!(echo(&alive, "hi").await.unwrap(), "hi");
    assert_eq!(*allowing.heard.lock().unwrap(), [r#"mcp__one__echo Some("one") {"message":"hi"}"#]);
    let reason = Some("not\u{202e} today".to_owned());
    let denying = Always::new(Before { verdict: Some(Verdict::Deny), reason, ..Before::default() });
    let alive = with_hooks(&json!({})).allow("mcp__one").start_as(|builder| builder.hooks(denying));
    let error = echo(&alive, "hi").await.unwrap_err();
    assert!(matches!(error, CallError::Denied { .. }) && error.to_string().contains("not today"), "{error}");
}

// P5
#[tokio::test]
async fn configured_hooks_have_the_last_word_about_arguments() {
    let arguments = Some(json!({ "message": "of the program" }));
    let inside = Always::new(Before { verdict: Some(Verdict::Allow), arguments, ..Before::default() });
    let alive = with_hooks(&json!({})).start_as(|builder| builder.hooks(inside.clone()));
    assert_eq!(echo(&alive, "hi").await.unwrap(), "of the program");
    let command = says("PreToolUse", json!({ "updatedInput": { "message": "of the user" } }));
    let settings = hooks("PreToolUse", "*", &[&command]);
    let alive = with_hooks(&settings).start_as(|builder| builder.hooks(inside));
    assert_eq!(echo(&alive, "hi").await.unwrap(), "of the user");
}
