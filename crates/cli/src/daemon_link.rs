//! The link of this run to the daemon, and how the daemon is started.

use std::ffi::OsString;
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use mcparley::model::expand::Env;
use mcparley::pool::attach::{DaemonLink, DaemonStarter};
use mcparley_daemon::{DaemonLog, DaemonPaths};
use mcparley_platform::process::{ProgramLaunch, launch_detached};

/// The variables that the daemon gets: those that name its folders. Servers get the variables of the clients.
const PASSED_ON: [&str; 11] = [
    "HOME",
    "USER",
    "LOGNAME",
    "PATH",
    "LANG",
    "TMPDIR",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_STATE_HOME",
    "XDG_RUNTIME_DIR",
];

/// The link to the daemon for a session; servers with state belong to one session.
pub(crate) fn open_link(paths: &DaemonPaths, session: &str, starter: Option<DaemonStarter>) -> DaemonLink {
    let log = DaemonLog::new(&paths.log);
    let link = DaemonLink::new(paths.daemon_socket(), session, move |reason| {
        log.append_event(&format!("a client starts its servers itself, because {reason}"));
        let text = format!("warning: the daemon is not used, because {reason}; servers are started here\n");
        // Without standard error there is no reader for the warning.
        let _unread = std::io::stderr().write_all(text.as_bytes());
    });
    match starter {
        Some(starter) => link.with_starter(starter),
        None => link,
    }
}

/// Starts `mcparley daemon run` in the background.
pub(crate) fn daemon_starter(executable: PathBuf, env: &Env) -> DaemonStarter {
    let variable = |name: &&str| Some((OsString::from(name), OsString::from(env.get(name)?)));
    let launch = ProgramLaunch {
        program: executable.into(),
        args: vec!["daemon".into(), "run".into()],
        env: PASSED_ON.iter().filter_map(variable).collect(),
        cwd: Some(PathBuf::from("/")),
    };
    Arc::new(move || launch_detached(&launch, Duration::ZERO).map(drop).map_err(|error| error.to_string()))
}
