//! `read`: one resource, as text or as the bytes it is.

use std::path::Path;

use mcparley::model::name::ServerName;
use mcparley::{Loaded, ResourceContents, ResourceTemplate, Start, TemplateError, decode_base64};
use serde_json::Value;

use super::call::write_over;
use super::{Done, usable};
use crate::args::ReadArgs;
use crate::context::{self, Context};
use crate::error::CommandError;
use crate::exit;
use crate::live;
use crate::out::Out;

pub(super) fn run(args: &ReadArgs, context: &Context, loaded: Loaded, out: &mut Out) -> Done {
    let server = ServerName::new(&args.server);
    let start = Start::Only(vec![server.clone()]);
    live::with_host(context.host(loaded).start_with(start), async |host| {
        usable::named(&host.loaded(), &host.servers(), &args.server, out)?;
        let servers = usable::settled(host, out).await;
        usable::usable(&servers, &server, out)?;
        let uri = address(args)?;
        out.waiting(&format!("reading {uri} …"));
        let read = host.read_resource(&server, &uri).await;
        out.waited();
        let read = read?;
        match &args.output {
            Some(path) => save(&read, path, out)?,
            None if out.json => out.value(&read),
            None => print(&read, out),
        }
        Ok(exit::OK)
    })
}

/// The address; with values it is a template.
fn address(args: &ReadArgs) -> Result<String, CommandError> {
    if args.values.is_empty() {
        return Ok(args.uri.clone());
    }
    let values: Option<Vec<(&str, &str)>> = args.values.iter().map(|word| word.split_once('=')).collect();
    let unnamed =
        || CommandError::usage("a value has no name", "values of a template are given as name=value");
    let values = values.ok_or_else(unnamed)?;
    ResourceTemplate::expanded(&args.uri, &values).map_err(|error| unfit(&error))
}

fn unfit(error: &TemplateError) -> CommandError {
    CommandError::Usage { message: error.to_string(), hint: None }
}

/// A part of a resource, as the server sent it.
enum Part {
    Text(String),
    Bytes(Vec<u8>),
    /// Base64 that cannot be decoded.
    Damaged,
}

/// All parts; what the library gives was cleaned for a model.
fn parts(read: &ResourceContents) -> Vec<Part> {
    let parts = read.raw.elements("contents").unwrap_or_default();
    let parts = parts.iter().filter_map(|part| part.decode::<Value>().ok());
    parts.filter_map(|part| part_of(&part)).collect()
}

fn part_of(part: &Value) -> Option<Part> {
    if let Some(text) = part.get("text").and_then(Value::as_str) {
        return Some(Part::Text(text.to_owned()));
    }
    Some(decode_base64(part.get("blob")?.as_str()?).map_or(Part::Damaged, Part::Bytes))
}

fn print(read: &ResourceContents, out: &mut Out) {
    let parts = parts(read);
    if parts.is_empty() {
        out.remark("no content");
    }
    for part in parts {
        match part {
            Part::Text(text) => out.foreign(&text),
            Part::Bytes(bytes) if context::stdout_is_terminal() => {
                out.remark(&format!("{} bytes, not shown; `--output FILE` writes them", bytes.len()));
            }
            Part::Bytes(bytes) => out.bytes(&bytes),
            Part::Damaged => out.warn("a resource that is not base64 was left out"),
        }
    }
}

fn save(read: &ResourceContents, path: &Path, out: &mut Out) -> Result<(), CommandError> {
    let mut all = Vec::new();
    for part in parts(read) {
        match part {
            Part::Text(text) => all.extend_from_slice(text.as_bytes()),
            Part::Bytes(bytes) => all.extend_from_slice(&bytes),
            Part::Damaged => {
                let message = "the resource is not base64".to_owned();
                return Err(CommandError::File { message, hint: None });
            }
        }
    }
    if path.as_os_str() == "-" {
        out.bytes(&all);
        return Ok(());
    }
    write_over(path, &all)?;
    out.remark(&format!("{} bytes: {}", all.len(), path.display()));
    Ok(())
}
