//! Reads the command or URL of a server: the fields that nearly all apps share.

use serde_json::Value;
use url::Url;

use super::draft::{DraftLaunch, DraftTransport};
use super::entry::ForeignEntry;
use super::reason::ImportRefusal;

/// A field that may contain the server's URL, and its default transport.
#[derive(Clone, Copy, Debug)]
pub(super) struct AddressField {
    field: &'static str,
    transport: DraftTransport,
}

impl AddressField {
    /// The URL in `field`, with `transport` unless the entry has a `type`.
    pub(super) fn new(field: &'static str, transport: DraftTransport) -> Self {
        Self { field, transport }
    }
}

/// Reads the `command`, or the first of `addresses` that the entry has.
///
/// A declared type decides between the two. Without a type the command takes precedence, as in the apps
/// themselves.
pub(super) fn read_launch(
    entry: &mut ForeignEntry<'_>,
    env: &str,
    addresses: &[AddressField],
) -> Result<DraftLaunch, ImportRefusal> {
    let declared = read_transport(entry)?;
    let may_be_process = declared.is_none_or(|transport| transport == DraftTransport::Stdio);
    if may_be_process && let Some(command) = entry.take_text("command")? {
        return read_process(entry, command, env);
    }
    if declared == Some(DraftTransport::Stdio) {
        return Err(ImportRefusal::new("there is no `command`"));
    }
    for address in addresses {
        if let Some(url) = entry.take_text(address.field)? {
            return read_remote(entry, address.field, url, declared.unwrap_or(address.transport));
        }
    }
    let fields =
        addresses.iter().map(|address| format!("`{}`", address.field)).collect::<Vec<_>>().join(" or ");
    Err(ImportRefusal::new(match declared {
        Some(_) => format!("there is no {fields}"),
        None => format!("there is neither `command` nor {fields}"),
    }))
}

/// Milliseconds as an integer, saturating at the maximum.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the number is above zero, and the conversion saturates"
)]
pub(super) fn to_milliseconds(number: f64) -> u64 {
    number.ceil() as u64
}

/// Splits a `command` that is a list of words into the command and its arguments.
pub(super) fn split_command(entry: &mut ForeignEntry<'_>) -> Result<(), ImportRefusal> {
    match entry.take_value("command") {
        None => Ok(()),
        Some(Value::Array(mut words)) => {
            if words.is_empty() {
                return Err(ImportRefusal::new("`command` is an empty list"));
            }
            let args = words.split_off(1);
            let command = words.pop().unwrap_or_default();
            let fields = [("command".to_owned(), command), ("args".to_owned(), Value::Array(args))];
            entry.insert_fields(fields.into_iter().collect());
            Ok(())
        }
        Some(command) => {
            entry.insert_fields([("command".to_owned(), command)].into_iter().collect());
            Ok(())
        }
    }
}

fn read_transport(entry: &mut ForeignEntry<'_>) -> Result<Option<DraftTransport>, ImportRefusal> {
    let mut declared = None;
    for field in ["type", "transportType", "transport"] {
        let Some(word) = entry.take_word(field)? else { continue };
        let transport = DraftTransport::parse(&word)
            .ok_or_else(|| ImportRefusal::new(format!("`{field}` names no transport that is known here")))?;
        declared = declared.or(Some(transport));
    }
    Ok(declared)
}

fn read_process(
    entry: &mut ForeignEntry<'_>,
    command: String,
    env: &str,
) -> Result<DraftLaunch, ImportRefusal> {
    if command.trim().is_empty() {
        return Err(ImportRefusal::new("`command` is empty"));
    }
    Ok(DraftLaunch::Stdio {
        command,
        args: entry.take_texts("args")?.unwrap_or_default(),
        env: entry.take_pairs(env)?,
        cwd: entry.take_text("cwd")?,
    })
}

fn read_remote(
    entry: &mut ForeignEntry<'_>,
    field: &str,
    url: String,
    transport: DraftTransport,
) -> Result<DraftLaunch, ImportRefusal> {
    // A URL with a variable in it can only be checked after expansion.
    if !url.contains("${") && !is_web_address(&url) {
        return Err(ImportRefusal::new(format!("`{field}` is not an address a server can be called at")));
    }
    Ok(DraftLaunch::Remote { transport, url, headers: entry.take_pairs("headers")? })
}

fn is_web_address(url: &str) -> bool {
    Url::parse(url).is_ok_and(|url| matches!(url.scheme(), "http" | "https" | "ws" | "wss") && url.has_host())
}
