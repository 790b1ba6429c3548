//! What each app's fields mean in our format.

use serde_json::Value;

use super::App;
use super::codex;
use super::draft::{Draft, Transport};
use super::entry::Entry;
use super::oauth::OAuth;
use super::reason::Reason;
use super::servers::{Address, launch, milliseconds, split_command};

/// `entry` of `app` in our format.
pub(super) fn draft(app: App, entry: &mut Entry<'_>) -> Result<Draft, Reason> {
    match app {
        App::ClaudeDesktop => {
            launch(entry, "env", &[Address::usually("url", Transport::Http)]).map(Draft::new)
        }
        App::Cursor => cursor(entry),
        App::VsCode => vs_code(entry),
        App::Windsurf => windsurf(entry),
        App::Codex => codex::draft(entry),
        App::GeminiCli => gemini(entry),
        App::OpenCode => open_code(entry),
        App::Zed => zed(entry),
        App::Cline => cline(entry),
    }
}

fn cursor(entry: &mut Entry<'_>) -> Result<Draft, Reason> {
    env_file(entry);
    let mut draft = Draft::new(launch(entry, "env", &[Address::usually("url", Transport::Http)])?);
    draft.oauth = OAuth::read(entry, "auth")?.unless_empty();
    Ok(draft)
}

fn vs_code(entry: &mut Entry<'_>) -> Result<Draft, Reason> {
    env_file(entry);
    let mut draft = Draft::new(launch(entry, "env", &[Address::usually("url", Transport::Http)])?);
    draft.oauth = OAuth::read(entry, "oauth")?.unless_empty();
    Ok(draft)
}

fn windsurf(entry: &mut Entry<'_>) -> Result<Draft, Reason> {
    let addresses =
        [Address::usually("serverUrl", Transport::Http), Address::usually("url", Transport::Http)];
    let mut draft = Draft::new(launch(entry, "env", &addresses)?);
    draft.disabled_tools = entry.texts("disabledTools")?.unwrap_or_default();
    Ok(draft)
}

fn gemini(entry: &mut Entry<'_>) -> Result<Draft, Reason> {
    let undecided = entry.has("url") && !entry.has("httpUrl") && !entry.has("type") && !entry.has("command");
    let addresses = [
        Address::usually("httpUrl", Transport::Http),
        Address::usually("url", Transport::Sse),
        Address::usually("tcp", Transport::Ws),
    ];
    let mut draft = Draft::new(launch(entry, "env", &addresses)?);
    if undecided {
        entry.note(
            "`url` was always SSE in older Gemini CLIs; if the server speaks HTTP, make its `type` `http`",
        );
    }
    if entry.flag("trust")? == Some(true) {
        entry.note("trusted there, so its tools run without asking; here they ask until a rule allows them");
    }
    draft.timeout = entry.positive("timeout")?.map(milliseconds);
    draft.enabled_tools = entry.texts("includeTools")?;
    draft.disabled_tools = entry.texts("excludeTools")?.unwrap_or_default();
    draft.oauth = OAuth::read(entry, "oauth")?.unless_empty();
    entry.raw("description");
    Ok(draft)
}

fn open_code(entry: &mut Entry<'_>) -> Result<Draft, Reason> {
    split_command(entry)?;
    let mut draft = Draft::new(launch(entry, "environment", &[Address::usually("url", Transport::Http)])?);
    draft.timeout = entry.positive("timeout")?.map(milliseconds);
    draft.oauth = OAuth::read(entry, "oauth")?.unless_empty();
    Ok(draft)
}

fn zed(entry: &mut Entry<'_>) -> Result<Draft, Reason> {
    let reachable = entry.has("command") || entry.has("url");
    if !reachable && (entry.has("settings") || entry.has("source")) {
        return Err(Reason::new("it comes with a Zed extension: there is no `command` and no `url`"));
    }
    // The word says which of two shapes the entry has, which its fields say as well.
    entry.word("source")?;
    nested_command(entry);
    let mut draft = Draft::new(launch(entry, "env", &[Address::usually("url", Transport::Http)])?);
    draft.timeout = entry.positive("timeout")?.map(|seconds| milliseconds(seconds * 1000.0));
    draft.oauth = OAuth::read(entry, "oauth")?.unless_empty();
    Ok(draft)
}

/// Older Zeds wrote `command: {path, args, env}`.
fn nested_command(entry: &mut Entry<'_>) {
    match entry.raw("command") {
        Some(Value::Object(mut fields)) => {
            if let Some(path) = fields.shift_remove("path") {
                fields.insert("command".to_owned(), path);
            }
            entry.spread(fields);
        }
        Some(command) => entry.spread([("command".to_owned(), command)].into_iter().collect()),
        None => {}
    }
}

fn cline(entry: &mut Entry<'_>) -> Result<Draft, Reason> {
    // Cline itself takes an address without a type for the older transport.
    let mut draft = Draft::new(launch(entry, "env", &[Address::usually("url", Transport::Sse)])?);
    draft.timeout = entry.positive("timeout")?.map(|seconds| milliseconds(seconds * 1000.0));
    for field in ["autoApprove", "alwaysAllow"] {
        if entry.texts(field)?.is_some_and(|tools| !tools.is_empty()) {
            entry.note(format!(
                "the tools in `{field}` run there without asking; here they ask until a rule allows them"
            ));
        }
    }
    Ok(draft)
}

/// A file with variables is read by the editor; here nobody reads it.
fn env_file(entry: &mut Entry<'_>) {
    if entry.raw("envFile").is_some() {
        entry.note("`envFile` is not carried over: put the variables the server needs into `env`");
    }
}
