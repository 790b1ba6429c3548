//! What a server gets to see.

use std::path::Path;

use mcparley_model::secret::Secret;

use super::*;

fn stdio(inherit_env: bool, cwd: Option<&str>) -> Stdio {
    Stdio {
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

fn variables(launch: &Launch) -> Vec<String> {
    launch.env.iter().map(|(name, value)| format!("{}={}", name.display(), value.display())).collect()
}

// T1 B57 H27
#[test]
fn secrets_of_the_shell_do_not_reach_a_server() {
    let launch =
        launch(&stdio(false, None), &env(), &Paths::of(Path::new("/home/u"), Path::new("/home/u/p")));
    assert_eq!(
        variables(&launch),
        ["HOME=/home/u", "LC_ALL=C", "CLAUDE_PROJECT_DIR=/home/u/p", "OWN=1", "PATH=/own"]
    );
    assert_eq!(launch.cwd.as_deref(), Some(Path::new("/home/u/p")));
    assert_eq!(launch.args, ["--port", "1"]);
}

// T1
#[test]
fn an_entry_may_ask_for_everything() {
    let launch = launch(&stdio(true, None), &env(), &Paths::of(Path::new("/h"), Path::new("/h/p")));
    assert_eq!(variables(&launch).iter().filter(|pair| pair.ends_with("canary")).count(), 4);
    assert_eq!(variables(&launch).iter().filter(|pair| pair.starts_with("PATH=")).count(), 1);
    // B59: a shell function is nobody's to inherit.
    assert_eq!(variables(&launch).iter().filter(|pair| pair.starts_with("TERM=")).count(), 0);
}

// T1
#[test]
fn a_relative_folder_is_the_projects() {
    let paths = Paths::of(Path::new("/h"), Path::new("/h/p"));
    let cwd = |cwd| launch(&stdio(false, cwd), &env(), &paths).cwd.unwrap();
    assert_eq!(cwd(Some("sub")), Path::new("/h/p/sub"));
    assert_eq!(cwd(Some("/abs")), Path::new("/abs"));
}
