//! Opens a page in the person's browser, by an argument list and never by a shell (H01).
//!
//! Which programs can do that is decided from values the caller hands in. A browser belongs to the person and may stay
//! when we go, unlike every server: see `platform::process::launch_detached`.

mod opener;
#[cfg(test)]
mod tests;

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};

use mcparley_model::limits::BROWSER_TIME;
use mcparley_platform::process::{Detached, Exit, Launch, launch_detached};

use crate::page::Page;
use opener::Opener;

/// Where the person sits.
#[derive(Clone)]
pub struct Desktop {
    /// The system.
    pub system: System,
    /// The person's environment. The browser gets all of it: it is theirs.
    pub env: Vec<(OsString, OsString)>,
}

/// The kinds of system that open pages in different ways.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum System {
    /// Linux, and whatever else has X11 or Wayland; also Linux inside Windows.
    Linux,
    /// macOS.
    MacOs,
    /// Windows.
    Windows,
}

/// What can open pages here.
#[derive(Clone, Debug)]
pub struct Browser {
    openers: Vec<Opener>,
    desktop: Desktop,
}

/// Whether a page was opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Opened {
    /// It was, as far as can be told.
    Yes {
        /// What opened it.
        program: String,
    },
    /// It was not.
    NoBrowser(NoBrowser),
}

/// Why no page was opened.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoBrowser {
    /// Nothing can be shown here.
    #[error("this session has no screen to show a browser on")]
    NoScreen,
    /// Nothing that was tried works.
    #[error("no browser could be started: {}", listed(tried))]
    Failed {
        /// What was tried, in this order.
        tried: Vec<Tried>,
    },
}

/// A program that did not open a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tried {
    /// The program.
    pub program: String,
    /// Why it did not.
    pub why: String,
}

impl Browser {
    /// What can open pages there: what `BROWSER` names, then what the system has for it.
    #[must_use]
    pub fn of(desktop: Desktop) -> Self {
        Self { openers: Opener::all(&desktop), desktop }
    }

    /// Whether there is anything that could open a page.
    #[must_use]
    pub fn is_there(&self) -> bool {
        !self.openers.is_empty()
    }

    /// Opens the page, and returns as soon as it is known whether that worked, after two seconds for each program at the
    /// latest. A browser that is started by us and stays is taken for a yes.
    pub async fn open(&self, page: &Page) -> Opened {
        if self.openers.is_empty() {
            return Opened::NoBrowser(NoBrowser::NoScreen);
        }
        let launches: Vec<Launch> = self.openers.iter().map(|opener| self.launch(opener, page)).collect();
        // Waiting for a program blocks. Given up, it ends by itself soon.
        let opened = mcparley_wire::run_blocking(move || open_first(&launches)).await;
        opened.unwrap_or(Opened::NoBrowser(NoBrowser::Failed { tried: Vec::new() }))
    }

    fn launch(&self, opener: &Opener, page: &Page) -> Launch {
        Launch {
            program: opener.program().into(),
            args: opener.arguments(page).into_iter().map(OsString::from).collect(),
            env: self.desktop.env.clone(),
            cwd: Some(self.desktop.folder()),
        }
    }
}

fn open_first(launches: &[Launch]) -> Opened {
    let mut tried = Vec::new();
    for launch in launches {
        let program = launch.program.to_string_lossy().into_owned();
        let why = match launch_detached(launch, BROWSER_TIME) {
            Ok(Detached::Running) => return Opened::Yes { program },
            Ok(Detached::Ended(exit)) if exit.is_success() => return Opened::Yes { program },
            Ok(Detached::Ended(exit)) => ended(exit),
            Err(error) => error.to_string(),
        };
        tried.push(Tried { program, why });
    }
    Opened::NoBrowser(NoBrowser::Failed { tried })
}

fn ended(exit: Exit) -> String {
    match exit {
        Exit { code: Some(code), .. } => format!("it exited with code {code}"),
        Exit { signal: Some(signal), .. } => format!("it was ended by signal {signal}"),
        Exit { code: None, signal: None } => "it ended".to_owned(),
    }
}

fn listed(tried: &[Tried]) -> String {
    let each: Vec<String> =
        tried.iter().map(|Tried { program, why }| format!("`{program}`: {why}")).collect();
    each.join("; ")
}

impl Desktop {
    /// The value of a variable that is set to something.
    fn variable(&self, name: &str) -> Option<&str> {
        let found = self.env.iter().find(|(known, _)| known == name);
        found.and_then(|(_, value)| value.to_str()).filter(|value| !value.is_empty())
    }

    /// A browser keeps the folder it is started in; that must not be a project's.
    fn folder(&self) -> PathBuf {
        let home = self.variable("HOME").map(PathBuf::from);
        home.filter(|home| home.is_absolute() && home.is_dir()).unwrap_or_else(|| Path::new("/").to_owned())
    }
}

impl fmt::Debug for Desktop {
    /// No variables: they are the person's.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Desktop").field("system", &self.system).finish_non_exhaustive()
    }
}
