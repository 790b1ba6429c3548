//! Opens a page in the user's browser, by an argument list and never by a shell: a shell would interpret the
//! URL.
//!
//! The programs are chosen from the environment that the caller passes in. A browser belongs to the user and
//! outlives this process, unlike every server: see `platform::process::launch_detached`.

mod opener;
#[cfg(test)]
mod tests;

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};

use mcparley_model::limits::BROWSER_TIME;
use mcparley_platform::process::{DetachedStatus, ProcessExit, ProgramLaunch, launch_detached};

use crate::browser_page::BrowserPage;
use opener::Opener;

/// The desktop session of the user: X11, Wayland, or the Windows host of WSL.
#[derive(Clone)]
pub struct DesktopSession {
    /// The user's environment. The browser inherits all of it.
    pub env: Vec<(OsString, OsString)>,
}

/// The programs that can open pages in a desktop session.
#[derive(Clone, Debug)]
pub struct Browser {
    openers: Vec<Opener>,
    desktop: DesktopSession,
}

/// The outcome of opening a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BrowserOutcome {
    /// The page was opened, as far as can be determined.
    Opened {
        /// The program that opened it.
        program: String,
    },
    /// The page was not opened.
    NoBrowser(NoBrowser),
}

/// The reason why no page was opened.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoBrowser {
    /// The session has no display.
    #[error("this session has no display for a browser")]
    NoScreen,
    /// Every program failed.
    #[error("cannot start a browser: {}", join_attempts(tried))]
    Failed {
        /// The attempts, in order.
        tried: Vec<BrowserAttempt>,
    },
}

/// A program that failed to open a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrowserAttempt {
    /// The program.
    pub program: String,
    /// The reason.
    pub reason: String,
}

impl Browser {
    /// Finds the programs that can open pages: those in `BROWSER`, then those of the system.
    #[must_use]
    pub fn for_desktop(desktop: DesktopSession) -> Self {
        Self { openers: Opener::available_openers(&desktop), desktop }
    }

    /// Whether there is a program that could open a page.
    #[must_use]
    pub fn is_available(&self) -> bool {
        !self.openers.is_empty()
    }

    /// Opens the page, and returns once the outcome is known, after two seconds for each program at the
    /// latest. A program that is still running then counts as a success.
    pub async fn open_page(&self, page: &BrowserPage) -> BrowserOutcome {
        if self.openers.is_empty() {
            return BrowserOutcome::NoBrowser(NoBrowser::NoScreen);
        }
        let launches: Vec<ProgramLaunch> =
            self.openers.iter().map(|opener| self.launch_command(opener, page)).collect();
        // Waiting for a program blocks. If the caller gives up, the thread ends by itself soon.
        let opened = mcparley_platform::thread::run_blocking(move || open_first(&launches)).await;
        opened.unwrap_or(BrowserOutcome::NoBrowser(NoBrowser::Failed { tried: Vec::new() }))
    }

    fn launch_command(&self, opener: &Opener, page: &BrowserPage) -> ProgramLaunch {
        ProgramLaunch {
            program: opener.program().into(),
            args: opener.arguments(page).into_iter().map(OsString::from).collect(),
            env: self.desktop.env.clone(),
            cwd: Some(self.desktop.working_folder()),
        }
    }
}

fn open_first(launches: &[ProgramLaunch]) -> BrowserOutcome {
    let mut tried = Vec::new();
    for launch in launches {
        let program = launch.program.to_string_lossy().into_owned();
        let why = match launch_detached(launch, BROWSER_TIME) {
            Ok(DetachedStatus::Running) => return BrowserOutcome::Opened { program },
            Ok(DetachedStatus::Ended(exit)) if exit.is_success() => {
                return BrowserOutcome::Opened { program };
            }
            Ok(DetachedStatus::Ended(exit)) => describe_exit(exit),
            Err(error) => error.to_string(),
        };
        tried.push(BrowserAttempt { program, reason: why });
    }
    BrowserOutcome::NoBrowser(NoBrowser::Failed { tried })
}

fn describe_exit(exit: ProcessExit) -> String {
    match exit {
        ProcessExit { code: Some(code), .. } => format!("exited with code {code}"),
        ProcessExit { signal: Some(signal), .. } => format!("killed by signal {signal}"),
        ProcessExit { code: None, signal: None } => "exited".to_owned(),
    }
}

fn join_attempts(tried: &[BrowserAttempt]) -> String {
    let each: Vec<String> =
        tried.iter().map(|BrowserAttempt { program, reason: why }| format!("`{program}`: {why}")).collect();
    each.join("; ")
}

impl DesktopSession {
    /// The value of a variable that is set and not empty.
    fn variable(&self, name: &str) -> Option<&str> {
        let found = self.env.iter().find(|(known, _)| known == name);
        found.and_then(|(_, value)| value.to_str()).filter(|value| !value.is_empty())
    }

    /// The working folder of the browser. A browser keeps the folder it is started in, so it must not be a
    /// project's.
    fn working_folder(&self) -> PathBuf {
        let home = self.variable("HOME").map(PathBuf::from);
        home.filter(|home| home.is_absolute() && home.is_dir()).unwrap_or_else(|| Path::new("/").to_owned())
    }
}

impl fmt::Debug for DesktopSession {
    /// Omits the variables: they may hold secrets of the user.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Desktop").finish_non_exhaustive()
    }
}
