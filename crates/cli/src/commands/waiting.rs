//! The progress text of commands that wait for servers: their number, and running downloads of packages.

use std::collections::BTreeMap;
use std::sync::Arc;

use mcparley::Host;
use mcparley::host::HostServer;
use mcparley::model::name::ServerName;
use mcparley::pool::health::{CheckEvent, CheckedServer};
use tokio::sync::broadcast::error::RecvError;

use crate::out::TerminalOutput;

/// The package runners that are downloading servers, by server.
pub(super) type Downloads = BTreeMap<ServerName, Arc<str>>;

/// The progress text: the number of servers, and the package runners that are downloading one.
pub(super) fn waiting_text(servers: usize, downloads: &Downloads) -> String {
    let downloading: String = downloads
        .iter()
        .map(|(server, runner)| format!(", {runner} is downloading `{}`", server.as_str()))
        .collect();
    format!("waiting for {servers} server(s){downloading} …")
}

/// Records the start and end of downloads; returns the checked server, if the event is about one.
pub(super) fn record_event(event: CheckEvent, downloads: &mut Downloads) -> Option<CheckedServer> {
    match event {
        CheckEvent::Downloading { server, runner: Some(runner) } => drop(downloads.insert(server, runner)),
        CheckEvent::Downloading { server, runner: None } => drop(downloads.remove(&server)),
        CheckEvent::Completed(checked) => {
            downloads.remove(&checked.name);
            return Some(*checked);
        }
    }
    None
}

/// Runs `work`, and shows meanwhile how many of the `wanted` servers are not ready.
pub(super) async fn show_progress_during<T>(
    host: &Host,
    out: &mut TerminalOutput,
    wanted: impl Fn(&HostServer) -> bool,
    work: impl Future<Output = T>,
) -> T {
    // Subscribed before the first look, so that no change is missed.
    let mut events = host.server_events();
    let mut work = std::pin::pin!(work);
    loop {
        show_waiting_servers(host, out, &wanted);
        let done = tokio::select! {
            biased;
            done = &mut work => done,
            event = events.recv() => match event {
                // After missed events the state is read again.
                Ok(_) | Err(RecvError::Lagged(_)) => continue,
                Err(RecvError::Closed) => work.await,
            },
        };
        out.stop_waiting();
        return done;
    }
}

fn show_waiting_servers(host: &Host, out: &mut TerminalOutput, wanted: impl Fn(&HostServer) -> bool) {
    let servers = host.servers();
    let under_way: Vec<&HostServer> =
        servers.iter().filter(|server| wanted(server) && !server.state.status.is_settled()).collect();
    let download = |server: &&HostServer| {
        server.state.status.downloader().map(|runner| (server.name.clone(), Arc::from(runner)))
    };
    if !under_way.is_empty() {
        out.show_waiting(&waiting_text(under_way.len(), &under_way.iter().filter_map(download).collect()));
    }
}
