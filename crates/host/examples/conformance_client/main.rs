//! A client for the official conformance suite, with nothing but the public API of the crate.
//!
//! It knows one scenario, in which no skill is used (`load_skills`). Otherwise it connects to any server, lists its
//! tools, reads every resource, loads every skill and calls every tool. Where the server requires a sign-in, a
//! browser that only follows redirects stands in for the user. `conformance_client URL` takes the calls to make from
//! `MCP_CONFORMANCE_CONTEXT` if that names some, and otherwise generates arguments from the tools' schemas. Exits
//! with 0 when it could connect and list.
#![expect(clippy::print_stderr, clippy::disallowed_methods, reason = "a program looks around and prints")]

mod browser;
mod entry;
mod person;
mod sample;

use std::error::Error;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use browser::Browser;
use entry::{Context, SERVER};
use mcparley::catalog::Skill;
use mcparley::config::StartPolicy;
use mcparley::model::name::ServerName;
use mcparley::permission::Consent;
use mcparley::pool::connection::{ServerStatus, Unavailable};
use mcparley::skill::SkillError;
use mcparley::{Call, CallError, CallOutcome, Host, Paths, RunOptions};
use person::Agreeable;
use serde_json::{Value, json};

/// The timeout of a connect; the suite gives half a minute for a whole run.
const PATIENCE: Duration = Duration::from_secs(20);

/// The maximum number of sign-in attempts.
const SIGN_INS: usize = 2;

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
    let host = connect(home.path(), &context, &url);
    let result = converse(&host, &context).await;
    host.shut_down().await;
    result
}

/// A host with this one server, in an empty home: nothing of the user's takes part.
fn connect(home: &Path, context: &Context, url: &str) -> Host {
    let entry = context.server_entry(url);
    let run_options = RunOptions {
        mcp_config: vec![json!({ "mcpServers": { SERVER: entry } }).to_string()],
        strict: true,
        env: std::env::vars().collect(),
        ..RunOptions::default()
    };
    let builder = Host::builder(&Paths::new(home, home), &run_options).start_with(StartPolicy::All);
    let builder = builder.without_built_in_server().without_file_watcher().elicitor(Agreeable);
    builder.page_opener(Browser::default()).identity_settings(context.identity()).start()
}

async fn converse(host: &Host, context: &Context) -> Result<(), Box<dyn Error>> {
    sign_in(host).await?;
    list(host).await?;
    read_resources(host).await;
    load_skills(host).await;
    let calls = match context.calls() {
        Some(calls) => calls,
        None => sampled(host),
    };
    for (tool, arguments) in calls {
        let call = || Call::on_server(SERVER, &tool, arguments.clone()).with_consent(Consent::Given);
        let mut result = host.call(call()).await;
        if matches!(&result, Err(CallError::Unavailable { why: Unavailable::NeedsAuth, .. })) {
            // The credentials are no longer valid.
            sign_in(host).await?;
            result = host.call(call()).await;
        }
        report(&tool, &result);
    }
    Ok(())
}

/// Signs in while the server wants it, but not for ever.
async fn sign_in(host: &Host) -> Result<(), Box<dyn Error>> {
    let server = ServerName::new(SERVER);
    for _ in 0..SIGN_INS {
        match host.connect_server(&server).await {
            Err(Unavailable::NeedsAuth) => {
                host.sign_in_with_page(&server).await.map_err(|error| error.to_single_line())?
            }
            Ok(()) => return Ok(()),
            Err(other) => return Err(other.into()),
        }
    }
    Ok(host.connect_server(&server).await?)
}

/// Waits until the server has listed its tools.
async fn list(host: &Host) -> Result<(), Box<dyn Error>> {
    for server in host.wait_until_ready(PATIENCE).await.servers {
        for note in server.state.surface.notes() {
            eprintln!("note: {note}");
        }
        match &server.state.status {
            ServerStatus::Connected { protocol, .. } => {
                eprintln!("connected: {}", protocol.version().as_str())
            }
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

/// Loads every skill and reads its files, as a model does that uses them. The host reads none of them before that, which one
/// scenario tests; its server looks like those of the scenarios that want a skill loaded, so only its name tells them apart.
async fn load_skills(host: &Host) {
    let scenario = std::env::var("MCP_CONFORMANCE_SCENARIO").unwrap_or_default();
    if scenario.ends_with("no-prefetch") {
        return;
    }
    for skill in host.skills() {
        if let Err(error) = load_skill(host, &skill).await {
            eprintln!("{}: {error}", skill.uri);
        }
    }
}

async fn load_skill(host: &Host, skill: &Skill) -> Result<(), SkillError> {
    let loaded = host.load_skill(&skill.server, &skill.uri).await?;
    eprintln!("{}: {}", skill.uri, loaded.text);
    for file in skill.files.iter().flatten().filter(|file| file.uri != skill.uri) {
        host.read_skill_file(skill, &file.uri).await?;
    }
    Ok(())
}

/// Every tool of the server, with arguments made up from its schema.
fn sampled(host: &Host) -> Vec<(String, Value)> {
    let catalog = host.publish_catalog();
    let of_server = catalog.iter().filter(|entry| entry.server().is_some());
    of_server
        .map(|entry| {
            let schema = serde_json::from_str(entry.tool.input_schema.get()).unwrap_or_default();
            (entry.tool.name.as_str().to_owned(), sample::arguments(&schema))
        })
        .collect()
}

/// A call that fails is reported and ends nothing.
fn report(what: &str, result: &Result<CallOutcome, CallError>) {
    match result {
        Ok(outcome) => eprintln!("{what}: {}", outcome.to_text()),
        Err(error) => eprintln!("{what}: {error}"),
    }
}
