//! A home, a project and an environment of one test's own, and the program run in them.

use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

/// Everything a run can see.
pub(crate) struct World {
    pub(crate) root: PathBuf,
    pub(crate) home: PathBuf,
    pub(crate) project: PathBuf,
    env: Vec<(String, OsString)>,
    cwd: PathBuf,
    _folder: TempDir,
}

/// What a run left behind, without the temporary folder's path.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Output {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

const PROGRAM: &str = env!("CARGO_BIN_EXE_mcparley");

impl World {
    /// An empty home with an empty folder `project` in it, where the user stands.
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let home = root.join("home");
        let project = home.join("project");
        std::fs::create_dir_all(&project).unwrap();
        let mut world = Self { root, cwd: project.clone(), home, project, env: Vec::new(), _folder: folder };
        world.set("HOME", world.home.clone());
        world.set("PATH", "/usr/bin:/bin");
        world.set("MCPARLEY_MANAGED_DIR", world.root.join("managed"));
        world
    }

    /// A world with these files in it.
    pub(crate) fn with(files: &[(&str, &str)]) -> Self {
        let world = Self::new();
        for (path, text) in files {
            world.write(path, text);
        }
        world
    }

    pub(crate) fn set(&mut self, name: &str, value: impl Into<OsString>) {
        self.env.push((name.to_owned(), value.into()));
    }

    pub(crate) fn stand_in(&mut self, folder: &str) {
        self.cwd = self.root.join(folder);
        std::fs::create_dir_all(&self.cwd).unwrap();
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.root.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    pub(crate) fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.root.join(path)).unwrap()
    }

    pub(crate) fn read_json(&self, path: &str) -> Value {
        serde_json::from_str(&self.relative(&self.read(path))).unwrap()
    }

    /// Every file below the world, sorted.
    pub(crate) fn files(&self) -> Vec<String> {
        let mut found = Vec::new();
        let mut folders = vec![self.root.clone()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    found.push(path.strip_prefix(&self.root).unwrap().to_string_lossy().into_owned());
                }
            }
        }
        found.sort();
        found
    }

    /// The program, ready to run with nothing of our own environment.
    ///
    /// A server that it adds is not tried: most tests name programs and addresses that are nowhere.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut words = args.to_vec();
        if let Some(at) = command_word(args).filter(|at| matches!(args[*at], "add" | "add-json")) {
            words.insert(at + 1, "--no-check");
        }
        self.command_of(PROGRAM.as_ref(), &words)
    }

    /// Runs the program with these words and no others, so that `add` and `add-json` try the server.
    pub(crate) fn mcparley_as_given(&self, args: &[&str]) -> Output {
        self.finish(&mut self.command_of(PROGRAM.as_ref(), args))
    }

    pub(crate) fn command_of(&self, program: &std::path::Path, args: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(args).current_dir(&self.cwd).env_clear().stdin(Stdio::null());
        command.envs(self.env.iter().map(|(name, value)| (name, value)));
        command
    }

    pub(crate) fn mcparley(&self, args: &[&str]) -> Output {
        self.finish(&mut self.command(args))
    }

    pub(crate) fn finish(&self, command: &mut Command) -> Output {
        let done = command.output().unwrap();
        Output {
            code: done.status.code().unwrap_or(-1),
            out: self.relative(&String::from_utf8(done.stdout).unwrap()),
            err: self.relative(&String::from_utf8(done.stderr).unwrap()),
        }
    }

    /// Runs with this text on standard input.
    pub(crate) fn fed(&self, args: &[&str], input: &str) -> Output {
        let mut command = self.command(args);
        let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = piped.spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        let done = child.wait_with_output().unwrap();
        let text = |bytes: Vec<u8>| self.relative(&String::from_utf8(bytes).unwrap());
        Output { code: done.status.code().unwrap(), out: text(done.stdout), err: text(done.stderr) }
    }

    /// Runs what must work, and gives what it printed.
    pub(crate) fn ok(&self, args: &[&str]) -> String {
        let done = self.mcparley(args);
        assert_eq!(done.code, 0, "{args:?}: {done:?}");
        done.out
    }

    /// Runs with `--json`, whatever comes of it.
    pub(crate) fn json(&self, args: &[&str]) -> Value {
        let done = self.mcparley(&[&["--json"], args].concat());
        serde_json::from_str(&done.out).unwrap_or_else(|error| panic!("{args:?}: {error}: {done:?}"))
    }

    /// What the plan says about every declaration: name, scope and standing, strongest first.
    pub(crate) fn plan(&self) -> Vec<String> {
        let word = |value: &Value| value.as_str().unwrap().to_owned();
        let plan = self.json(&["plan"]);
        let servers = plan["servers"].as_array().unwrap().iter();
        servers
            .map(|s| format!("{} {} {}", word(&s["name"]), word(&s["scope"]), word(&s["standing"]["is"])))
            .collect()
    }

    /// The text without the temporary folder.
    pub(crate) fn relative(&self, text: &str) -> String {
        text.replace(&format!("{}/", self.root.display()), "")
    }
}

/// A refusal: its exit code, what it says, and nothing on standard output.
pub(crate) fn refusal(code: i32, err: &str) -> Output {
    Output { code, out: String::new(), err: format!("{err}\n") }
}

/// Numbers that look random and are the same in every run.
pub(crate) struct XorShift(pub(crate) u64);

impl XorShift {
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}

/// Waits for what must become true soon.
pub(crate) fn wait_for(what: &str, limit: Duration, mut condition: impl FnMut() -> bool) {
    let deadline = Instant::now() + limit;
    while !condition() {
        assert!(Instant::now() < deadline, "{what} did not happen within {limit:?}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Where the command stands among the words: behind global options and `mcp`.
fn command_word(args: &[&str]) -> Option<usize> {
    let is_value = |at: usize| at > 0 && args[at - 1] == "--config-dir";
    (0..args.len()).find(|at| !args[*at].starts_with("--") && args[*at] != "mcp" && !is_value(*at))
}
