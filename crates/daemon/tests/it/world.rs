//! A daemon of one test's own, and clients in folders of their own.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use mcparley::config::{ServerEntry, StartPolicy};
use mcparley::permission::Consent;
use mcparley::pool::attach::{DaemonLink, DaemonStarter};
use mcparley::{Call, CallError, Host, HostBuilder, Paths, RunOptions};
use mcparley_daemon::control::DaemonConnection;
use mcparley_daemon::{Daemon, DaemonPaths, DaemonStatus};
use mcparley_platform::dirs::Directories;
use mcparley_testkit::ScriptedStdio;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinHandle;

/// Much longer than anything here takes.
pub(crate) const LONG: Duration = Duration::from_secs(20);

/// A daemon and the folders of its clients.
pub(crate) struct World {
    pub(crate) root: PathBuf,
    pub(crate) paths: DaemonPaths,
    daemon: JoinHandle<()>,
    /// The runtime of the daemon, which ends it as a killed process ends.
    runtime: Option<Runtime>,
    _folder: TempDir,
}

/// A client: a host in a folder, and the reasons why it did not use the daemon.
pub(crate) struct Client {
    pub(crate) host: Host,
    pub(crate) fallbacks: Arc<Mutex<Vec<String>>>,
}

impl World {
    /// A running daemon.
    pub(crate) fn new() -> Self {
        Self::with_idle_time(LONG * 30)
    }

    /// A daemon that ends after this time without clients.
    pub(crate) fn with_idle_time(idle: Duration) -> Self {
        Self::with_daemon("home", |daemon| daemon.with_idle_time(idle))
    }

    /// A daemon of a user with this home folder, changed by this function.
    pub(crate) fn with_daemon(home: &str, change: impl FnOnce(Daemon) -> Daemon) -> Self {
        let (folder, root, paths) = folders(home);
        let (runtime, daemon) = start_daemon(&paths, change);
        Self { root, paths, daemon, runtime: Some(runtime), _folder: folder }
    }

    /// Drops the daemon in mid-air: its connections end, and its servers are killed.
    pub(crate) async fn kill_daemon(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
        let _aborted = (&mut self.daemon).await;
    }

    /// Starts another daemon after the first one was killed.
    pub(crate) fn restart_daemon(&mut self) {
        let (runtime, daemon) = start_daemon(&self.paths, |daemon| daemon.with_idle_time(LONG * 30));
        (self.runtime, self.daemon) = (Some(runtime), daemon);
    }

    /// Waits until the daemon has ended by itself.
    pub(crate) async fn wait_until_ended(&mut self) {
        tokio::time::timeout(LONG, &mut self.daemon).await.unwrap().unwrap();
    }

    /// A client in this folder, with one server `one`.
    pub(crate) fn client(&self, folder: &str, server: &ScriptedStdio) -> Client {
        self.client_with(folder, folder, &entry(server), |host| host)
    }

    /// A client in this folder, of this session, with one server `one` of this entry.
    pub(crate) fn client_with(
        &self,
        folder: &str,
        session: &str,
        entry: &ServerEntry,
        change: impl FnOnce(HostBuilder) -> HostBuilder,
    ) -> Client {
        self.client_of(folder, session, &RunOptions::default().with_server("one", entry.clone()), change)
    }

    /// A client in this folder, of this session, with these options.
    pub(crate) fn client_of(
        &self,
        folder: &str,
        session: &str,
        run_options: &RunOptions,
        change: impl FnOnce(HostBuilder) -> HostBuilder,
    ) -> Client {
        self.client_at(&self.paths, folder, (session, None), (run_options, change))
    }

    /// A client that looks for the daemon at these paths, and may have a way to start it.
    pub(crate) fn client_at(
        &self,
        daemon: &DaemonPaths,
        folder: &str,
        (session, starter): (&str, Option<DaemonStarter>),
        (run_options, change): (&RunOptions, impl FnOnce(HostBuilder) -> HostBuilder),
    ) -> Client {
        let fallbacks = Arc::<Mutex<Vec<String>>>::default();
        let told = Arc::clone(&fallbacks);
        let link = DaemonLink::new(daemon.daemon_socket(), session, move |reason| {
            told.lock().unwrap().push(reason.to_owned());
        });
        let link = match starter {
            Some(starter) => link.with_starter(starter),
            None => link,
        };
        let builder = Host::builder(&self.client_paths(folder), run_options)
            .start_with(StartPolicy::OnDemand)
            .without_built_in_server()
            .count_calls()
            .daemon(Some(link));
        Client { host: change(builder).start(), fallbacks }
    }

    /// The paths of a client in this folder, which is a project.
    pub(crate) fn client_paths(&self, folder: &str) -> Paths {
        let project = self.root.join("home").join(folder);
        std::fs::create_dir_all(project.join(".git")).unwrap();
        let mut paths = Paths::new(&self.root.join("home"), &project);
        paths.managed = self.root.join("managed");
        paths.logs = Some(self.root.join("logs"));
        paths
    }

    /// The state of the daemon.
    pub(crate) async fn status(&self) -> DaemonStatus {
        let paths = self.paths.clone();
        let asking = move || DaemonConnection::open(&paths).unwrap().unwrap().read_status().unwrap();
        tokio::task::spawn_blocking(asking).await.unwrap()
    }

    /// Waits until the state of the daemon is as wanted.
    pub(crate) async fn wait_for_status(&self, is_wanted: impl Fn(&DaemonStatus) -> bool) {
        let deadline = tokio::time::Instant::now() + LONG;
        loop {
            let status = self.status().await;
            if is_wanted(&status) {
                return;
            }
            assert!(tokio::time::Instant::now() < deadline, "{status:?}");
            tokio::task::yield_now().await;
        }
    }
}

impl Client {
    /// Calls a tool with consent.
    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> Result<String, CallError> {
        let call = Call::on_server("one", tool, arguments).with_consent(Consent::Given);
        tokio::time::timeout(LONG, self.host.call(call)).await.unwrap().map(|outcome| outcome.to_text())
    }

    /// The process of the server, as the server tells.
    pub(crate) async fn pid(&self) -> u32 {
        self.call("pid", json!({})).await.unwrap().parse().unwrap()
    }

    /// Whether the daemon was used so far.
    pub(crate) fn uses_daemon(&self) -> bool {
        self.fallbacks.lock().unwrap().is_empty()
    }
}

/// The entry of a scripted server.
pub(crate) fn entry(server: &ScriptedStdio) -> ServerEntry {
    ServerEntry::stdio(server.program.to_str().unwrap()).args(server.args.clone())
}

/// Whether a process exists.
pub(crate) fn is_running(pid: u32) -> bool {
    Path::new("/proc").join(pid.to_string()).exists()
}

impl Drop for World {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

pub(crate) fn start_daemon(
    paths: &DaemonPaths,
    change: impl FnOnce(Daemon) -> Daemon,
) -> (Runtime, JoinHandle<()>) {
    let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let daemon = {
        let _inside = runtime.enter();
        change(Daemon::open(paths).unwrap())
    };
    let serving = runtime.spawn(daemon.serve_until(std::future::pending()));
    (runtime, serving)
}

fn folders(home: &str) -> (TempDir, PathBuf, DaemonPaths) {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let paths = DaemonPaths::new(&Directories::for_home(&root.join(home), |_| None));
    (folder, root, paths)
}
