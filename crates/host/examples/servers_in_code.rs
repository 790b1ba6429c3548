//! Servers in code: one program, and one in-process tool. The user at the terminal permits calls, answers
//! elicitations, and sees progress.
//!
//! `cargo run --example servers_in_code -- trigger-long-running-operation '{ "duration": 3, "steps": 5 }' \
//!     npx -y @modelcontextprotocol/server-everything`
#![expect(clippy::print_stdout, reason = "a program prints")]

use mcparley::elicit::{ElicitationReply as Reply, ElicitationRequest as Request};
use mcparley::{Call, CallError, Host, InProcessServer, Paths, PermissionAnswer, RunOptions, ServerEntry};
use serde_json::{Value, json};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [tool, arguments, command, args @ ..] = &*words else {
        return Err("TOOL ARGUMENTS COMMAND…".into());
    };

    let schema = json!({ "description": "Adds two numbers.", "type": "object", "required": ["a", "b"] });
    let calculator = InProcessServer::new("calc").tool("add", schema, |numbers: Value| async move {
        let sum = numbers["a"].as_f64().zip(numbers["b"].as_f64()).map(|(a, b)| a + b);
        sum.map(|sum| json!({ "sum": sum })).ok_or("two numbers are needed")
    });
    let program = ServerEntry::stdio(command).args(args);
    let options = RunOptions::with_process_env().with_server("program", program);
    let host = Host::builder(&Paths::for_current_user()?, &options)
        .in_process_server(calculator)
        .approver_fn(|question| {
            Box::pin(async move {
                let call = format!("Call {} with {}? y/n", question.entry.name, question.arguments);
                let denied = PermissionAnswer::Deny("the user denied it".to_owned());
                if ask(call).await == "y" { PermissionAnswer::Allow } else { denied }
            })
        })
        .elicitor_fn(|question| {
            Box::pin(async move {
                let Request::Form(form) = question.request else { return Reply::Decline };
                let typed = ask(format!("{} y for {}, or JSON", question.message, form.defaults())).await;
                let content = if typed == "y" { Ok(form.defaults()) } else { serde_json::from_str(&typed) };
                content.map_or(Reply::Decline, Reply::Accept)
            })
        })
        .start();

    call(&host, Call::on_server("calc", "add", json!({ "a": 40, "b": 2 }))).await?;
    call(&host, Call::on_server("program", tool, serde_json::from_str::<Value>(arguments)?)).await?;
    host.shut_down().await;
    Ok(())
}

/// Makes a call, and prints its progress and its result.
async fn call(host: &Host, call: Call) -> Result<(), CallError> {
    let (call, mut progress) = call.with_progress();
    let print_progress = async {
        while let Some(step) = progress.next().await {
            println!("progress {} of {}", step.progress, step.total.unwrap_or_default());
        }
    };
    let (outcome, ()) = tokio::join!(host.call(call), print_progress);
    println!("{}", outcome?.to_text());
    Ok(())
}

/// Asks the user at the terminal; the end of input is an empty answer.
async fn ask(question: String) -> String {
    println!("{question}");
    let line = tokio::task::spawn_blocking(|| std::io::stdin().lines().next()).await;
    line.ok().flatten().and_then(Result::ok).unwrap_or_default()
}
