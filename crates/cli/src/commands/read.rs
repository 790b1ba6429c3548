//! `read`: prints one resource as text or bytes, or writes it to a file.

use std::path::Path;

use mcparley::config::{LoadedConfig, StartPolicy};
use mcparley::model::name::ServerName;
use mcparley::resource::{ResourceContents, ResourceTemplate};
use mcparley::results::base64_text::decode as decode_base64;
use serde_json::Value;

use super::call::overwrite_file;
use super::{CommandResult, usable};
use crate::args::ReadArgs;
use crate::context::{self, Context};
use crate::error::{FileError, UsageError};
use crate::exit;
use crate::out::TerminalOutput;
use crate::runtime;

pub(super) fn run(
    args: &ReadArgs,
    context: &Context,
    loaded: LoadedConfig,
    out: &mut TerminalOutput,
) -> CommandResult {
    let server = ServerName::new(&args.server);
    let start = StartPolicy::Only(vec![server.clone()]);
    runtime::run_with_host(context.host_for_model(loaded, out.dialogs()).start_with(start), async |host| {
        usable::find_server(&host.loaded_config(), &host.servers(), &args.server, out)?;
        usable::wait_until_usable(host, &server, out).await?;
        let uri = resource_uri(args)?;
        out.show_waiting(&format!("reading {uri} …"));
        let read = host.read_resource(&server, &uri).await;
        out.stop_waiting();
        let read = read?;
        match &args.output {
            Some(path) => save_resource(&read, path, out)?,
            None if out.json => out.print_json(&read),
            None => print_resource(&read, out),
        }
        Ok(exit::OK)
    })
}

/// The URI of the resource; with values it is expanded from a template.
fn resource_uri(args: &ReadArgs) -> Result<String, UsageError> {
    if args.values.is_empty() {
        return Ok(args.uri.clone());
    }
    let values: Option<Vec<(&str, &str)>> = args.values.iter().map(|word| word.split_once('=')).collect();
    let values = values.ok_or(UsageError::UnnamedValue)?;
    Ok(ResourceTemplate::expand_template(&args.uri, &values)?)
}

/// A content part of a resource, as the server sent it.
enum ResourcePart {
    Text(String),
    Bytes(Vec<u8>),
    /// Base64 that cannot be decoded.
    Damaged,
}

/// The content parts as the server sent them; the library sanitizes its copy for a model.
fn decode_parts(read: &ResourceContents) -> Vec<ResourcePart> {
    let parts = read.raw.member_elements("contents").unwrap_or_default();
    let parts = parts.iter().filter_map(|part| part.decode::<Value>().ok());
    parts.filter_map(|part| decode_part(&part)).collect()
}

fn decode_part(part: &Value) -> Option<ResourcePart> {
    if let Some(text) = part.get("text").and_then(Value::as_str) {
        return Some(ResourcePart::Text(text.to_owned()));
    }
    Some(decode_base64(part.get("blob")?.as_str()?).map_or(ResourcePart::Damaged, ResourcePart::Bytes))
}

fn print_resource(read: &ResourceContents, out: &mut TerminalOutput) {
    let parts = decode_parts(read);
    if parts.is_empty() {
        out.print_remark("no content");
    }
    for part in parts {
        match part {
            ResourcePart::Text(text) => out.print_untrusted(&text),
            ResourcePart::Bytes(bytes) if context::stdout_is_terminal() => {
                out.print_remark(&format!(
                    "{} bytes, not shown; use `--output FILE` to write them",
                    bytes.len()
                ));
            }
            ResourcePart::Bytes(bytes) => out.print_bytes(&bytes),
            ResourcePart::Damaged => out.warn("skipped content that is not base64"),
        }
    }
}

fn save_resource(read: &ResourceContents, path: &Path, out: &mut TerminalOutput) -> Result<(), FileError> {
    let mut all = Vec::new();
    for part in decode_parts(read) {
        match part {
            ResourcePart::Text(text) => all.extend_from_slice(text.as_bytes()),
            ResourcePart::Bytes(bytes) => all.extend_from_slice(&bytes),
            ResourcePart::Damaged => return Err(FileError::ResourceNotBase64),
        }
    }
    if path.as_os_str() == "-" {
        out.print_bytes(&all);
        return Ok(());
    }
    overwrite_file(path, &all)?;
    out.print_remark(&format!("{} bytes: {}", all.len(), path.display()));
    Ok(())
}
