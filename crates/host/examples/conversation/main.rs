//! A model at work with every MCP server of the user: `cargo run --example conversation -- 'What is in this folder?'`
//!
//! Requires `ANTHROPIC_API_KEY`; `ANTHROPIC_MODEL` and `ANTHROPIC_BASE_URL` override the defaults below.
//! Permission questions are denied, because there is no user to ask: allow tools in the settings.
#![expect(clippy::print_stdout, clippy::disallowed_methods, reason = "a program looks around and prints")]

mod agent;

use std::time::Duration;

use agent::{Agent, Model};
use mcparley::catalog::Budget;
use mcparley::{Host, Paths, RunOptions};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let task = std::env::args().nth(1).ok_or("give a task")?;
    let home = std::env::home_dir().ok_or("there is no home directory")?;
    let paths = Paths::new(&home, &std::env::current_dir()?);
    let run_options = RunOptions { env: std::env::vars().collect(), ..RunOptions::default() };
    let host = Host::builder(&paths, &run_options).start();
    host.wait_until_ready(Duration::from_secs(10)).await;

    let variable = |name: &str, default: &str| std::env::var(name).unwrap_or_else(|_| default.to_owned());
    let model = Model {
        http: reqwest::Client::new(),
        base: variable("ANTHROPIC_BASE_URL", "https://api.anthropic.com"),
        key: std::env::var("ANTHROPIC_API_KEY")?,
        name: variable("ANTHROPIC_MODEL", "claude-sonnet-4-5"),
    };
    let budget = Budget::for_context(200_000);
    let mut agent = Agent { host: host.clone(), model, budget, listed: Vec::new() };
    println!("{}", agent.work_on(&task).await?);
    host.shut_down().await;
    Ok(())
}
