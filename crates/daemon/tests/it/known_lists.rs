//! Clients that have the lists of a server from before do not fetch them again.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::{Arc, Mutex};

use mcparley::RunOptions;
use mcparley::model::name::ServerName;
use mcparley_daemon::DaemonPaths;
use mcparley_platform::dirs::Directories;
use mcparley_testkit::ScriptedStdio;

use crate::world::{World, entry};

/// A socket that passes every line on to the daemon, and keeps those of the client.
fn record_lines(daemon: &Path, socket: &Path) -> Arc<Mutex<Vec<String>>> {
    let lines = Arc::<Mutex<Vec<String>>>::default();
    let (listener, daemon, record) =
        (UnixListener::bind(socket).unwrap(), daemon.to_owned(), Arc::clone(&lines));
    std::thread::spawn(move || {
        for client in listener.incoming().map_while(Result::ok) {
            let server = UnixStream::connect(&daemon).unwrap();
            let (mut from, mut to) = (server.try_clone().unwrap(), client.try_clone().unwrap());
            std::thread::spawn(move || std::io::copy(&mut from, &mut to));
            let record = Arc::clone(&record);
            std::thread::spawn(move || {
                let mut server = server;
                for line in BufReader::new(client).lines().map_while(Result::ok) {
                    writeln!(server, "{line}").unwrap();
                    record.lock().unwrap().push(line);
                }
                // The daemon may have closed the stream first.
                let _closed = server.shutdown(std::net::Shutdown::Both);
            });
        }
    });
    lines
}

// U5
#[tokio::test]
async fn client_that_attaches_again_does_not_fetch_lists_that_are_unchanged() {
    let world = World::new();
    let session = world.root.join("session");
    let paths = DaemonPaths::new(&Directories::for_home(&session, |_| None));
    std::fs::create_dir_all(&paths.folder).unwrap();
    let lines = record_lines(&world.paths.socket(), &paths.socket());
    let fetches = || lines.lock().unwrap().iter().filter(|line| line.contains("\"tools/list\"")).count();
    let options = RunOptions::default().with_server("one", entry(&ScriptedStdio::new(&[])));
    let client = world.client_at(&paths, "project", ("a", None), (&options, |host| host));
    let process = client.pid().await;
    let tools = client.host.catalog().iter().len();
    assert_eq!(fetches(), 1);
    client.host.reconnect_server(&ServerName::new("one")).await;
    while client.pid().await == process {
        tokio::task::yield_now().await;
    }
    assert!(client.uses_daemon());
    assert_eq!(client.host.catalog().iter().len(), tools);
    assert_eq!(fetches(), 1, "{:?}", lines.lock().unwrap());
}
