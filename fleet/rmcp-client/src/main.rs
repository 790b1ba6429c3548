//! A client of `mcparley serve`, built with the official Rust SDK.
//!
//! It shares no code with mcparley: what the two agree on is the protocol. Its arguments are those of the other
//! clients in `fleet/foreign`: the steps as JSON, then `stdio PROGRAM [ARGUMENTS...]` or `http URL TOKEN`. It prints
//! what came of each step as one line of JSON.
#![expect(clippy::print_stdout, reason = "a test client prints what it received")]

use std::error::Error;

use rmcp::model::{
    CallToolRequestParams, ClientConfig, ElicitRequestParams, ElicitResult, ElicitationAction,
    GetPromptRequestParams, ReadResourceRequestParams,
};
use rmcp::service::{RequestContext, RunningService};
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::transport::{StreamableHttpClientTransport, TokioChildProcess};
use rmcp::{ClientHandler, ErrorData, RoleClient, ServiceExt};
use serde_json::{Value, json};
use tokio::process::Command;

/// A client whose user is called Ada.
#[derive(Clone, Debug, Default)]
struct Ada;

impl ClientHandler for Ada {
    fn get_info(&self) -> ClientConfig {
        let mut info = ClientConfig::default();
        info.capabilities.elicitation = serde_json::from_value(json!({ "form": {} })).ok();
        info
    }

    async fn create_elicitation(
        &self,
        _request: ElicitRequestParams,
        _context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        Ok(ElicitResult::new(ElicitationAction::Accept).with_content(json!({ "name": "Ada" })))
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [steps, kind, target @ ..] = arguments.as_slice() else {
        return Err("usage: STEPS stdio|http TARGET...".into());
    };
    let client = match (kind.as_str(), target) {
        ("stdio", [program, arguments @ ..]) => {
            let mut command = Command::new(program);
            command.args(arguments);
            Ada.serve(TokioChildProcess::new(command)?).await?
        }
        ("http", [url, token]) => {
            let config = StreamableHttpClientTransportConfig::with_uri(url.as_str()).auth_header(token);
            Ada.serve(StreamableHttpClientTransport::from_config(config)).await?
        }
        _ => return Err("usage: STEPS stdio|http TARGET...".into()),
    };
    let done = run_steps(&client, &serde_json::from_str(steps)?).await;
    client.cancel().await?;
    println!("{}", done?);
    Ok(())
}

async fn run_steps(client: &RunningService<RoleClient, Ada>, steps: &Value) -> Result<Value, Box<dyn Error>> {
    let name = |step: &str| steps[step].as_str().unwrap_or_default().to_owned();
    let tools = client.list_all_tools().await?;
    let arguments = steps["arguments"].as_object().cloned().unwrap_or_default();
    let called = client.call_tool(CallToolRequestParams::new(name("tool")).with_arguments(arguments)).await?;
    let resource = client.read_resource(ReadResourceRequestParams::new(name("resource"))).await?;
    let prompt = client.get_prompt(GetPromptRequestParams::new(name("prompt"))).await?;
    let asked = client.call_tool(CallToolRequestParams::new(name("question"))).await?;
    let [called, resource, prompt, asked] = [
        serde_json::to_value(called)?,
        serde_json::to_value(resource)?,
        serde_json::to_value(prompt)?,
        serde_json::to_value(asked)?,
    ];
    let answer: Vec<&str> = asked["content"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|block| block["text"].as_str())
        .collect();
    Ok(json!({
        "protocol": client.peer_info().map(|server| server.protocol_version.to_string()),
        "tools": tools.iter().map(|tool| tool.name.as_ref()).collect::<Vec<&str>>(),
        "call": called["content"][0]["text"],
        "resource": resource["contents"][0]["text"],
        "prompt": prompt["messages"][0]["content"]["text"],
        "answer": answer.join(" "),
    }))
}
