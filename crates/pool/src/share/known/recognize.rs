//! Recognizes known servers in a command line, and judges how certain that is.

use mcparley_model::command_line::{
    CommandStep, Package, PackageRegistry, is_shell, program_name, unfold_command,
};

use super::KnownServerEntry;

/// The certainty with which a command line starts a recognized server, in ascending order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum CommandCertainty {
    /// The command line names the server, and may do more than start it.
    Mentioned,
    /// The command line starts this server and no other program.
    OneServer,
    /// It also starts the same program in every folder.
    AnyFolder,
}

/// The package runners that start a package the same way in every folder, and their subcommands.
const RUNNERS: [(&str, &[&str]); 11] = [
    ("npx", &[]),
    ("npm", &["exec"]),
    ("npm", &["x"]),
    ("pnpx", &[]),
    ("pnpm", &["dlx"]),
    ("yarn", &["dlx"]),
    ("bunx", &[]),
    ("bun", &["x"]),
    ("uvx", &[]),
    ("uv", &["tool", "run"]),
    ("pipx", &["run"]),
];

/// Options of package runners that do not refer to the folder.
const PLAIN_OPTIONS: [&str; 12] = [
    "-y",
    "--yes",
    "-q",
    "--quiet",
    "-s",
    "--silent",
    "--offline",
    "--no-cache",
    "--isolated",
    "--refresh",
    "--prefer-online",
    "--prefer-offline",
];

/// Options of package runners that name the package or the version of the interpreter.
const VALUED_OPTIONS: [&str; 5] = ["-p", "--package", "--from", "--spec", "--python"];

/// Programs that run a script of JavaScript.
const SCRIPT_RUNNERS: [&str; 4] = ["node", "bun", "deno", "tsx"];

/// Finds the entries that the command line names, each once, and the certainty of the first one.
pub(super) fn recognize_entries<'t>(
    table: &'t [KnownServerEntry],
    argv: &[&str],
) -> (Vec<&'t KnownServerEntry>, CommandCertainty) {
    let steps = unfold_command(argv);
    let mut found: Vec<&KnownServerEntry> = Vec::new();
    for step in &steps {
        for entry in table.iter().filter(|entry| is_named_by(entry, step)) {
            if !found.iter().any(|known| known.name == entry.name) {
                found.push(entry);
            }
        }
    }
    let certainty = match found.as_slice() {
        [only] if is_only_server(only, &steps) => {
            if is_same_in_every_folder(&steps, argv) {
                CommandCertainty::AnyFolder
            } else {
                CommandCertainty::OneServer
            }
        }
        _ => CommandCertainty::Mentioned,
    };
    (found, certainty)
}

/// Whether a step of the command line names the server.
fn is_named_by(entry: &KnownServerEntry, step: &CommandStep) -> bool {
    match step {
        CommandStep::Package(package) => is_package_of(entry, package),
        CommandStep::Program(argv) => is_program_of(entry, argv),
        CommandStep::DownloadedScript | CommandStep::TooDeep => false,
    }
}

fn is_package_of(entry: &KnownServerEntry, package: &Package) -> bool {
    match package.registry() {
        PackageRegistry::Npm => entry.npm.iter().any(|name| name == package.name()),
        PackageRegistry::Python => entry.pypi.contains(&normalize_python_name(&package.spec)),
        PackageRegistry::Image => entry.images.iter().any(|name| name == package.name()),
        PackageRegistry::Go => false,
    }
}

/// Whether a program is the server: by its name, as a script inside its package, or as a Python module.
fn is_program_of(entry: &KnownServerEntry, argv: &[String]) -> bool {
    let Some((program, arguments)) = argv.split_first() else { return false };
    let is_file_of = |path: &str| {
        entry.programs.iter().any(|name| name == program_name(path))
            || node_package(path).is_some_and(|package| entry.npm.iter().any(|name| name == package))
    };
    if is_file_of(program) {
        return true;
    }
    let name = program_name(program);
    if is_python(name) {
        return match python_target(arguments) {
            Some(PythonTarget::Module(module)) => entry.modules.iter().any(|name| name == module),
            Some(PythonTarget::Script(script)) => is_file_of(script),
            None => false,
        };
    }
    SCRIPT_RUNNERS.contains(&name) && node_script(arguments).is_some_and(is_file_of)
}

/// The script that a runtime of JavaScript is told to run, if it belongs to an installed package.
fn node_script<W: AsRef<str>>(arguments: &[W]) -> Option<&str> {
    const VALUED: [&str; 5] = ["-r", "--require", "--import", "--loader", "-C"];
    let mut words = arguments.iter().map(AsRef::as_ref);
    while let Some(word) = words.next() {
        match word {
            "run" => {}
            option if VALUED.contains(&option) => drop(words.next()),
            option if option.starts_with('-') => {}
            script => return Some(script).filter(|script| node_package(script).is_some()),
        }
    }
    None
}

