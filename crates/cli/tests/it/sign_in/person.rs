//! A world with somebody in it who signs in: a browser that agrees to everything, or hands that copy addresses.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Stdio};

use mcparley_testkit::{Browser, testkit_path};
use serde_json::Value;

use crate::world::{Output, World};

/// Where the browser notes what it was asked to open.
const WINDOWS: &str = "windows";

/// A world whose browser follows every redirect, and whose secrets are in files of its own.
pub(crate) fn world() -> World {
    let mut world = World::new();
    let browser = format!("{} browse {}", testkit_path().display(), world.root.join(WINDOWS).display());
    world.set("BROWSER", browser);
    // The kernel's keyring is the machine's, and shared by every test.
    world.set("MCPARLEY_VAULT_STORAGE", "file");
    world
}

/// A world whose only server, `one`, is at this address.
pub(crate) fn world_with(url: &str) -> World {
    let world = world();
    world.ok(&["add", "-s", "user", "one", url]);
    world
}

/// The pages that the browser was asked to open.
pub(crate) fn windows(world: &World) -> Vec<String> {
    let log = std::fs::read_to_string(world.root.join(WINDOWS)).unwrap_or_default();
    log.lines().map(str::to_owned).collect()
}

/// The health of server `name` in `list`.
pub(crate) fn health(world: &World, name: &str) -> String {
    let list = world.json(&["list"]);
    let servers = list["servers"].as_array().unwrap();
    let server = servers.iter().find(|server| server["name"] == name).unwrap();
    server["health"]["is"].as_str().unwrap().to_owned()
}

/// How the sign-in to server `name` stands.
pub(crate) fn standing(world: &World, name: &str) -> Value {
    world.json(&["auth", "status", name])["servers"][0].clone()
}

/// A run that waits for a person.
pub(crate) struct Waiting<'w> {
    world: &'w World,
    child: Child,
    input: Option<ChildStdin>,
    lines: BufReader<std::process::ChildStdout>,
}

impl<'w> Waiting<'w> {
    /// Starts it; it speaks JSON.
    pub(crate) fn start(world: &'w World, args: &[&str]) -> Self {
        let mut command = world.command(&[&["--json"], args].concat());
        let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = piped.spawn().unwrap();
        let (input, lines) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()));
        Self { world, child, input, lines }
    }

    /// The next line it prints.
    pub(crate) fn line(&mut self) -> Value {
        let mut line = String::new();
        self.lines.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"))
    }

    /// What it says that it waits for.
    pub(crate) fn pending(&mut self) -> Value {
        self.line()["pendingAuth"][0].clone()
    }

    /// Gives it a line.
    pub(crate) fn paste(&mut self, text: &str) {
        let input = self.input.as_mut().unwrap();
        input.write_all(format!("{text}\n").as_bytes()).unwrap();
    }

    pub(crate) fn child(&self) -> &Child {
        &self.child
    }

    /// Its end, and what it printed since.
    pub(crate) fn end(mut self) -> Output {
        drop(self.input.take());
        let mut out = String::new();
        std::io::Read::read_to_string(&mut self.lines, &mut out).unwrap();
        let done = self.child.wait_with_output().unwrap();
        let err = self.world.relative(&String::from_utf8(done.stderr).unwrap());
        Output { code: done.status.code().unwrap_or(-1), out, err }
    }
}

/// The address a browser on another machine ends on: it cannot come back here.
pub(crate) fn last_address(page: &Value) -> String {
    let page = page.as_str().unwrap();
    let redirect = page.split('&').find_map(|part| part.split_once("redirect_uri=")).unwrap().1;
    let redirect = redirect.replace("%3A", ":").replace("%2F", "/");
    Browser::new().open_until(page, &redirect).url
}
