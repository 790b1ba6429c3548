//! The web page in a real Chromium: `mcparley ui` with real servers, used with mouse and keyboard.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Stdio};

use serde_json::{Value, json};

use super::place::{Place, installed, repository};
use super::servers::EVERYTHING;

/// The page, ended with this value.
struct OpenPage {
    child: Child,
    address: String,
}

impl OpenPage {
    fn start(place: &Place) -> Self {
        let mut command = place.world.command(&["ui", "--no-open", "--json"]);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address: Value = serde_json::from_str(&line).unwrap();
        Self { child, address: address["address"].as_str().unwrap().to_owned() }
    }
}

impl Drop for OpenPage {
    fn drop(&mut self) {
        self.child.kill().unwrap_or_default();
        self.child.wait().unwrap();
    }
}

// U6
#[test]
fn fleet_chromium_uses_the_page_at_1280_and_400_pixels() {
    let place = Place::new();
    let (everything, _) = (EVERYTHING.entry)(&place);
    let late = place.world.root.join("late-server");
    let gone = place.world.root.join("gone-server");
    let servers = json!({
        "everything": everything,
        "late": place.stdio(&late, &["--from", "the test"], &[]),
        "gone": place.stdio(&gone, &[], &[]),
    });
    place.world.write("home/.claude.json", &json!({ "mcpServers": servers }).to_string());
    let brought = json!({ "mcpServers": { "brought": { "command": "npx", "args": ["-y", "some-server", "${HOME}"] } } });
    place.world.write("home/project/.mcp.json", &brought.to_string());
    let page = OpenPage::start(&place);
    let arguments: Vec<&str> =
        everything["args"].as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect();
    let program = everything["command"].as_str().unwrap();
    let late_script = format!("#!/bin/sh\nexec '{program}' '{}'\n", arguments.join("' '"));
    let pictures = place.world.root.join("pictures");
    std::fs::create_dir(&pictures).unwrap();
    let task = json!({
        "address": page.address, "browser": installed("browser"), "pictures": pictures,
        "late": late, "lateScript": late_script,
    });
    let script = repository().join("fleet/browser/web_page.mjs");
    let mut node = place.world.command_of(&installed("browser/node"), &[&script.to_string_lossy()]);
    let mut node = node.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    node.stdin.take().unwrap().write_all(task.to_string().as_bytes()).unwrap();
    let (mut out, mut err) = (String::new(), String::new());
    node.stdout.take().unwrap().read_to_string(&mut out).unwrap();
    node.stderr.take().unwrap().read_to_string(&mut err).unwrap();
    std::fs::write(pictures.join("figures.json"), &out).unwrap();
    // To look at them: a folder that exists.
    let pictures = std::env::var_os("MCPARLEY_KEEP_PICTURES").map(|kept| (pictures, kept));
    if let Some((pictures, kept)) = pictures {
        for picture in std::fs::read_dir(pictures).unwrap().map(Result::unwrap) {
            std::fs::copy(picture.path(), std::path::Path::new(&kept).join(picture.file_name())).unwrap();
        }
    }
    assert!(node.wait().unwrap().success(), "{out}\n{err}");
    let figures: Value = serde_json::from_str(&out).unwrap();
    assert!(figures["bytes"].as_u64().unwrap() < 150_000, "{figures}");
    // Measured: below 200 ms; a loaded machine is slower.
    assert!(figures["firstViewMilliseconds"].as_u64().unwrap() < 5_000, "{figures}");
}

/// The largest picture of the documentation.
const PICTURE_BYTES: usize = 120_000;

// U6: the pictures of the tour. `MCPARLEY_UPDATE_PAGES=1` writes them; look at them before they are committed.
#[test]
fn fleet_chromium_takes_the_pictures_of_the_tour() {
    let place = Place::new();
    let (everything, _) = (EVERYTHING.entry)(&place);
    let servers = json!({ "everything": everything, "weather": { "command": "weather-mcp", "args": ["--units", "metric"] } });
    place.world.write("home/.claude.json", &json!({ "mcpServers": servers }).to_string());
    let page = OpenPage::start(&place);
    let pictures = place.world.root.join("pictures");
    std::fs::create_dir(&pictures).unwrap();
    let task = json!({
        "address": page.address, "browser": installed("browser"), "pictures": pictures, "home": place.world.home,
    });
    let script = repository().join("fleet/browser/page_picture.mjs");
    let mut node = place.world.command_of(&installed("browser/node"), &[&script.to_string_lossy()]);
    let mut node = node.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    node.stdin.take().unwrap().write_all(task.to_string().as_bytes()).unwrap();
    let done = node.wait_with_output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let shown: Value = serde_json::from_slice(&done.stdout).unwrap();
    assert!(shown["error"].as_str().unwrap().contains("weather-mcp"), "{shown}");
    for name in ["page-1280.png", "page-400.png"] {
        let picture = std::fs::read(pictures.join(name)).unwrap();
        assert!(picture.len() <= PICTURE_BYTES, "{name} has {} bytes", picture.len());
        let kept = repository().join("docs/images").join(name);
        if std::env::var_os("MCPARLEY_UPDATE_PAGES").is_some() {
            std::fs::write(&kept, &picture).unwrap();
        }
        assert!(kept.exists(), "{name} is missing: run this test with MCPARLEY_UPDATE_PAGES=1");
    }
}
