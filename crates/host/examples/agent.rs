//! A complete embedding: every MCP server of the user, their tools for a model, and one call.
//!
//! `cargo run --example agent` works with nothing configured, through the built-in server `mcparley`.
#![expect(clippy::print_stdout, reason = "a program prints")]

use std::time::Duration;

use mcparley::{Call, Host, Paths, RunOptions};
use serde_json::json;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let options =
        RunOptions { allowed_tools: vec!["mcp__mcparley__*".into()], ..RunOptions::with_process_env() };
    let host = Host::builder(&Paths::for_current_user()?, &options).start();
    let readiness = host.wait_until_ready(Duration::from_secs(10)).await;
    for server in &readiness.servers {
        println!("{}: {}", server.name, server.state.status.as_str());
    }

    // The tools that a model is given …
    let tools = serde_json::to_string_pretty(&host.publish_catalog().iter().collect::<Vec<_>>())?;
    println!("{tools}");

    // … and a call that it makes.
    let wanted = Call::new("mcp__mcparley__echo", json!({ "message": "hello" }));
    println!("{}", host.call(wanted).await?.to_text());

    host.shut_down().await;
    Ok(())
}
