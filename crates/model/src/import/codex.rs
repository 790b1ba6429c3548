//! Codex: `[mcp_servers.NAME]`, where variables are named in fields of their own.

use serde_json::{Map, Value};

use super::draft::{Draft, Launch, Transport};
use super::entry::Entry;
use super::oauth::OAuth;
use super::reason::Reason;
use super::servers::{Address, launch, milliseconds};
use super::variables::is_variable_name;

/// A Codex entry in our format.
pub(super) fn draft(entry: &mut Entry<'_>) -> Result<Draft, Reason> {
    // The name people wrote for display in old files.
    entry.word("name")?;
    let mut launch = launch(entry, "env", &[Address::usually("url", Transport::Http)])?;
    let oauth = match &mut launch {
        Launch::Stdio { env, .. } => {
            inherited(entry, env)?;
            None
        }
        Launch::Remote { headers, .. } => {
            headers.extend(entry.pairs("http_headers")?);
            secret_headers(entry, headers)?;
            sign_in(entry)?
        }
    };
    let mut draft = Draft { oauth, ..Draft::new(launch) };
    for field in ["startup_timeout_sec", "startup_timeout_ms"] {
        if entry.raw(field).is_some() {
            entry.note(format!(
                "`{field}` is not carried over: `MCP_TIMEOUT` is the limit for connecting here"
            ));
        }
    }
    draft.timeout = entry.positive("tool_timeout_sec")?.map(|seconds| milliseconds(seconds * 1000.0));
    draft.disabled_tools = entry.texts("disabled_tools")?.unwrap_or_default();
    draft.enabled_tools = entry.texts("enabled_tools")?;
    Ok(draft)
}

/// `env_vars`: variables the server gets from Codex's own environment; what `env` sets comes first.
fn inherited(entry: &mut Entry<'_>, env: &mut Map<String, Value>) -> Result<(), Reason> {
    let Some(variables) = entry.raw("env_vars") else { return Ok(()) };
    let Value::Array(variables) = variables else {
        return Err(Reason::new("`env_vars` is not a list"));
    };
    for (index, variable) in variables.iter().enumerate() {
        // Newer Codexes also write `{name, source}`.
        let name = variable.as_str().or_else(|| variable.get("name").and_then(Value::as_str));
        let name = name.filter(|name| is_variable_name(name));
        let Some(name) = name else {
            return Err(Reason::new(format!("`env_vars[{index}]` is not the name of a variable")));
        };
        if variable.get("source").and_then(Value::as_str) == Some("remote") {
            entry.note(format!("`{name}` comes from a remote environment there; here it is this machine's"));
        }
        env.entry(name).or_insert_with(|| Value::String(format!("${{{name}}}")));
    }
    Ok(())
}

/// Headers whose values are in variables.
fn secret_headers(entry: &mut Entry<'_>, headers: &mut Map<String, Value>) -> Result<(), Reason> {
    if let Some(variable) = entry.word("bearer_token_env_var")? {
        let reference = reference("bearer_token_env_var", &variable)?;
        headers.insert("Authorization".to_owned(), Value::String(format!("Bearer {reference}")));
    }
    for (header, variable) in entry.pairs("env_http_headers")? {
        let field = format!("env_http_headers.{header}");
        let reference = reference(&field, variable.as_str().unwrap_or_default())?;
        headers.insert(header, Value::String(reference));
    }
    Ok(())
}

fn sign_in(entry: &mut Entry<'_>) -> Result<Option<OAuth>, Reason> {
    let mut oauth = OAuth::read(entry, "oauth")?;
    oauth.scopes.extend(entry.texts("scopes")?.unwrap_or_default());
    Ok(oauth.unless_empty())
}

/// The name is not quoted: people put the token itself there.
fn reference(field: &str, variable: &str) -> Result<String, Reason> {
    match is_variable_name(variable) {
        true => Ok(format!("${{{variable}}}")),
        false => Err(Reason::new(format!("`{field}` is not the name of a variable"))),
    }
}
