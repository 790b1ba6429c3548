//! What a local server is started with: its program, its folder, and no more of our environment than it needs.
//!
//! A server is somebody else's program. It gets what every program needs to run (where programs are, who the
//! user is, which language to speak, how to reach the network) and what its entry gives it; keys and tokens of
//! the shell it never sees, unless the entry says `inheritEnv` (T1, B57).

use std::ffi::OsString;

use mcparley_model::ancestry::{ANCESTRY, Ancestry};
use mcparley_model::config::{ServerConfig, Stdio};
use mcparley_model::expand::Env;
use mcparley_model::signature::Signature;
use mcparley_platform::process::Launch;

use crate::paths::Paths;

/// Variables every server sees when they are set.
const PASSED_ON: [&str; 31] = [
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "PATH",
    "TMPDIR",
    "TERM",
    "LANG",
    "LANGUAGE",
    "TZ",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_STATE_HOME",
    "XDG_RUNTIME_DIR",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "ALL_PROXY",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "all_proxy",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
    "REQUESTS_CA_BUNDLE",
    "NVM_DIR",
    "PYENV_ROOT",
    "VIRTUAL_ENV",
    ANCESTRY,
];

/// The beginnings of more names that are passed on.
const PASSED_ON_PREFIXES: [&str; 1] = ["LC_"];

/// How to start a local server. Its own variables win over ours; it runs in the project's folder unless its
/// entry names another.
#[must_use]
pub fn launch(stdio: &Stdio, env: &Env, paths: &Paths) -> Launch {
    let Stdio { command, args, env: own, cwd, inherit_env } = stdio;
    let passed_on = env.iter().filter(|(name, value)| match inherit_env {
        true => !is_function(value),
        false => is_passed_on(name, value),
    });
    let mut variables: Vec<(OsString, OsString)> = passed_on
        .filter(|(name, _)| !own.iter().any(|(own, _)| own == name))
        .map(|(name, value)| (OsString::from(name), OsString::from(value)))
        .collect();
    variables.push(("CLAUDE_PROJECT_DIR".into(), paths.project.clone().into_os_string()));
    variables.extend(own.iter().map(|(name, value)| (OsString::from(name), OsString::from(value.expose()))));
    let cwd = cwd.as_ref().map_or_else(|| paths.project.clone(), |cwd| paths.project.join(cwd));
    Launch {
        program: command.into(),
        args: args.iter().map(|argument| OsString::from(argument.expose())).collect(),
        env: variables,
        cwd: Some(cwd),
    }
}

/// How to start the local server of `config`, which is told the entries above it: nothing that it starts may start
/// it again.
pub(crate) fn launch_below(config: &ServerConfig, stdio: &Stdio, env: &Env, paths: &Paths) -> Launch {
    let mut launch = launch(stdio, env, paths);
    launch.env.retain(|(name, _)| name != ANCESTRY);
    let ancestry = Ancestry::of(env).handed_to(&Signature::of(config));
    launch.env.push((ANCESTRY.into(), ancestry.into()));
    launch
}

/// The variables of ours that programs may see which others wrote.
pub(crate) fn passed_on(env: &Env) -> Vec<(OsString, OsString)> {
    let variables = env.iter().filter(|(name, value)| is_passed_on(name, value));
    variables.map(|(name, value)| (OsString::from(name), OsString::from(value))).collect()
}

fn is_passed_on(name: &str, value: &str) -> bool {
    let is_listed =
        PASSED_ON.contains(&name) || PASSED_ON_PREFIXES.iter().any(|prefix| name.starts_with(prefix));
    is_listed && !is_function(value)
}

/// Whether a value is a function of a shell, which an old shell runs when it starts.
fn is_function(value: &str) -> bool {
    value.starts_with("()")
}

#[cfg(test)]
mod tests;
