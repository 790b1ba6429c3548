//! Gateway entry: the command of the gateway in the format of each client, and its recognition.

use mcparley_model::config::{RawServer, StdioConfig, TransportConfig};
use mcparley_model::document::JsonDocument;
use mcparley_model::program::starts_mcparley;
use mcparley_model::scope::{ConfigOrigin, Source};
use serde_json::{Value, json};

use super::{ClientProgram, GATEWAY_NAME, SetupContext, SetupScope};
use crate::import_format::App;
use crate::sources::LoadedConfig;

/// The command line that starts the gateway.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GatewayCommand {
    /// The program: `mcparley`, or its absolute path.
    pub program: String,
    /// The arguments, beginning with `serve`.
    pub args: Vec<String>,
}

impl GatewayCommand {
    /// The command `mcparley serve` with these options, as `client` can start it.
    ///
    /// The program is named without a path if `PATH` leads to the running executable. A program of the
    /// desktop gets the absolute path in any case, because its `PATH` is not that of the shell.
    #[must_use]
    pub fn for_client(
        client: ClientProgram,
        scope: SetupScope,
        options: Vec<String>,
        context: &SetupContext<'_>,
    ) -> Self {
        let may_be_short = scope == SetupScope::Project || !client.is_desktop_program();
        let program = match &context.paths.executable {
            Some(path) if !(may_be_short && is_on_path(context.loaded)) => {
                path.to_string_lossy().into_owned()
            }
            Some(_) | None => GATEWAY_NAME.to_owned(),
        };
        Self { program, args: std::iter::once("serve".to_owned()).chain(options).collect() }
    }

    /// The entry in the format of `client`.
    pub(super) fn to_entry(&self, client: ClientProgram, is_nested: bool) -> Value {
        let Self { program, args } = self;
        match client {
            // As `claude mcp add` writes it.
            ClientProgram::ClaudeCode => {
                json!({ "type": "stdio", "command": program, "args": args, "env": {} })
            }
            ClientProgram::Importable(App::Cursor | App::VsCode) => {
                json!({ "type": "stdio", "command": program, "args": args })
            }
            ClientProgram::Importable(App::OpenCode) => {
                let words: Vec<&String> = std::iter::once(program).chain(args).collect();
                if is_nested {
                    json!({ "type": "local", "command": words })
                } else {
                    json!({ "type": "local", "command": words, "enabled": true })
                }
            }
            ClientProgram::Importable(
                App::ClaudeDesktop
                | App::Codex
                | App::GeminiCli
                | App::Zed
                | App::Windsurf
                | App::Cline
                | App::QwenCode,
            ) => json!({ "command": program, "args": args }),
        }
    }
}

/// Whether `mcparley` on `PATH` is the running executable.
fn is_on_path(loaded: &LoadedConfig) -> bool {
    let Some(stdio) = to_stdio(&[GATEWAY_NAME.to_owned()], loaded) else { return false };
    loaded.programs.find_program(GATEWAY_NAME, &stdio).is_some_and(|found| found.is_self)
}

/// Whether an entry of any client would start mcparley, even if the client has it switched off.
pub(super) fn is_gateway_entry(entry: &Value, loaded: &LoadedConfig) -> bool {
    let stdio = command_words(entry).and_then(|words| to_stdio(&words, loaded));
    stdio.is_some_and(|stdio| starts_mcparley(&stdio, loaded.programs.as_ref()))
}

/// The words of the command line: `command` is a word, a list of words, or an object with a `path`.
fn command_words(entry: &Value) -> Option<Vec<String>> {
    let words = |value: Option<&Value>| -> Vec<String> {
        let items = value.and_then(Value::as_array).into_iter().flatten();
        items.filter_map(|item| item.as_str().map(str::to_owned)).collect()
    };
    match entry.get("command")? {
        Value::String(program) => {
            Some(std::iter::once(program.clone()).chain(words(entry.get("args"))).collect())
        }
        list @ Value::Array(_) => Some(words(Some(list))),
        Value::Object(command) => {
            let program = command.get("path").and_then(Value::as_str)?;
            Some(std::iter::once(program.to_owned()).chain(words(command.get("args"))).collect())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
    }
}

/// The command line as the plan would start it.
pub(super) fn to_stdio(words: &[String], loaded: &LoadedConfig) -> Option<StdioConfig> {
    let (program, args) = words.split_first()?;
    let text = json!({ "command": program, "args": args }).to_string();
    let document = JsonDocument::parse(Source::from_label("entry"), &text).ok()?;
    let raw = RawServer::from_node(GATEWAY_NAME, document.root()?).ok()?;
    let origin = ConfigOrigin::for_source(Source::from_label("entry"));
    match raw.to_config(&loaded.env, &origin).ok()?.transport {
        TransportConfig::Stdio(stdio) => Some(stdio),
        _ => None,
    }
}
