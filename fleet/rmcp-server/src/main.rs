//! A server of the newest era on standard input and output, built with the official Rust SDK.
//!
//! It shares no code with mcparley: what the two agree on is the protocol. The SDK speaks both eras, so the
//! same program answers `server/discover` and `initialize`.

mod chore;
mod tools;

use std::process::ExitCode;

use rmcp::ServiceExt;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let served = match tools::Server::default().serve(rmcp::transport::stdio()).await {
        Ok(service) => service.waiting().await.is_ok(),
        Err(_) => false,
    };
    if served { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
