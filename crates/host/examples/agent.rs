//! A complete embedding: every MCP server of the user, their tools for a model, and one call.
//!
//! `cargo run --example agent` works with nothing configured, through the built-in server `mcparley`.
#![expect(clippy::print_stdout, clippy::disallowed_methods, reason = "a program looks around and prints")]

use std::time::Duration;

use mcparley::{Call, Host, Paths, RunOptions};
use serde_json::json;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let home = std::env::home_dir().ok_or("there is no home directory")?;
    let paths = Paths::of(&home, &std::env::current_dir()?);
    let run_options = RunOptions {
        env: std::env::vars().collect(),
        allowed_tools: vec!["mcp__mcparley__*".into()],
        ..RunOptions::default()
    };

    let host = Host::builder(&paths, &run_options).start();
    let readiness = host.ready(Duration::from_secs(10)).await;
    for server in &readiness.servers {
        println!("{}: {}", server.name, server.state.status.as_str());
    }

    // What a model is given …
    let tools = serde_json::to_string_pretty(&host.catalog().iter().collect::<Vec<_>>())?;
    println!("{tools}");

    // … and what it asks for.
    let wanted = Call::new("mcp__mcparley__echo", json!({ "message": "hello" }));
    println!("{}", host.call(wanted).await?.text());

    host.shut_down().await;
    Ok(())
}
