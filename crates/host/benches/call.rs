//! One call from end to end, of a tool inside this program: nothing but the host's own work.
#![expect(clippy::expect_used, reason = "a bench cannot measure anything without its host")]

use std::path::Path;

use divan::{Bencher, black_box};
use mcparley::{Call, Host, InProcessServer, Paths, RunOptions};
use serde_json::{Value, json};
use tokio::runtime::Builder;

fn main() {
    divan::main();
}

#[divan::bench(sample_size = 1000)]
fn call_in_process_tool(bencher: Bencher) {
    let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime starts");
    let host = runtime.block_on(async {
        let echo = |arguments: Value| async move { Ok::<_, String>(arguments) };
        let server = InProcessServer::new("bench").tool("echo", json!({ "type": "object" }), echo);
        let options = RunOptions { allowed_tools: vec!["mcp__bench".to_owned()], ..RunOptions::default() };
        let nowhere = Path::new("/nowhere");
        Host::builder(&Paths::new(nowhere, nowhere), &options).in_process_server(server).start()
    });
    let call = || runtime.block_on(host.call(Call::new("mcp__bench__echo", json!({ "message": "hi" }))));
    call().expect("the tool answers");
    bencher.bench_local(|| black_box(call()));
}
