//! Reading of vectors and its limits, tokens, and the meaning of texts.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

/// A safetensors file with these tensors: name, type, shape and bytes.
pub(crate) fn safetensors(tensors: &[(&str, &str, &[usize], Vec<u8>)]) -> Vec<u8> {
    let (mut header, mut numbers) = (serde_json::Map::new(), Vec::new());
    header.insert("__metadata__".to_owned(), json!({ "format": "np" }));
    for (name, dtype, shape, bytes) in tensors {
        let offsets = [numbers.len(), numbers.len() + bytes.len()];
        header.insert((*name).to_owned(), json!({ "dtype": dtype, "shape": shape, "data_offsets": offsets }));
        numbers.extend_from_slice(bytes);
    }
    let header = Value::Object(header).to_string();
    [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), &numbers].concat()
}

pub(crate) fn tokenizer(tokens: &[&str]) -> Vec<u8> {
    let vocab: serde_json::Map<String, Value> =
        tokens.iter().enumerate().map(|(id, token)| ((*token).to_owned(), json!(id))).collect();
    let model = json!({ "type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##", "vocab": vocab });
    json!({ "version": "1.0", "normalizer": { "type": "BertNormalizer" }, "model": model })
        .to_string()
        .into_bytes()
}

fn floats(rows: &[&[f32]]) -> Vec<u8> {
    rows.iter().flat_map(|row| row.iter()).flat_map(|number| number.to_le_bytes()).collect()
}

fn table(rows: &[&[f32]]) -> Vec<u8> {
    safetensors(&[("embeddings", "F32", &[rows.len(), rows[0].len()], floats(rows))])
}

/// Word vectors with a row for each token.
pub(crate) fn word_vectors(rows: &[(&str, &[f32])]) -> WordVectors {
    let (tokens, rows): (Vec<&str>, Vec<&[f32]>) = rows.iter().copied().unzip();
    WordVectors::parse(&table(&rows), &tokenizer(&tokens)).unwrap()
}

fn cosine(vectors: &WordVectors, one: &str, other: &str) -> f32 {
    let other = vectors.embed_text(other).unwrap();
    vectors.embed_text(one).unwrap().cosine(&other.numbers, other.scale)
}

fn fault(tensors: &[u8], tokens: &[u8]) -> WordVectorsError {
    WordVectors::parse(tensors, tokens).unwrap_err()
}

// N10
#[test]
fn meaning_of_a_text_is_the_mean_of_its_tokens() {
    let vectors = word_vectors(&[("car", &[1.0, 0.0]), ("boat", &[0.0, 1.0]), ("##s", &[0.0, 0.0])]);
    assert!((cosine(&vectors, "cars", "CAR") - 1.0).abs() < 0.01);
    assert!(cosine(&vectors, "car", "boat").abs() < 0.01);
    assert!((cosine(&vectors, "car boat", "boat") - 0.5_f32.sqrt()).abs() < 0.01);
    assert!((cosine(&vectors, "my_carBoat", "car boat") - 1.0).abs() < 0.01, "unknown words are left out");
    assert_eq!(vectors.embed_text("plane, carx s"), None, "a word of which a part is unknown");
    assert_eq!(vectors.embed_text(""), None);
}

// N10
#[test]
fn longest_tokens_are_taken_first() {
    let tokens = ["un", "unlock", "##lock", "##ed", "lock", "größe"];
    let vocabulary = Vocabulary::parse(&tokenizer(&tokens), tokens.len()).unwrap();
    let split = |word: &str| {
        let mut ids = Vec::new();
        vocabulary.split_word(word, |id| ids.push(id as usize));
        ids.into_iter().map(|id| tokens[id]).collect::<Vec<_>>()
    };
    assert_eq!(split("unlocked"), ["unlock", "##ed"]);
    assert_eq!(split("unedlock"), ["un", "##ed", "##lock"]);
    assert_eq!(split("größe"), ["größe"]);
    assert_eq!(split("größer"), Vec::<&str>::new());
}

