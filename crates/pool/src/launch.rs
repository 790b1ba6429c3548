//! Launch parameters of a local server: its program, working directory, and an allow-list of environment
//! variables.
//!
//! A server is a third-party program. It gets the variables that every program needs to run (paths, user,
//! locale, network) and those of its entry. It never sees keys and tokens of the shell, unless its entry sets
//! `inheritEnv`.

use std::ffi::OsString;

use mcparley_model::ancestry::{ANCESTRY, Ancestry};
use mcparley_model::config::{ServerConfig, StdioConfig};
use mcparley_model::expand::Env;
use mcparley_model::signature::Signature;
use mcparley_platform::process::ProgramLaunch;

use mcparley_config::Paths;

/// The allow-list of variables that every server inherits.
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

/// The variable with the project folder.
pub const PROJECT_VARIABLE: &str = "CLAUDE_PROJECT_DIR";

/// Prefixes of further variables on the allow-list.
const PASSED_ON_PREFIXES: [&str; 1] = ["LC_"];

/// The launch parameters of a local server. Variables of its entry win over inherited ones; it runs in the
/// project folder unless its entry sets `cwd`.
#[must_use]
pub fn build_launch(stdio: &StdioConfig, env: &Env, paths: &Paths) -> ProgramLaunch {
    let StdioConfig { command, args, env: own, cwd, inherit_env } = stdio;
    let passed_on =
        env.iter().filter(
            |(name, value)| if *inherit_env { !is_shell_function(value) } else { is_inherited(name, value) },
        );
    let mut variables: Vec<(OsString, OsString)> = passed_on
        .filter(|(name, _)| !own.iter().any(|(own, _)| own == name))
        .map(|(name, value)| (OsString::from(name), OsString::from(value)))
        .collect();
    variables.push((PROJECT_VARIABLE.into(), paths.project.clone().into_os_string()));
    variables.extend(own.iter().map(|(name, value)| (OsString::from(name), OsString::from(value.expose()))));
    let cwd = cwd.as_ref().map_or_else(|| paths.project.clone(), |cwd| paths.project.join(cwd));
    ProgramLaunch {
        program: command.into(),
        args: args.iter().map(|argument| OsString::from(argument.expose())).collect(),
        env: variables,
        cwd: Some(cwd),
    }
}

/// The launch parameters of the local server of `config`, with the signatures of its ancestor entries in a
/// variable. A host below it reads them, so that a server cannot start itself again without end.
pub fn build_launch_with_ancestry(
    config: &ServerConfig,
    stdio: &StdioConfig,
    env: &Env,
    paths: &Paths,
) -> ProgramLaunch {
    let mut launch = build_launch(stdio, env, paths);
    launch.env.retain(|(name, _)| name != ANCESTRY);
    let ancestry = Ancestry::from_env(env).to_env_value(&Signature::from_config(config));
    launch.env.push((ANCESTRY.into(), ancestry.into()));
    launch
}

/// The inherited variables for third-party programs.
pub fn inherited_variables(env: &Env) -> Vec<(OsString, OsString)> {
    let variables = env.iter().filter(|(name, value)| is_inherited(name, value));
    variables.map(|(name, value)| (OsString::from(name), OsString::from(value))).collect()
}

fn is_inherited(name: &str, value: &str) -> bool {
    let is_listed =
        PASSED_ON.contains(&name) || PASSED_ON_PREFIXES.iter().any(|prefix| name.starts_with(prefix));
    is_listed && !is_shell_function(value)
}

/// Whether a value is an exported shell function, which old shells execute at startup (Shellshock).
fn is_shell_function(value: &str) -> bool {
    value.starts_with("()")
}

#[cfg(test)]
mod tests;
