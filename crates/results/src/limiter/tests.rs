//! Outcomes within the budget stay unchanged; others are stored or cut, with a note for the model.

use mcparley_json::RawJson;
use mcparley_model::limits::{RESULT_CHARS, RESULT_IMAGES, STORED_NOTE_BYTES};
use serde_json::{Value, json};

use super::*;
use crate::outcome::ContentBlock;
use crate::store::{ResultHandle, ResultPayload, StoreError};
use std::path::PathBuf;

/// A PNG of one pixel.
const PIXEL: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

const SMALL: ResultBudget = ResultBudget { chars: 100, tokens: usize::MAX };

fn outcome(answer: &Value) -> CallOutcome {
    CallOutcome::try_from(RawJson::from_value(answer).unwrap()).unwrap()
}

fn text_of(text: &str) -> CallOutcome {
    outcome(&json!({ "content": [{ "type": "text", "text": text }] }))
}

fn in_memory() -> Arc<ResultLimiter> {
    Arc::new(ResultLimiter::with_store(Arc::new(MemoryStore::default())))
}

/// A disk that is full.
struct Full;

impl ResultStore for Full {
    fn store_result(&self, _: &ResultPayload<'_>) -> Result<Option<PathBuf>, StoreError> {
        Err(StoreError::Other("no space left".into()))
    }

    fn read_bytes(&self, _: &ResultHandle, _: u64, _: &mut [u8]) -> Result<usize, StoreError> {
        Err(StoreError::NotFound)
    }
}

async fn read(results: &Arc<ResultLimiter>, arguments: Value) -> String {
    results.read_result(&arguments, usize::MAX).await.unwrap()
}

// R2
#[tokio::test]
async fn outcome_within_the_budget_is_unchanged() {
    let results = in_memory();
    for answer in [
        json!({ "content": [{ "type": "text", "text": "é".repeat(100) }] }),
        json!({ "content": [{ "type": "text", "text": "a" }], "structuredContent": { "a": 1 } }),
        // A repeated value is counted once.
        json!({
            "content": [{ "type": "text", "text": json!({ "a": "x".repeat(60) }).to_string() }],
            "structuredContent": { "a": "x".repeat(60) },
        }),
    ] {
        let outcome = outcome(&answer);
        assert_eq!(results.fit_outcome(outcome.clone(), SMALL, "it").await, outcome, "{answer}");
    }
}

// R2 R5
#[tokio::test]
async fn long_text_is_stored_and_the_note_tells_how_to_read_it() {
    let results = in_memory();
    let text = "a line of text\n".repeat(20);
    let given = results.fit_outcome(text_of(&text), SMALL, "it").await;
    let [stored] = given.stored.as_slice() else { panic!("{given:?}") };
    assert_eq!((stored.bytes, stored.mime.as_str()), (300, "text/plain"));
    let told = given.to_text();
    let head =
        "This result is too long to be shown: 300 characters in 20 lines, 300 bytes. It is stored as `";
    assert!(told.starts_with(head), "{told}");
    for word in
        [stored.handle.as_str(), "ReadResult", "`offset`", "`grep`", "Do not summarize", "It begins:\na line"]
    {
        assert!(told.contains(word), "{word}: {told}");
    }
    assert_eq!(given.raw, text_of(&text).raw);
    assert_eq!(
        read(&results, json!({ "handle": stored.handle })).await,
        format!("{text}[lines 1 to 20, the last]")
    );
}

// R2 R4
#[tokio::test]
async fn stored_json_is_outlined_from_text_and_from_structured_content() {
    let results = in_memory();
    let value = json!({ "name": "n", "items": [{ "id": 1, "text": "x".repeat(100) }] });
    for answer in [
        json!({ "content": [{ "type": "text", "text": value.to_string() }], "structuredContent": value }),
        json!({ "content": [{ "type": "text", "text": format!("{value:#}") }] }),
        json!({ "content": [], "structuredContent": value }),
        json!({ "content": [{ "type": "text", "text": "see the data" }], "structuredContent": value }),
    ] {
        let given = results.fit_outcome(outcome(&answer), SMALL, "it").await;
        assert_eq!(given.structured, None);
        let told = given.to_text();
        assert!(told.contains("JSON: {name: string, items: [{id: number, text: string}]}\n"), "{told}");
        assert!(told.contains("`pointer`"), "{told}");
        let arguments = json!({ "handle": given.stored[0].handle, "pointer": "/items/0/id" });
        assert_eq!(read(&results, arguments).await, "1\n[lines 1 to 1, the last]");
    }
}

