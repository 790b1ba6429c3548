//! The environment of a server at its start, and the errors when it cannot start.

use crate::support::{launch, output, soon};
use mcparley_platform::process::{ProcessExit, ProgramLaunch, SpawnError, spawn};
use mcparley_testkit::example_path;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

fn failure(launch: &ProgramLaunch) -> SpawnError {
    let start = Instant::now();
    let error = spawn(launch).unwrap_err();
    assert!(start.elapsed() < Duration::from_millis(500), "too slow: {error}");
    error
}

fn file(folder: &Path, name: &str, text: &str, mode: u32) -> String {
    let path = folder.join(name);
    fs::write(&path, text).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    path.into_os_string().into_string().unwrap()
}

// F02
#[test]
fn every_program_that_cannot_run_is_named_with_its_reason() {
    let folder = tempfile::tempdir().unwrap();
    let plain = file(folder.path(), "plain", "#!/bin/sh\n", 0o644);
    let text = file(folder.path(), "text", "exit 0\n", 0o755);
    let orphan = file(folder.path(), "orphan", "#!/no/such/interpreter\n", 0o755);
    let directory = folder.path().to_str().unwrap().to_owned();
    let missing = format!("{directory}/missing");
    let table = [
        ("no-such-program", "`no-such-program` not found on PATH".to_owned()),
        (&missing, format!("`{missing}` does not exist")),
        (&plain, format!("`{plain}` is not executable")),
        (&text, format!("`{text}` is not a program for this machine")),
        (&orphan, format!("the interpreter of `{orphan}` does not exist")),
        (&directory, format!("`{directory}` is a directory, not a program")),
    ];
    for (program, expected) in table {
        assert_eq!(failure(&launch(program, &[])).to_string(), expected);
    }
    assert!(failure(&launch("no-such-program", &[])).hint().is_some());
}

// F02
#[test]
fn names_are_searched_in_absolute_directories_of_the_servers_own_path() {
    let folder = tempfile::tempdir().unwrap();
    file(folder.path(), "tool", "#!/bin/sh\necho found\n", 0o755);
    let closed = file(folder.path(), "closed", "#!/bin/sh\n", 0o644);
    let directory = folder.path().to_str().unwrap();
    let with_path = |program: &str, path: &str| ProgramLaunch {
        env: vec![("PATH".into(), path.into())],
        cwd: Some(folder.path().to_owned()),
        ..launch(program, &[])
    };
    let first = format!("/no/such/directory:{directory}");
    assert_eq!(output(&with_path("tool", &first)), "found\n");
    assert_eq!(output(&with_path("./tool", "")), "found\n");
    for path in ["", ".", ":", "/usr/bin"] {
        let error = failure(&with_path("tool", path));
        assert_eq!(error.to_string(), "`tool` not found on PATH", "PATH={path}");
    }
    let error = failure(&with_path("closed", directory));
    assert_eq!(error.to_string(), format!("`{closed}` is not executable"));
}

// F28
#[test]
fn a_working_directory_that_cannot_be_entered_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("missing");
    let error = failure(&ProgramLaunch { cwd: Some(missing.clone()), ..launch("cat", &[]) });
    let expected = format!("cannot enter the working directory `{}`", missing.display());
    assert_eq!(error.to_string(), expected);
    assert!(error.hint().is_some());
}

#[test]
fn strings_the_system_cannot_pass_are_refused() {
    let nul = launch("cat", &["a\0b"]);
    assert_eq!(failure(&nul).to_string(), "the argument contains a NUL byte");
    let mut name = launch("cat", &[]);
    name.env.push(("A=B".into(), "1".into()));
    let expected = "`A=B` cannot be the name of an environment variable";
    assert_eq!(failure(&name).to_string(), expected);
}

