//! Many writers at once, and writers killed at any moment.

use mcparley_platform::file::read_text;
use mcparley_testkit::example_path;
use std::path::Path;
use std::process::{Child, Command};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

const LIMIT: u64 = 1 << 20;

fn writer(arguments: &[&str], file: &Path, rest: &[&str]) -> Child {
    Command::new(example_path("writer")).args(arguments).arg(file).args(rest).spawn().unwrap()
}

fn text(path: &Path) -> Option<String> {
    read_text(path, LIMIT).unwrap().map(|text| text.text)
}

/// The entries of an undamaged file; `None` if it is damaged.
fn entries(text: &str) -> Option<usize> {
    let body = text.strip_prefix("{\n")?.strip_suffix("\n}\n")?;
    let whole = |entry: &str| entry.starts_with("  \"w") && entry.ends_with("\": {}");
    body.split(",\n").all(whole).then(|| body.lines().count())
}

// F71
#[test]
fn heavy_640_of_640_entries_survive_32_writers_and_no_reader_sees_damage() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("servers.json");
    let over = AtomicBool::new(false);
    let start = Instant::now();
    let reads = std::thread::scope(|scope| {
        let reader = scope.spawn(|| read_until(&over, &path));
        let writers: Vec<Child> =
            (0..32).map(|number| writer(&["add"], &path, &[&format!("w{number}"), "20"])).collect();
        for mut writer in writers {
            assert!(writer.wait().unwrap().success());
        }
        over.store(true, Ordering::Relaxed);
        reader.join().unwrap()
    });
    let kept = entries(&text(&path).unwrap());
    println!("kept {kept:?} of 640 in {:?}, {reads} reads", start.elapsed());
    assert_eq!(kept, Some(640));
    assert_eq!(crate::kept::names(folder.path()), ["servers.json"]);
}

fn read_until(over: &AtomicBool, path: &Path) -> usize {
    let mut reads = 0;
    let mut before = 0;
    while !over.load(Ordering::Relaxed) {
        if let Some(text) = text(path) {
            let now = entries(&text);
            assert!(now >= Some(before), "damaged or shrunk: {text}");
            before = now.unwrap();
            reads += 1;
        }
    }
    reads
}

// F72
#[test]
fn heavy_a_thousand_kills_during_writes_never_tear_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("servers.json");
    let stale = folder.path().join(".servers.json.mcparley-tmp");
    let mut random = 0x9e37_79b9_u64;
    let mut generation = 0;
    let mut interrupted = 0;
    for _ in 0..1_000 {
        let mut writer = writer(&["grow"], &path, &[]);
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        // The random moment is the fault itself.
        std::thread::sleep(Duration::from_micros((random >> 32) % 6_000));
        writer.kill().unwrap();
        writer.wait().unwrap();
        interrupted += usize::from(stale.exists());
        let Some(text) = text(&path) else {
            continue;
        };
        let now = whole_generation(&text);
        assert!(now >= Some(generation), "torn at generation {generation}: {now:?}");
        generation = now.unwrap();
    }
    println!("{generation} generations, {interrupted} kills between create and rename, 0 torn");
    assert!(interrupted > 0, "no kill hit a write, so nothing was shown");
    assert!(generation > 0);
}

/// The generation of an undamaged file; `None` if it is damaged.
fn whole_generation(text: &str) -> Option<u64> {
    let (first, rest) = text.split_once('\n')?;
    let (body, last) = rest.strip_suffix('\n')?.split_once('\n')?;
    let generation: u64 = first.parse().ok()?;
    let length = 40_000 + (generation as usize * 997) % 20_000;
    let is_whole = first == last && body.len() == length && body.bytes().all(|byte| byte == b'x');
    is_whole.then_some(generation)
}
