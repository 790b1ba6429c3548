//! Converts the fields of each app's entries into our format.

use serde_json::Value;

use super::App;
use super::codex;
use super::draft::{DraftTransport, EntryDraft};
use super::entry::ForeignEntry;
use super::oauth::DraftOAuth;
use super::reason::ImportRefusal;
use super::servers::{AddressField, read_launch, split_command, to_milliseconds};

/// Converts an entry of `app` into our format.
pub(super) fn draft_entry(app: App, entry: &mut ForeignEntry<'_>) -> Result<EntryDraft, ImportRefusal> {
    match app {
        App::ClaudeDesktop => {
            read_launch(entry, "env", &[AddressField::new("url", DraftTransport::Http)]).map(EntryDraft::new)
        }
        App::Cursor => draft_cursor(entry),
        App::VsCode => draft_vs_code(entry),
        App::Windsurf => draft_windsurf(entry),
        App::Codex => codex::draft_codex(entry),
        // Qwen Code began as a copy of Gemini CLI and kept the format.
        App::GeminiCli | App::QwenCode => draft_gemini(app, entry),
        App::OpenCode => draft_open_code(entry),
        App::Zed => draft_zed(entry),
        App::Cline => draft_cline(entry),
    }
}

fn draft_cursor(entry: &mut ForeignEntry<'_>) -> Result<EntryDraft, ImportRefusal> {
    note_env_file(entry);
    let mut draft =
        EntryDraft::new(read_launch(entry, "env", &[AddressField::new("url", DraftTransport::Http)])?);
    draft.oauth = DraftOAuth::from_field(entry, "auth")?.unless_empty();
    Ok(draft)
}

fn draft_vs_code(entry: &mut ForeignEntry<'_>) -> Result<EntryDraft, ImportRefusal> {
    note_env_file(entry);
    let mut draft =
        EntryDraft::new(read_launch(entry, "env", &[AddressField::new("url", DraftTransport::Http)])?);
    draft.oauth = DraftOAuth::from_field(entry, "oauth")?.unless_empty();
    Ok(draft)
}

fn draft_windsurf(entry: &mut ForeignEntry<'_>) -> Result<EntryDraft, ImportRefusal> {
    let addresses = [
        AddressField::new("serverUrl", DraftTransport::Http),
        AddressField::new("url", DraftTransport::Http),
    ];
    let mut draft = EntryDraft::new(read_launch(entry, "env", &addresses)?);
    draft.disabled_tools = entry.take_texts("disabledTools")?.unwrap_or_default();
    Ok(draft)
}

fn draft_gemini(app: App, entry: &mut ForeignEntry<'_>) -> Result<EntryDraft, ImportRefusal> {
    let undecided = entry.has_field("url")
        && !entry.has_field("httpUrl")
        && !entry.has_field("type")
        && !entry.has_field("command");
    let addresses = [
        AddressField::new("httpUrl", DraftTransport::Http),
        AddressField::new("url", DraftTransport::Sse),
        AddressField::new("tcp", DraftTransport::Ws),
    ];
    let mut draft = EntryDraft::new(read_launch(entry, "env", &addresses)?);
    if undecided {
        entry.add_note(match app {
            App::QwenCode => "`url` is SSE in Qwen Code; if the server speaks HTTP, make its `type` `http`",
            _ => {
                "`url` was always SSE in older Gemini CLIs; if the server speaks HTTP, make its `type` `http`"
            }
        });
    }
    if entry.take_bool("trust")? == Some(true) {
        entry.add_note(
            "trusted there, so its tools run without asking; here they ask until a rule allows them",
        );
    }
    draft.timeout = entry.take_positive("timeout")?.map(to_milliseconds);
    draft.enabled_tools = entry.take_texts("includeTools")?;
    draft.disabled_tools = entry.take_texts("excludeTools")?.unwrap_or_default();
    draft.oauth = DraftOAuth::from_field(entry, "oauth")?.unless_empty();
    entry.take_value("description");
    Ok(draft)
}

fn draft_open_code(entry: &mut ForeignEntry<'_>) -> Result<EntryDraft, ImportRefusal> {
    split_command(entry)?;
    let mut draft = EntryDraft::new(read_launch(
        entry,
        "environment",
        &[AddressField::new("url", DraftTransport::Http)],
    )?);
    draft.timeout = entry.take_positive("timeout")?.map(to_milliseconds);
    draft.oauth = DraftOAuth::from_field(entry, "oauth")?.unless_empty();
    Ok(draft)
}

fn draft_zed(entry: &mut ForeignEntry<'_>) -> Result<EntryDraft, ImportRefusal> {
    let reachable = entry.has_field("command") || entry.has_field("url");
    if !reachable && (entry.has_field("settings") || entry.has_field("source")) {
        return Err(ImportRefusal::new("it comes with a Zed extension: there is no `command` and no `url`"));
    }
    // The word distinguishes two shapes of the entry, which its fields do as well.
    entry.take_word("source")?;
    flatten_command(entry);
    let mut draft =
        EntryDraft::new(read_launch(entry, "env", &[AddressField::new("url", DraftTransport::Http)])?);
    draft.timeout = entry.take_positive("timeout")?.map(|seconds| to_milliseconds(seconds * 1000.0));
    draft.oauth = DraftOAuth::from_field(entry, "oauth")?.unless_empty();
    Ok(draft)
}

/// Flattens `command: {path, args, env}`, as older versions of Zed wrote it.
fn flatten_command(entry: &mut ForeignEntry<'_>) {
    match entry.take_value("command") {
        Some(Value::Object(mut fields)) => {
            if let Some(path) = fields.shift_remove("path") {
                fields.insert("command".to_owned(), path);
            }
            entry.insert_fields(fields);
        }
        Some(command) => entry.insert_fields([("command".to_owned(), command)].into_iter().collect()),
        None => {}
    }
}

fn draft_cline(entry: &mut ForeignEntry<'_>) -> Result<EntryDraft, ImportRefusal> {
    // Like Cline itself, an address without a type means the older SSE transport.
    let mut draft =
        EntryDraft::new(read_launch(entry, "env", &[AddressField::new("url", DraftTransport::Sse)])?);
    draft.timeout = entry.take_positive("timeout")?.map(|seconds| to_milliseconds(seconds * 1000.0));
    for field in ["autoApprove", "alwaysAllow"] {
        if entry.take_texts(field)?.is_some_and(|tools| !tools.is_empty()) {
            entry.add_note(format!(
                "the tools in `{field}` run there without asking; here they ask until a rule allows them"
            ));
        }
    }
    Ok(draft)
}

/// Notes that `envFile` is not imported: the editor reads that file, we do not.
fn note_env_file(entry: &mut ForeignEntry<'_>) {
    if entry.take_value("envFile").is_some() {
        entry.add_note("`envFile` is not carried over: put the variables the server needs into `env`");
    }
}
