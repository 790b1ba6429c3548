//! Runs a test of this binary in a network of its own, in which things can be broken that everybody shares.
//!
//! A machine on which that cannot be done fails the test.

/// Runs the ignored test `name` as the root of namespaces of its own, behind the shell lines of `prepare`. There is no
/// network but what these set up.
#[expect(clippy::disallowed_methods, reason = "a test of ours, which ends by itself")]
pub(crate) fn alone(name: &str, prepare: &str) {
    let script = format!("set -e\nip link set lo up\n{prepare}\nexec \"$@\"");
    let child = std::process::Command::new("unshare")
        .args(["--user", "--map-root-user", "--net", "--mount", "--", "sh", "-c", &script, "sh"])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", name, "--ignored", "--nocapture"])
        .output()
        .unwrap();
    let said = [child.stdout, child.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    assert!(child.status.success() && said.contains("1 passed"), "{said}");
}

/// Changes the network of the namespace, from within.
#[expect(clippy::disallowed_methods, reason = "it ends by itself")]
pub(crate) fn ip(arguments: &str) {
    let done = std::process::Command::new("ip").args(arguments.split(' ')).output().unwrap();
    assert!(done.status.success(), "ip {arguments}: {}", String::from_utf8_lossy(&done.stderr));
}
