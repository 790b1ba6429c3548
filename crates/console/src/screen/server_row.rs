//! One row of the list: a configured server with its state, scope, transport and counts.

use std::collections::HashMap;
use std::time::Duration;

use mcparley::Host;
use mcparley::config::plan::PlannedServer;
use mcparley::host::HostServer;
use mcparley::model::config::TransportKind;
use mcparley::model::name::ServerName;
use mcparley::model::text::display_line;
use tokio::time::Instant;

use super::row_state::RowState;

/// The scope of servers that no file declares: those of the program itself.
const BUILT_IN: &str = "built-in";

/// The identity of a row: several files may declare servers of the same name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct RowId {
    pub(super) server: ServerName,
    pub(super) origin: String,
}

/// A configured server, as the list shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ServerRow {
    pub(super) id: RowId,
    /// The name, escaped for a terminal.
    pub(super) name: String,
    pub(super) scope: &'static str,
    pub(super) transport: &'static str,
    pub(super) state: RowState,
    pub(super) tools: usize,
    /// The duration of the last attempt to connect, if there was one.
    pub(super) took: Option<Duration>,
    /// The number of calls that run now.
    pub(super) running: usize,
    /// Whether a file declares the server, so that choices about it can be recorded.
    pub(super) is_configured: bool,
}

/// Every configured server of a host, then those of the program itself.
pub(super) fn read_rows(host: &Host) -> Vec<ServerRow> {
    let (servers, loaded) = (host.servers(), host.loaded_config());
    let by_name: HashMap<&ServerName, &HostServer> =
        servers.iter().map(|server| (&server.name, server)).collect();
    let mut running: HashMap<ServerName, usize> = HashMap::new();
    for call in host.running_calls() {
        *running.entry(call.server).or_default() += 1;
    }
    let planned = loaded.plan.servers.iter().map(|planned| {
        let server = by_name.get(&planned.name).copied();
        ServerRow::from_plan(planned, server)
    });
    let is_planned = |name: &ServerName| loaded.plan.ready_servers().any(|planned| planned.name == *name);
    let built_in = servers.iter().filter(|server| !is_planned(&server.name)).map(ServerRow::from_built_in);
    let count = |row: ServerRow| match row.state {
        RowState::Connected => {
            ServerRow { running: running.get(&row.id.server).copied().unwrap_or_default(), ..row }
        }
        _ => row,
    };
    planned.chain(built_in).map(count).collect()
}

impl ServerRow {
    fn from_plan(planned: &PlannedServer, server: Option<&HostServer>) -> Self {
        let blank = Self {
            id: RowId { server: planned.name.clone(), origin: planned.origin.to_string() },
            name: display_line(planned.name.as_str()).into_owned(),
            scope: planned.scope.as_str(),
            transport: planned.kind.map_or("?", TransportKind::as_str),
            state: RowState::OnDemand,
            tools: 0,
            took: None,
            running: 0,
            is_configured: true,
        };
        match (RowState::from_plan(&planned.status), server) {
            (Some(state), _) => Self { state, ..blank },
            (None, Some(server)) => blank.with_connection(server),
            (None, None) => blank,
        }
    }

    fn from_built_in(server: &HostServer) -> Self {
        let blank = Self {
            id: RowId { server: server.name.clone(), origin: BUILT_IN.to_owned() },
            name: display_line(server.name.as_str()).into_owned(),
            scope: BUILT_IN,
            transport: server.kind.as_str(),
            state: RowState::OnDemand,
            tools: 0,
            took: None,
            running: 0,
            is_configured: false,
        };
        blank.with_connection(server)
    }

    fn with_connection(self, server: &HostServer) -> Self {
        let took = server.state.connect_time;
        Self {
            state: RowState::from_connection(&server.state.status),
            tools: server.state.surface.tools.len(),
            took: (!took.is_zero()).then_some(took),
            ..self
        }
    }

    /// The text behind the columns: the state in words, and the facts that belong to it.
    pub(super) fn summary(&self, now: Instant) -> String {
        let mut parts = vec![self.state.words(now)];
        let has_tools = matches!(self.state, RowState::Connected)
            || (self.tools > 0 && matches!(self.state, RowState::OnDemand));
        if has_tools {
            parts.push(count_of(self.tools, "tool"));
        }
        if let (RowState::Connected, Some(took)) = (&self.state, self.took) {
            parts.push(format_seconds(took));
        }
        if self.running > 0 {
            parts.push(format!("{} running", count_of(self.running, "call")));
        }
        parts.extend(self.state.reason().map(|reason| display_line(reason).into_owned()));
        parts.join("   ")
    }

    /// Whether the row contains the text of a filter, which is in lowercase.
    pub(super) fn matches_filter(&self, filter: &str) -> bool {
        let contains = |text: &str| text.to_lowercase().contains(filter);
        contains(&self.name)
            || contains(self.scope)
            || contains(self.transport)
            || contains(&self.state.words(Instant::now()))
    }
}

/// A number with its noun, such as `1 tool` and `2 tools`.
pub(super) fn count_of(number: usize, noun: &str) -> String {
    match number {
        1 => format!("1 {noun}"),
        _ => format!("{} {noun}s", group_digits(number as u64)),
    }
}

/// A number with its digits in groups of three, such as `1,204`.
pub(super) fn group_digits(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// A duration in seconds, with two digits behind the point while it is short.
pub(super) fn format_seconds(time: Duration) -> String {
    match time.as_secs() {
        0..10 => format!("{:.2} s", time.as_secs_f64()),
        10..120 => format!("{} s", time.as_secs()),
        seconds => format!("{} min", seconds / 60),
    }
}

#[cfg(test)]
pub(super) mod tests;
