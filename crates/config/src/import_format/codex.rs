//! Codex entries: `[mcp_servers.NAME]`, where variables are named in fields of their own.

use serde_json::{Map, Value};

use super::draft::{DraftLaunch, DraftTransport, EntryDraft};
use super::entry::ForeignEntry;
use super::oauth::DraftOAuth;
use super::reason::ImportRefusal;
use super::servers::{AddressField, read_launch, to_milliseconds};
use super::variables::is_variable_name;

/// Converts a Codex entry into our format.
pub(super) fn draft_codex(entry: &mut ForeignEntry<'_>) -> Result<EntryDraft, ImportRefusal> {
    // The display name in old files.
    entry.take_word("name")?;
    let mut launch = read_launch(entry, "env", &[AddressField::new("url", DraftTransport::Http)])?;
    let oauth = match &mut launch {
        DraftLaunch::Stdio { env, .. } => {
            add_inherited_variables(entry, env)?;
            None
        }
        DraftLaunch::Remote { headers, .. } => {
            headers.extend(entry.take_pairs("http_headers")?);
            add_secret_headers(entry, headers)?;
            read_oauth(entry)?
        }
    };
    let mut draft = EntryDraft { oauth, ..EntryDraft::new(launch) };
    for field in ["startup_timeout_sec", "startup_timeout_ms"] {
        if entry.take_value(field).is_some() {
            entry.add_note(format!(
                "`{field}` is not carried over: `MCP_TIMEOUT` is the limit for connecting here"
            ));
        }
    }
    draft.timeout = entry.take_positive("tool_timeout_sec")?.map(|seconds| to_milliseconds(seconds * 1000.0));
    draft.disabled_tools = entry.take_texts("disabled_tools")?.unwrap_or_default();
    draft.enabled_tools = entry.take_texts("enabled_tools")?;
    Ok(draft)
}

/// Adds `env_vars`, variables the server inherits from Codex's environment. Values in `env` take precedence.
fn add_inherited_variables(
    entry: &mut ForeignEntry<'_>,
    env: &mut Map<String, Value>,
) -> Result<(), ImportRefusal> {
    let Some(variables) = entry.take_value("env_vars") else { return Ok(()) };
    let Value::Array(variables) = variables else {
        return Err(ImportRefusal::new("`env_vars` is not a list"));
    };
    for (index, variable) in variables.iter().enumerate() {
        // Newer versions of Codex also write `{name, source}`.
        let name = variable.as_str().or_else(|| variable.get("name").and_then(Value::as_str));
        let name = name.filter(|name| is_variable_name(name));
        let Some(name) = name else {
            return Err(ImportRefusal::new(format!("`env_vars[{index}]` is not the name of a variable")));
        };
        if variable.get("source").and_then(Value::as_str) == Some("remote") {
            entry.add_note(format!(
                "`{name}` comes from a remote environment there; here it is this machine's"
            ));
        }
        env.entry(name).or_insert_with(|| Value::String(format!("${{{name}}}")));
    }
    Ok(())
}

/// Adds headers whose values are in environment variables.
fn add_secret_headers(
    entry: &mut ForeignEntry<'_>,
    headers: &mut Map<String, Value>,
) -> Result<(), ImportRefusal> {
    if let Some(variable) = entry.take_word("bearer_token_env_var")? {
        let reference = variable_reference("bearer_token_env_var", &variable)?;
        headers.insert("Authorization".to_owned(), Value::String(format!("Bearer {reference}")));
    }
    for (header, variable) in entry.take_pairs("env_http_headers")? {
        let field = format!("env_http_headers.{header}");
        let reference = variable_reference(&field, variable.as_str().unwrap_or_default())?;
        headers.insert(header, Value::String(reference));
    }
    Ok(())
}

fn read_oauth(entry: &mut ForeignEntry<'_>) -> Result<Option<DraftOAuth>, ImportRefusal> {
    let mut oauth = DraftOAuth::from_field(entry, "oauth")?;
    oauth.scopes.extend(entry.take_texts("scopes")?.unwrap_or_default());
    Ok(oauth.unless_empty())
}

/// A reference to a variable. The error does not quote the name, because it may be the token itself.
fn variable_reference(field: &str, variable: &str) -> Result<String, ImportRefusal> {
    if is_variable_name(variable) {
        Ok(format!("${{{variable}}}"))
    } else {
        Err(ImportRefusal::new(format!("`{field}` is not the name of a variable")))
    }
}
