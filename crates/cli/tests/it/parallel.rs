//! Many programs change one file at once: nothing is lost, and every reader sees a whole file (F71).

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use crate::world::World;

const PROCESSES: usize = 32;
const SERVERS: usize = 20;
const FILE: &str = "home/.claude.json";

// F71 C14
#[test]
fn heavy_six_hundred_and_forty_parallel_additions_are_all_kept() {
    let world = World::with(&[(FILE, "{\n  \"keep\": true\n}\n")]);
    let over = AtomicBool::new(false);
    let start = Instant::now();
    let reads = std::thread::scope(|scope| {
        let writers: Vec<_> = (0..PROCESSES)
            .map(|process| {
                let world = &world;
                scope.spawn(move || {
                    for server in 0..SERVERS {
                        world.ok(&["add", "-s", "user", &format!("s-{process}-{server}"), "cmd"]);
                    }
                })
            })
            .collect();
        let reader = scope.spawn(|| {
            let mut reads = 0_usize;
            while !over.load(Ordering::Relaxed) {
                let text = world.read(FILE);
                let value: serde_json::Value =
                    serde_json::from_str(&text).unwrap_or_else(|error| panic!("torn: {error}: {text}"));
                assert_eq!(value["keep"], true);
                reads += 1;
            }
            reads
        });
        let finished: Vec<_> = writers.into_iter().map(|writer| writer.join()).collect();
        over.store(true, Ordering::Relaxed);
        assert!(finished.iter().all(Result::is_ok), "a writer failed");
        reader.join().unwrap()
    });
    let kept = world.read_json(FILE)["mcpServers"].as_object().unwrap().len();
    assert_eq!(kept, PROCESSES * SERVERS);
    assert_eq!(world.files(), [FILE]);
    assert!(reads > 0);
    assert!(start.elapsed().as_secs() < 300, "{:?}", start.elapsed());
}

// F71 C14
#[test]
fn heavy_of_many_that_add_one_name_exactly_one_succeeds() {
    let world = World::new();
    let codes: Vec<i32> = std::thread::scope(|scope| {
        let runs: Vec<_> = (0..16)
            .map(|n| {
                scope.spawn({
                    let world = &world;
                    move || world.mcparley(&["add", "-s", "user", "it", &format!("cmd-{n}")]).code
                })
            })
            .collect();
        runs.into_iter().map(|run| run.join().unwrap()).collect()
    });
    assert_eq!(codes.iter().filter(|code| **code == 0).count(), 1, "{codes:?}");
    assert!(codes.iter().all(|code| matches!(code, 0 | 6)), "{codes:?}");
    assert_eq!(world.plan(), ["it user ready"]);
}
