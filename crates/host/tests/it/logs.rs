//! The logs of servers: the lines that are kept.

use mcparley::Host;
use mcparley::model::name::ServerName;
use mcparley::pool::connection::ServerStatus;
use mcparley::pool::log::{LogSource, read_logs};
use mcparley_testkit::ScriptedStdio;
use serde_json::json;

use crate::alive::{LONG, scripted, servers, stdio};
use crate::world::World;

fn world(entry: &serde_json::Value) -> World {
    let mut world = World::new();
    world.set("PATH", "/usr/bin:/bin");
    world.write("home/.claude.json", &json!({ "mcpServers": { "one": entry } }).to_string());
    world
}

async fn run(world: &World) -> (Host, mcparley::Paths) {
    let mut paths = world.paths();
    paths.logs = Some(world.path("logs"));
    let host = Host::builder(&paths, &world.run_options).start();
    host.wait_until_ready(LONG).await;
    (host, paths)
}

// B62 H29
#[tokio::test]
async fn a_server_that_prints_its_key_does_not_get_it_into_errors_or_logs() {
    let world = world(&json!({
        "command": "/bin/sh",
        "args": ["-c", "echo \"cannot sign in with $API_KEY\" >&2; exit 3"],
        "env": { "API_KEY": "canary-7f3a9c" },
    }));
    let (host, paths) = run(&world).await;
    let server = &host.servers()[0];
    let ServerStatus::Failed(error) = &server.state.status else { panic!("{:?}", server.state.status) };
    assert_eq!(error.stderr.clean_text().trim(), "cannot sign in with ***");
    host.shut_down().await;

    let lines = read_logs(&paths, &ServerName::new("one")).unwrap();
    let said = lines.iter().find(|line| line.from == LogSource::Stderr).unwrap();
    assert_eq!(said.text.raw(), "cannot sign in with ***");
    assert!(lines.iter().any(|line| line.text.raw().contains("code 3")), "{lines:?}");
    let files: Vec<_> =
        std::fs::read_dir(world.path("logs")).unwrap().map(|file| file.unwrap().path()).collect();
    assert_eq!(files.len(), 1, "{files:?}");
    for path in files {
        assert!(!std::fs::read_to_string(&path).unwrap().contains("canary-7f3a9c"));
    }
}

#[tokio::test]
async fn stderr_of_a_stopped_process_is_kept() {
    let world = world(&stdio(&ScriptedStdio::new(&["stderr-flood:1"])));
    let (host, paths) = run(&world).await;
    let call = mcparley::Call::on_server("one", "echo", json!({ "message": "hi" }));
    host.call(call.with_consent(mcparley::permission::Consent::Given)).await.unwrap();
    host.shut_down().await;
    let lines = read_logs(&paths, &ServerName::new("one")).unwrap();
    assert!(lines.iter().any(|line| line.from == LogSource::Stderr));
    assert_eq!(read_logs(&paths, &ServerName::new("other")).unwrap(), []);
}

#[tokio::test]
async fn run_without_failures_writes_no_log() {
    let world = world(&scripted(&[]));
    let (host, _places) = run(&world).await;
    let call = mcparley::Call::on_server("one", "echo", json!({ "message": "hi" }));
    host.call(call.with_consent(mcparley::permission::Consent::Given)).await.unwrap();
    host.shut_down().await;
    assert!(!world.path("logs").exists());
}

// F103 T1
#[tokio::test]
async fn lines_on_stdout_that_are_no_messages_are_counted_in_the_log() {
    let world = world(&scripted(&["chatter"]));
    let (host, paths) = run(&world).await;
    let call = mcparley::Call::on_server("one", "echo", json!({ "message": "hi" }));
    host.call(call.with_consent(mcparley::permission::Consent::Given)).await.unwrap();
    host.shut_down().await;
    let lines = read_logs(&paths, &ServerName::new("one")).unwrap();
    let told: Vec<_> = lines.iter().filter(|line| line.text.raw().contains("on stdout")).collect();
    let [told] = told[..] else { panic!("{lines:?}") };
    assert_eq!(told.from, LogSource::Host);
    let (count, rest) = told.text.raw().split_once(' ').unwrap();
    assert!(count.parse::<u32>().unwrap() >= 60, "{told:?}");
    assert_eq!(rest, "lines on stdout that are not MCP messages; the first: [INFO] started");
}

// F103 T1
#[tokio::test]
async fn stdout_log_lines_are_counted_even_if_the_server_never_connected() {
    let world = world(&json!({ "command": "/bin/sh", "args": ["-c", "echo '[INFO] bye'; exit 3"] }));
    let (host, paths) = run(&world).await;
    host.shut_down().await;
    let lines = read_logs(&paths, &ServerName::new("one")).unwrap();
    let told = "1 line on stdout that is not an MCP message; the first: [INFO] bye";
    assert!(lines.iter().any(|line| line.text.raw() == told), "{lines:?}");
}

#[tokio::test]
async fn log_messages_of_a_server_are_kept() {
    let alive = servers([("one", scripted(&["flood:3"]))]).ready().await;
    alive.echo("one", "hi").await.unwrap();
    let (lines, _) = alive.host.server_log(&ServerName::new("one")).unwrap();
    let said = lines.iter().filter(|line| matches!(&line.from, LogSource::Server { .. })).count();
    assert_eq!(said, 3, "{lines:?}");
}
