//! The fragments of `docs/embed.md`, so that they are compiled. A test compares the page with this file.
//!
//! `cargo run --example embedding_page` runs none of them: start with the example `agent`.
#![expect(dead_code, unused_mut, unused_variables, reason = "fragments, which only have to compile")]
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program prints")]

use std::time::Duration;

use mcparley::{
    Call, Host, InProcessServer, Paths, PermissionAnswer, PermissionQuestion, RunOptions, ServerEntry,
};
use serde_json::{Value, json};

fn main() {}

async fn ask_person(question: PermissionQuestion<'_>) -> PermissionAnswer {
    PermissionAnswer::Deny(format!("nobody answered for {}", question.entry.name))
}

fn define_servers_in_code() -> std::io::Result<()> {
    let options = RunOptions::with_process_env()
        .with_server(
            "files",
            ServerEntry::stdio("npx").args(["-y", "@modelcontextprotocol/server-filesystem", "."]),
        )
        .with_server(
            "api",
            ServerEntry::http("https://example.com/mcp").header("Authorization", "Bearer ${TOKEN}"),
        );

    let schema = json!({ "description": "Adds two numbers.", "type": "object", "required": ["a", "b"] });
    let calculator = InProcessServer::new("calc").tool("add", schema, |numbers: Value| async move {
        let sum = numbers["a"].as_f64().zip(numbers["b"].as_f64()).map(|(a, b)| a + b);
        sum.map(|sum| json!({ "sum": sum })).ok_or("two numbers are needed")
    });

    let host = Host::builder(&Paths::for_current_user()?, &options)
        .in_process_server(calculator)
        .approver_fn(|question| Box::pin(async move { ask_person(question).await }))
        .start();

    let (call, mut progress) =
        Call::on_server("files", "directory_tree", json!({ "path": "." })).with_progress();
    Ok(())
}

async fn handle_an_outcome(host: &Host) {
    match host.call(Call::new("mcp__files__read_file", json!({ "path": "notes.md" }))).await {
        Ok(outcome) if outcome.is_error => eprintln!("the tool failed: {}", outcome.to_text()),
        Ok(outcome) => println!("{}", outcome.to_text()),
        Err(error) if error.is_outcome_unknown() => eprintln!("{error}; it may have taken effect"),
        Err(error) => eprintln!("{error}; hint: {}", error.hint().unwrap_or_default()),
    }
}

fn answer_forms() -> std::io::Result<()> {
    let (paths, run_options) = (Paths::for_current_user()?, RunOptions::with_process_env());

    use mcparley::BoxedFuture;
    use mcparley::elicit::{Elicitation, ElicitationReply, ElicitationRequest, Elicitor};

    /// Accepts the defaults of every form, and declines pages.
    struct AcceptDefaults;

    impl Elicitor for AcceptDefaults {
        fn ask<'q>(&'q self, question: Elicitation<'q>) -> BoxedFuture<'q, ElicitationReply> {
            let reply = match question.request {
                ElicitationRequest::Form(form) => ElicitationReply::Accept(form.defaults()),
                _ => ElicitationReply::Decline,
            };
            Box::pin(std::future::ready(reply))
        }
    }

    let host = Host::builder(&paths, &run_options).elicitor(AcceptDefaults).start();
    Ok(())
}

fn run_own_hooks() -> std::io::Result<()> {
    let (paths, run_options) = (Paths::for_current_user()?, RunOptions::with_process_env());

    use mcparley::BoxedFuture;
    use mcparley::hooks::{HookEvent, Hooks, PreHookAnswer, ToolUse};
    use mcparley::model::permission::PermissionVerdict;

    /// Denies every tool whose name contains `delete`.
    struct NoDeletes;

    impl Hooks for NoDeletes {
        fn events(&self) -> &[HookEvent] {
            &[HookEvent::PreToolUse]
        }

        fn before_tool<'h>(&'h self, tool_use: ToolUse<'h>) -> BoxedFuture<'h, PreHookAnswer> {
            let verdict = tool_use.tool.as_str().contains("delete").then_some(PermissionVerdict::Deny);
            Box::pin(std::future::ready(PreHookAnswer { verdict, ..PreHookAnswer::default() }))
        }
    }

    let host = Host::builder(&paths, &run_options).hooks(NoDeletes).start();
    Ok(())
}

async fn start_an_agent(host: &Host) -> Result<(), Box<dyn std::error::Error>> {
    use mcparley::AgentSpec;

    let spec = AgentSpec::new("reviewer")
        .share_server("github") // use this server of the host
        .bring_server("notes", &json!({ "command": "notes-server" })) // started for it, stopped with it
        .require_server("github") // do not start without it
        .with_deadline(Duration::from_secs(10));
    let agent = host.start_agent(spec).await?; // AgentError names the server and the reason
    let tools = agent.publish_catalog();
    agent.end().await; // or drop it
    Ok(())
}
