//! How a server is reached: the fields nearly all apps share.

use serde_json::Value;
use url::Url;

use super::draft::{Launch, Transport};
use super::entry::Entry;
use super::reason::Reason;

/// A field that may hold the server's address, and the transport it means without a `type`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Address {
    field: &'static str,
    transport: Transport,
}

impl Address {
    /// The address in `field`, usually for `transport`.
    pub(super) fn usually(field: &'static str, transport: Transport) -> Self {
        Self { field, transport }
    }
}

/// How the server is reached: by its `command`, or by the first of `addresses` it has.
///
/// A declared type decides between the two; without one a command comes first, as in the apps themselves.
pub(super) fn launch(entry: &mut Entry<'_>, env: &str, addresses: &[Address]) -> Result<Launch, Reason> {
    let declared = declared_transport(entry)?;
    let may_be_process = declared.is_none_or(|transport| transport == Transport::Stdio);
    if may_be_process && let Some(command) = entry.text("command")? {
        return process(entry, command, env);
    }
    if declared == Some(Transport::Stdio) {
        return Err(Reason::new("there is no `command`"));
    }
    for address in addresses {
        if let Some(url) = entry.text(address.field)? {
            return remote(entry, address.field, url, declared.unwrap_or(address.transport));
        }
    }
    let fields =
        addresses.iter().map(|address| format!("`{}`", address.field)).collect::<Vec<_>>().join(" or ");
    Err(Reason::new(match declared {
        Some(_) => format!("there is no {fields}"),
        None => format!("there is neither `command` nor {fields}"),
    }))
}

/// Milliseconds as we write them; beyond what fits, the limit is as good as none.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the number is above zero, and the conversion saturates"
)]
pub(super) fn milliseconds(number: f64) -> u64 {
    number.ceil() as u64
}

/// Cuts a `command` that is a list of words into the command and its arguments.
pub(super) fn split_command(entry: &mut Entry<'_>) -> Result<(), Reason> {
    match entry.raw("command") {
        None => Ok(()),
        Some(Value::Array(mut words)) => {
            if words.is_empty() {
                return Err(Reason::new("`command` is an empty list"));
            }
            let args = words.split_off(1);
            let command = words.pop().unwrap_or_default();
            let fields = [("command".to_owned(), command), ("args".to_owned(), Value::Array(args))];
            entry.spread(fields.into_iter().collect());
            Ok(())
        }
        Some(command) => {
            entry.spread([("command".to_owned(), command)].into_iter().collect());
            Ok(())
        }
    }
}

fn declared_transport(entry: &mut Entry<'_>) -> Result<Option<Transport>, Reason> {
    let mut declared = None;
    for field in ["type", "transportType", "transport"] {
        let Some(word) = entry.word(field)? else { continue };
        let transport = Transport::parse(&word)
            .ok_or_else(|| Reason::new(format!("`{field}` names no transport that is known here")))?;
        declared = declared.or(Some(transport));
    }
    Ok(declared)
}

fn process(entry: &mut Entry<'_>, command: String, env: &str) -> Result<Launch, Reason> {
    if command.trim().is_empty() {
        return Err(Reason::new("`command` is empty"));
    }
    Ok(Launch::Stdio {
        command,
        args: entry.texts("args")?.unwrap_or_default(),
        env: entry.pairs(env)?,
        cwd: entry.text("cwd")?,
    })
}

fn remote(entry: &mut Entry<'_>, field: &str, url: String, transport: Transport) -> Result<Launch, Reason> {
    // With a variable in it, only the expanded address can be judged.
    if !url.contains("${") && !is_web_address(&url) {
        return Err(Reason::new(format!("`{field}` is not an address a server can be called at")));
    }
    Ok(Launch::Remote { transport, url, headers: entry.pairs("headers")? })
}

fn is_web_address(url: &str) -> bool {
    Url::parse(url).is_ok_and(|url| matches!(url.scheme(), "http" | "https" | "ws" | "wss") && url.has_host())
}
