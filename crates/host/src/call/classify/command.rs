//! Lets a command decide in mode `auto` (P2).
//!
//! It reads one JSON object on its standard input and prints one on its standard output:
//!
//! ```json
//! { "server": "db", "tool": "query", "name": "mcp__db__query", "description": "…", "arguments": { "sql": "…" },
//!   "hints": { "readOnly": true, "destructive": false, "idempotent": true, "openWorld": false }, "wasAllowed": true }
//! { "decision": "allow", "reason": "it only reads" }
//! ```
//!
//! `decision` is `allow`, `ask` or `deny`. Whatever goes wrong, a person is asked.

use std::time::Duration;

use mcparley_model::expand::Env;
use mcparley_model::limits::{CLASSIFIER_TIME, HOOK_TEXT_CHARS};
use mcparley_model::permission::Verdict;
use mcparley_model::settings::ClassifierCommand;
use mcparley_model::text::{clean, cut};
use mcparley_platform::process::Launch;
use mcparley_wire::peer::Boxed;
use serde::Deserialize;
use serde_json::json;

use super::{Case, Classifier, Opinion};
use crate::hooks::run_command;
use crate::launch::passed_on;
use crate::paths::Paths;

/// A command that decides.
pub(crate) struct ByCommand {
    launch: Launch,
    limit: Duration,
}

/// What it prints.
#[derive(Deserialize)]
struct Printed {
    decision: Word,
    #[serde(default)]
    reason: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Word {
    Allow,
    Ask,
    Deny,
}

impl ByCommand {
    pub(crate) fn new(command: &ClassifierCommand, env: &Env, paths: &Paths) -> Self {
        let ClassifierCommand { command, args, timeout } = command;
        let launch = Launch {
            program: command.into(),
            args: args.iter().map(Into::into).collect(),
            env: passed_on(env),
            cwd: Some(paths.cwd.clone()),
        };
        Self { launch, limit: timeout.unwrap_or(CLASSIFIER_TIME) }
    }

    /// What the command says, or what went wrong with it.
    async fn ask(&self, case: &Case<'_>) -> Result<Opinion, String> {
        let input = input(case).to_string();
        let ran = run_command(&self.launch, input.as_bytes(), self.limit).await;
        let ran = ran.map_err(|error| error.to_string())?;
        if !ran.exit.is_success() {
            return Err("it did not end well".to_owned());
        }
        // What the reader says about a fault may repeat the text, so it is not asked.
        let printed = serde_json::from_slice(&ran.printed);
        let Printed { decision, reason } =
            printed.map_err(|_| r#"it printed something else than `{"decision": …}`"#.to_owned())?;
        let verdict = match decision {
            Word::Allow => Verdict::Allow,
            Word::Ask => Verdict::Ask,
            Word::Deny => Verdict::Deny,
        };
        let reason = reason.filter(|reason| !reason.trim().is_empty());
        let reason = reason.map(|reason| cut(&clean(&reason), HOOK_TEXT_CHARS).into_owned());
        Ok(Opinion { verdict, reason: reason.unwrap_or_else(|| "the classifier says so".to_owned()) })
    }
}

impl Classifier for ByCommand {
    fn classify<'c>(&'c self, case: Case<'c>) -> Boxed<'c, Opinion> {
        Box::pin(async move {
            self.ask(&case).await.unwrap_or_else(|trouble| Opinion {
                verdict: Verdict::Ask,
                reason: format!("the classifier failed: {trouble}"),
            })
        })
    }
}

fn input(case: &Case<'_>) -> serde_json::Value {
    let Case { entry, arguments, was_allowed } = case;
    json!({
        "server": entry.server(),
        "tool": entry.tool.name,
        "name": entry.name,
        "description": entry.tool.description,
        "arguments": arguments,
        "hints": entry.tool.hints,
        "wasAllowed": was_allowed,
    })
}