// R2
#[tokio::test]
async fn tokens_are_counted_unless_the_tool_declares_a_length() {
    let results = in_memory();
    let text = "日".repeat(50);
    let given = results.fit_outcome(text_of(&text), ResultBudget { chars: 100, tokens: 49 }, "it").await;
    assert_eq!(given.stored.len(), 1);
    let given = results.fit_outcome(text_of(&text), ResultBudget { chars: 100, tokens: 50 }, "it").await;
    assert_eq!(given.to_text(), text);
    let given =
        results.fit_outcome(text_of(&text), ResultBudget { chars: 100, tokens: usize::MAX }, "it").await;
    assert_eq!(given.to_text(), text);
}

// R2
#[tokio::test]
async fn note_is_always_short() {
    let root = tempfile::tempdir().unwrap();
    let wide: serde_json::Map<String, Value> = (0..2_000)
        .map(|at| (format!("{at}-{}", "日".repeat(80)), json!({ "日本語": at, "x": "y" })))
        .collect();
    let one_line = "word ".repeat(200_000);
    let rows: Vec<Value> = vec![json!({ "id": 1 }); 30_000];
    for text in [Value::Object(wide).to_string(), one_line, "é\n".repeat(200_000), json!(rows).to_string()] {
        let deep = root.path().join("d".repeat(200)).join("e".repeat(200));
        let store = Arc::new(FileStore::new(deep));
        let results = Arc::new(ResultLimiter::with_store(store));
        let given = results
            .fit_outcome(text_of(&text), ResultBudget { chars: RESULT_CHARS, tokens: 25_000 }, "it")
            .await;
        let told = given.to_text();
        assert!(told.len() <= STORED_NOTE_BYTES, "{}: {told}", told.len());
        assert!(told.contains("Do not summarize"), "{told}");
        let path = given.stored[0].path.as_ref().unwrap();
        assert!(told.contains(path.to_str().unwrap()), "{told}");
        assert_eq!(told.contains("a line too long"), !text.contains('\n'), "{told}");
        assert_eq!(path.metadata().unwrap().len(), text.len() as u64);
    }
}

// F74 R2
#[tokio::test]
async fn text_that_cannot_be_stored_is_cut_at_a_grapheme() {
    let results = Arc::new(ResultLimiter::with_store(Arc::new(Full)));
    let text = format!("{}e\u{301}{}", "a".repeat(99), "b".repeat(100));
    let given = results.fit_outcome(text_of(&text), SMALL, "it").await;
    let note = "only the first 99 of 201 characters of the text are shown; the rest is not available, because it could \
        not be stored: no space left";
    let expected =
        [ContentBlock::Text(format!("{}… [truncated]", "a".repeat(99))), ContentBlock::Note(note.into())];
    assert_eq!(given.content, expected);
    assert!(given.stored.is_empty() && !given.is_error);
}

// R2
#[tokio::test]
async fn text_beside_images_is_cut_and_not_stored() {
    let results = in_memory();
    let image = json!({ "type": "image", "data": PIXEL, "mimeType": "image/png" });
    let long = json!({ "type": "text", "text": "x".repeat(80) });
    let given = results
        .fit_outcome(
            outcome(&json!({ "content": [long, image, long, long, image], "isError": true })),
            SMALL,
            "it",
        )
        .await;
    assert!(given.is_error && given.stored.is_empty());
    let texts: Vec<String> = given
        .content
        .iter()
        .map(|block| match block {
            ContentBlock::Text(text) => {
                format!("{} {}", text.matches('x').count(), text.ends_with("… [truncated]"))
            }
            ContentBlock::Image { .. } => "image".to_owned(),
            ContentBlock::Note(note) => note.clone(),
            other => panic!("{other:?}"),
        })
        .collect();
    let note = "only the first 100 of 240 characters of the text are shown; the rest is not available, because it came \
        with images";
    assert_eq!(texts, ["80 false", "image", "20 true", "image", note]);
}

