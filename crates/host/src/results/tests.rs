//! What fits is handed over as it is; what does not is stored or cut, and the model is told.

use mcparley_model::limits::{RESULT_CHARS, RESULT_IMAGES, STORED_NOTE_BYTES};
use mcparley_wire::RawJson;
use serde_json::{Value, json};

use super::*;
use crate::call::{Block, Outcome};

/// A PNG of one pixel.
const PIXEL: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

const SMALL: ResultBudget = ResultBudget { chars: 100, tokens: usize::MAX };

fn outcome(answer: &Value) -> Outcome {
    Outcome::try_from(RawJson::of(answer).unwrap()).unwrap()
}

fn text_of(text: &str) -> Outcome {
    outcome(&json!({ "content": [{ "type": "text", "text": text }] }))
}

fn in_memory() -> Arc<Results> {
    Arc::new(Results::in_store(Arc::new(MemoryStore::default())))
}

/// A disk that is full.
struct Full;

impl ResultStore for Full {
    fn keep(&self, _: &Piece<'_>) -> Result<Option<PathBuf>, StoreError> {
        Err(StoreError::Other("no space left".into()))
    }

    fn read(&self, _: &Handle, _: u64, _: &mut [u8]) -> Result<usize, StoreError> {
        Err(StoreError::Gone)
    }
}

async fn read(results: &Arc<Results>, arguments: Value) -> String {
    results.read(&arguments, usize::MAX).await.unwrap()
}

// R2
#[tokio::test]
async fn what_fits_is_handed_over_as_it_is() {
    let results = in_memory();
    for answer in [
        json!({ "content": [{ "type": "text", "text": "é".repeat(100) }] }),
        json!({ "content": [{ "type": "text", "text": "a" }], "structuredContent": { "a": 1 } }),
        // What is said twice is counted once.
        json!({
            "content": [{ "type": "text", "text": json!({ "a": "x".repeat(60) }).to_string() }],
            "structuredContent": { "a": "x".repeat(60) },
        }),
    ] {
        let outcome = outcome(&answer);
        assert_eq!(results.fit(outcome.clone(), SMALL, "it").await, outcome, "{answer}");
    }
}