// N10
#[test]
fn all_types_of_numbers_mean_the_same() {
    let tokens = tokenizer(&["a", "b"]);
    let half = |numbers: &[u16]| numbers.iter().flat_map(|bits| bits.to_le_bytes()).collect::<Vec<u8>>();
    let files = [
        ("F32", floats(&[&[1.0, 0.5], &[-0.25, 2.0]])),
        ("F64", [1.0_f64, 0.5, -0.25, 2.0].iter().flat_map(|number| number.to_le_bytes()).collect()),
        ("F16", half(&[0x3c00, 0x3800, 0xb400, 0x4000])),
        ("BF16", half(&[0x3f80, 0x3f00, 0xbe80, 0x4000])),
        ("I8", vec![32, 16, 248, 64]),
    ];
    for (dtype, bytes) in files {
        let file = safetensors(&[("embeddings", dtype, &[2, 2], bytes)]);
        let vectors = WordVectors::parse(&file, &tokens).unwrap();
        assert!((cosine(&vectors, "a", "b") - 0.75 / (1.25_f32 * 4.0625).sqrt()).abs() < 0.02, "{dtype}");
    }
}

// N10
#[test]
fn weights_and_mapping_of_tokens_are_applied() {
    let list = |numbers: &[f32]| floats(&[numbers]);
    let mapping: Vec<u8> = [1_i64, 0, 1].iter().flat_map(|row| row.to_le_bytes()).collect();
    let embeddings = ("embedding.weight", "I8", &[2, 2][..], vec![100, 0, 0, 100]);
    let all = [
        embeddings.clone(),
        ("mapping", "I64", &[3], mapping),
        ("weights", "F32", &[3], list(&[1.0, 3.0, 1.0])),
    ];
    let tokens = tokenizer(&["a", "b", "c"]);
    let vectors = WordVectors::parse(&safetensors(&all), &tokens).unwrap();
    assert!((cosine(&vectors, "a", "c") - 1.0).abs() < 0.01);
    assert!((cosine(&vectors, "a b", "b") - 3.0 / 10_f32.sqrt()).abs() < 0.01);
    let unfit = [embeddings.clone(), ("weights", "F32", &[1], list(&[1.0]))];
    assert_eq!(fault(&safetensors(&unfit), &tokens).to_string(), "tensor `weights` has the shape [1]");
    let outside =
        [embeddings, ("mapping", "I32", &[2], [0_i32, 2].iter().flat_map(|row| row.to_le_bytes()).collect())];
    assert_eq!(
        fault(&safetensors(&outside), &tokens).to_string(),
        "tensor `mapping` has an unusable number in row 1"
    );
}

// N10
#[test]
fn damaged_files_are_refused_with_their_fault() {
    let good = table(&[&[1.0, 2.0], &[3.0, 4.0]]);
    let tokens = tokenizer(&["a", "b"]);
    assert!(WordVectors::parse(&good, &tokens).is_ok());
    let embeddings =
        |dtype: &str, shape: &[usize], bytes: Vec<u8>| safetensors(&[("embeddings", dtype, shape, bytes)]);
    let cases = [
        (Vec::new(), "this is not a safetensors file: it is too short"),
        (vec![255; 40], "this is not a safetensors file: its header is too long"),
        (good[..30].to_vec(), "this is not a safetensors file: it is too short"),
        (
            good[..good.len() - 1].to_vec(),
            "tensor `embeddings` is cut off or has another size than its shape",
        ),
        (safetensors(&[("other", "F32", &[1], vec![0; 4])]), "there is no tensor `embeddings`"),
        (table(&[&[1.0, f32::NAN]]), "tensor `embeddings` has an unusable number in row 0"),
        (table(&[&[1.0], &[f32::INFINITY]]), "tensor `embeddings` has an unusable number in row 1"),
        (table(&[&[1e30]]), "tensor `embeddings` has an unusable number in row 0"),
        (embeddings("F8_E4M3", &[1, 1], vec![0]), "tensor `embeddings` has the type `F8_E4M3`"),
        (embeddings("I64", &[1, 1], vec![0; 8]), "tensor `embeddings` has an unusable number in row 0"),
        (embeddings("F32", &[1], vec![0; 4]), "tensor `embeddings` has the shape [1]"),
        (embeddings("F32", &[0, 4], vec![]), "tensor `embeddings` has the shape [0, 4]"),
        (
            embeddings("F32", &[usize::MAX, 2], vec![]),
            "tensor `embeddings` is cut off or has another size than its shape",
        ),
        (embeddings("I8", &[1, 1025], vec![0; 1025]), "the number of dimensions exceeds the limit of 1024"),
        (
            embeddings("I8", &[300_001, 1], vec![0; 300_001]),
            "the number of tokens exceeds the limit of 300000",
        ),
        (
            embeddings("I8", &[41_000, 256], vec![0; 41_000 * 256]),
            "the table of vectors, at a byte per number, exceeds the limit of 10485760",
        ),
    ];
    for (file, expected) in cases {
        assert_eq!(fault(&file, &tokens).to_string(), expected);
    }
}

