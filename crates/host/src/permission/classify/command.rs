//! The classifier command: an external program that decides in mode `auto`.
//!
//! The program reads one JSON object on its standard input and prints one on its standard output:
//!
//! ```json
//! { "server": "db", "tool": "query", "name": "mcp__db__query", "description": "…", "arguments": { "sql": "…" },
//!   "hints": { "readOnly": true, "destructive": false, "idempotent": true, "openWorld": false }, "wasAllowed": true }
//! { "decision": "allow", "reason": "it only reads" }
//! ```
//!
//! `decision` is `allow`, `ask` or `deny`. If the program fails in any way, the user is asked.

use std::time::Duration;

use mcparley_model::expand::Env;
use mcparley_model::limits::{CLASSIFIER_TIME, HOOK_TEXT_CHARS};
use mcparley_model::permission::PermissionVerdict;
use mcparley_model::settings::ClassifierCommand;
use mcparley_model::text::{clean_text, truncate_text};
use mcparley_platform::process::ProgramLaunch;
use mcparley_wire::peer::BoxedFuture;
use serde::Deserialize;
use serde_json::json;

use super::{Classification, Classifier, ClassifierCase};
use crate::hooks::run_command;
use mcparley_config::Paths;
use mcparley_pool::launch::inherited_variables;

/// A classifier that runs a command.
pub(crate) struct CommandClassifier {
    launch: ProgramLaunch,
    limit: Duration,
}

/// The JSON that the command prints.
#[derive(Deserialize)]
struct ClassifierOutput {
    decision: ClassifierDecision,
    #[serde(default)]
    reason: Option<String>,
}

/// The decision that the command prints.
#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum ClassifierDecision {
    Allow,
    Ask,
    Deny,
}

impl CommandClassifier {
    pub(crate) fn new(command: &ClassifierCommand, env: &Env, paths: &Paths) -> Self {
        let ClassifierCommand { command, args, timeout } = command;
        let launch = ProgramLaunch {
            program: command.into(),
            args: args.iter().map(Into::into).collect(),
            env: inherited_variables(env),
            cwd: Some(paths.cwd.clone()),
        };
        Self { launch, limit: timeout.unwrap_or(CLASSIFIER_TIME) }
    }

    /// Runs the command; the error says why it gave no decision.
    async fn run_classifier(&self, case: &ClassifierCase<'_>) -> Result<Classification, String> {
        let input = classifier_input(case).to_string();
        let ran = run_command(&self.launch, input.as_bytes(), self.limit).await;
        let ran = ran.map_err(|error| error.to_string())?;
        if !ran.exit.is_success() {
            return Err("it exited with an error".to_owned());
        }
        // The parser's error may quote the output, so it is not shown.
        let printed = serde_json::from_slice(&ran.stdout);
        let ClassifierOutput { decision, reason } =
            printed.map_err(|_| r#"it did not print `{"decision": …}`"#.to_owned())?;
        let verdict = match decision {
            ClassifierDecision::Allow => PermissionVerdict::Allow,
            ClassifierDecision::Ask => PermissionVerdict::Ask,
            ClassifierDecision::Deny => PermissionVerdict::Deny,
        };
        let reason = reason.filter(|reason| !reason.trim().is_empty());
        let reason = reason.map(|reason| truncate_text(&clean_text(&reason), HOOK_TEXT_CHARS).into_owned());
        Ok(Classification { verdict, reason: reason.unwrap_or_else(|| "the classifier says so".to_owned()) })
    }
}

impl Classifier for CommandClassifier {
    fn classify_call<'c>(&'c self, case: ClassifierCase<'c>) -> BoxedFuture<'c, Classification> {
        Box::pin(async move {
            self.run_classifier(&case).await.unwrap_or_else(|trouble| Classification {
                verdict: PermissionVerdict::Ask,
                reason: format!("the classifier failed: {trouble}"),
            })
        })
    }
}

fn classifier_input(case: &ClassifierCase<'_>) -> serde_json::Value {
    let ClassifierCase { entry, arguments, was_allowed } = case;
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
