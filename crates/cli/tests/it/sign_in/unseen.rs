//! Nothing that lets anybody in is ever seen: not in output, logs, files, nor on the command line of a process (B62).

use std::os::unix::fs::PermissionsExt;

use mcparley_testkit::{AuthServer, STATIC_CLIENT, STATIC_SECRET, processes_with_variable, testkit_path};

use super::client::files_with;
use super::person::{Waiting, last_address, world};
use crate::world::World;

/// Everything the fake authorization server makes up begins with it.
const CANARY: &str = "canary-";
const DEVICE: &str = "urn:ietf:params:oauth:grant-type:device_code";
/// 32 bytes in base64.
const KEY: &str = "Y2FuYXJ5LWtleS1vZi0zMi1ieXRlcy1pbi1iYXNlNjQ=";

/// What has passed between us and the authorization server that others must not see.
fn secrets(server: &AuthServer) -> Vec<String> {
    let stats = server.stats();
    let recent = stats["recent"].as_array().unwrap();
    let named = ["code", "code_verifier", "refresh_token", "device_code", "client_secret", "token"];
    let sent = recent.iter().flat_map(|request| named.map(|name| request["parameters"][name].as_str()));
    let mut all: Vec<String> = sent.flatten().map(str::to_owned).collect();
    all.extend([CANARY.to_owned(), STATIC_SECRET.to_owned(), KEY.to_owned()]);
    all
}

/// The command lines of all processes of this world.
fn command_lines(world: &World) -> String {
    let ours = processes_with_variable("HOME", world.home.to_str().unwrap());
    assert!(!ours.is_empty(), "the program waits");
    let lines = ours.into_iter().filter_map(|pid| std::fs::read(format!("/proc/{pid}/cmdline")).ok());
    lines.map(|line| String::from_utf8_lossy(&line).replace('\0', " ")).collect::<Vec<_>>().join("\n")
}

/// A browser that also writes down the variables it was given.
fn curious_browser(world: &mut World) {
    let (log, env) = (world.root.join("windows"), world.root.join("home/browser-variables"));
    let program = testkit_path();
    let script = format!(
        "#!/bin/sh\nenv > {}\nexec {} browse {} \"$1\"\n",
        env.display(),
        program.display(),
        log.display()
    );
    world.write("browser", &script);
    let path = world.root.join("browser");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    world.set("BROWSER", path);
}

// B62 A2: tokens, codes, verifiers, secrets and keys.
#[test]
fn no_credential_is_ever_printed() {
    let server = AuthServer::start(&["scope:read", "step-up:write"]);
    let mut world = world();
    curious_browser(&mut world);
    world.set("MCPARLEY_VAULT_KEY", KEY);
    world.set("MCP_CLIENT_SECRET", STATIC_SECRET);
    let mut seen = String::new();
    let add = ["add", "-s", "user", "one", server.url(), "--client-id", STATIC_CLIENT, "--client-secret"];
    let by_hand = ["login", "one", "--no-browser", "--force"];
    let before: [&[&str]; 4] =
        [&add, &["login", "one", "--wait"], &["list"], &["call", "one", "echo", "message=hi"]];
    for args in before {
        let done = world.mcparley(&[args, &["-vvv"]].concat());
        seen += &format!("{args:?}\n{}{}", done.out, done.err);
    }
    // As it is, and with an issuer at its end that nobody has.
    for more in ["", "x"] {
        let mut login = Waiting::start(&world, &by_hand);
        let pending = login.pending();
        let lines = command_lines(&world);
        login.paste(&format!("{}{more}", last_address(&pending["url"])));
        let line = login.line();
        let done = login.end();
        seen += &format!("{pending}\n{line}\n{lines}\n{}{}", done.out, done.err);
    }
    server.expire_access_tokens();
    for args in [
        &["call", "one", "echo", "message=hi"][..],
        &["login", "one", "--device"],
        &["auth", "status"],
        &["state"],
        &["doctor"],
        &["logs", "one"],
        &["get", "one"],
        &["plan"],
        &["logout", "one"],
        &["list"],
        &["remove", "one"],
    ] {
        for json in [&["-vvv"][..], &["--json"]] {
            let done = world.mcparley(&[json, args].concat());
            seen += &format!("{args:?}\n{}{}", done.out, done.err);
        }
    }
    let stats = server.stats();
    let grants = [("authorization_code", 2), ("refresh_token", 1), (DEVICE, 1)];
    assert!(grants.iter().all(|(grant, times)| stats["grants"][grant] == *times), "{}", stats["grants"]);
    assert_eq!(stats["requests"]["revoke"], 2);
    let secrets = secrets(&server);
    assert!(secrets.len() > 8, "{secrets:?}");
    for secret in secrets {
        let shown: Vec<&str> = seen.lines().filter(|line| line.contains(&secret)).collect();
        assert!(shown.is_empty(), "`{secret}` is shown: {shown:#?}");
        assert_eq!(files_with(&world, &secret), Vec::<String>::new(), "`{secret}`");
    }
    assert!(world.read("home/browser-variables").contains("HOME="), "the browser was given its variables");
}
