//! `search` with word vectors, and with vectors that cannot be used.

use std::fs;
use std::path::Path;

use mcparley_cli::exit;
use serde_json::{Value, json};

use crate::talk::good;
use crate::world::World;

/// Two words that mean the same and two that mean something else, as a folder of model2vec.
fn write_vectors(folder: &Path) {
    let rows: [(&str, [f32; 2]); 4] =
        [("echo", [1.0, 0.0]), ("parrot", [0.9, 0.1]), ("add", [0.0, 1.0]), ("numbers", [0.0, 1.0])];
    let numbers: Vec<u8> =
        rows.iter().flat_map(|(_, row)| row).flat_map(|number| number.to_le_bytes()).collect();
    let header =
        json!({ "embeddings": { "dtype": "F32", "shape": [4, 2], "data_offsets": [0, numbers.len()] } });
    let header = header.to_string();
    let file = [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), &numbers].concat();
    let vocab: serde_json::Map<String, Value> =
        rows.iter().enumerate().map(|(id, (token, _))| ((*token).to_owned(), json!(id))).collect();
    fs::create_dir_all(folder).unwrap();
    fs::write(folder.join("model.safetensors"), file).unwrap();
    let tokenizer = json!({ "model": { "type": "WordPiece", "vocab": vocab } });
    fs::write(folder.join("tokenizer.json"), tokenizer.to_string()).unwrap();
}

fn first_tool(world: &World, args: &[&str]) -> Value {
    world.json(args)["tools"][0]["name"].clone()
}

// N10
#[test]
fn vectors_find_a_synonym_that_words_miss() {
    let mut world = good();
    let vectors = tempfile::tempdir().unwrap();
    write_vectors(vectors.path());
    let folder = vectors.path().to_str().unwrap();
    let found = json!("mcp__good__echo");
    assert_eq!(world.mcparley(&["search", "parrot"]).code, i32::from(exit::NOT_FOUND.number));
    assert_eq!(first_tool(&world, &["search", "parrot", "--search-vectors", folder]), found);
    let file = vectors.path().join("model.safetensors");
    assert_eq!(first_tool(&world, &["search", "parrot", "--search-vectors", file.to_str().unwrap()]), found);
    let setting = json!({ "search": { "vectors": folder } }).to_string();
    assert_eq!(first_tool(&world, &["search", "parrot", "--settings", &setting]), found);
    world.set("MCPARLEY_SEARCH_VECTORS", folder);
    assert_eq!(first_tool(&world, &["search", "parrot"]), found);
    assert_eq!(first_tool(&world, &["search", "add"]), json!("mcp__good__add"));
    let answer = world.ok(&["call", "ToolSearch", "query=parrot"]);
    assert!(answer.contains("mcp__good__echo"), "{answer}");
}

// N10
#[test]
fn damaged_vectors_are_named_with_the_reason_and_words_still_find() {
    let world = good();
    let vectors = tempfile::tempdir().unwrap();
    write_vectors(vectors.path());
    let file = vectors.path().join("model.safetensors");
    let whole = fs::read(&file).unwrap();
    fs::write(&file, &whole[..whole.len() - 3]).unwrap();
    let folder = vectors.path().to_str().unwrap();
    let found = world.mcparley(&["search", "echo", "--search-vectors", folder]);
    assert_eq!(found.code, 0, "{found:?}");
    assert_eq!(found.out, world.ok(&["search", "echo"]));
    assert!(found.err.contains("warning: the word vectors in") && found.err.contains(folder), "{found:?}");
    assert!(found.err.contains("tensor `embeddings` is cut off"), "{found:?}");
    let missing = world.mcparley(&["search", "echo", "--search-vectors", "/nowhere"]);
    assert!(missing.code == 0 && missing.err.contains("there is no file /nowhere"), "{missing:?}");
    let served = world.fed(&["serve", "--search-vectors", folder], "");
    assert!(served.err.contains("tensor `embeddings` is cut off"), "{served:?}");
}

// N10 P3
#[test]
fn project_folder_cannot_choose_the_vectors() {
    let world = good();
    let vectors = tempfile::tempdir().unwrap();
    write_vectors(vectors.path());
    let setting = json!({ "search": { "vectors": vectors.path() } }).to_string();
    world.write("home/project/.claude/settings.json", &setting);
    let found = world.mcparley(&["search", "parrot"]);
    assert_eq!(found.code, i32::from(exit::NOT_FOUND.number), "{found:?}");
    assert!(found.err.contains("cannot choose the vectors"), "{found:?}");
}
