//! Decides which variables change what a command means.

/// Variables that choose the program, what is loaded into it, or what is run before it.
const NAMES: &[&str] = &[
    // Which program, and which files it takes for the user's own settings.
    "PATH",
    "PATHEXT",
    "COMSPEC",
    "SHELL",
    "HOME",
    "USERPROFILE",
    "XDG_CONFIG_HOME",
    // Shells.
    "ENV",
    "BASH_ENV",
    "BASHOPTS",
    "SHELLOPTS",
    "PROMPT_COMMAND",
    "PS4",
    "IFS",
    "ZDOTDIR",
    // The loader and the C library.
    "GCONV_PATH",
    "GLIBC_TUNABLES",
    "LOCPATH",
    "NLSPATH",
    "OPENSSL_CONF",
    "OPENSSL_ENGINES",
    "OPENSSL_MODULES",
    // JavaScript.
    "NODE_OPTIONS",
    "NODE_PATH",
    "NODE_REPL_EXTERNAL_MODULE",
    "BUN_OPTIONS",
    "BUN_INSTALL",
    "DENO_DIR",
    // Python.
    "PYTHONPATH",
    "PYTHONSTARTUP",
    "PYTHONHOME",
    "PYTHONUSERBASE",
    "PYTHONEXECUTABLE",
    "PYTHONPLATLIBDIR",
    "PYTHONBREAKPOINT",
    "PYTHONINSPECT",
    "PYTHONWARNINGS",
    "PYTHONPYCACHEPREFIX",
    "VIRTUAL_ENV",
    // Perl, Ruby, Lua, PHP, R.
    "PERL5OPT",
    "PERL5LIB",
    "PERL5DB",
    "PERLLIB",
    "RUBYOPT",
    "RUBYLIB",
    "GEM_HOME",
    "GEM_PATH",
    "BUNDLE_GEMFILE",
    "LUA_PATH",
    "LUA_CPATH",
    "PHPRC",
    "PHP_INI_SCAN_DIR",
    "R_PROFILE",
    "R_PROFILE_USER",
    // Java and .NET.
    "CLASSPATH",
    "JAVA_HOME",
    "JAVA_TOOL_OPTIONS",
    "JDK_JAVA_OPTIONS",
    "_JAVA_OPTIONS",
    "DOTNET_ADDITIONAL_DEPS",
    "DOTNET_ROOT",
    "DOTNET_STARTUP_HOOKS",
    // Programs that other programs start.
    "BROWSER",
    "EDITOR",
    "PAGER",
    "VISUAL",
    "DOCKER_CONFIG",
    "DOCKER_HOST",
    "GIT_ASKPASS",
    "GIT_EXEC_PATH",
    "GIT_EXTERNAL_DIFF",
    "GIT_SSH",
    "GIT_SSH_COMMAND",
    "SSH_ASKPASS",
];

/// Whole families of them: loaders, and the settings of what fetches a package and runs it.
const FAMILIES: &[&str] = &[
    "LD_",
    "DYLD_",
    "BASH_FUNC_",
    "LUA_INIT",
    "LUA_PATH_",
    "LUA_CPATH_",
    "CORECLR_",
    "COR_",
    "GIT_CONFIG",
    "NPM_CONFIG_",
    "YARN_",
    "PNPM_",
    "COREPACK_",
    "PIP_",
    "PIPX_",
    "UV_",
    "CARGO_",
    "RUSTUP_",
];

/// Whether a declaration that sets the variable may change which program runs or what is loaded into it.
///
/// An allowed command does not cover such a declaration, and an approval marks the variable. Case does not
/// count: on Windows it does not, and npm reads its own in lower case.
#[must_use]
pub fn changes_what_runs(name: &str) -> bool {
    let begins =
        |family: &&str| name.get(..family.len()).is_some_and(|head| head.eq_ignore_ascii_case(family));
    NAMES.iter().any(|known| known.eq_ignore_ascii_case(name)) || FAMILIES.iter().any(begins)
}
