//! The program as a user without privileges, whom limits and permissions bind.

use std::process::Command;
use std::time::{Duration, Instant};

use mcparley_testkit::ScriptedStdio;
use serde_json::json;

use crate::world::{Output, World};

/// A user whom nobody else is, so that its processes are those of one test.
fn somebody() -> u32 {
    200_000 + std::process::id() % 100_000
}

/// Runs the program as that user, who may have so many processes and threads.
fn run_bound(world: &World, processes: Option<u32>, args: &[&str]) -> Output {
    let (program, user) = (world.root.join("mcparley"), somebody());
    if !program.exists() {
        // The build folder may be closed to others, so the program comes along.
        std::fs::copy(env!("CARGO_BIN_EXE_mcparley"), &program).unwrap();
    }
    let given = Command::new("chown").args(["-R", &format!("{user}:{user}")]).arg(&world.root).status();
    assert!(given.unwrap().success(), "only root can become somebody else: run this test as root");
    let limit = processes.map(|processes| format!("--nproc={processes}"));
    let mut words = vec![format!("--reuid={user}"), format!("--regid={user}"), "--clear-groups".to_owned()];
    words.extend(limit.into_iter().flat_map(|limit| ["prlimit".to_owned(), limit]));
    words.push(program.to_string_lossy().into_owned());
    words.extend(args.iter().map(|&word| word.to_owned()));
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    world.finish(&mut world.command_of("setpriv".as_ref(), &words))
}

/// A copy of the scripted server that everybody may execute.
fn server(world: &World) -> ScriptedStdio {
    let scripted = ScriptedStdio::new(&[]);
    let program = world.root.join("server");
    std::fs::copy(&scripted.program, &program).unwrap();
    ScriptedStdio { program, ..scripted }
}

fn configure(world: &World, entry: &serde_json::Value) {
    world.write("home/.claude.json", &json!({ "mcpServers": { "one": entry } }).to_string());
}

// H27 B57
#[test]
fn a_server_cannot_read_the_environment_of_those_above_it() {
    let mut world = World::new();
    world.set("CANARY", "canary-51c2");
    let scripted = server(&world);
    let seen = world.root.join("seen");
    std::fs::write(&seen, "").unwrap();
    // Up to the program itself: whoever started that is the user's own affair.
    let script = r#"pid=$$; for step in 1 2 3 4; do
        name=$(cat /proc/$pid/comm)
        if cat /proc/$pid/environ >/dev/null 2>&1; then echo "$name open"; else echo "$name closed"; fi
        pid=$(cut -d' ' -f4 /proc/$pid/stat)
    done > "$0"; exec "$@""#;
    let mut args = vec!["-c".to_owned(), script.to_owned(), seen.to_string_lossy().into_owned()];
    args.push(scripted.program.to_string_lossy().into_owned());
    args.extend(scripted.args);
    configure(&world, &json!({ "command": "/bin/sh", "args": args }));
    let done = run_bound(&world, None, &["call", "one", "echo", "message=hi"]);
    assert_eq!((done.code, done.out.trim()), (0, "hi"), "{done:?}");
    let seen = std::fs::read_to_string(&seen).unwrap();
    let expected = "sh open\nmcparley-guard closed\nmcparley-house closed\nmcparley closed\n";
    assert_eq!(seen, expected);
}

// F102
#[test]
fn without_room_for_threads_and_processes_there_is_an_error_and_neither_panic_nor_hang() {
    let mut world = World::new();
    world.set("MCP_TIMEOUT", "3000");
    let scripted = server(&world);
    configure(&world, &json!({ "command": scripted.program, "args": scripted.args }));
    let mut succeeded = 0;
    let mut refused = 0;
    for processes in 1..=16 {
        let start = Instant::now();
        let done =
            run_bound(&world, Some(processes), &["call", "one", "echo", "message=hi", "--timeout", "3000"]);
        let took = start.elapsed();
        assert!(took < Duration::from_secs(12), "{processes} processes took {took:?}: {done:?}");
        assert!(!done.err.contains("panicked"), "{processes} processes: {done:?}");
        match done.code {
            0 => {
                assert_eq!(done.out.trim(), "hi", "{processes} processes");
                succeeded += 1;
            }
            code => {
                assert!((1..126).contains(&code), "{processes} processes: {done:?}");
                assert!(done.err.contains("error:"), "{processes} processes: {done:?}");
                refused += 1;
            }
        }
    }
    assert!(succeeded > 0 && refused > 0, "{succeeded} succeeded, {refused} refused");
}
