//! Environment variables that can change which program a command runs.

/// Variables that select the program, or code that is loaded into it or run before it.
const NAMES: &[&str] = &[
    // The program itself, and the files it takes for the user's own settings.
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

/// Prefixes of such variables: loaders, and the settings of programs that download packages and run them.
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

/// Whether setting the variable may change which program runs or which code is loaded into it.
///
/// An allowed command does not cover a declaration with such a variable, and an approval dialog marks the
/// variable. Case is ignored: Windows ignores it, and npm reads its own variables in lower case.
#[must_use]
pub fn can_change_program(name: &str) -> bool {
    let begins =
        |family: &&str| name.get(..family.len()).is_some_and(|head| head.eq_ignore_ascii_case(family));
    NAMES.iter().any(|known| known.eq_ignore_ascii_case(name)) || FAMILIES.iter().any(begins)
}
