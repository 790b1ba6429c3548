//! The environment and working directory of a server.

use std::path::Path;

use mcparley_model::secret::Secret;

use super::*;

fn stdio(inherit_env: bool, cwd: Option<&str>) -> StdioConfig {
    StdioConfig {
        command: "server".into(),
        args: vec![Secret::new("--port".into()), Secret::new("1".into())],
        env: vec![("OWN".into(), Secret::new("1".into())), ("PATH".into(), Secret::new("/own".into()))],
        cwd: cwd.map(str::to_owned),
        inherit_env,
    }
}

fn env() -> Env {
    [
        ("HOME", "/home/u"),
        ("PATH", "/usr/bin"),
        ("LC_ALL", "C"),
        ("TERM", "() { evil; }"),
        ("ANTHROPIC_API_KEY", "canary"),
        ("AWS_SECRET_ACCESS_KEY", "canary"),
        ("GITHUB_TOKEN", "canary"),
        ("SSH_AUTH_SOCK", "canary"),
    ]
    .into_iter()
    .map(|(name, value)| (name.to_owned(), value.to_owned()))
    .collect()
}

fn variables(launch: &ProgramLaunch) -> Vec<String> {
    launch.env.iter().map(|(name, value)| format!("{}={}", name.display(), value.display())).collect()
}

// T1 B57 H27
#[test]
fn shell_secrets_do_not_reach_a_server() {
    let launch =
        build_launch(&stdio(false, None), &env(), &Paths::new(Path::new("/home/u"), Path::new("/home/u/p")));
    assert_eq!(
        variables(&launch),
        ["HOME=/home/u", "LC_ALL=C", "CLAUDE_PROJECT_DIR=/home/u/p", "OWN=1", "PATH=/own"]
    );
    assert_eq!(launch.cwd.as_deref(), Some(Path::new("/home/u/p")));
    assert_eq!(launch.args, ["--port", "1"]);
}

// T1
#[test]
fn entry_with_inherit_env_gets_all_variables() {
    let launch = build_launch(&stdio(true, None), &env(), &Paths::new(Path::new("/h"), Path::new("/h/p")));
    assert_eq!(variables(&launch).iter().filter(|pair| pair.ends_with("canary")).count(), 4);
    assert_eq!(variables(&launch).iter().filter(|pair| pair.starts_with("PATH=")).count(), 1);
    // B59: shell functions are never inherited.
    assert_eq!(variables(&launch).iter().filter(|pair| pair.starts_with("TERM=")).count(), 0);
}

// T1
#[test]
fn relative_cwd_is_resolved_in_the_project_folder() {
    let paths = Paths::new(Path::new("/h"), Path::new("/h/p"));
    let cwd = |cwd| build_launch(&stdio(false, cwd), &env(), &paths).cwd.unwrap();
    assert_eq!(cwd(Some("sub")), Path::new("/h/p/sub"));
    assert_eq!(cwd(Some("/abs")), Path::new("/abs"));
}
