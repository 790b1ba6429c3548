//! Chooses the programs that open a page, and their arguments.

use super::DesktopSession;
use crate::browser_page::BrowserPage;

/// The placeholder for the page in a command of the user's.
const PLACE: &str = "%s";

/// The programs that open pages on X11 or Wayland.
const FREE_DESKTOP: [&[&str]; 3] = [&["xdg-open"], &["gio", "open"], &["x-www-browser"]];

/// The programs that open pages on the Windows host of WSL.
const AROUND: [&[&str]; 2] = [&["wslview"], &["rundll32.exe", "url.dll,FileProtocolHandler"]];

/// A program that opens pages, with the arguments before the page.
///
/// None of the programs above supports `--` as the end of its options. None is needed: a
/// [`BrowserPage`] begins with `http`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Opener {
    program: String,
    /// The arguments; the page replaces [`PLACE`] in one of them, or follows them.
    words: Vec<String>,
}

impl Opener {
    /// All programs that may work, the preferred one first; none when there is no display.
    pub(super) fn available_openers(desktop: &DesktopSession) -> Vec<Self> {
        let chosen = desktop.variable("BROWSER").unwrap_or_default();
        let own = chosen.split(':').filter_map(Self::from_command);
        own.chain(system_openers(desktop).into_iter().filter_map(|words| Self::new(words.iter().copied())))
            .collect()
    }

    /// Parses one of the commands in `BROWSER`: words separated by blanks, since quotes are not interpreted
    /// as in a shell.
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
    pub(super) fn arguments(&self, page: &BrowserPage) -> Vec<String> {
        let mut arguments = self.words.clone();
        match arguments.iter_mut().find(|word| word.contains(PLACE)) {
            Some(word) => *word = word.replacen(PLACE, page.as_str(), 1),
            None => arguments.push(page.as_str().to_owned()),
        }
        arguments
    }
}

fn system_openers(desktop: &DesktopSession) -> Vec<&'static [&'static str]> {
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