// R2 R5
#[tokio::test]
async fn a_text_that_is_too_long_is_stored_and_the_model_is_told_how_to_read_on() {
    let results = in_memory();
    let text = "a line of text\n".repeat(20);
    let given = results.fit(text_of(&text), SMALL, "it").await;
    let [stored] = given.stored.as_slice() else { panic!("{given:?}") };
    assert_eq!((stored.bytes, stored.mime.as_str()), (300, "text/plain"));
    let told = given.text();
    let head =
        "This result is too long to be shown: 300 characters in 20 lines, 300 bytes. It is stored as `";
    assert!(told.starts_with(head), "{told}");
    for word in
        [stored.handle.as_str(), "ReadResult", "`offset`", "`grep`", "Do not summarise", "It begins:\na line"]
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
async fn stored_json_is_outlined_whether_it_came_as_text_or_as_data() {
    let results = in_memory();
    let value = json!({ "name": "n", "items": [{ "id": 1, "text": "x".repeat(100) }] });
    for answer in [
        json!({ "content": [{ "type": "text", "text": value.to_string() }], "structuredContent": value }),
        json!({ "content": [{ "type": "text", "text": format!("{value:#}") }] }),
        json!({ "content": [], "structuredContent": value }),
        json!({ "content": [{ "type": "text", "text": "see the data" }], "structuredContent": value }),
    ] {
        let given = results.fit(outcome(&answer), SMALL, "it").await;
        assert_eq!(given.structured, None);
        let told = given.text();
        assert!(told.contains("JSON: {name: string, items: [{id: number, text: string}]}\n"), "{told}");
        assert!(told.contains("`pointer`"), "{told}");
        let arguments = json!({ "handle": given.stored[0].handle, "pointer": "/items/0/id" });
        assert_eq!(read(&results, arguments).await, "1\n[lines 1 to 1, the last]");
    }
}

// R2
#[tokio::test]
async fn tokens_are_counted_too_unless_the_tool_claims_a_length() {
    let results = in_memory();
    let text = "日".repeat(50);
    let given = results.fit(text_of(&text), ResultBudget { chars: 100, tokens: 49 }, "it").await;
    assert_eq!(given.stored.len(), 1);
    let given = results.fit(text_of(&text), ResultBudget { chars: 100, tokens: 50 }, "it").await;
    assert_eq!(given.text(), text);
    let given = results.fit(text_of(&text), ResultBudget { chars: 100, tokens: usize::MAX }, "it").await;
    assert_eq!(given.text(), text);
}

// R2
#[tokio::test]
async fn the_note_is_short_whatever_was_stored() {
    let root = tempfile::tempdir().unwrap();
    let wide: serde_json::Map<String, Value> = (0..2_000)
        .map(|at| (format!("{at}-{}", "日".repeat(80)), json!({ "日本語": at, "x": "y" })))
        .collect();
    let one_line = "word ".repeat(200_000);
    let rows: Vec<Value> = vec![json!({ "id": 1 }); 30_000];
    for text in [Value::Object(wide).to_string(), one_line, "é\n".repeat(200_000), json!(rows).to_string()] {
        let deep = root.path().join("d".repeat(200)).join("e".repeat(200));
        let store = Arc::new(FileStore::new(deep));
        let results = Arc::new(Results::in_store(store));
        let given =
            results.fit(text_of(&text), ResultBudget { chars: RESULT_CHARS, tokens: 25_000 }, "it").await;
        let told = given.text();
        assert!(told.len() <= STORED_NOTE_BYTES, "{}: {told}", told.len());
        assert!(told.contains("Do not summarise"), "{told}");
        let path = given.stored[0].path.as_ref().unwrap();
        assert!(told.contains(path.to_str().unwrap()), "{told}");
        assert_eq!(told.contains("a line too long"), !text.contains('\n'), "{told}");
        assert_eq!(path.metadata().unwrap().len(), text.len() as u64);
    }
}

// F74 R2
#[tokio::test]
async fn what_cannot_be_stored_is_cut_at_a_grapheme_and_the_call_succeeds() {
    let results = Arc::new(Results::in_store(Arc::new(Full)));
    let text = format!("{}e\u{301}{}", "a".repeat(99), "b".repeat(100));
    let given = results.fit(text_of(&text), SMALL, "it").await;
    let note = "only the first 99 of 201 characters of the text are shown; the rest is not available, because it could \
        not be stored: no space left";
    let expected = [Block::Text(format!("{}… [truncated]", "a".repeat(99))), Block::Note(note.into())];
    assert_eq!(given.content, expected);
    assert!(given.stored.is_empty() && !given.is_error);
}

// R2
#[tokio::test]
async fn a_text_beside_images_is_cut_and_never_stored() {
    let results = in_memory();
    let image = json!({ "type": "image", "data": PIXEL, "mimeType": "image/png" });
    let long = json!({ "type": "text", "text": "x".repeat(80) });
    let given = results
        .fit(outcome(&json!({ "content": [long, image, long, long, image], "isError": true })), SMALL, "it")
        .await;
    assert!(given.is_error && given.stored.is_empty());
    let texts: Vec<String> = given
        .content
        .iter()
        .map(|block| match block {
            Block::Text(text) => format!("{} {}", text.matches('x').count(), text.ends_with("… [truncated]")),
            Block::Image { .. } => "image".to_owned(),
            Block::Note(note) => note.clone(),
            other => panic!("{other:?}"),
        })
        .collect();
    let note = "only the first 100 of 240 characters of the text are shown; the rest is not available, because it came \
        with images";
    assert_eq!(texts, ["80 false", "image", "20 true", "image", note]);
}

// R5
#[tokio::test]
async fn memory_forgets_the_oldest_and_says_so() {
    let results = Arc::new(Results::in_store(Arc::new(MemoryStore::with_limit(1_000))));
    let first = results.fit(text_of(&"a".repeat(101)), SMALL, "it").await.stored[0].handle.clone();
    let second = results.fit(text_of(&"b".repeat(900)), SMALL, "it").await.stored[0].handle.clone();
    assert!(results.read(&json!({ "handle": second }), 1_000).await.is_ok());
    let error = results.read(&json!({ "handle": first }), 1_000).await.unwrap_err();
    assert_eq!(error.to_string(), "the stored result cannot be read: it is no longer there");
    let given = results.fit(text_of(&"c".repeat(1_001)), SMALL, "it").await;
    assert!(given.text().contains("may take up 1000 bytes"), "{}", given.text());
    let error = results.read(&json!({ "handle": "result-0" }), 1_000).await.unwrap_err();
    assert!(error.to_string().starts_with("there is no stored result `result-0`"), "{error}");
}

// R3 B99 B102
#[tokio::test]
async fn what_is_no_text_goes_into_files_and_images_a_model_can_see_stay() {
    let root = tempfile::tempdir().unwrap();
    let results = Arc::new(Results::in_store(Arc::new(FileStore::new(root.path().join("results")))));
    let given = results
        .fit(
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
    let image = || Block::Image { mime: "image/png".into(), data: PIXEL.into() };
    let expected = [
        image(),
        Block::Note(format!("a sound (audio/wav; codecs=1, 4 bytes) is in the file {}", paths[0])),
        Block::Note(format!("the resource demo://a/../b (../../x, 4 bytes) is in the file {}", paths[1])),
        image(),
        Block::Note("about the resource demo://pixel: it is image/png, not what it is said to be".into()),
        Block::Note(format!(
            "an image (image/svg+xml, 6 bytes) is in the file {}; it cannot be shown: it is none of PNG, JPEG, GIF and WebP",
            paths[2]
        )),
    ];
    assert_eq!(given.content, expected);
    let ends: Vec<&str> = paths.iter().map(|path| path.rsplit_once('.').unwrap().1).collect();
    assert_eq!(ends, ["wav", "bin", "svg"]);
    assert_eq!(mcparley_platform::file::read_bytes(paths[1].as_ref(), 100).unwrap().unwrap(), [0, 1, 2, 255]);
    let error = results.read(&json!({ "handle": given.stored[0].handle }), 1_000).await.unwrap_err();
    assert_eq!(error.to_string(), "what is stored there is no text: use its file");
}

// R3 F74
#[tokio::test]
async fn what_is_no_text_and_cannot_be_stored_is_told() {
    let results = Arc::new(Results::in_store(Arc::new(Full)));
    let answer = json!({ "content": [{ "type": "audio", "data": "UklGRg==", "mimeType": "audio/wav" }] });
    let given = results.fit(outcome(&answer), ResultBudget { chars: 1_000, tokens: 1_000 }, "it").await;
    let told = "[a sound (audio/wav, 4 bytes) was left out: it could not be stored: no space left]";
    assert_eq!(given.text(), told);
    assert_eq!(given.raw, outcome(&answer).raw);
}

// R3 B102
#[tokio::test]
async fn no_result_shows_more_images_than_a_model_takes() {
    let results = in_memory();
    let image = json!({ "type": "image", "data": PIXEL, "mimeType": "image/png" });
    let odd = json!({ "type": "odd" });
    let many: Vec<Value> =
        std::iter::repeat_n(image, RESULT_IMAGES + 5).chain(std::iter::repeat_n(odd, 5_000)).collect();
    let given = results
        .fit(outcome(&json!({ "content": many })), ResultBudget { chars: 1_000, tokens: 1_000 }, "it")
        .await;
    let images = given.content.iter().filter(|block| matches!(block, Block::Image { .. })).count();
    assert_eq!((images, given.stored.len()), (RESULT_IMAGES, 5));
    assert!(given.text().len() < 5_000, "{}", given.text().len());
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
        assert_eq!(super::fits(&outcome, budget), fits, "{} characters", file.len());
        if fits {
            assert_eq!((outcome.text(), outcome.structured.is_some()), (file.clone(), true));
        }
    }
}
