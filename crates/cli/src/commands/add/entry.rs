//! Builds a server entry from the words of `add`.
//!
//! Options that do not apply, such as a header for a command or a variable for a URL, are refused instead of
//! ignored.

use mcparley::Paths;
use mcparley::config::url_transport;
use serde_json::{Map, Value, json};

use crate::args::{AddArgs, AddOptions, with_scheme};
use crate::error::AddError;

/// Builds the entry for the parsed arguments.
pub(super) fn from_args(args: &AddArgs, paths: &Paths) -> Result<Map<String, Value>, AddError> {
    match args.target.split_first() {
        None => Err(AddError::TargetMissing),
        Some((url, [])) if args.is_remote() => remote_entry(&with_scheme(url), &args.options, paths),
        Some(_) if args.is_remote() => Err(AddError::ArgumentsOfUrl),
        Some((command, arguments)) => local_entry(command, arguments, &args.options),
    }
}

fn local_entry(command: &str, args: &[String], options: &AddOptions) -> Result<Map<String, Value>, AddError> {
    if let Some(transport) = options.transport.as_deref().filter(|transport| *transport != "stdio") {
        return Err(AddError::CommandForUrl { transport: transport.to_owned() });
    }
    if command.starts_with('-') {
        return Err(AddError::UnknownOption { word: command.to_owned() });
    }
    let for_urls = [
        ("--header", !options.header.is_empty()),
        ("--client-id", options.client_id.is_some()),
        ("--client-metadata-url", options.client_metadata_url.is_some()),
        ("--grant", options.grant.is_some()),
        ("--private-key-file", options.private_key_file.is_some()),
        ("--assertion-file", options.assertion_file.is_some()),
        ("--oauth-scopes", options.oauth_scopes.is_some()),
        ("--callback-port", options.callback_port.is_some()),
        ("--xaa", options.xaa),
    ];
    if let Some((option, _)) = for_urls.into_iter().find(|(_, given)| *given) {
        return Err(AddError::OptionForUrl { option });
    }
    let env = options.env.iter().map(|pair| parse_variable(pair)).collect::<Result<Map<_, _>, _>>()?;
    Ok(into_object(json!({ "type": "stdio", "command": command, "args": args, "env": env })))
}

fn remote_entry(url: &str, options: &AddOptions, paths: &Paths) -> Result<Map<String, Value>, AddError> {
    if !options.env.is_empty() {
        return Err(AddError::VariableForUrl);
    }
    let kind = match options.transport.as_deref() {
        Some("streamable-http") => "http",
        Some(transport) => transport,
        None => url_transport(url),
    };
    let mut entry = into_object(json!({ "type": kind, "url": url }));
    if !options.header.is_empty() {
        let headers =
            options.header.iter().map(|line| parse_header(line)).collect::<Result<Map<_, _>, _>>()?;
        entry.insert("headers".to_owned(), headers.into());
    }
    let oauth = oauth_section(options, paths)?;
    if !oauth.is_empty() {
        entry.insert("oauth".to_owned(), oauth.into());
    }
    Ok(entry)
}

fn oauth_section(options: &AddOptions, paths: &Paths) -> Result<Map<String, Value>, AddError> {
    let grant = options.grant.as_deref();
    if options.assertion_file.is_some() && grant != Some("jwt-bearer") {
        return Err(AddError::AssertionWithoutGrant);
    }
    let mut oauth = Map::new();
    let file = |path: &Option<String>| path.as_deref().map(|path| resolve_from_project(path, paths));
    let texts = [
        ("clientId", options.client_id.clone()),
        ("clientMetadataUrl", options.client_metadata_url.clone()),
        // `authorization_code` is the default, so it is not written.
        ("grant", grant.filter(|grant| *grant != "authorization_code").map(str::to_owned)),
        ("privateKeyFile", file(&options.private_key_file)),
        ("assertionFile", file(&options.assertion_file)),
    ];
    for (name, text) in texts {
        if let Some(text) = text {
            oauth.insert(name.to_owned(), text.into());
        }
    }
    if let Some(scopes) = &options.oauth_scopes {
        let scopes: Vec<&str> = scopes.split_whitespace().collect();
        oauth.insert("scopes".to_owned(), scopes.into());
    }
    if let Some(port) = options.callback_port {
        oauth.insert("callbackPort".to_owned(), port.into());
    }
    if options.xaa {
        oauth.insert("xaa".to_owned(), true.into());
    }
    Ok(oauth)
}

/// The path relative to the project folder, where files of an entry are resolved, instead of the working
/// directory.
fn resolve_from_project(path: &str, paths: &Paths) -> String {
    if path.starts_with('$') || paths.cwd == paths.project {
        return path.to_owned();
    }
    paths.cwd.join(path).to_string_lossy().into_owned()
}

fn parse_variable(pair: &str) -> Result<(String, Value), AddError> {
    match pair.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.into())),
        Some(_) | None => Err(AddError::Variable),
    }
}

fn parse_header(line: &str) -> Result<(String, Value), AddError> {
    match line.split_once(':') {
        Some((name, value)) if !name.trim().is_empty() => Ok((name.trim().to_owned(), value.trim().into())),
        Some(_) | None => Err(AddError::Header),
    }
}

fn into_object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => Map::new(),
    }
}