// B59
#[test]
fn invalid_variables_are_refused_by_name() {
    let large = "x".repeat(3 * 1024 * 1024);
    let table = [
        ("A=B", "1", "`A=B` cannot be the name of an environment variable"),
        ("", "1", "`` cannot be the name of an environment variable"),
        ("A\0B", "1", "`A\0B` cannot be the name of an environment variable"),
        ("A", "1\x002", "the environment variable `A` contains a NUL byte"),
        ("A", "() { :; }; echo run", "the environment variable `A` holds a shell function"),
        (
            "A",
            large.as_str(),
            "the arguments and environment variables for `cat` exceed the limit of the system",
        ),
    ];
    for (name, value, expected) in table {
        let mut launch = launch("cat", &[]);
        launch.env.push((name.into(), value.into()));
        assert_eq!(failure(&launch).to_string(), expected);
    }
    // Many small strings take as much space as one large one.
    let mut many = launch("cat", &[]);
    many.env.extend((0..3 * 1024).map(|number| (format!("V{number}").into(), "x".repeat(1024).into())));
    let error = failure(&many);
    assert!(error.to_string().ends_with("exceed the limit of the system"), "{error}");
    assert!(error.hint().is_some());
}

// F26
#[test]
fn running_out_of_descriptors_is_an_error_with_a_hint() {
    let output = Command::new("/bin/sh")
        .args(["-c", r#"ulimit -n 6; exec "$0" --tag none /bin/cat"#])
        .arg(example_path("guarded"))
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(text.starts_with("error: no resources to start `/bin/cat`"), "{text}");
    assert!(text.contains("ulimit -n"), "{text}");
}

#[test]
fn the_environment_is_exactly_the_given_one() {
    let mut launch = launch("cat", &["/proc/self/environ"]);
    launch.env.push(("TOKEN".into(), "s3cret".into()));
    assert_eq!(output(&launch), "PATH=/usr/bin:/bin\0TOKEN=s3cret\0");
    assert!(!format!("{launch:?}").contains("s3cret"));
}

#[test]
fn a_server_starts_with_default_signals_and_three_descriptors() {
    let status = output(&launch("cat", &["/proc/self/status"]));
    for field in ["SigBlk:", "SigIgn:", "SigCgt:"] {
        let line = status.lines().find(|line| line.starts_with(field)).unwrap();
        assert!(line.ends_with("\t0000000000000000"), "{line}");
    }
    // The fourth is the directory being listed.
    assert_eq!(output(&launch("ls", &["/proc/self/fd"])), "0\n1\n2\n3\n");
}

#[test]
fn a_server_leads_a_session_of_its_own_in_its_working_directory() {
    let folder = tempfile::tempdir().unwrap();
    let launch = ProgramLaunch {
        cwd: Some(folder.path().to_owned()),
        ..launch("sh", &["-c", "readlink /proc/self/cwd; read line"])
    };
    let mut server = spawn(&launch).unwrap();
    let expected = folder.path().canonicalize().unwrap();
    let line = crate::support::first_line(&mut server);
    assert_eq!(Path::new(line.trim_end()), expected);
    let pid = rustix::process::Pid::from_raw(server.pid().cast_signed());
    assert_eq!(rustix::process::getsid(pid).ok(), pid);
}

#[test]
fn exit_code_and_signal_are_returned() {
    let table = [
        ("exit 0", ProcessExit { code: Some(0), signal: None }),
        ("exit 3", ProcessExit { code: Some(3), signal: None }),
        ("kill -KILL $$", ProcessExit { code: None, signal: Some(9) }),
        ("kill -SEGV $$", ProcessExit { code: None, signal: Some(11) }),
    ];
    for (script, expected) in table {
        let mut server = spawn(&launch("sh", &["-c", script])).unwrap();
        assert_eq!(server.wait_until(soon()), Some(expected), "{script}");
        assert_eq!(server.try_wait(), Some(expected), "{script}, asked again");
    }
}

// U5
#[test]
fn servers_and_detached_programs_get_the_descriptor_limit_that_the_host_was_started_with() {
    use mcparley_platform::process::{launch_detached, raise_descriptor_limit};
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let hard = getrlimit(Resource::Nofile).maximum;
    setrlimit(Resource::Nofile, Rlimit { current: Some(200), maximum: hard }).unwrap();
    raise_descriptor_limit().unwrap();
    raise_descriptor_limit().unwrap();
    assert_eq!(getrlimit(Resource::Nofile).current, hard);
    assert_eq!(output(&launch("sh", &["-c", "ulimit -n"])), "200\n");
    let folder = tempfile::tempdir().unwrap();
    let script =
        ProgramLaunch { cwd: Some(folder.path().to_owned()), ..launch("sh", &["-c", "ulimit -n > limit"]) };
    launch_detached(&script, Duration::from_secs(20)).unwrap();
    assert_eq!(fs::read_to_string(folder.path().join("limit")).unwrap(), "200\n");
}
