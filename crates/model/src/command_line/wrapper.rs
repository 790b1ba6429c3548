//! Finds the command behind wrapper programs that only prepare its start, such as `env` and `nice`.

use super::script;

/// A program that starts the command given in its arguments.
struct Wrapper {
    name: &'static str,
    /// Options that take the next word as their value.
    valued: &'static [&'static str],
    /// The number of words between the options and the command.
    operands: usize,
}

const WRAPPERS: [Wrapper; 14] = [
    Wrapper { name: "nice", valued: &["-n", "--adjustment"], operands: 0 },
    Wrapper { name: "ionice", valued: &["-c", "--class", "-n", "--classdata"], operands: 0 },
    Wrapper { name: "nohup", valued: &[], operands: 0 },
    Wrapper { name: "setsid", valued: &[], operands: 0 },
    Wrapper { name: "stdbuf", valued: &["-i", "-o", "-e", "--input", "--output", "--error"], operands: 0 },
    Wrapper { name: "time", valued: &["-f", "--format", "-o", "--output"], operands: 0 },
    Wrapper { name: "timeout", valued: &["-s", "--signal", "-k", "--kill-after"], operands: 1 },
    Wrapper { name: "taskset", valued: &[], operands: 1 },
    Wrapper { name: "exec", valued: &["-a"], operands: 0 },
    Wrapper { name: "command", valued: &[], operands: 0 },
    Wrapper { name: "builtin", valued: &[], operands: 0 },
    Wrapper { name: "busybox", valued: &[], operands: 0 },
    Wrapper { name: "doas", valued: &["-u", "-C"], operands: 0 },
    Wrapper {
        name: "sudo",
        valued: &[
            "-u", "--user", "-g", "--group", "-h", "--host", "-p", "--prompt", "-C", "-D", "--chdir", "-R",
        ],
        operands: 0,
    },
];

/// The command that the wrapper `name` would start; `None` if `name` is not a wrapper.
pub(super) fn inner_command(name: &str, arguments: &[String]) -> Option<Vec<String>> {
    if name == "env" {
        return Some(command_after_env(arguments, 0));
    }
    if name.eq_ignore_ascii_case("cmd") {
        let at = arguments.iter().position(|word| matches!(word.as_str(), "/c" | "/C" | "/k" | "/K"))?;
        return Some(arguments.get(at + 1..)?.to_vec());
    }
    let wrapper = WRAPPERS.iter().find(|wrapper| wrapper.name == name)?;
    let command = skip_options(arguments, wrapper.valued);
    let command = command.get(wrapper.operands..).unwrap_or_default();
    Some(command.iter().skip_while(|word| is_assignment(word)).cloned().collect())
}

/// Skips the leading options.
pub(super) fn skip_options<'w>(words: &'w [String], valued: &[&str]) -> &'w [String] {
    let mut rest = words;
    while let Some((word, after)) = rest.split_first() {
        match word.as_str() {
            "--" => return after,
            word if !word.starts_with('-') || word == "-" => return rest,
            word if valued.contains(&word) => rest = after.get(1..).unwrap_or_default(),
            _ => rest = after,
        }
    }
    rest
}

/// Whether the word is an assignment of a variable for the command after it.
pub(super) fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    })
}

/// The command after `env` and its options; `-S` holds several words in one argument.
fn command_after_env(arguments: &[String], splits: usize) -> Vec<String> {
    const VALUED: [&str; 5] = ["-u", "--unset", "-C", "--chdir", "--argv0"];
    let mut rest = arguments;
    while let Some((word, after)) = rest.split_first() {
        if let Some((line, after)) = parse_split_string(word, after)
            && splits < super::DEPTH
        {
            let words = script::split_words(&line).into_iter().chain(after.iter().cloned());
            return command_after_env(&words.collect::<Vec<_>>(), splits + 1);
        }
        match word.as_str() {
            "--" => rest = after,
            word if VALUED.contains(&word) => rest = after.get(1..).unwrap_or_default(),
            word if word.starts_with('-') || is_assignment(word) => rest = after,
            _ => break,
        }
    }
    rest.to_vec()
}

/// The line of `-S LINE`, `-SLINE`, `-vS LINE` or `--split-string=LINE`, and the words after it.
fn parse_split_string<'w>(word: &str, after: &'w [String]) -> Option<(String, &'w [String])> {
    if let Some(line) = word.strip_prefix("--split-string=") {
        return Some((line.to_owned(), after));
    }
    let short = word.strip_prefix('-').filter(|flags| !flags.starts_with('-'));
    let attached = match (word, short.and_then(|flags| flags.split_once('S'))) {
        ("--split-string", _) => "",
        (_, Some((flags, line))) if flags.chars().all(|flag| matches!(flag, 'i' | 'v' | '0')) => line,
        _ => return None,
    };
    if !attached.is_empty() {
        return Some((attached.to_owned(), after));
    }
    after.split_first().map(|(line, after)| (line.clone(), after))
}
