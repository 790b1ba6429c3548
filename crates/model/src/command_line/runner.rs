//! The table of package runners: which package a runner would download, and which program it would start.

use super::package::{Package, PackageRegistry};
use super::program_name;
use super::script::{self, Script};

/// The packages, scripts and program of one package runner invocation.
pub(super) struct RunnerInvocation {
    /// The packages the runner would download.
    pub(super) packages: Vec<Package>,
    /// The scripts it would pass to a shell.
    pub(super) scripts: Vec<Script>,
    /// The command it would start.
    pub(super) command: Vec<String>,
}

/// The command-line syntax of a package runner.
struct RunnerSyntax {
    /// The program's name, and the name to show to the user.
    program: &'static str,
    shown: &'static str,
    /// The words between the program and its options.
    subcommand: &'static [&'static str],
    registry: PackageRegistry,
    /// Options that name the package; the first positional word is then a command of that package.
    package: &'static [&'static str],
    /// Options that take the next word as their value.
    valued: &'static [&'static str],
    /// Whether the first positional word is a package unless an option names one.
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

const fn npm_runner(
    program: &'static str,
    shown: &'static str,
    subcommand: &'static [&'static str],
) -> RunnerSyntax {
    let (package, valued) = (["-p", "--package"].as_slice(), NPM_VALUED);
    RunnerSyntax {
        program,
        shown,
        subcommand,
        registry: PackageRegistry::Npm,
        package,
        valued,
        fetches: true,
    }
}

const fn uv_runner(
    program: &'static str,
    shown: &'static str,
    subcommand: &'static [&'static str],
) -> RunnerSyntax {
    let (package, valued) = (["--from"].as_slice(), UV_VALUED);
    RunnerSyntax {
        program,
        shown,
        subcommand,
        registry: PackageRegistry::Python,
        package,
        valued,
        fetches: true,
    }
}

const fn docker_runner(
    program: &'static str,
    shown: &'static str,
    subcommand: &'static [&'static str],
) -> RunnerSyntax {
    let (package, valued) = ([].as_slice(), DOCKER_VALUED);
    RunnerSyntax {
        program,
        shown,
        subcommand,
        registry: PackageRegistry::Image,
        package,
        valued,
        fetches: true,
    }
}

const RUNNERS: [RunnerSyntax; 22] = [
    npm_runner("npx", "npx", &[]),
    npm_runner("npm", "npm exec", &["exec"]),
    npm_runner("npm", "npm exec", &["x"]),
    npm_runner("pnpm", "pnpm dlx", &["dlx"]),
    npm_runner("pnpm", "pnpm exec", &["exec"]),
    npm_runner("pnpx", "pnpx", &[]),
    npm_runner("yarn", "yarn dlx", &["dlx"]),
    npm_runner("yarn", "yarn exec", &["exec"]),
    npm_runner("bunx", "bunx", &[]),
    npm_runner("bun", "bun x", &["x"]),
    npm_runner("deno", "deno run", &["run"]),
    npm_runner("deno", "deno x", &["x"]),
    uv_runner("uvx", "uvx", &[]),
    uv_runner("uv", "uvx", &["tool", "run"]),
    RunnerSyntax { fetches: false, ..uv_runner("uv", "uv run", &["run"]) },
    RunnerSyntax {
        package: &["--spec"],
        valued: &["--python", "--pip-args", "-i", "--index-url"],
        ..uv_runner("pipx", "pipx run", &["run"])
    },
    RunnerSyntax {
        registry: PackageRegistry::Go,
        package: &[],
        valued: &["-C", "-tags", "-exec"],
        ..npm_runner("go", "go run", &["run"])
    },
    docker_runner("docker", "docker run", &["run"]),
    docker_runner("docker", "docker run", &["container", "run"]),
    docker_runner("podman", "podman run", &["run"]),
    docker_runner("podman", "podman run", &["container", "run"]),
    docker_runner("nerdctl", "nerdctl run", &["run"]),
];

/// Parses the arguments of the runner `name`; `None` if it is not a package runner.
pub(super) fn parse_invocation(name: &str, arguments: &[String]) -> Option<RunnerInvocation> {
    RUNNERS.iter().filter(|runner| runner.program == name).find_map(|runner| {
        let rest = runner.skip_subcommand(arguments)?;
        Some(runner.parse_arguments(rest))
    })
}

impl RunnerSyntax {
    /// Skips the subcommand and the options before it; `None` if the arguments are of another subcommand.
    fn skip_subcommand<'w>(&self, arguments: &'w [String]) -> Option<&'w [String]> {
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

    fn parse_arguments(&self, words: &[String]) -> RunnerInvocation {
        let mut run = RunnerInvocation { packages: Vec::new(), scripts: Vec::new(), command: Vec::new() };
        let mut rest = words;
        while let Some((word, after)) = rest.split_first() {
            let (option, attached) =
                word.split_once('=').map_or((word.as_str(), None), |(o, v)| (o, Some(v)));
            let value = attached.or_else(|| after.first().map(String::as_str));
            let is_script = self.registry == PackageRegistry::Npm && matches!(option, "-c" | "--call");
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
                run.scripts.extend(value.map(script::parse_script));
            }
            let is_next = takes_value && attached.is_none();
            rest = if is_next { after.get(1..).unwrap_or_default() } else { after };
        }
        self.parse_command(rest, &mut run);
        run
    }

    /// Parses the started program: a command of the package, or the package itself.
    fn parse_command(&self, words: &[String], run: &mut RunnerInvocation) {
        let Some((first, arguments)) = words.split_first() else { return };
        let package = Package::new(self.shown, first, self.registry);
        let is_package = self.fetches && run.packages.is_empty() && !self.is_script_file(first);
        let program = if is_package { package.short_name().to_owned() } else { first.clone() };
        if is_package {
            run.packages.push(package);
        }
        // A container image has programs of its own.
        if self.registry != PackageRegistry::Image && !program_name(&program).is_empty() {
            run.command = std::iter::once(program).chain(arguments.iter().cloned()).collect();
        }
    }

    /// Whether the word is a file that exists already, as in `deno run main.ts` and `go run .`.
    fn is_script_file(&self, word: &str) -> bool {
        match self.program {
            "deno" => !["npm:", "jsr:", "http:", "https:"].iter().any(|start| word.starts_with(start)),
            "go" => !word.contains('@'),
            "pnpm" | "yarn" => self.subcommand == ["exec"],
            _ => false,
        }
    }
}
