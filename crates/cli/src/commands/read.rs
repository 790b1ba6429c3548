//! `read`: one resource, as text or as the bytes it is.

use std::path::Path;

use base64::Engine;
use mcparley::model::name::ServerName;
use mcparley::{Loaded, ResourceContents, ResourceTemplate, Start, TemplateError};
use serde_json::Value;

use super::call::{BASE64, write_over};
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
            None => print(&read, out)?,
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
}

/// All parts; what the library gives was cleaned for a model.
fn parts(read: &ResourceContents) -> Result<Vec<Part>, CommandError> {
    let parts = read.raw.elements("contents").unwrap_or_default();
    let parts = parts.iter().filter_map(|part| part.decode::<Value>().ok());
    parts.filter_map(|part| part_of(&part)).collect()
}

fn part_of(part: &Value) -> Option<Result<Part, CommandError>> {
    if let Some(text) = part.get("text").and_then(Value::as_str) {
        return Some(Ok(Part::Text(text.to_owned())));
    }
    let bytes = BASE64.decode(part.get("blob")?.as_str()?);
    let damaged =
        |error| CommandError::File { message: format!("the resource is not base64: {error}"), hint: None };
    Some(bytes.map(Part::Bytes).map_err(damaged))
}

fn print(read: &ResourceContents, out: &mut Out) -> Result<(), CommandError> {
    let parts = parts(read)?;
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
        }
    }
    Ok(())
}

fn save(read: &ResourceContents, path: &Path, out: &mut Out) -> Result<(), CommandError> {
    let mut all = Vec::new();
    for part in parts(read)? {
        match part {
            Part::Text(text) => all.extend_from_slice(text.as_bytes()),
            Part::Bytes(bytes) => all.extend_from_slice(&bytes),
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
