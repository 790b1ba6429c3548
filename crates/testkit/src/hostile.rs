//! How hostile processes are made without `unsafe`: by executing this program again.
//!
//! Ignored signals survive `execve`, so a shell sets them once and everything below inherits them.

use crate::life;
use mcparley_testkit::Kind;
use std::ffi::OsStr;
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

/// A part played by one of the processes below a kind; the words differ from those of the kinds.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Role {
    /// The kind itself, once it ignores signals.
    Deaf(Kind),
    /// Waits as long as anything here lives.
    Sleeper,
    /// Starts this many daemons, sees them ready, and ends, leaving them to whom they fall.
    Nest {
        /// How many.
        daemons: usize,
        /// What each of them is.
        of: Daemon,
    },
    /// A daemon in a session of its own.
    Daemon(Daemon),
}

/// What a daemon does.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Daemon {
    /// Waits as long as anything here lives.
    Sleeps,
    /// Starts its successor and ends, this many times: a number that no signal ever quite reaches.
    Hops {
        /// Successors still to come.
        left: u32,
    },
}

/// So many successors outlast every test and end by themselves should a test fail.
const HOPS: u32 = 3_000;

/// Becomes `kind`; the first step is to stop hearing signals.
pub(crate) fn begin(kind: Kind, tag: &OsStr) -> io::Result<()> {
    if kind == Kind::Polite {
        announce()?;
        return io::copy(&mut io::stdin().lock(), &mut io::sink()).map(drop);
    }
    let role = Role::Deaf(kind).to_word();
    let arguments = [OsStr::new("hostile"), OsStr::new(&role), OsStr::new("--tag"), tag];
    Err(deafly(arguments)?.exec())
}

/// Leaves one daemon behind, ready and adopted by whom it falls to.
pub(crate) fn leave_daemon(tag: &OsStr) -> io::Result<()> {
    let nest = Role::Nest { daemons: 1, of: Daemon::Sleeps };
    // The daemon must not hold the pipes of a server open: their end would then never be seen.
    let mut command = command(nest, tag)?;
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
    wait_for_ready(&mut child)?;
    child.wait().map(drop)
}

/// Plays one part; what waits does so until its life is over.
pub(crate) fn play(role: Role, tag: &OsStr) -> io::Result<()> {
    match role {
        Role::Deaf(kind) => be(kind, tag),
        Role::Sleeper => sleep(),
        Role::Nest { daemons, of } => nest(daemons, of, tag),
        Role::Daemon(daemon) => be_daemon(daemon, tag),
    }
}

fn be(kind: Kind, tag: &OsStr) -> io::Result<()> {
    let daemons = |daemons, of| Some(Role::Nest { daemons, of });
    let below = match kind {
        Kind::Polite | Kind::Stubborn => None,
        Kind::Child => Some(Role::Sleeper),
        Kind::Daemon => daemons(1, Daemon::Sleeps),
        Kind::Daemons => daemons(50, Daemon::Sleeps),
        Kind::Hoppers => daemons(4, Daemon::Hops { left: HOPS }),
    };
    if let Some(role) = below {
        let mut child = command(role, tag)?.stdout(Stdio::piped()).spawn()?;
        wait_for_ready(&mut child)?;
        if matches!(role, Role::Nest { .. }) {
            child.wait()?;
        }
    }
    announce()?;
    life::wait();
    Ok(())
}

fn sleep() -> io::Result<()> {
    announce()?;
    life::wait();
    Ok(())
}

fn nest(daemons: usize, of: Daemon, tag: &OsStr) -> io::Result<()> {
    let mut started = Vec::with_capacity(daemons);
    for _ in 0..daemons {
        let mut daemon = command(Role::Daemon(of), tag)?;
        started.push(daemon.stdout(Stdio::piped()).spawn()?);
    }
    started.iter_mut().try_for_each(wait_for_ready)?;
    announce()
}

fn be_daemon(daemon: Daemon, tag: &OsStr) -> io::Result<()> {
    rustix::process::setsid()?;
    match daemon {
        Daemon::Sleeps => sleep(),
        Daemon::Hops { left: 0 } => Ok(()),
        Daemon::Hops { left } => {
            // Only the first of a row is waited for.
            if left == HOPS {
                announce()?;
            }
            let next = Role::Daemon(Daemon::Hops { left: left - 1 });
            command(next, tag)?.stdout(Stdio::null()).spawn().map(drop)
        }
    }
}

fn announce() -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "ready")?;
    out.flush()
}

fn wait_for_ready(child: &mut Child) -> io::Result<()> {
    let mut line = String::new();
    if let Some(out) = child.stdout.take() {
        BufReader::new(out).read_line(&mut line)?;
    }
    match line.as_str() {
        "ready\n" => Ok(()),
        _ => Err(io::Error::other("a hostile process did not get ready")),
    }
}

#[expect(clippy::disallowed_methods, reason = "these processes are meant to escape; that is the test")]
fn command(role: Role, tag: &OsStr) -> io::Result<Command> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("hostile").arg(role.to_word()).arg("--tag").arg(tag);
    Ok(command)
}

/// This program again, with `arguments` and without ears for signals.
#[expect(clippy::disallowed_methods, reason = "only a shell sets ignored signals without unsafe code")]
pub(crate) fn deafly<S: AsRef<OsStr>>(arguments: impl IntoIterator<Item = S>) -> io::Result<Command> {
    let mut shell = Command::new("/bin/sh");
    shell
        .args(["-c", r#"trap "" INT TERM HUP; exec "$0" "$@""#])
        .arg(std::env::current_exe()?)
        .args(arguments);
    Ok(shell)
}

impl Role {
    /// The word on the command line.
    fn to_word(self) -> String {
        match self {
            Self::Deaf(kind) => format!("deaf-{}", kind.as_str()),
            Self::Sleeper => "sleeper".to_owned(),
            Self::Nest { daemons, of } => format!("nest-{daemons}-{}", of.to_number()),
            Self::Daemon(daemon) => format!("daemon-{}", daemon.to_number()),
        }
    }

    /// The part a word means.
    pub(crate) fn from_word(word: &OsStr) -> Option<Self> {
        let word = word.to_str()?;
        if word == "sleeper" {
            return Some(Self::Sleeper);
        }
        let (part, rest) = word.split_once('-')?;
        match part {
            "deaf" => Kind::from_word(OsStr::new(rest)).map(Self::Deaf),
            "daemon" => Daemon::from_number(rest).map(Self::Daemon),
            "nest" => {
                let (daemons, of) = rest.split_once('-')?;
                let daemons = daemons.parse().ok()?;
                let of = Daemon::from_number(of)?;
                Some(Self::Nest { daemons, of })
            }
            _ => None,
        }
    }
}

impl Daemon {
    /// Hops left, and one more for "this one hops at all".
    fn to_number(self) -> u32 {
        match self {
            Self::Sleeps => 0,
            Self::Hops { left } => left + 1,
        }
    }

    fn from_number(digits: &str) -> Option<Self> {
        match digits.parse::<u32>().ok()? {
            0 => Some(Self::Sleeps),
            number => Some(Self::Hops { left: number - 1 }),
        }
    }
}
