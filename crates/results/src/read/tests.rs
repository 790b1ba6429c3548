//! Reading returns bounded pages that add up to the whole text.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use proptest::prelude::*;
use serde_json::{Value, json};

use super::super::memory::MemoryStore;
use super::*;

/// A stored text, and its handle.
fn stored(text: &str) -> (StoredResults, ResultHandle) {
    let results = StoredResults::new(Arc::new(MemoryStore::default()));
    let json = serde_json::from_str::<Value>(text).is_ok().then_some(0..text.len() as u64);
    let (handle, _) = results.store_text(text, json, "it").unwrap();
    (results, handle)
}

async fn asked(text: &str, wish: Value, most: usize) -> Result<String, ReadResultError> {
    let (results, handle) = stored(text);
    let mut arguments = wish;
    arguments["handle"] = json!(handle);
    read_stored_result(&results, &arguments, most).await
}

async fn read(text: &str, wish: Value) -> String {
    asked(text, wish, 1_000).await.unwrap()
}

// R5
#[tokio::test]
async fn lines_are_read_from_the_offset_as_far_as_they_fit() {
    let text = "one\ntwo\nthree\nfour";
    for (wish, expected) in [
        (json!({}), "one\ntwo\nthree\nfour\n[lines 1 to 4, the last]"),
        (json!({ "offset": 2, "limit": 2 }), "two\nthree\n[lines 2 to 3, next offset 4]"),
        (json!({ "offset": 4 }), "four\n[lines 4 to 4, the last]"),
        (json!({ "limit": 4 }), "one\ntwo\nthree\nfour\n[lines 1 to 4, the last]"),
        (json!({ "offset": 5 }), "[there is no line 5: the text has 4 lines]"),
        (json!({ "offset": 900 }), "[there is no line 900: the text has 4 lines]"),
    ] {
        assert_eq!(read(text, wish.clone()).await, expected, "{wish}");
    }
    let cut = asked(text, json!({}), 9).await.unwrap();
    assert_eq!(cut, "one\ntwo\n[lines 1 to 2, next offset 3]");
    let long = format!("short\n{}\nend", "x".repeat(2_000));
    assert_eq!(read(&long, json!({})).await, "short\n[lines 1 to 1, next offset 2]");
    let told = "[line 2 is too long to be given at once: read it with \"unit\": \"bytes\", \"offset\": 6]";
    assert_eq!(read(&long, json!({ "offset": 2 })).await, told);
}

// R5
#[tokio::test]
async fn bytes_never_split_a_character() {
    let text = "aé日😀b";
    for (offset, limit, expected) in [
        (0, 2, "a\n[bytes 0 to 0 of 11, next offset 1]"),
        (1, 1, "é\n[bytes 1 to 2 of 11, next offset 3]"),
        (2, 4, "é\n[bytes 1 to 2 of 11, next offset 3]"),
        (4, 9, "日😀b\n[bytes 3 to 10 of 11, the last]"),
        (10, 1, "b\n[bytes 10 to 10 of 11, the last]"),
        (11, 1, "[there is no byte 11: the text has 11 bytes]"),
        (u64::MAX, 1, "[there is no byte 18446744073709551615: the text has 11 bytes]"),
    ] {
        let wish = json!({ "unit": "bytes", "offset": offset, "limit": limit });
        assert_eq!(read(text, wish.clone()).await, expected, "{wish}");
    }
}

// R5
#[tokio::test]
async fn grep_finds_lines_with_numbers_and_context() {
    let text = "a1\nb\nc\na2\nd\ne\nf\na3\n";
    for (wish, expected) in [
        (json!({ "grep": "^a" }), "1:a1\n4:a2\n8:a3\n[3 matching lines]"),
        (json!({ "grep": "a", "offset": 2 }), "4:a2\n8:a3\n[2 matching lines]"),
        (json!({ "grep": "a", "limit": 1 }), "1:a1\n[1 of 3 matching lines, next offset 4]"),
        (json!({ "grep": "[23]", "context": 1 }), "3-c\n4:a2\n5-d\n--\n7-f\n8:a3\n[2 matching lines]"),
        (json!({ "grep": "(?i)A2|B" }), "2:b\n4:a2\n[2 matching lines]"),
        (json!({ "grep": "z" }), "[0 matching lines]"),
    ] {
        assert_eq!(read(text, wish.clone()).await, expected, "{wish}");
    }
    let error = asked(text, json!({ "grep": "(" }), 1_000).await.unwrap_err();
    assert!(error.to_string().starts_with("the pattern cannot be used"), "{error}");
    let error = asked(text, json!({ "grep": "(a{1000}){1000}" }), 1_000).await.unwrap_err();
    assert!(error.to_string().contains("size limit"), "{error}");
}

// R5 B105
#[tokio::test]
async fn catastrophic_pattern_runs_in_linear_time() {
    let text = "a".repeat(500_000);
    let found = read(&text, json!({ "grep": "(a+)+b" })).await;
    assert_eq!(found, "[0 matching lines]");
}

