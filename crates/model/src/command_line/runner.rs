//! Knows the package runners: which package they would fetch, and what they would start.

use super::package::{Package, Registry};
use super::program_name;
use super::script::{self, Script};

/// What a package runner would do.
pub(super) struct Run {
    /// The packages it would fetch.
    pub(super) packages: Vec<Package>,
    /// Scripts it would hand to a shell.
    pub(super) scripts: Vec<Script>,
    /// The command it would start.
    pub(super) command: Vec<String>,
}

/// How a runner is called.
struct Runner {
    /// Its name, and what people know it by.
    program: &'static str,
    shown: &'static str,
    /// The words between the program and its options.
    subcommand: &'static [&'static str],
    registry: Registry,
    /// Options that name the package; the first other word is then a command of it.
    package: &'static [&'static str],
    /// Options whose value is the next word.
    valued: &'static [&'static str],
    /// Whether the first other word is a package unless an option names one.
    fetches: bool,
}

const NPM_VALUED: &[&str] = &[
    "--prefix",
    "-w",
    "--workspace",
    "--registry",
    "--cache",
    "--userconfig",
    "--loglevel",
    "--script-shell",
];

const UV_VALUED: &[&str] = &[
    "-p",
    "--python",
    "--with",
    "--with-editable",
    "--with-requirements",
    "--index",
    "--index-url",
    "-i",
    "--default-index",
    "--extra-index-url",
    "-f",
    "--find-links",
    "--cache-dir",
    "--directory",
    "--project",
    "-c",
    "--constraints",
    "--overrides",
    "--env-file",
    "--config-file",
    "--color",
    "-P",
    "--upgrade-package",
    "--python-platform",
    "--refresh-package",
    "--group",
    "--extra",
    "--exclude-newer",
];

const DOCKER_VALUED: &[&str] = &[
    "-e",
    "--env",
    "--env-file",
    "-v",
    "--volume",
    "--mount",
    "-p",
    "--publish",
    "--name",
    "--network",
    "--net",
    "-w",
    "--workdir",
    "-u",
    "--user",
    "--entrypoint",
    "-l",
    "--label",
    "--platform",
    "--pull",
    "--add-host",
    "--cap-add",
    "--cap-drop",
    "--cpus",
    "-m",
    "--memory",
    "--security-opt",
    "-h",
    "--hostname",
    "--ulimit",
    "--tmpfs",
    "--device",
    "--gpus",
    "--log-driver",
    "--log-opt",
    "--restart",
    "--runtime",
    "--shm-size",
    "--stop-signal",
    "--userns",
    "--uts",
    "--ipc",
    "--pid",
    "--dns",
    "--cidfile",
    "--volumes-from",
    "-a",
    "--attach",
    "--expose",
    "--group-add",
    "--link",
    "--pids-limit",
    "--stop-timeout",
    "--annotation",
];

const fn npm(program: &'static str, shown: &'static str, subcommand: &'static [&'static str]) -> Runner {
    let (package, valued) = (["-p", "--package"].as_slice(), NPM_VALUED);
    Runner { program, shown, subcommand, registry: Registry::Npm, package, valued, fetches: true }
}

const fn uv(program: &'static str, shown: &'static str, subcommand: &'static [&'static str]) -> Runner {
    let (package, valued) = (["--from"].as_slice(), UV_VALUED);
    Runner { program, shown, subcommand, registry: Registry::Python, package, valued, fetches: true }
}

const fn docker(program: &'static str, shown: &'static str, subcommand: &'static [&'static str]) -> Runner {
    let (package, valued) = ([].as_slice(), DOCKER_VALUED);
    Runner { program, shown, subcommand, registry: Registry::Image, package, valued, fetches: true }
}

