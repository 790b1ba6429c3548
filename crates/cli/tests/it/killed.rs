//! A program killed while it writes leaves the old file or the new one, and nothing else for long (F72).

use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::world::{World, XorShift};

const RUNS: usize = 1_000;
const FILE: &str = "home/.claude.json";

/// Large enough that writing takes a while.
fn filler() -> String {
    (0..500).map(|line| format!("    \"setting-{line}\": \"{line:040}\"")).collect::<Vec<_>>().join(",\n")
}

/// How long the slower of both changes takes, so that kills fall everywhere in it.
fn time_of_a_run(world: &World) -> Duration {
    let timed = |args: &[&str]| {
        let start = Instant::now();
        world.ok(args);
        start.elapsed()
    };
    let runs = (0..5).map(|_| timed(&["add", "-s", "user", "it", "cmd"]).max(timed(&["remove", "it"])));
    runs.max().unwrap_or_default()
}

// F72 C14
#[test]
fn heavy_a_thousand_kills_while_writing_tear_no_file() {
    let world = World::with(&[(
        FILE,
        &format!("{{\n  \"other\": {{\n{}\n  }},\n  \"mcpServers\": {{}}\n}}\n", filler()),
    )]);
    let limit = u64::try_from(time_of_a_run(&world).as_micros()).unwrap() * 5 / 4;
    let without = world.read(FILE);
    world.ok(&["add", "-s", "user", "it", "cmd"]);
    let with = world.read(FILE);
    let mut random = XorShift(0x5eed_cafe_f00d_0001);
    let (mut killed, mut changed, mut littered) = (0, 0, 0);
    let mut present = true;
    for run in 0..RUNS {
        let args: &[&str] = if present { &["remove", "it"] } else { &["add", "-s", "user", "it", "cmd"] };
        let mut command = world.command(args);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let deadline = Instant::now() + Duration::from_micros(random.below(limit));
        while Instant::now() < deadline && child.try_wait().unwrap().is_none() {
            std::hint::spin_loop();
        }
        child.kill().unwrap();
        killed += usize::from(child.wait().unwrap().code().is_none());
        let text = world.read(FILE);
        assert!(text == with || text == without, "run {run} tore the file: {} bytes", text.len());
        changed += usize::from((text == with) != present);
        present = text == with;
        littered += usize::from(world.files().len() > 1);
    }
    world.mcparley(&["remove", "it"]);
    world.ok(&["add", "-s", "user", "last", "cmd"]);
    assert_eq!(world.files(), [FILE], "litter of a killed run stays");
    // Kills before the start of writing and after its end would show nothing.
    assert!(killed > RUNS / 4, "only {killed} runs were killed in time");
    assert!(changed > RUNS / 20, "only {changed} runs got as far as replacing the file");
    assert!(littered > 0, "no run was killed between creating and renaming, of {killed}");
}
