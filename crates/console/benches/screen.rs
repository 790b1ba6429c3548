//! The time of a frame of the `/mcp` screen with 100 servers of 100 tools each; the limit is 16 ms.
//!
//! The servers are in-process ones, so that the whole way is measured: reading the state of the host, and
//! drawing it into a terminal of memory.
#![expect(clippy::expect_used, reason = "a bench cannot measure anything without its host")]

use std::time::Duration;

use divan::{Bencher, black_box};
use mcparley::config::StartPolicy;
use mcparley::{Host, InProcessServer, Paths, RunOptions};
use mcparley_console::screen::ScreenModel;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::runtime::Runtime;

const SERVERS: usize = 100;
const TOOLS: usize = 100;

/// The sizes of the terminal.
const SIZES: [(u16, u16); 2] = [(80, 24), (200, 60)];

fn main() {
    divan::main();
}

/// A frame after a key: only the visible rows are made.
#[divan::bench(args = SIZES)]
fn draw(bencher: Bencher, (width, height): (u16, u16)) {
    let bench = BenchHost::start();
    let mut model = ScreenModel::from_host(&bench.host);
    let mut terminal = Terminal::new(TestBackend::new(width, height)).expect("a terminal of memory");
    bencher.bench_local(|| {
        terminal.draw(|frame| model.draw(frame, true)).expect("a frame");
    });
}

/// A frame after a change of the host: its state is read again.
#[divan::bench(args = SIZES)]
fn refresh_and_draw(bencher: Bencher, (width, height): (u16, u16)) {
    let bench = BenchHost::start();
    let mut model = ScreenModel::from_host(&bench.host);
    let mut terminal = Terminal::new(TestBackend::new(width, height)).expect("a terminal of memory");
    bencher.bench_local(|| {
        model.refresh(black_box(&bench.host));
        terminal.draw(|frame| model.draw(frame, true)).expect("a frame");
    });
}

/// A host whose servers are connected.
struct BenchHost {
    host: Host,
    _runtime: Runtime,
    _home: TempDir,
}

impl BenchHost {
    fn start() -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let home = tempfile::tempdir().expect("a folder");
        let paths = Paths::new(home.path(), home.path());
        let host = runtime.block_on(async {
            let builder = Host::builder(&paths, &RunOptions::default()).start_with(StartPolicy::All);
            let builder = (0..SERVERS).fold(builder.without_file_watcher(), |builder, index| {
                builder.in_process_server(server(index))
            });
            let host = builder.start();
            host.wait_until_ready(Duration::from_secs(60)).await;
            host
        });
        assert!(host.catalog().iter().len() >= SERVERS * TOOLS, "every tool is there");
        Self { host, _runtime: runtime, _home: home }
    }
}

fn server(index: usize) -> InProcessServer {
    let text = json!({ "type": "string", "description": "A path in the repository" });
    let schema = json!({
        "description": "Records changes", "type": "object", "required": ["repo_path", "message"],
        "properties": { "repo_path": text, "message": text, "amend": { "type": "boolean" } },
    });
    (0..TOOLS).fold(InProcessServer::new(&format!("server-{index:03}")), |server, tool| {
        server.tool(&format!("tool_{tool:03}"), schema.clone(), |arguments: Value| async move {
            Ok::<_, String>(arguments)
        })
    })
}
