//! Calls tools as a model would, and asks the person at the terminal for permission and for input.
//!
//! `cargo run -p mcparley-console --example ask_person -- mcp__git__git_status '{"repo_path": "."}'`
//!
//! Several pairs of tool and arguments are called at the same time; their questions wait for each other.
#![expect(clippy::print_stdout, reason = "a program prints")]

use mcparley::auth::browser::{Browser, DesktopSession};
use mcparley::{Call, Host, Paths, RunOptions};
use mcparley_console::dialog::{SharedTerminal, TerminalDialogs};
use serde_json::Value;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let browser = Browser::for_desktop(DesktopSession { env: Vec::new() });
    let dialogs = TerminalDialogs::new(SharedTerminal::default(), browser, false);
    let host = Host::builder(&Paths::for_current_user()?, &RunOptions::with_process_env())
        .approver(dialogs.clone())
        .elicitor(dialogs.clone())
        .page_opener(dialogs)
        .start();
    let mut calls = Vec::new();
    for pair in words.chunks_exact(2) {
        let arguments: Value = serde_json::from_str(pair.get(1).map_or("{}", String::as_str))?;
        let call = Call::new(pair.first().map_or("", String::as_str), arguments);
        let host = host.clone();
        calls.push(tokio::spawn(async move { host.call(call).await }));
    }
    for call in calls {
        match call.await? {
            Ok(outcome) => println!("answer: {}", outcome.to_text()),
            Err(error) => println!("error: {error}"),
        }
    }
    host.shut_down().await;
    Ok(())
}
