//! Turns the words of `add` into an entry.
//!
//! Whatever would be
//! dropped without a word elsewhere (a header for a command, a variable for a URL) is refused here.

use mcparley::Paths;
use serde_json::{Map, Value, json};

use crate::args::{AddArgs, AddOptions, with_scheme};
use crate::error::CommandError;

/// The entry that the words mean.
pub(super) fn from_args(args: &AddArgs, paths: &Paths) -> Result<Map<String, Value>, CommandError> {
    match args.target.split_first() {
        None => Err(CommandError::usage("there is no command and no URL", "see `mcparley add --help`")),
        Some((url, [])) if args.is_remote() => remote(&with_scheme(url), &args.options, paths),
        Some(_) if args.is_remote() => Err(CommandError::usage(
            "behind a URL only options may stand",
            "a URL takes no arguments; see `mcparley add --help`",
        )),
        Some((command, arguments)) => local(command, arguments, &args.options),
    }
}

fn local(command: &str, args: &[String], options: &AddOptions) -> Result<Map<String, Value>, CommandError> {
    if let Some(transport) = options.transport.as_deref().filter(|transport| *transport != "stdio") {
        return Err(CommandError::usage(
            format!("a `{transport}` server needs a URL, not a command"),
            "a URL begins with https://",
        ));
    }
    if command.starts_with('-') {
        return Err(CommandError::usage(
            format!("`{command}` is no option of `add` and no command"),
            "put options before the server's name, and `--` before a command that begins with `-`",
        ));
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
        return Err(CommandError::usage(
            format!("`{option}` means nothing for a command"),
            "it is for servers with a URL; variables for a command are set with `-e KEY=VALUE`",
        ));
    }
    let env = options.env.iter().map(|pair| variable(pair)).collect::<Result<Map<_, _>, _>>()?;
    Ok(object(json!({ "type": "stdio", "command": command, "args": args, "env": env })))
}

fn remote(url: &str, options: &AddOptions, paths: &Paths) -> Result<Map<String, Value>, CommandError> {
    if !options.env.is_empty() {
        return Err(CommandError::usage(
            "`--env` means nothing for a URL",
            "it is for commands; headers for a URL are set with `-H 'Key: Value'`",
        ));
    }
    let kind = match options.transport.as_deref() {
        Some("streamable-http") => "http",
        Some(transport) => transport,
        None => detect(url),
    };
    let mut entry = object(json!({ "type": kind, "url": url }));
    if !options.header.is_empty() {
        let headers = options.header.iter().map(|line| header(line)).collect::<Result<Map<_, _>, _>>()?;
        entry.insert("headers".to_owned(), headers.into());
    }
    let oauth = oauth(options, paths)?;
    if !oauth.is_empty() {
        entry.insert("oauth".to_owned(), oauth.into());
    }
    Ok(entry)
}

fn oauth(options: &AddOptions, paths: &Paths) -> Result<Map<String, Value>, CommandError> {
    let grant = options.grant.as_deref();
    if options.assertion_file.is_some() && grant != Some("jwt-bearer") {
        return Err(CommandError::usage(
            "`--assertion-file` means nothing without `--grant jwt-bearer`",
            "an assertion is shown for a token in the place of a person's consent",
        ));
    }
    let mut oauth = Map::new();
    let file = |path: &Option<String>| path.as_deref().map(|path| as_seen_from_project(path, paths));
    let texts = [
        ("clientId", options.client_id.clone()),
        ("clientMetadataUrl", options.client_metadata_url.clone()),
        // What is not said is this one.
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

/// Files of an entry are looked for from the project's folder, wherever it was typed.
fn as_seen_from_project(path: &str, paths: &Paths) -> String {
    if path.starts_with('$') || paths.cwd == paths.project {
        return path.to_owned();
    }
    paths.cwd.join(path).to_string_lossy().into_owned()
}

/// The transport a URL asks for.
fn detect(url: &str) -> &'static str {
    let (scheme, rest) = url.split_once("://").unwrap_or_default();
    let path = rest.split(['?', '#']).next().unwrap_or_default().trim_end_matches('/');
    if scheme.eq_ignore_ascii_case("ws") || scheme.eq_ignore_ascii_case("wss") {
        "ws"
    } else if path.ends_with("/sse") {
        "sse"
    } else {
        "http"
    }
}

fn variable(pair: &str) -> Result<(String, Value), CommandError> {
    match pair.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.into())),
        // The text may be a secret whose name was forgotten, so it is not quoted.
        Some(_) | None => {
            Err(CommandError::usage("`--env` takes KEY=VALUE", "write `-e KEY=VALUE`, one each"))
        }
    }
}

fn header(line: &str) -> Result<(String, Value), CommandError> {
    match line.split_once(':') {
        Some((name, value)) if !name.trim().is_empty() => Ok((name.trim().to_owned(), value.trim().into())),
        Some(_) | None => {
            Err(CommandError::usage("`--header` takes `Key: Value`", "write `-H 'Key: Value'`, one each"))
        }
    }
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => Map::new(),
    }
}