// R5
#[tokio::test]
async fn memory_store_evicts_the_oldest_result() {
    let results = Arc::new(ResultLimiter::with_store(Arc::new(MemoryStore::with_limit(1_000))));
    let first = results.fit_outcome(text_of(&"a".repeat(101)), SMALL, "it").await.stored[0].handle.clone();
    let second = results.fit_outcome(text_of(&"b".repeat(900)), SMALL, "it").await.stored[0].handle.clone();
    assert!(results.read_result(&json!({ "handle": second }), 1_000).await.is_ok());
    let error = results.read_result(&json!({ "handle": first }), 1_000).await.unwrap_err();
    assert_eq!(error.to_string(), "the stored result cannot be read: it no longer exists");
    let given = results.fit_outcome(text_of(&"c".repeat(1_001)), SMALL, "it").await;
    assert!(given.to_text().contains("are limited to 1000 bytes"), "{}", given.to_text());
    let error = results.read_result(&json!({ "handle": "result-0" }), 1_000).await.unwrap_err();
    assert!(error.to_string().starts_with("no stored result `result-0`"), "{error}");
}

// R5 G1: a path of this machine is of no use to a client on another one.
#[tokio::test]
async fn result_stored_without_paths_has_a_handle_alone() {
    let root = tempfile::tempdir().unwrap();
    let results = ResultLimiter::with_folder(Some(&root.path().join("results"))).without_paths();
    let results = results.for_owner(None);
    let given = results.fit_outcome(text_of(&"a line of text\n".repeat(20)), SMALL, "it").await;
    let folder = root.path().to_string_lossy().into_owned();
    assert!(given.stored[0].path.is_none() && !given.to_text().contains(&folder), "{}", given.to_text());
    let page = results.read_result(&json!({ "handle": given.stored[0].handle }), 1_000).await.unwrap();
    assert!(page.contains("a line of text"), "{page}");
}

// R3 B99 B102
#[tokio::test]
async fn binary_parts_are_stored_in_files_and_supported_images_stay() {
    let root = tempfile::tempdir().unwrap();
    let results = Arc::new(ResultLimiter::with_store(Arc::new(FileStore::new(root.path().join("results")))));
    let given = results
        .fit_outcome(
            outcome(&json!({ "content": [
                { "type": "image", "data": PIXEL, "mimeType": "image/png" },
                { "type": "audio", "data": "UklGRg==", "mimeType": "audio/wav; codecs=1" },
                { "type": "resource", "resource": { "uri": "demo://a/../b", "blob": "AAEC/w", "mimeType": "../../x" } },
                { "type": "resource", "resource": { "uri": "demo://pixel", "blob": PIXEL, "mimeType": "image/jpeg" } },
                { "type": "image", "data": "PHN2Zy8-", "mimeType": "image/svg+xml" },
            ] })),
            ResultBudget { chars: 1_000, tokens: 1_000 },
            "it",
        )
        .await;
    let paths: Vec<String> = given
        .stored
        .iter()
        .map(|stored| stored.path.as_ref().unwrap().to_str().unwrap().to_owned())
        .collect();
    let image = || ContentBlock::Image { mime: "image/png".into(), data: PIXEL.into() };
    let expected = [
        image(),
        ContentBlock::Note(format!("a sound (audio/wav; codecs=1, 4 bytes) is in the file {}", paths[0])),
        ContentBlock::Note(format!(
            "the resource demo://a/../b (../../x, 4 bytes) is in the file {}",
            paths[1]
        )),
        image(),
        ContentBlock::Note("about the resource demo://pixel: it is image/png, not the declared type".into()),
        ContentBlock::Note(format!(
            "an image (image/svg+xml, 6 bytes) is in the file {}; it cannot be shown: it is not PNG, JPEG, GIF or WebP",
            paths[2]
        )),
    ];
    assert_eq!(given.content, expected);
    let ends: Vec<&str> = paths.iter().map(|path| path.rsplit_once('.').unwrap().1).collect();
    assert_eq!(ends, ["wav", "bin", "svg"]);
    assert_eq!(mcparley_platform::file::read_bytes(paths[1].as_ref(), 100).unwrap().unwrap(), [0, 1, 2, 255]);
    let error = results.read_result(&json!({ "handle": given.stored[0].handle }), 1_000).await.unwrap_err();
    assert_eq!(error.to_string(), "the stored result is binary: use its file");
}

