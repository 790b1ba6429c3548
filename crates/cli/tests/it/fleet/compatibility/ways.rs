//! The ways to use a server: the library, the command line, and the gateway on standard streams and over HTTP.

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::time::Duration;

use mcparley::config::StartPolicy;
use mcparley::model::name::ServerName;
use mcparley::prompt::PromptCall;
use mcparley::{Call, Host, Paths, RunOptions};
use mcparley_transparency::{PlainClient, ProtocolEra, ServerEndpoint, ServerProgram};
use serde_json::{Map, Value, json};

use super::FleetRow;
use crate::fleet::http_gateway::HttpGateway;
use crate::fleet::place::Place;
use crate::fleet::servers::Call as FleetCall;
use crate::world::wait_for;

const PROGRAM: &str = env!("CARGO_BIN_EXE_mcparley");
/// The name of the server in the configuration.
pub(super) const NAME: &str = "one";
/// A timeout longer than a server needs to start on a loaded machine.
const LONG: Duration = Duration::from_secs(60);

/// The outcomes of the steps in one way.
pub(super) struct Steps {
    tools: BTreeSet<String>,
    /// The outcome of each call: what is wrong, if anything is.
    calls: Vec<Result<(), String>>,
    resource: Option<Result<(), String>>,
    prompt: Option<Result<(), String>>,
}

impl Steps {
    /// The cell of the table: the number of tools and the steps that worked, or what went wrong.
    pub(super) fn to_cell(&self, row: &FleetRow) -> String {
        let count = row.count.unwrap_or(row.server.tools.len());
        let most = count + row.server.tools_by_capability.len();
        let has_all = row.server.tools.iter().all(|tool| self.tools.contains(*tool));
        let mut cell = match self.tools.len() {
            1 if has_all && count == 1 => "1 tool".to_owned(),
            found if has_all && (count..=most).contains(&found) => format!("{found} tools"),
            found => format!("**wrong tools**: {found}, {:?}", self.tools),
        };
        let call = (!self.calls.is_empty()).then(|| self.calls.iter().cloned().collect::<Result<(), _>>());
        for (step, outcome) in [("call", &call), ("resource", &self.resource), ("prompt", &self.prompt)] {
            match outcome {
                None => {}
                Some(Ok(())) => cell.push_str(&format!(", {step}")),
                Some(Err(wrong)) => cell.push_str(&format!(", **no {step}**: {wrong}")),
            }
        }
        cell
    }
}

fn check(has_worked: bool, shown: &dyn Debug) -> Result<(), String> {
    if has_worked { Ok(()) } else { Err(format!("{shown:?}").replace('|', "\\|")) }
}

/// The words of a call, with the place's folder in them.
fn words_of(call: &FleetCall, place: &Place) -> Vec<String> {
    call.words.iter().map(|word| word.replace("{work}", &place.work().to_string_lossy())).collect()
}

/// The arguments of a call as JSON: `name:=json`, or `name=text` of the type that the schema of the tool says.
fn arguments_of(call: &FleetCall, schema: &Value, place: &Place) -> Value {
    let argument = |word: &String| match word.split_once(":=") {
        Some((name, value)) => (name.to_owned(), serde_json::from_str(value).unwrap()),
        None => {
            let (name, text) = word.split_once('=').unwrap();
            let is_number = matches!(schema["properties"][name]["type"].as_str(), Some("number" | "integer"));
            let value = if is_number { serde_json::from_str(text).unwrap() } else { json!(text) };
            (name.to_owned(), value)
        }
    };
    Value::Object(words_of(call, place).iter().map(argument).collect::<Map<_, _>>())
}

/// The crate, in this process.
pub(super) fn use_library(row: &FleetRow, place: &Place) -> Steps {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(use_host(row, place))
}

