//! Decides which programs are asked to open a page, and with which arguments.

use super::{Desktop, System};
use crate::page::Page;

/// Where the page goes in a command of the person's own.
const PLACE: &str = "%s";

/// What opens pages on a desktop with X11 or Wayland.
const FREE_DESKTOP: [&[&str]; 3] = [&["xdg-open"], &["gio", "open"], &["x-www-browser"]];

/// What opens pages in the Windows around a Linux.
const AROUND: [&[&str]; 2] = [&["wslview"], &["rundll32.exe", "url.dll,FileProtocolHandler"]];

/// A program that opens pages, and what stands before the page.
///
/// None of those above knows `--` for the end of its options. None is needed: a [`Page`] begins with `http`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Opener {
    program: String,
    /// One of them has [`PLACE`] in it, or the page follows them.
    words: Vec<String>,
}

impl Opener {
    /// All that may work, the most wanted first; none when there is no screen.
    pub(super) fn all(desktop: &Desktop) -> Vec<Self> {
        let chosen = desktop.variable("BROWSER").unwrap_or_default();
        let own = chosen.split(separator(desktop.system)).filter_map(Self::from_command);
        own.chain(of_system(desktop).into_iter().filter_map(|words| Self::new(words.iter().copied())))
            .collect()
    }

    /// One of the commands in `BROWSER`: words between blanks, since nothing here reads quotes as a shell does.
    fn from_command(command: &str) -> Option<Self> {
        Self::new(command.split_whitespace()).filter(|opener| !opener.program.contains(PLACE))
    }

    fn new<'w>(mut words: impl Iterator<Item = &'w str>) -> Option<Self> {
        let program = words.next()?.to_owned();
        Some(Self { program, words: words.map(str::to_owned).collect() })
    }

    pub(super) fn program(&self) -> &str {
        &self.program
    }

    /// The arguments; the page is, or is within, exactly one of them.
    pub(super) fn arguments(&self, page: &Page) -> Vec<String> {
        let mut arguments = self.words.clone();
        match arguments.iter_mut().find(|word| word.contains(PLACE)) {
            Some(word) => *word = word.replacen(PLACE, page.as_str(), 1),
            None => arguments.push(page.as_str().to_owned()),
        }
        arguments
    }
}

fn of_system(desktop: &Desktop) -> Vec<&'static [&'static str]> {
    match desktop.system {
        System::MacOs => vec![&["/usr/bin/open"]],
        System::Windows => vec![&["rundll32", "url.dll,FileProtocolHandler"]],
        System::Linux => {
            let has = |names: [&str; 2]| names.iter().any(|name| desktop.variable(name).is_some());
            let mut openers: Vec<&'static [&'static str]> = Vec::new();
            if has(["WSL_DISTRO_NAME", "WSL_INTEROP"]) {
                openers.extend(AROUND);
            }
            if has(["DISPLAY", "WAYLAND_DISPLAY"]) {
                openers.extend(FREE_DESKTOP);
            }
            openers
        }
    }
}

/// What stands between commands in `BROWSER`.
fn separator(system: System) -> char {
    match system {
        System::Linux | System::MacOs => ':',
        System::Windows => ';',
    }
}