// R3 F74
#[tokio::test]
async fn binary_part_that_cannot_be_stored_becomes_a_note() {
    let results = Arc::new(ResultLimiter::with_store(Arc::new(Full)));
    let answer = json!({ "content": [{ "type": "audio", "data": "UklGRg==", "mimeType": "audio/wav" }] });
    let given =
        results.fit_outcome(outcome(&answer), ResultBudget { chars: 1_000, tokens: 1_000 }, "it").await;
    let told = "[a sound (audio/wav, 4 bytes) was left out: it could not be stored: no space left]";
    assert_eq!(given.to_text(), told);
    assert_eq!(given.raw, outcome(&answer).raw);
}

// R3 B102
#[tokio::test]
async fn number_of_images_in_a_result_is_limited() {
    let results = in_memory();
    let image = json!({ "type": "image", "data": PIXEL, "mimeType": "image/png" });
    let odd = json!({ "type": "odd" });
    let many: Vec<Value> =
        std::iter::repeat_n(image, RESULT_IMAGES + 5).chain(std::iter::repeat_n(odd, 5_000)).collect();
    let given = results
        .fit_outcome(outcome(&json!({ "content": many })), ResultBudget { chars: 1_000, tokens: 1_000 }, "it")
        .await;
    let images = given.content.iter().filter(|block| matches!(block, ContentBlock::Image { .. })).count();
    assert_eq!((images, given.stored.len()), (RESULT_IMAGES, 5));
    assert!(given.to_text().len() < 5_000, "{}", given.to_text().len());
}

// R1 R7: a file of 60 kB that comes as text and as data counts once, and both are handed over.
#[tokio::test]
async fn text_that_repeats_the_structured_value_counts_once() {
    let file = "some words \n".repeat(5_000);
    let budget = ResultBudget { chars: RESULT_CHARS, tokens: usize::MAX };
    for (structured, fits) in [
        (json!({ "content": file }), true),
        (json!({ "content": file, "path": "a.txt" }), false),
        (json!({ "content": format!("{file}x") }), false),
    ] {
        let answer =
            json!({ "content": [{ "type": "text", "text": file }], "structuredContent": structured });
        let outcome = outcome(&answer);
        assert_eq!(super::fits_budget(&outcome, budget), fits, "{} characters", file.len());
        if fits {
            assert_eq!((outcome.to_text(), outcome.structured.is_some()), (file.clone(), true));
        }
    }
}

// G4 H20
#[tokio::test]
async fn stored_result_of_one_account_is_unknown_to_another() {
    let results = ResultLimiter::with_folder(None);
    let [ada, eve] = ["jwt:ada", "jwt:eve"].map(Arc::<str>::from);
    let given = results.for_owner(Some(&ada)).fit_outcome(text_of(&"a".repeat(900)), SMALL, "it").await;
    let arguments = json!({ "handle": given.stored[0].handle });
    assert!(results.for_owner(Some(&ada)).read_result(&arguments, 1_000).await.is_ok());
    let invented = json!({ "handle": "result-0" });
    for other in [Some(&eve), None] {
        let other = results.for_owner(other);
        let hidden = other.read_result(&arguments, 1_000).await.unwrap_err().to_string();
        let unknown = other.read_result(&invented, 1_000).await.unwrap_err().to_string();
        let handle = arguments["handle"].as_str().unwrap();
        assert_eq!(hidden, unknown.replace("result-0", handle));
    }
}