/// The program that an interpreter of Python is told to run.
enum PythonTarget<'w> {
    Module(&'w str),
    Script(&'w str),
}

/// The program that Python runs with these arguments; options with a value of their own are not known, so
/// their value counts as the script.
fn python_target<W: AsRef<str>>(arguments: &[W]) -> Option<PythonTarget<'_>> {
    let mut words = arguments.iter().map(AsRef::as_ref);
    while let Some(word) = words.next() {
        match word.strip_prefix("-m") {
            Some("") => return words.next().map(PythonTarget::Module),
            Some(module) => return Some(PythonTarget::Module(module)),
            None if word == "-X" || word == "-W" => drop(words.next()),
            None if word.starts_with('-') => {}
            None => return Some(PythonTarget::Script(word)),
        }
    }
    None
}

fn is_python(name: &str) -> bool {
    let version = name.strip_prefix("pypy").or_else(|| name.strip_prefix("python"));
    name == "py"
        || version.is_some_and(|version| version.chars().all(|c| c.is_ascii_digit() || c == '.' || c == 'w'))
}

/// The npm package that contains the file: the part of the path after the last `node_modules`.
fn node_package(path: &str) -> Option<&str> {
    const FOLDER: &str = "node_modules/";
    let start = path.rfind(FOLDER)?;
    // `my_node_modules/` is another folder.
    let is_whole = path.get(..start).is_some_and(|before| before.is_empty() || before.ends_with('/'));
    let inside = path.get(start + FOLDER.len()..).filter(|_| is_whole)?;
    let parts = if inside.starts_with('@') { 2 } else { 1 };
    let end = inside.match_indices('/').nth(parts - 1).map_or(inside.len(), |(at, _)| at);
    inside.get(..end)
}

/// A package of the Python package index in its normal form (PEP 503), without extras and version.
fn normalize_python_name(spec: &str) -> String {
    let end = spec.find(['[', '<', '>', '=', '!', '~', ';', '@', ' ']).unwrap_or(spec.len());
    let parts = spec.get(..end).unwrap_or(spec).split(['-', '_', '.']).filter(|part| !part.is_empty());
    parts.map(str::to_ascii_lowercase).collect::<Vec<_>>().join("-")
}

/// Whether the command line runs the server and nothing else. A shell may do more beside it, and a package
/// with the program's name need not be the package of that program.
fn is_only_server(entry: &KnownServerEntry, steps: &[CommandStep]) -> bool {
    steps.iter().all(|step| match step {
        CommandStep::Package(package) => is_package_of(entry, package),
        CommandStep::Program(argv) => argv.first().is_some_and(|program| !is_shell(program_name(program))),
        CommandStep::DownloadedScript | CommandStep::TooDeep => false,
    })
}

/// Whether the command line means the same program with the same files in every folder and environment.
fn is_same_in_every_folder(steps: &[CommandStep], argv: &[&str]) -> bool {
    let Some((program, arguments)) = argv.split_first() else { return false };
    if arguments.iter().any(|argument| is_relative_path(argument)) {
        return false;
    }
    let is_absolute = program.starts_with('/');
    if steps.iter().any(|step| matches!(step, CommandStep::Package(_))) {
        let is_on_path = !program.contains('/');
        return (is_on_path || is_absolute) && is_plain_runner(program_name(program), arguments);
    }
    // Other programs on `PATH` may exist in the virtual environment of one project only.
    let name = program_name(program);
    let first = arguments.iter().find(|argument| !argument.starts_with('-') && **argument != "run");
    let is_first_absolute = first.is_some_and(|first| first.starts_with('/'));
    if SCRIPT_RUNNERS.contains(&name) {
        return is_first_absolute && node_script(arguments) == first.copied();
    }
    match is_python(name).then(|| python_target(arguments)).flatten() {
        Some(PythonTarget::Script(_)) => is_absolute && is_first_absolute,
        Some(PythonTarget::Module(_)) | None => is_absolute,
    }
}

/// Whether a package runner is called without options that could refer to the folder.
fn is_plain_runner(name: &str, arguments: &[&str]) -> bool {
    let subcommands = RUNNERS.iter().filter(|(runner, _)| *runner == name);
    let mut after = subcommands.filter_map(|(_, subcommand)| arguments.strip_prefix(*subcommand));
    let Some(arguments) = after.next() else { return false };
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let (option, attached) = word.split_once('=').map_or((*word, None), |(o, v)| (o, Some(v)));
        match option {
            "--" => return true,
            option if !option.starts_with('-') => return true,
            option if PLAIN_OPTIONS.contains(&option) => {}
            option if VALUED_OPTIONS.contains(&option) => {
                let value = attached.or_else(|| words.next().copied()).unwrap_or_default();
                // An interpreter by a relative path; a package with a scope begins with `@`.
                if value.contains('/') && !value.starts_with(['/', '@']) {
                    return false;
                }
            }
            _ => return false,
        }
    }
    false
}

/// Whether an argument, or the value in `--option=value`, is written as a path relative to the folder.
fn is_relative_path(argument: &str) -> bool {
    let value = argument.split_once('=').map_or(argument, |(_, value)| value);
    matches!(value, "." | "..") || value.starts_with("./") || value.starts_with("../")
}