async fn use_host(row: &FleetRow, place: &Place) -> Steps {
    let mut options = RunOptions::default();
    options.env.set("PATH", std::env::var_os("PATH").unwrap().to_str().unwrap());
    options.allowed_tools.push(format!("mcp__{NAME}"));
    let mut paths = Paths::new(&place.world.home, &place.world.project);
    paths.managed = place.world.root.join("managed");
    let host = Host::builder(&paths, &options).start_with(StartPolicy::All).without_built_in_server().start();
    assert!(host.wait_until_ready(LONG).await.settled);
    let catalog = host.publish_catalog();
    // The host has tools of its own, such as `ReadResult`.
    let entries =
        || catalog.iter().filter(|entry| entry.name.as_str().starts_with(&format!("mcp__{NAME}__")));
    let tools = entries().map(|entry| entry.tool.name.as_str().to_owned()).collect();
    let server = ServerName::new(NAME);
    let mut calls = Vec::new();
    for call in row.server.calls {
        let entry = entries().find(|entry| entry.tool.name.as_str() == call.tool).unwrap();
        let schema = serde_json::from_str(entry.tool.input_schema.get()).unwrap();
        let arguments = arguments_of(call, &schema, place);
        let outcome = host.call(Call::new(entry.name.as_str(), arguments)).await;
        let has_worked = outcome.as_ref().is_ok_and(|outcome| {
            outcome.is_error == (call.code != 0) && outcome.to_text().contains(call.answer)
        });
        calls.push(check(has_worked, &outcome));
    }
    let mut steps = Steps { tools, calls, resource: None, prompt: None };
    if let Some((uri, piece)) = row.resource {
        let read = host.read_resource(&server, uri).await;
        steps.resource = Some(check(read.is_ok() && format!("{read:?}").contains(piece), &read));
    }
    if let Some(prompt) = &row.prompt {
        let mut call = PromptCall::new(&format!("mcp__{NAME}__{}", prompt.name));
        for (name, value) in prompt.arguments {
            call = call.with_named(name, value);
        }
        let given = host.fetch_prompt(&call).await;
        steps.prompt = Some(check(given.is_ok() && format!("{given:?}").contains(prompt.piece), &given));
    }
    host.shut_down().await;
    steps
}

/// The command line: one process for each step.
pub(super) fn use_command_line(row: &FleetRow, place: &Place) -> Steps {
    let listed = place.world.json(&["tools", NAME]);
    let name = |tool: &Value| tool["tool"].as_str().unwrap_or_default().to_owned();
    let tools = listed["tools"].as_array().into_iter().flatten().map(name).collect();
    let run = |words: &[&str], code: i32, piece: &str| {
        let done = place.world.mcparley(words);
        check(done.code == code && done.out.contains(piece), &done)
    };
    let call = |call: &FleetCall| {
        let words = words_of(call, place);
        let words: Vec<&str> =
            ["call", NAME, call.tool].into_iter().chain(words.iter().map(String::as_str)).collect();
        run(&words, call.code, call.answer)
    };
    let prompt = row.prompt.as_ref().map(|prompt| {
        let arguments: Vec<String> =
            prompt.arguments.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let words: Vec<&str> =
            ["prompt", NAME, prompt.name].into_iter().chain(arguments.iter().map(String::as_str)).collect();
        run(&words, 0, prompt.piece)
    });
    Steps {
        tools,
        calls: row.server.calls.iter().map(call).collect(),
        resource: row.resource.map(|(uri, piece)| run(&["read", NAME, uri], 0, piece)),
        prompt,
    }
}

/// `mcparley serve` on standard streams, with a client of the new era.
pub(super) fn use_gateway_on_stdio(row: &FleetRow, place: &Place) -> Steps {
    let command = place.world.command_of(PROGRAM.as_ref(), &["serve", "--defer", "never"]);
    let variable = |(name, value): (&std::ffi::OsStr, Option<&std::ffi::OsStr>)| {
        value.map(|value| (name.to_owned(), value.to_owned()))
    };
    let program = ServerProgram {
        program: PROGRAM.into(),
        arguments: command.get_args().map(ToOwned::to_owned).collect(),
        environment: command.get_envs().filter_map(variable).collect(),
        folder: command.get_current_dir().map(ToOwned::to_owned),
    };
    use_gateway(row, place, &ServerEndpoint::Program(program), ProtocolEra::New)
}

