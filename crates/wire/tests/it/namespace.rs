//! Runs a test of this binary in a network namespace of its own, in which shared parts of the system can be
//! broken.
//!
//! A machine without namespaces fails the test.

/// Runs the ignored test `name` as the root of namespaces of its own, after the shell lines of `prepare`. The
/// only network is the one these set up.
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
