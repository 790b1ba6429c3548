//! The progress text of commands that wait for servers: how many, and which package runners download one.

use std::collections::BTreeMap;
use std::sync::Arc;

use mcparley::model::name::ServerName;
use mcparley::{CheckEvent, Checked, Host, Server};
use tokio::sync::broadcast::error::RecvError;

use crate::out::Out;

/// The package runners that download servers now, by server.
pub(super) type Downloads = BTreeMap<ServerName, Arc<str>>;

/// Says how many servers are waited for, and who downloads one of them.
pub(super) fn waiting_text(servers: usize, downloads: &Downloads) -> String {
    let downloading: String = downloads
        .iter()
        .map(|(server, runner)| format!(", {runner} is downloading `{}`", server.as_str()))
        .collect();
    format!("waiting for {servers} server(s){downloading} …")
}

/// Notes who downloads what; gives the server that was looked at, if the event is about one.
pub(super) fn note_event(event: CheckEvent, downloads: &mut Downloads) -> Option<Checked> {
    match event {
        CheckEvent::Downloading { server, runner: Some(runner) } => drop(downloads.insert(server, runner)),
        CheckEvent::Downloading { server, runner: None } => drop(downloads.remove(&server)),
        CheckEvent::Settled(checked) => {
            downloads.remove(&checked.name);
            return Some(*checked);
        }
        _ => {}
    }
    None
}

/// Does `work`, and tells a person meanwhile which of the servers that are `wanted` it waits for.
pub(super) async fn tell_while_waiting<T>(
    host: &Host,
    out: &mut Out,
    wanted: impl Fn(&Server) -> bool,
    work: impl Future<Output = T>,
) -> T {
    // Before looking, so that nothing changes in between.
    let mut events = host.events();
    let mut work = std::pin::pin!(work);
    loop {
        tell_waiting(host, out, &wanted);
        let done = tokio::select! {
            biased;
            done = &mut work => done,
            event = events.recv() => match event {
                // One that fell behind looks again.
                Ok(_) | Err(RecvError::Lagged(_)) => continue,
                Err(RecvError::Closed) => work.await,
            },
        };
        out.waited();
        return done;
    }
}

fn tell_waiting(host: &Host, out: &mut Out, wanted: impl Fn(&Server) -> bool) {
    let servers = host.servers();
    let under_way: Vec<&Server> =
        servers.iter().filter(|server| wanted(server) && !server.state.status.is_settled()).collect();
    let download = |server: &&Server| {
        server.state.status.downloader().map(|runner| (server.name.clone(), Arc::from(runner)))
    };
    if !under_way.is_empty() {
        out.waiting(&waiting_text(under_way.len(), &under_way.iter().filter_map(download).collect()));
    }
}
