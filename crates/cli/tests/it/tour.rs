//! The screens of `docs/tour.md`, captured from the program on a terminal of 80 columns and 24 rows.
//!
//! A screen is the `text` block below `<!-- screen: NAME -->`. After a change of the program, run these tests
//! once with `MCPARLEY_UPDATE_PAGES=1`, which writes the blocks and the picture, and read the difference.

mod scenes;

use std::sync::{Mutex, PoisonError};

use crate::documents::repository;
use crate::world::World;

const PAGE: &str = "docs/tour.md";

/// Tests of one process that write the page do so one after the other; nextest runs each in its own process.
static PAGE_LOCK: Mutex<()> = Mutex::new(());

/// Compares a screen with the block of this name, or writes the block if that is asked for.
fn assert_screen(world: &World, name: &str, screen: &str) {
    let screen = screen.replace(&*world.home.to_string_lossy(), "/home/me");
    let screen = screen.trim_end();
    let is_update = std::env::var_os("MCPARLEY_UPDATE_PAGES").is_some();
    if is_update {
        write_block(name, screen);
    }
    let page = std::fs::read_to_string(repository().join(PAGE)).unwrap();
    let (start, end) = block_range(&page, name);
    assert_eq!(
        comparable(&page[start..end]),
        comparable(screen),
        "the screen `{name}` has changed; see the comment in tests/it/tour.rs. It is now:\n{screen}\n"
    );
}

/// The place of a block's text in the page.
fn block_range(page: &str, name: &str) -> (usize, usize) {
    let mark = format!("<!-- screen: {name} -->\n```text\n");
    let at = page.find(&mark).unwrap_or_else(|| panic!("{PAGE} has no block below {mark}"));
    let start = at + mark.len();
    let end = page[start..].find("```").map(|length| start + length);
    (start, end.unwrap_or_else(|| panic!("the block `{name}` has no end")))
}

/// Replaces a block of the page. A file lock keeps apart the tests that write at the same time.
fn write_block(name: &str, screen: &str) {
    let _alone = PAGE_LOCK.lock().unwrap_or_else(PoisonError::into_inner);
    let path = repository().join(PAGE);
    let file = std::fs::File::open(&path).unwrap();
    file.lock().unwrap();
    let page = std::fs::read_to_string(&path).unwrap();
    let (start, end) = block_range(&page, name);
    std::fs::write(&path, format!("{}{screen}\n{}", &page[..start], &page[end..])).unwrap();
}

/// The words of a text, without those that differ from run to run: durations, process ids, borders at which
/// lines are wrapped, and the states in the greeting of the console, which servers reach in their own time.
fn comparable(text: &str) -> Vec<String> {
    let lines =
        text.lines().map(|line| match (line.split_once(" servers: "), line.split_once(" · model: ")) {
            (Some((before, _)), Some(_)) if line.starts_with("mcparley ") => before,
            _ => line,
        });
    let words: Vec<&str> = lines.flat_map(str::split_whitespace).filter(|word| *word != "│").collect();
    let is_number = |word: &str| word.trim_matches(['(', ',']).parse::<f64>().is_ok();
    let is_unit = |word: &str| ["ms", "s"].contains(&word.trim_end_matches([')', ',', '.']));
    let at = |at: Option<usize>| at.and_then(|at| words.get(at)).copied().unwrap_or_default();
    let kept = words.iter().enumerate().map(|(position, word)| {
        let is_duration = is_number(word) && is_unit(at(position.checked_add(1)));
        let is_pid = at(position.checked_sub(1)) == "pid";
        let is_unit_of_number = is_unit(word) && is_number(at(position.checked_sub(1)));
        if is_duration || is_pid || is_unit_of_number { String::from("N") } else { (*word).to_owned() }
    });
    kept.collect()
}

/// The words that a picture shows.
fn picture_text(svg: &str) -> String {
    let texts = svg.split("<text ").skip(1);
    let inner = texts.filter_map(|part| part.split_once('>')?.1.split_once("</text>"));
    let plain = inner.map(|(text, _)| text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"));
    plain.collect::<Vec<_>>().join(" ")
}

#[test]
fn durations_and_process_ids_do_not_count() {
    assert_eq!(comparable("pid 12  3 tools  0.81 s (20 ms)"), comparable("pid 9 3 tools 1.2 s (7 ms)"));
    assert_ne!(comparable("3 tools  0.81 s"), comparable("4 tools  0.81 s"));
    assert_ne!(comparable("connected 5 s"), comparable("failed 5 s"));
    let greeting =
        |states: &str| comparable(&format!("mcparley 0.1 · 2 servers: {states} · model: none · /help"));
    assert_eq!(greeting("2 ready"), greeting("1 ready, 1 connecting"));
}

#[test]
fn block_of_a_name_is_found() {
    let page = "a\n<!-- screen: x -->\n```text\none\n```\n<!-- screen: y -->\n```text\ntwo\n```\n";
    let (start, end) = block_range(page, "y");
    assert_eq!(&page[start..end], "two\n");
}
