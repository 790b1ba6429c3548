//! Finds the line of a server's standard error that contains the reason of its failure.
//!
//! A program that fails often prints the reason first and then a stack trace, a version or the path of a log
//! file, so the last lines alone do not show the reason.

/// Words that mark a line with a reason, in lowercase.
const REASONS: [&str; 15] = [
    "error",
    "exception",
    "cannot",
    "can't",
    "could not",
    "failed",
    "fatal",
    "panicked",
    "not found",
    "no such",
    "missing",
    "required",
    "denied",
    "invalid",
    "not set",
];

/// Prefixes of lines that follow a reason and contain none, in lowercase.
const AFTERMATH: [&str; 12] = [
    "at ",
    "file \"",
    "node:",
    "node.js v",
    "^",
    "~",
    "traceback (most recent",
    "npm error a complete log",
    "npm err! a complete log",
    "note: run with",
    "stack backtrace",
    "requirestack",
];

/// The line with the reason, or else the last lines, at most `most`.
pub(crate) fn reason_lines(stderr: &str, most: usize) -> Vec<&str> {
    let lines: Vec<&str> = stderr.lines().filter(|line| !line.trim().is_empty()).collect();
    let reasons: Vec<&str> = lines.iter().copied().filter(|line| is_reason(line)).collect();
    // An exception with its name is more specific than a line that mentions an error. Of several exceptions
    // the last one is the uncaught one.
    let named = reasons.iter().rev().find(|line| is_exception(line));
    match named.or(reasons.first()) {
        Some(line) => vec![line],
        None => lines.iter().copied().skip(lines.len().saturating_sub(most)).collect(),
    }
}

fn is_reason(line: &str) -> bool {
    let line = line.trim().to_ascii_lowercase();
    let is_aftermath = AFTERMATH.iter().any(|beginning| line.starts_with(beginning));
    !is_aftermath && REASONS.iter().any(|word| line.contains(word))
}

/// Whether a line begins with the name of an exception, as in `TypeError: …` and `module.SomeError: …`.
/// …`.
fn is_exception(line: &str) -> bool {
    let name = line.trim().split([':', ' ']).next().unwrap_or_default();
    let is_name = name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_'));
    is_name && (name.ends_with("Error") || name.ends_with("Exception"))
}

#[cfg(test)]
mod tests {
    use super::*;

    // U3
    #[test]
    fn the_line_with_the_reason_is_found_among_stack_frames() {
        let node = "node:internal/modules/cjs/loader:1148\n  throw err;\n  ^\n\nError: Cannot find module '/x/y.js'\n    \
                    at Module._resolveFilename (node:internal/modules/cjs/loader:1145:15)\n    at node:internal/main {\n  \
                    code: 'MODULE_NOT_FOUND',\n  requireStack: []\n}\n\nNode.js v20.15.1\n";
        let python = "Traceback (most recent call last):\n  File \"x.py\", line 1, in <module>\n    import y\n\
                      ModuleNotFoundError: No module named 'y'\n";
        let npm = "npm error code E404\nnpm error 404 Not Found - GET https://r/x\nnpm error A complete log of this run\n";
        let cases = [
            (node, vec!["Error: Cannot find module '/x/y.js'"]),
            (python, vec!["ModuleNotFoundError: No module named 'y'"]),
            (npm, vec!["npm error code E404"]),
            ("starting\nAPI_KEY is not set\nbye\n", vec!["API_KEY is not set"]),
            ("one\ntwo\nthree\nfour\n", vec!["two", "three", "four"]),
            ("", vec![]),
        ];
        for (stderr, expected) in cases {
            assert_eq!(reason_lines(stderr, 3), expected, "{stderr}");
        }
    }
}