/// `mcparley serve --http`, with a client of the old era.
pub(super) fn use_gateway_over_http(row: &FleetRow, place: &Place) -> Steps {
    let gateway = HttpGateway::start(place, &["--no-token", "--defer", "never"]);
    use_gateway(row, place, &ServerEndpoint::Url(gateway.url.clone()), ProtocolEra::Old)
}

fn use_gateway(row: &FleetRow, place: &Place, endpoint: &ServerEndpoint, era: ProtocolEra) -> Steps {
    let mut client = PlainClient::connect(endpoint, era).unwrap();
    let count = row.count.unwrap_or(row.server.tools.len());
    let mut listed = Vec::new();
    // The first list does not wait for a server that starts slowly; clients hear of its tools and list again.
    wait_for("the list of all tools", LONG, || {
        listed = list_tools(&mut client);
        listed.len() >= count
    });
    let mut ask = |method: &str, params: Value| client.request(method, params).unwrap();
    let find = |tool: &str| listed.iter().find(|listed| is_public_name(name_of(listed), tool)).cloned();
    let calls = row.server.calls.iter().map(|call| {
        let Some(tool) = find(call.tool) else { return Err(format!("{} is not listed", call.tool)) };
        let arguments = arguments_of(call, &tool["inputSchema"], place);
        let answer = ask("tools/call", json!({ "name": tool["name"], "arguments": arguments }));
        let result = &answer["result"];
        let is_error = result["isError"] == json!(true);
        let has_worked = is_error == (call.code != 0) && result["content"].to_string().contains(call.answer);
        check(has_worked, &answer.to_string())
    });
    let calls = calls.collect();
    let resource = row.resource.map(|(uri, piece)| {
        let answer = ask("resources/read", json!({ "uri": format!("{NAME}+{uri}") }));
        check(answer["result"]["contents"].to_string().contains(piece), &answer.to_string())
    });
    let prompt = row.prompt.as_ref().map(|prompt| {
        let arguments: Map<String, Value> =
            prompt.arguments.iter().map(|(name, value)| ((*name).to_owned(), json!(value))).collect();
        let answer =
            ask("prompts/get", json!({ "name": format!("{NAME}__{}", prompt.name), "arguments": arguments }));
        check(answer["result"]["messages"].to_string().contains(prompt.piece), &answer.to_string())
    });
    let known = row.server.tools.iter().chain(row.server.tools_by_capability);
    let own_name = |listed: &Value| {
        let name = name_of(listed);
        let own = known.clone().find(|tool| is_public_name(name, tool));
        own.map_or_else(|| name.to_owned(), |tool| (*tool).to_owned())
    };
    Steps { tools: listed.iter().map(own_name).collect(), calls, resource, prompt }
}

/// All pages of the list, without the tools of the gateway itself, such as `ReadResult`.
fn list_tools(client: &mut PlainClient) -> Vec<Value> {
    let mut listed = Vec::new();
    let mut cursor = Value::Null;
    loop {
        let params = if cursor.is_null() { json!({}) } else { json!({ "cursor": cursor }) };
        let page = client.request("tools/list", params).unwrap();
        let tools = page["result"]["tools"].as_array().cloned().unwrap_or_default();
        listed.extend(tools.into_iter().filter(|tool| name_of(tool).starts_with(&format!("{NAME}__"))));
        cursor = page["result"]["nextCursor"].clone();
        if cursor.is_null() {
            return listed;
        }
    }
}

fn name_of(tool: &Value) -> &str {
    tool["name"].as_str().unwrap_or_default()
}

/// Whether a gateway with several servers offers a tool or prompt under this name. Clients that name models get names
/// without characters that models do not accept.
fn is_public_name(public: &str, name: &str) -> bool {
    let Some(public) = public.strip_prefix(&format!("{NAME}__")) else { return false };
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-');
    let plain: String = name.chars().map(|letter| if is_plain(letter) { letter } else { '_' }).collect();
    public == name || public == plain
}
