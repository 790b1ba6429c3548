//! Matches command patterns of a policy against a resolved command line.
//!
//! A deny rule holds for every way to write the denied program: another path to it, a link, `env` or a
//! shell before it. An allow rule holds only for the literal command, because another author wrote the
//! words of the entry.

use crate::command_line::{CommandStep, UnpinnedStep, program_name, unfold_command};
use crate::config::StdioConfig;
use crate::glob::Glob;
use crate::program::{FoundProgram, ProgramFinder, command_steps};

/// A command line with all programs it would start, and all paths of each program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResolvedCommand {
    /// The programs, the outermost first.
    programs: Vec<ResolvedProgram>,
    /// The steps that would download code without a pinned version.
    unpinned: Vec<UnpinnedStep>,
    /// Whether some programs are unknown, because the commands are nested too deeply.
    is_partial: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct ResolvedProgram {
    argv: Vec<String>,
    /// The program as written, its cleaned path, and its locations on disk.
    paths: Vec<String>,
    is_of_project: bool,
}

impl ResolvedCommand {
    /// Resolves the command of `stdio`; `denied` are program paths of a policy, which may be links
    /// themselves.
    #[must_use]
    pub fn resolve(stdio: &StdioConfig, finder: &dyn ProgramFinder, denied: &[&str]) -> Self {
        let resolve = |step| match step {
            CommandStep::Program(argv) => {
                let found = argv.first().and_then(|program| finder.find_program(program, stdio));
                let links = denied.iter().copied().filter(|path| is_same_file(path, found.as_ref(), finder));
                Some(ResolvedProgram::new(argv, found.as_ref(), links))
            }
            CommandStep::Package(_) | CommandStep::DownloadedScript | CommandStep::TooDeep => None,
        };
        let steps = command_steps(stdio);
        let unpinned = UnpinnedStep::find_in_steps(steps.iter().cloned()).collect();
        let is_partial = steps.contains(&CommandStep::TooDeep);
        Self { programs: steps.into_iter().filter_map(resolve).collect(), unpinned, is_partial }
    }

    /// Resolves a command line without access to the file system.
    #[must_use]
    pub fn from_argv(argv: &[&str]) -> Self {
        let resolve = |step| match step {
            CommandStep::Program(argv) => Some(ResolvedProgram::new(argv, None, std::iter::empty())),
            CommandStep::Package(_) | CommandStep::DownloadedScript | CommandStep::TooDeep => None,
        };
        let steps = unfold_command(argv);
        let unpinned = UnpinnedStep::find_in_steps(steps.iter().cloned()).collect();
        let is_partial = steps.contains(&CommandStep::TooDeep);
        Self { programs: steps.into_iter().filter_map(resolve).collect(), unpinned, is_partial }
    }

    /// The first step that would download code without a pinned version.
    pub(super) fn first_unpinned(&self) -> Option<&UnpinnedStep> {
        self.unpinned.first()
    }

    /// Whether any program that would be started matches the pattern. A program that is unknown may be the denied
    /// one.
    pub(super) fn is_denied_by(&self, pattern: &[Glob]) -> bool {
        let Some((wanted, arguments)) = pattern.split_first() else { return false };
        self.is_partial
            || self.programs.iter().any(|program| {
                let is_program = program.paths.iter().any(|path| {
                    wanted.matches(path)
                        || !wanted.as_str().contains('/') && wanted.matches(program_name(path))
                });
                is_program && arguments_match(arguments, &program.argv, Glob::matches)
            })
    }

    /// Whether the pattern matches the command line as it is written.
    pub(super) fn is_allowed_by(&self, pattern: &[Glob]) -> bool {
        let (Some(program), Some((wanted, arguments))) = (self.programs.first(), pattern.split_first())
        else {
            return false;
        };
        program.is_allowed_by(wanted) && arguments_match(arguments, &program.argv, matches_plainly)
    }
}

impl ResolvedProgram {
    fn new<'p>(
        argv: Vec<String>,
        found: Option<&FoundProgram>,
        links: impl Iterator<Item = &'p str>,
    ) -> Self {
        let written = argv.first().cloned().unwrap_or_default();
        let is_relative = written.contains('/') && !written.starts_with('/');
        let mut paths = vec![clean_path(&written)];
        paths.extend(found.into_iter().flat_map(|found| [found.located.clone(), found.canonical.clone()]));
        paths.extend(links.map(str::to_owned));
        paths.push(written);
        paths.dedup();
        Self { argv, paths, is_of_project: found.map_or(is_relative, |found| found.is_in_project) }
    }

    /// Whether the pattern allows the program: a name means the user's own program of that name, a path
    /// means that path, also inside the project.
    fn is_allowed_by(&self, wanted: &Glob) -> bool {
        let Some(written) = self.argv.first() else { return false };
        if !wanted.as_str().contains('/') {
            return !self.is_of_project && matches_plainly(wanted, written);
        }
        if wanted.is_literal() && !wanted.as_str().starts_with('/') {
            return wanted.matches(written);
        }
        let is_plain = |path: &&String| path.starts_with('/') && !has_parent_step(path);
        self.paths.iter().filter(is_plain).any(|path| matches_plainly(wanted, path))
    }
}

/// Whether each argument matches its own pattern and their numbers agree: a star never swallows another
/// argument.
fn arguments_match(pattern: &[Glob], argv: &[String], matches: impl Fn(&Glob, &str) -> bool) -> bool {
    let arguments = argv.get(1..).unwrap_or_default();
    pattern.len() == arguments.len() && pattern.iter().zip(arguments).all(|(glob, text)| matches(glob, text))
}

/// Whether the text matches without a star standing for a `..` step, for white space or for an option.
fn matches_plainly(pattern: &Glob, text: &str) -> bool {
    let steps = |text: &str| text.matches("/..").count() + usize::from(text.starts_with(".."));
    let spaces = |text: &str| text.chars().filter(|character| character.is_whitespace()).count();
    // Every character of the pattern besides stars is in the text, so surplus ones in the text belong to a
    // star.
    let is_plain = steps(text) == steps(pattern.as_str()) && spaces(text) == spaces(pattern.as_str());
    let is_option = text.starts_with('-') && pattern.as_str().starts_with('*');
    pattern.matches(text) && (pattern.is_literal() || is_plain && !is_option)
}

fn has_parent_step(path: &str) -> bool {
    path.split('/').any(|part| part == "..")
}

/// Cleans a path lexically: removes empty parts and `.`, and resolves `..`.
///
/// Where a folder is a link, `..` leads elsewhere; the finder's path then shows the real location.
fn clean_path(path: &str) -> String {
    if !path.starts_with('/') {
        return path.to_owned();
    }
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/').filter(|part| !matches!(*part, "" | ".")) {
        if part == ".." {
            parts.pop();
        } else {
            parts.push(part);
        }
    }
    format!("/{}", parts.join("/"))
}

fn is_same_file(path: &str, found: Option<&FoundProgram>, finder: &dyn ProgramFinder) -> bool {
    found.is_some_and(|found| finder.canonical_path(path).as_ref() == Some(&found.canonical))
}
