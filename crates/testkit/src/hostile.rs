//! Creates hostile processes without `unsafe`, by executing this program again.
//!
//! Ignored signals survive `execve`, so a shell ignores them once and all descendants inherit that.

use crate::life;
use mcparley_testkit::HostileKind;
use std::ffi::OsStr;
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

/// The role of one of the processes below a hostile process; its words differ from those of the kinds.
#[derive(Clone, Copy, Debug)]
pub(crate) enum HostileRole {
    /// The hostile process itself, once it ignores signals.
    Deaf(HostileKind),
    /// Sleeps for the longest time any process here lives.
    Sleeper,
    /// Starts this many daemons, waits until they are ready, and exits; they become orphans.
    Nest {
        /// The number of daemons.
        daemons: usize,
        /// The behavior of each daemon.
        of: DaemonKind,
    },
    /// A daemon in its own session.
    Daemon(DaemonKind),
}

/// The behavior of a daemon.
#[derive(Clone, Copy, Debug)]
pub(crate) enum DaemonKind {
    /// Sleeps for the longest time any process here lives.
    Sleeps,
    /// Starts its successor and exits, this many times: by the time a signal is sent, the pid is already
    /// gone.
    Hops {
        /// The number of successors still to come.
        left: u32,
    },
}

/// The number of successors: enough to outlast every test, and finite, should a test fail to kill them.
const HOPS: u32 = 3_000;

/// Turns this process into one of `kind`; first it ignores signals.
pub(crate) fn become_hostile(kind: HostileKind, tag: &OsStr) -> io::Result<()> {
    if kind == HostileKind::Polite {
        print_ready()?;
        return io::copy(&mut io::stdin().lock(), &mut io::sink()).map(drop);
    }
    let role = HostileRole::Deaf(kind).to_word();
    let arguments = [OsStr::new("hostile"), OsStr::new(&role), OsStr::new("--tag"), tag];
    Err(ignore_signals_command(arguments)?.exec())
}

/// Leaves one orphaned daemon behind, and returns once it is ready.
pub(crate) fn leave_daemon(tag: &OsStr) -> io::Result<()> {
    let nest = HostileRole::Nest { daemons: 1, of: DaemonKind::Sleeps };
    // The daemon must not hold a server's pipes open: the host would never see them end.
    let mut command = role_command(nest, tag)?;
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
    wait_for_ready(&mut child)?;
    child.wait().map(drop)
}

/// Runs one role; waiting roles return when their lifetime is over.
pub(crate) fn run_role(role: HostileRole, tag: &OsStr) -> io::Result<()> {
    match role {
        HostileRole::Deaf(kind) => run_hostile(kind, tag),
        HostileRole::Sleeper => run_sleeper(),
        HostileRole::Nest { daemons, of } => run_nest(daemons, of, tag),
        HostileRole::Daemon(daemon) => run_daemon(daemon, tag),
    }
}

fn run_hostile(kind: HostileKind, tag: &OsStr) -> io::Result<()> {
    let daemons = |daemons, of| Some(HostileRole::Nest { daemons, of });
    let below = match kind {
        HostileKind::Polite | HostileKind::Stubborn => None,
        HostileKind::Child => Some(HostileRole::Sleeper),
        HostileKind::Daemon => daemons(1, DaemonKind::Sleeps),
        HostileKind::Daemons => daemons(50, DaemonKind::Sleeps),
        HostileKind::Hoppers => daemons(4, DaemonKind::Hops { left: HOPS }),
    };
    if let Some(role) = below {
        let mut child = role_command(role, tag)?.stdout(Stdio::piped()).spawn()?;
        wait_for_ready(&mut child)?;
        if matches!(role, HostileRole::Nest { .. }) {
            child.wait()?;
        }
    }
    print_ready()?;
    life::sleep_for_lifetime();
    Ok(())
}

fn run_sleeper() -> io::Result<()> {
    print_ready()?;
    life::sleep_for_lifetime();
    Ok(())
}

fn run_nest(daemons: usize, of: DaemonKind, tag: &OsStr) -> io::Result<()> {
    let mut started = Vec::with_capacity(daemons);
    for _ in 0..daemons {
        let mut daemon = role_command(HostileRole::Daemon(of), tag)?;
        started.push(daemon.stdout(Stdio::piped()).spawn()?);
    }
    started.iter_mut().try_for_each(wait_for_ready)?;
    print_ready()
}

fn run_daemon(daemon: DaemonKind, tag: &OsStr) -> io::Result<()> {
    rustix::process::setsid()?;
    match daemon {
        DaemonKind::Sleeps => run_sleeper(),
        DaemonKind::Hops { left: 0 } => Ok(()),
        DaemonKind::Hops { left } => {
            // Only the first daemon of a chain is waited for.
            if left == HOPS {
                print_ready()?;
            }
            let next = HostileRole::Daemon(DaemonKind::Hops { left: left - 1 });
            role_command(next, tag)?.stdout(Stdio::null()).spawn().map(drop)
        }
    }
}

fn print_ready() -> io::Result<()> {
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
fn role_command(role: HostileRole, tag: &OsStr) -> io::Result<Command> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("hostile").arg(role.to_word()).arg("--tag").arg(tag);
    Ok(command)
}

/// Builds a command that runs this program again with `arguments`, with signals ignored.
#[expect(clippy::disallowed_methods, reason = "only a shell sets ignored signals without unsafe code")]
pub(crate) fn ignore_signals_command<S: AsRef<OsStr>>(
    arguments: impl IntoIterator<Item = S>,
) -> io::Result<Command> {
    let mut shell = Command::new("/bin/sh");
    shell
        .args(["-c", r#"trap "" INT TERM HUP; exec "$0" "$@""#])
        .arg(std::env::current_exe()?)
        .args(arguments);
    Ok(shell)
}

impl HostileRole {
    /// The word for the role on the command line.
    fn to_word(self) -> String {
        match self {
            Self::Deaf(kind) => format!("deaf-{}", kind.as_str()),
            Self::Sleeper => "sleeper".to_owned(),
            Self::Nest { daemons, of } => format!("nest-{daemons}-{}", of.to_number()),
            Self::Daemon(daemon) => format!("daemon-{}", daemon.to_number()),
        }
    }

    /// Parses the word for a role.
    pub(crate) fn from_word(word: &OsStr) -> Option<Self> {
        let word = word.to_str()?;
        if word == "sleeper" {
            return Some(Self::Sleeper);
        }
        let (part, rest) = word.split_once('-')?;
        match part {
            "deaf" => HostileKind::from_word(OsStr::new(rest)).map(Self::Deaf),
            "daemon" => DaemonKind::from_number(rest).map(Self::Daemon),
            "nest" => {
                let (daemons, of) = rest.split_once('-')?;
                let daemons = daemons.parse().ok()?;
                let of = DaemonKind::from_number(of)?;
                Some(Self::Nest { daemons, of })
            }
            _ => None,
        }
    }
}

impl DaemonKind {
    /// The hops left plus one; zero stands for a daemon that sleeps.
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