const RUNNERS: [Runner; 22] = [
    npm("npx", "npx", &[]),
    npm("npm", "npm exec", &["exec"]),
    npm("npm", "npm exec", &["x"]),
    npm("pnpm", "pnpm dlx", &["dlx"]),
    npm("pnpm", "pnpm exec", &["exec"]),
    npm("pnpx", "pnpx", &[]),
    npm("yarn", "yarn dlx", &["dlx"]),
    npm("yarn", "yarn exec", &["exec"]),
    npm("bunx", "bunx", &[]),
    npm("bun", "bun x", &["x"]),
    npm("deno", "deno run", &["run"]),
    npm("deno", "deno x", &["x"]),
    uv("uvx", "uvx", &[]),
    uv("uv", "uvx", &["tool", "run"]),
    Runner { fetches: false, ..uv("uv", "uv run", &["run"]) },
    Runner {
        package: &["--spec"],
        valued: &["--python", "--pip-args", "-i", "--index-url"],
        ..uv("pipx", "pipx run", &["run"])
    },
    Runner {
        registry: Registry::Go,
        package: &[],
        valued: &["-C", "-tags", "-exec"],
        ..npm("go", "go run", &["run"])
    },
    docker("docker", "docker run", &["run"]),
    docker("docker", "docker run", &["container", "run"]),
    docker("podman", "podman run", &["run"]),
    docker("podman", "podman run", &["container", "run"]),
    docker("nerdctl", "nerdctl run", &["run"]),
];

/// What the runner `name` would do with these arguments; none if it is no package runner.
pub(super) fn read(name: &str, arguments: &[String]) -> Option<Run> {
    RUNNERS.iter().filter(|runner| runner.program == name).find_map(|runner| {
        let rest = runner.behind_subcommand(arguments)?;
        Some(runner.read(rest))
    })
}

impl Runner {
    /// The words after the subcommand; options may stand before it.
    fn behind_subcommand<'w>(&self, arguments: &'w [String]) -> Option<&'w [String]> {
        let mut rest = arguments;
        for wanted in self.subcommand {
            rest = super::wrapper::skip_options(rest, self.valued);
            let (word, after) = rest.split_first()?;
            if word != wanted {
                return None;
            }
            rest = after;
        }
        Some(rest)
    }

    fn read(&self, words: &[String]) -> Run {
        let mut run = Run { packages: Vec::new(), scripts: Vec::new(), command: Vec::new() };
        let mut rest = words;
        while let Some((word, after)) = rest.split_first() {
            let (option, attached) =
                word.split_once('=').map_or((word.as_str(), None), |(o, v)| (o, Some(v)));
            let value = attached.or_else(|| after.first().map(String::as_str));
            let is_script = self.registry == Registry::Npm && matches!(option, "-c" | "--call");
            let takes_value = is_script || self.package.contains(&option) || self.valued.contains(&option);
            if word == "--" {
                rest = after;
                break;
            }
            if !word.starts_with('-') {
                break;
            }
            if self.package.contains(&option) {
                run.packages.extend(value.map(|spec| Package::new(self.shown, spec, self.registry)));
            } else if is_script {
                run.scripts.extend(value.map(script::read));
            }
            let is_next = takes_value && attached.is_none();
            rest = if is_next { after.get(1..).unwrap_or_default() } else { after };
        }
        self.command(rest, &mut run);
        run
    }

    /// What is started: a command of the package, or the package itself.
    fn command(&self, words: &[String], run: &mut Run) {
        let Some((first, arguments)) = words.split_first() else { return };
        let package = Package::new(self.shown, first, self.registry);
        let is_package = self.fetches && run.packages.is_empty() && !self.is_script_file(first);
        let program = if is_package { package.short_name().to_owned() } else { first.clone() };
        if is_package {
            run.packages.push(package);
        }
        // An image has programs of its own.
        if self.registry != Registry::Image && !program_name(&program).is_empty() {
            run.command = std::iter::once(program).chain(arguments.iter().cloned()).collect();
        }
    }

    /// `deno run main.ts` and `go run .` start what is there already.
    fn is_script_file(&self, word: &str) -> bool {
        match self.program {
            "deno" => !["npm:", "jsr:", "http:", "https:"].iter().any(|start| word.starts_with(start)),
            "go" => !word.contains('@'),
            "pnpm" | "yarn" => self.subcommand == ["exec"],
            _ => false,
        }
    }
}
