//! `/mcp` and its commands, which act on the running servers of this console.
//!
//! Enabling and disabling is written to the configuration files, as `mcparley enable` does; the host follows
//! its files.

use std::sync::Arc;
use std::time::{Duration, Instant};

use mcparley::Host;
use mcparley::config::ChangeError;
use mcparley::config::change::{self, SwitchedServer, WriteScope};
use mcparley::config::plan::PlanStatus;
use mcparley::model::explain::Explain;
use mcparley::model::name::ServerName;
use mcparley::model::text::display_line;
use mcparley::pool::connection::ServerStatus;
use mcparley_platform::thread::run_blocking;

use super::Console;
use super::known_names::is_built_in;
use super::output::format_duration;
use crate::screen;

/// The longest wait for the end of an old connection.
const CLOSE_TIME: Duration = Duration::from_secs(6);

impl Console {
    /// Opens the screen of the servers.
    pub(super) async fn open_screen(&mut self) {
        let (host, options) = (self.host.clone(), self.options.screen.clone());
        let _turn = self.options.terminal.hold().await;
        if let Err(error) = screen::run(&host, options).await {
            self.output.print_error(&error, None);
        }
    }

    /// Enables a server, or all of them.
    pub(super) async fn enable_servers(&mut self, name: &str) {
        let loaded = self.host.loaded_config();
        for name in self.chosen_servers(name) {
            let (paths, loaded) = (self.options.paths.clone(), Arc::clone(&loaded));
            let switched = run_blocking(move || change::enable_server(&paths, &loaded, &name)).await;
            self.print_switched(switched, "enabled");
        }
        self.follow_files().await;
    }

    /// Disables a server, or all of them, for this project.
    pub(super) async fn disable_servers(&mut self, name: &str) {
        let loaded = self.host.loaded_config();
        for name in self.chosen_servers(name) {
            let (paths, loaded) = (self.options.paths.clone(), Arc::clone(&loaded));
            let disable = move || change::disable_server(&paths, &loaded, &name, WriteScope::Local);
            let switched = run_blocking(disable).await;
            self.print_switched(switched, "disabled");
        }
        self.follow_files().await;
    }

    /// The given name, or all names for `all`, unless a server is really named `all`.
    fn chosen_servers(&self, name: &str) -> Vec<String> {
        let loaded = self.host.loaded_config();
        if name != "all" || !loaded.plan.servers_by_name(name).is_empty() {
            return vec![name.to_owned()];
        }
        let mut names: Vec<String> =
            loaded.plan.servers.iter().map(|server| server.name.as_str().to_owned()).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// Prints the outcome of a change; `None` if it was broken off.
    fn print_switched(&mut self, switched: Option<Result<SwitchedServer, ChangeError>>, state: &str) {
        let switched = match switched {
            Some(Ok(switched)) => switched,
            Some(Err(error)) => return self.output.print_error(&error, error.hint().as_deref()),
            None => return self.output.print_failure("the change was broken off; look at the files", None),
        };
        let name = display_line(&switched.name).into_owned();
        match switched.files.as_slice() {
            [] => self.output.print_line(&format!("{name} was already {state}")),
            files => {
                let files: Vec<_> = files.iter().map(|file| file.to_string_lossy()).collect();
                let name = self.output.bold(&name);
                let files = self.output.dim(&display_line(&format!("({})", files.join(", "))));
                self.output.print_line(&format!("{name} is now {state} {files}"));
            }
        }
        if let Some(origin) = &switched.still_disabled {
            self.output.print_warning(&format!("it is still disabled in {origin}"));
        }
    }

    async fn follow_files(&mut self) {
        self.host.reload().await;
    }

    /// Closes the connection to a server, connects again and prints the outcome.
    pub(super) async fn reconnect_server(&mut self, name: &str) {
        let server = ServerName::new(name);
        if !self.is_running(&server) {
            return;
        }
        let (host, start) = (self.host.clone(), Instant::now());
        let label = format!("reconnecting to {name}");
        if self.wait_for(&label, close_connection(&host, &server), None).await.is_none() {
            return self.report_canceled();
        }
        let connected = self.connect_visibly(&server).await;
        self.notices.skip_server(name);
        if connected {
            let known = self.host.servers().into_iter().find(|known| known.name == server);
            let tools = known.map_or(0, |known| known.state.surface.tools.len());
            let (name, took) = (self.output.bold(&display_line(name)), format_duration(start.elapsed()));
            let word = if tools == 1 { "tool" } else { "tools" };
            self.output.print_line(&format!("{name} is connected: {tools} {word}, {took}"));
        }
    }

    /// Whether the host runs this server; prints the reason if it does not.
    pub(super) fn is_running(&mut self, server: &ServerName) -> bool {
        if self.host.servers().iter().any(|known| known.name == *server) {
            return true;
        }
        let loaded = self.host.loaded_config();
        let planned = loaded.plan.servers_by_name(server.as_str());
        let reason = planned.first().map(|planned| (&planned.status, planned.status.hint(server)));
        let (status, hint) = match reason {
            Some((PlanStatus::Disabled { .. }, _)) => {
                ("disabled".to_owned(), Some(format!("type /mcp enable {}", server.as_str())))
            }
            Some((status, hint)) => (status.reason().unwrap_or_else(|| status.as_str().to_owned()), hint),
            None => ("unknown".to_owned(), None),
        };
        self.output
            .print_failure(&format!("server `{}` does not run: {status}", server.as_str()), hint.as_deref());
        false
    }

    /// Signs in to a server, and connects to it.
    pub(super) async fn log_in(&mut self, name: &str) {
        let server = ServerName::new(name);
        if is_built_in(name) || !self.is_running(&server) {
            return;
        }
        match self.run_child(&["login".to_owned(), name.to_owned()]).await {
            Ok(exit) if exit.is_success() => self.reconnect_server(name).await,
            // The command has printed the reason.
            Ok(_) => {}
            Err(error) => self.output.print_error(&error, None),
        }
    }

    /// Signs out of a server, and closes its connection, which still has the old token.
    pub(super) async fn log_out(&mut self, name: &str) {
        match self.run_child(&["logout".to_owned(), name.to_owned()]).await {
            Ok(exit) if exit.is_success() => self.host.reconnect_server(&ServerName::new(name)).await,
            // The command has printed the reason.
            Ok(_) => {}
            Err(error) => self.output.print_error(&error, None),
        }
    }
}

/// Requests a reconnect and waits until the old connection is given up: a lease could still be one of it.
async fn close_connection(host: &Host, server: &ServerName) {
    let mut events = host.server_events();
    host.reconnect_server(server).await;
    let is_closed = async {
        while let Ok(event) = events.recv().await {
            if event.server == *server && !matches!(event.status, ServerStatus::Connected { .. }) {
                return;
            }
        }
    };
    // A server that was not connected may have no new status.
    drop(tokio::time::timeout(CLOSE_TIME, is_closed).await);
}
