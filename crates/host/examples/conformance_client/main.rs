//! A client for the official conformance suite, with nothing but the public API of the crate.
//!
//! It knows no scenario: whatever the server is, it connects, lists everything, reads every resource and calls every
//! tool. `conformance_client URL` takes the calls to make from `MCP_CONFORMANCE_CONTEXT` if that names some, and else
//! makes up arguments from the tools' schemas. Exits with 0 when it could connect and list.
#![expect(clippy::print_stderr, clippy::disallowed_methods, reason = "a program looks around and prints")]

mod entry;
mod person;
mod sample;

use std::error::Error;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use entry::{Context, SERVER};
use mcparley::{Call, CallError, Consent, Host, Outcome, Places, Start, Status, Wishes};
use person::Agreeable;
use serde_json::{Value, json};

/// How long connecting may take; the suite gives half a minute for everything.
const PATIENCE: Duration = Duration::from_secs(20);

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn run() -> Result<(), Box<dyn Error>> {
    let url = std::env::args().skip(1).last().ok_or("usage: conformance_client URL")?;
    let context = Context::read(std::env::var("MCP_CONFORMANCE_CONTEXT").ok().as_deref())?;
    let home = tempfile::tempdir()?;
    let host = connect(home.path(), &context.server_entry(&url));
    let result = converse(&host, &context).await;
    host.shut_down().await;
    result
}

/// A host with this one server, in an empty home: nothing of the user's takes part.
fn connect(home: &Path, entry: &Value) -> Host {
    let wishes = Wishes {
        mcp_config: vec![json!({ "mcpServers": { SERVER: entry } }).to_string()],
        strict: true,
        env: std::env::vars().collect(),
        ..Wishes::default()
    };
    let builder = Host::builder(&Places::of(home, home), &wishes).start_with(Start::All);
    builder.without_own_server().without_watching().elicitor(Agreeable).start()
}

async fn converse(host: &Host, context: &Context) -> Result<(), Box<dyn Error>> {
    list(host).await?;
    read_resources(host).await;
    let calls = match context.calls() {
        Some(calls) => calls,
        None => sampled(host),
    };
    for (tool, arguments) in calls {
        let call = Call::to(SERVER, &tool, arguments);
        report(&tool, &host.call(call.with_consent(Consent::Given)).await);
    }
    Ok(())
}

/// Waits until the server has told what it offers.
async fn list(host: &Host) -> Result<(), Box<dyn Error>> {
    for server in host.ready(PATIENCE).await.servers {
        for note in server.state.surface.notes() {
            eprintln!("note: {note}");
        }
        match &server.state.status {
            Status::Connected { spoken, .. } => eprintln!("connected: {}", spoken.version().as_str()),
            status => {
                let reason = status.reason().unwrap_or_else(|| status.as_str().to_owned());
                return Err(reason.into());
            }
        }
    }
    Ok(())
}

async fn read_resources(host: &Host) {
    let resources = host.servers().into_iter().flat_map(|server| server.state.surface.resources.clone());
    for resource in resources {
        let uri = resource.member("uri").and_then(|uri| uri.decode::<String>().ok()).unwrap_or_default();
        let arguments = json!({ "server": SERVER, "uri": uri });
        let call = Call::new("ReadMcpResource", arguments).with_consent(Consent::Given);
        report(&uri, &host.call(call).await);
    }
}

/// Every tool of the server, with arguments made up from its schema.
fn sampled(host: &Host) -> Vec<(String, Value)> {
    let catalog = host.catalog();
    let of_server = catalog.iter().filter(|entry| entry.server().is_some());
    of_server
        .map(|entry| {
            let schema = serde_json::from_str(entry.tool.input_schema.get()).unwrap_or_default();
            (entry.tool.name.as_str().to_owned(), sample::arguments(&schema))
        })
        .collect()
}

/// That one call fails is told and ends nothing.
fn report(what: &str, result: &Result<Outcome, CallError>) {
    match result {
        Ok(outcome) => eprintln!("{what}: {}", outcome.text()),
        Err(error) => eprintln!("{what}: {error}"),
    }
}