// N10
#[test]
fn damaged_tokenizers_are_refused_with_their_fault() {
    let file = table(&[&[1.0], &[2.0]]);
    let unigram = json!({ "model": { "type": "Unigram", "vocab": [["a", -1.0]] } }).to_string();
    let unnumbered = json!({ "model": { "type": "WordPiece", "vocab": { "a": "b" } } }).to_string();
    for (tokenizer, expected) in [
        (b"{}".to_vec(), "this is not a tokenizer: missing field `model`"),
        (tokenizer(&["a", "b"])[..40].to_vec(), "this is not a tokenizer: EOF while parsing"),
        (unigram.into_bytes(), "the tokenizer is of the kind `Unigram`, not `WordPiece`"),
        (unnumbered.into_bytes(), "this is not a tokenizer: invalid type: string"),
        (tokenizer(&["a", "b", "c"]), "the tokenizer has a token 2, but there are only 2 rows"),
    ] {
        let error = fault(&file, &tokenizer).to_string();
        assert!(error.starts_with(expected), "{error}");
    }
}

// N10
#[test]
fn source_reads_its_vectors_once() {
    let reads = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let counter = std::sync::Arc::clone(&reads);
    let source = WordVectorsSource::new(move || {
        counter.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        Err(WordVectorsError::NoEmbeddings)
    });
    assert_eq!(source.error(), None, "nothing is read before the first use");
    source.read();
    source.read();
    assert_eq!(source.error(), Some(&WordVectorsError::NoEmbeddings));
    assert_eq!(reads.load(std::sync::atomic::Ordering::Relaxed), 1);
}

proptest! {
    // N10
    #[test]
    fn any_change_of_a_file_is_read_or_refused_without_a_panic(
        at in 0_usize..400, byte: u8, cut in 0_usize..400, text in "\\PC{0,40}",
    ) {
        let mut file = table(&[&[1.0, 0.0], &[0.5, 0.5], &[0.0, 1.0]]);
        let mut tokens = tokenizer(&["car", "##s", "größe"]);
        let place = at % file.len();
        file[place] = byte;
        let (whole, cut_off) = (WordVectors::parse(&file, &tokens), WordVectors::parse(&file[..cut.min(file.len())], &tokens));
        for vectors in [whole, cut_off].into_iter().flatten() {
            vectors.embed_text(&text);
        }
        let place = at % tokens.len();
        tokens[place] = byte;
        if let Ok(vectors) = WordVectors::parse(&table(&[&[1.0], &[2.0], &[3.0]]), &tokens) {
            vectors.embed_text(&text);
        }
    }

    // N10
    #[test]
    fn meanings_have_length_one(numbers in prop::collection::vec(-100.0_f32..100.0, 2..9)) {
        prop_assume!(numbers.iter().any(|number| number.abs() > 0.1));
        let vectors = word_vectors(&[("a", &numbers)]);
        let error = (cosine(&vectors, "a", "a a a") - 1.0).abs();
        prop_assert!(error < 0.03, "{error}");
    }
}
