//! A terminal for the program to write to.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::process::{Command, Stdio};

use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

/// Runs with standard error, and standard output if `both`, on a terminal; gives the exit code, what came
/// through the pipe and what the terminal got.
pub(crate) fn run(command: &mut Command, both: bool) -> (i32, String, String) {
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
    grantpt(&ours).unwrap();
    unlockpt(&ours).unwrap();
    let theirs = || -> OwnedFd {
        let name = ptsname(&ours, Vec::new()).unwrap();
        rustix::fs::open(&name, OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty()).unwrap()
    };
    let mut child = command
        .stdout(if both { Stdio::from(theirs()) } else { Stdio::piped() })
        .stderr(theirs())
        .spawn()
        .unwrap();
    // The parent's copies of the other end would keep the terminal open for ever.
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let pipe = child.stdout.take();
    let reader = std::thread::spawn(move || pipe.map(read_all).unwrap_or_default());
    let shown = read_all(File::from(ours));
    let code = child.wait().unwrap().code().unwrap_or(-1);
    (code, reader.join().unwrap(), shown)
}

/// Runs with all three on a terminal; `answer` gets everything shown so far whenever something is, until it gives what a
/// person then types. Gives the exit code and what the terminal showed.
pub(crate) fn talk(command: &mut Command, answer: impl Fn(&str) -> Option<String>) -> (i32, String) {
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
    grantpt(&ours).unwrap();
    unlockpt(&ours).unwrap();
    let name = ptsname(&ours, Vec::new()).unwrap();
    let theirs =
        rustix::fs::open(&name, OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty()).unwrap();
    let copy = || Stdio::from(theirs.try_clone().unwrap());
    let mut child = command.stdin(copy()).stdout(copy()).stderr(copy()).spawn().unwrap();
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    drop(theirs);
    let (mut terminal, mut shown, mut typed) = (File::from(ours), String::new(), false);
    let mut part = [0; 4096];
    while let Ok(read @ 1..) = terminal.read(&mut part) {
        shown.push_str(&String::from_utf8_lossy(&part[..read]));
        if !typed && let Some(text) = answer(&shown) {
            terminal.write_all(format!("{text}\n").as_bytes()).unwrap();
            typed = true;
        }
    }
    (child.wait().unwrap().code().unwrap_or(-1), shown)
}

/// A terminal whose other end is closed answers with an error instead of an end.
fn read_all(mut from: impl Read) -> String {
    let mut bytes = Vec::new();
    let mut part = [0; 4096];
    while let Ok(read @ 1..) = from.read(&mut part) {
        bytes.extend_from_slice(&part[..read]);
    }
    String::from_utf8(bytes).unwrap()
}
