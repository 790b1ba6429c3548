//! The handshake of a server, in either era, and its faults.

use super::{RpcRefusal, ServerAnswer, ServerReply, lists, tasks};
use crate::life;
use crate::message::ClientMessage;
use crate::options::{Options, RequestedScripts};
use mcparley_testkit::Name;
use serde_json::{Map, Value, json};

const INSTRUCTIONS: &str = "Tools for tests; `echo` is the harmless one.";
const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";

/// The methods whose results have a cache lifetime.
const CACHEABLE: [&str; 6] = [
    "server/discover",
    "tools/list",
    "prompts/list",
    "resources/list",
    "resources/templates/list",
    "resources/read",
];

/// The result of `initialize` (old era): the offered protocol revision, or the newest supported one.
pub(crate) fn initialize_result(options: &Options, message: &ClientMessage) -> Value {
    let agreed = json!(negotiate_version(options, message));
    let mut result = Map::new();
    result
        .insert("protocolVersion".to_owned(), scripted_version(&options.scripts, agreed, json!(20_251_125)));
    insert_server_fields(&options.scripts, &mut result);
    if !options.scripts.has(Name::NoServerInfo) {
        result.insert("serverInfo".to_owned(), server_info());
    }
    Value::Object(result)
}

/// The negotiated protocol revision.
pub(crate) fn negotiate_version<'a>(options: &'a Options, message: &ClientMessage) -> Option<&'a str> {
    let offered = message.text("protocolVersion");
    options
        .old_era_versions()
        .find(|version| Some(*version) == offered)
        .or_else(|| options.old_era_versions().next())
}

/// The result of `server/discover` (new era): the supported revisions; [`complete_result`] adds the rest.
pub(crate) fn discover_result(options: &Options) -> Value {
    let mut result = Map::new();
    let supported = match options.scripts.text(Name::Version) {
        Some(lie) => json!([lie]),
        None => scripted_version(&options.scripts, json!(options.versions), json!([20_260_728])),
    };
    result.insert("supportedVersions".to_owned(), supported);
    insert_server_fields(&options.scripts, &mut result);
    Value::Object(result)
}

/// Adds the fields that every result of the new era has.
pub(crate) fn complete_result(options: &Options, method: &str, result: Value) -> Value {
    let Value::Object(mut result) = result else {
        return result;
    };
    result.insert("resultType".to_owned(), json!("complete"));
    if CACHEABLE.contains(&method) {
        result.insert("ttlMs".to_owned(), json!(60_000));
        result.insert("cacheScope".to_owned(), json!("private"));
    }
    if !options.scripts.has(Name::NoServerInfo) {
        result.insert("_meta".to_owned(), json!({ SERVER_INFO: server_info() }));
    }
    Value::Object(result)
}

/// Responses to `server/discover` of real servers of the old era.
pub(crate) fn scripted_discovery(mode: &str, id: &Value) -> ServerAnswer {
    match mode {
        "-32602" => {
            ServerAnswer::Reply(RpcRefusal::invalid_params("request before initialization").to_reply(id))
        }
        "-32600-no-id" => {
            let message = RpcRefusal::invalid_request("server/discover").to_message(None);
            ServerAnswer::Reply(ServerReply::from_message(&message, Some(-32600)))
        }
        "exit" => life::exit_process(7),
        _ => ServerAnswer::Silence,
    }
}

fn scripted_version(scripts: &RequestedScripts, truth: Value, number: Value) -> Value {
    match scripts.text(Name::Version) {
        Some(lie) => json!(lie),
        None if scripts.has(Name::VersionNumber) => number,
        None => truth,
    }
}

fn insert_server_fields(scripts: &RequestedScripts, result: &mut Map<String, Value>) {
    let capabilities = match scripts.has(Name::NullCapabilities) {
        true => Value::Null,
        false => capabilities(scripts),
    };
    if !scripts.has(Name::NoCapabilities) {
        result.insert("capabilities".to_owned(), capabilities);
    }
    let instructions = match scripts.number(Name::LongInstructions) {
        Some(count) => "i".repeat(usize::try_from(count).unwrap_or_default()),
        None => INSTRUCTIONS.to_owned(),
    };
    result.insert("instructions".to_owned(), json!(instructions));
}

fn capabilities(scripts: &RequestedScripts) -> Value {
    let tools = json!({ "listChanged": true });
    let resources = if scripts.has(Name::Watched) { json!({ "subscribe": true }) } else { json!({}) };
    let mut all = vec![("tools", tools), ("prompts", json!({})), ("resources", resources)];
    if scripts.has(Name::Logging) {
        all.push(("logging", json!({})));
    }
    if scripts.has(Name::Completions) {
        all.push(("completions", json!({})));
    }
    if lists::offer_from_file(scripts, "skills/list").is_some() {
        all.push(("extensions", json!({ "io.modelcontextprotocol/skills": {} })));
    }
    if scripts.has(Name::Task) {
        all.extend(tasks::capabilities());
    }
    all.into_iter().map(|(name, value)| (name.to_owned(), value)).collect::<Map<_, _>>().into()
}

fn server_info() -> Value {
    json!({ "name": "mcparley-testkit", "version": env!("CARGO_PKG_VERSION") })
}
