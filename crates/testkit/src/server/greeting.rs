//! How a server introduces itself, in either era, and the lies it can tell there.

use super::{Answer, Refusal, Reply, lists, tasks};
use crate::life;
use crate::message::Message;
use crate::options::{Options, Scripts};
use mcparley_testkit::Name;
use serde_json::{Map, Value, json};

const INSTRUCTIONS: &str = "Tools for tests; `echo` is the harmless one.";
const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";

/// The methods whose results say how long they may be kept.
const CACHEABLE: [&str; 6] = [
    "server/discover",
    "tools/list",
    "prompts/list",
    "resources/list",
    "resources/templates/list",
    "resources/read",
];

/// Old era: agrees on the offered revision, or names the newest it has.
pub(crate) fn initialize(options: &Options, message: &Message) -> Value {
    let agreed = json!(agreed(options, message));
    let mut result = Map::new();
    result.insert("protocolVersion".to_owned(), version(&options.scripts, agreed, json!(20_251_125)));
    introduce(&options.scripts, &mut result);
    if !options.scripts.has(Name::NoServerInfo) {
        result.insert("serverInfo".to_owned(), server_info());
    }
    Value::Object(result)
}

/// The revision that is spoken after `initialize`.
pub(crate) fn agreed<'a>(options: &'a Options, message: &Message) -> Option<&'a str> {
    let offered = message.text("protocolVersion");
    options.old().find(|version| Some(*version) == offered).or_else(|| options.old().next())
}

/// New era: says which revisions there are; [`complete`] adds the rest.
pub(crate) fn discover(options: &Options) -> Value {
    let mut result = Map::new();
    let supported = match options.scripts.text(Name::Version) {
        Some(lie) => json!([lie]),
        None => version(&options.scripts, json!(options.versions), json!([20_260_728])),
    };
    result.insert("supportedVersions".to_owned(), supported);
    introduce(&options.scripts, &mut result);
    Value::Object(result)
}

/// Adds what every result of the new era carries.
pub(crate) fn complete(options: &Options, method: &str, result: Value) -> Value {
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

/// How old servers meet `server/discover` in the wild.
pub(crate) fn discover_otherwise(mode: &str, id: &Value) -> Answer {
    match mode {
        "-32602" => Answer::Reply(Refusal::params("request before initialization").to_reply(id)),
        "-32600-no-id" => {
            let message = Refusal::invalid("server/discover").to_message(None);
            Answer::Reply(Reply::plain(&message, Some(-32600)))
        }
        "exit" => life::end(7),
        _ => Answer::Silence,
    }
}

fn version(scripts: &Scripts, truth: Value, number: Value) -> Value {
    match scripts.text(Name::Version) {
        Some(lie) => json!(lie),
        None if scripts.has(Name::VersionNumber) => number,
        None => truth,
    }
}

fn introduce(scripts: &Scripts, result: &mut Map<String, Value>) {
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

fn capabilities(scripts: &Scripts) -> Value {
    let tools = json!({ "listChanged": true });
    let resources = if scripts.has(Name::Watched) { json!({ "subscribe": true }) } else { json!({}) };
    let mut all = vec![("tools", tools), ("prompts", json!({})), ("resources", resources)];
    if scripts.has(Name::Logging) {
        all.push(("logging", json!({})));
    }
    if scripts.has(Name::Completions) {
        all.push(("completions", json!({})));
    }
    if lists::offered(scripts, "skills/list").is_some() {
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