// R5
#[tokio::test]
async fn long_line_is_shown_as_an_excerpt_around_the_match() {
    let text = format!("{}needle{}", "é".repeat(5_000), "x".repeat(5_000));
    let found = read(&text, json!({ "grep": "needle" })).await;
    assert!(found.starts_with("1:…é") && found.contains("éneedlex"), "{found}");
    assert!(found.ends_with("of a line of 15006 bytes]\n[1 matching lines]"), "{found}");
    assert!(found.len() < 1_000, "{}", found.len());
}

// R5
#[tokio::test]
async fn pointer_selects_a_value_and_pages_of_it() {
    let text = json!({
        "a/b": { "~": [10, 20] }, "log": "one\ntwo\nthree\n", "big": vec![json!({ "id": 1, "name": "n" }); 200],
        "long": "x".repeat(2_000), "null": null,
    })
    .to_string();
    for (wish, expected) in [
        (json!({ "pointer": "/a~1b/~0/1" }), "20\n[lines 1 to 1, the last]"),
        (json!({ "pointer": "/null" }), "null\n[lines 1 to 1, the last]"),
        (json!({ "pointer": "/log" }), "one\ntwo\nthree\n[lines 1 to 3, the last]"),
        (json!({ "pointer": "/log", "offset": 2, "limit": 1 }), "two\n[lines 2 to 2, next offset 3]"),
        (json!({ "pointer": "/log", "grep": "t" }), "2:two\n3:three\n[2 matching lines]"),
        (
            json!({ "pointer": "/big" }),
            "[{id: number, name: string}]\n[the value at `/big` has 4001 bytes, too many to be given at once: select a part \
             of it, or give `offset` and `limit`, or `grep`, with this pointer]",
        ),
        (json!({ "pointer": "/big/199" }), "{\"id\":1,\"name\":\"n\"}\n[lines 1 to 1, the last]"),
        (
            json!({ "pointer": "/big", "unit": "bytes", "limit": 5 }),
            "[{\"id\n[bytes 0 to 4 of 4001, next offset 5]",
        ),
        (
            json!({ "pointer": "/long" }),
            "[the value at `/long` has 2000 bytes, too many to be given at once: give `offset` and `limit`, or `grep`, with \
             this pointer]",
        ),
    ] {
        assert_eq!(read(&text, wish.clone()).await, expected, "{wish}");
    }
    for (pointer, because) in [
        ("big", "a pointer begins with `/`"),
        ("/no", "there is no member `no`"),
        ("/big/200", "the list has 200 elements, starting at 0"),
        ("/big/x", "`x` is not a list index"),
        ("/null/0", "`0` not found: the value is not an object or a list"),
    ] {
        let error = asked(&text, json!({ "pointer": pointer }), 1_000).await.unwrap_err();
        assert_eq!(error.to_string(), format!("`{pointer}` not found: {because}"));
    }
    let error = asked("no json", json!({ "pointer": "/a" }), 1_000).await.unwrap_err();
    assert_eq!(error.to_string(), "the result is not JSON, so `pointer` does not apply");
}

/// All of a text, page by page.
fn together(text: &str, unit: &str, most: usize) -> String {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let (results, handle) = stored(text);
    let (mut all, mut offset) = (String::new(), u64::from(unit == "lines"));
    loop {
        let wish = json!({ "handle": handle, "unit": unit, "offset": offset });
        let page = runtime.block_on(read_stored_result(&results, &wish, most)).unwrap();
        let (given, place) = page.rsplit_once('[').unwrap();
        all.push_str(given);
        match place.split_once("next offset ") {
            Some((_, next)) => offset = next.trim_end_matches(']').parse().unwrap(),
            None => return all,
        }
        if unit == "bytes" && !text.get(..offset as usize).is_some_and(|read| read.ends_with('\n')) {
            // The line break before the position line is added by us.
            all.pop();
        }
    }
}

proptest! {
    // R5
    #[test]
    fn pages_together_are_the_whole_text(text in "([a-z日é😀]{0,12}\\n){1,20}", most in 60usize..200) {
        prop_assert_eq!(&together(&text, "lines", most), &text);
        prop_assert_eq!(&together(&text, "bytes", most), &text);
    }

    fn check_no_arguments_make_reading_panic(
        text in "\\PC{0,200}", offset in any::<u64>(), limit in any::<u64>(), grep in "\\PC{0,6}", pointer in "[/a-z0-9~]{0,8}",
        which in 0u8..4,
    ) {
        let mut wish = json!({ "offset": offset, "limit": limit, "context": limit });
        match which {
            0 => wish["unit"] = json!("bytes"),
            1 => wish["grep"] = json!(grep),
            2 => wish["pointer"] = json!(pointer),
            _ => {}
        }
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        if let Ok(given) = runtime.block_on(asked(&text, wish, 100)) {
            GIVEN.fetch_add(1, Ordering::Relaxed);
            prop_assert!(given.len() < 100 + 800, "{}", given.len());
        }
    }
}

/// The number of cases that were read, to prove that the property is not vacuous.
static GIVEN: AtomicU32 = AtomicU32::new(0);

// R5
#[test]
fn no_arguments_make_reading_panic() {
    check_no_arguments_make_reading_panic();
    assert!(GIVEN.load(Ordering::Relaxed) > 0, "nothing was given");
}
