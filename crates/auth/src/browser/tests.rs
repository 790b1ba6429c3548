//! The program that opens a page, and its arguments.
#![expect(clippy::disallowed_methods, reason = "tests write programs and read what they saw")]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use super::*;

const LINK: &str = "https://as.example/authorize?a=`id`;$(id)&b=\"x y\"'";
const ESCAPED: &str = "https://as.example/authorize?a=%60id%60%3B%24%28id%29&b=%22x%20y%22%27";

fn page() -> BrowserPage {
    BrowserPage::parse(LINK).unwrap()
}

fn desktop(env: &[(&str, &str)]) -> DesktopSession {
    DesktopSession { env: env.iter().map(|(name, value)| (name.into(), value.into())).collect() }
}

/// The command lines that would be tried.
fn commands(env: &[(&str, &str)]) -> Vec<String> {
    let page = BrowserPage::parse("https://h/").unwrap();
    let openers = Opener::available_openers(&desktop(env));
    let line = |opener: &Opener| {
        let mut words = vec![opener.program().to_owned()];
        words.extend(opener.arguments(&page));
        words.join(" ")
    };
    openers.iter().map(line).collect()
}

// A1 A8
#[test]
fn openers_follow_from_the_desktop_session() {
    let display = ("DISPLAY", ":0");
    let free = ["xdg-open https://h/", "gio open https://h/", "x-www-browser https://h/"];
    assert_eq!(commands(&[]), Vec::<String>::new());
    assert_eq!(commands(&[("DISPLAY", ""), ("BROWSER", " : ")]), Vec::<String>::new());
    assert_eq!(commands(&[display]), free);
    assert_eq!(commands(&[("WAYLAND_DISPLAY", "wayland-0")]), free);
    assert_eq!(
        commands(&[("WSL_DISTRO_NAME", "Ubuntu")]),
        ["wslview https://h/", "rundll32.exe url.dll,FileProtocolHandler https://h/"]
    );
    assert_eq!(
        commands(&[("BROWSER", "a --new %s --end:b  'c':%s d")]),
        ["a --new https://h/ --end", "b 'c' https://h/"]
    );
    assert_eq!(commands(&[("BROWSER", "fox --at=%s")]), ["fox --at=https://h/"]);
}

/// Programs in a folder that is the whole `PATH`.
fn programs(folder: &Path, scripts: &[(&str, &str)]) -> Browser {
    for (name, script) in scripts {
        let path = folder.join(name);
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let folder = folder.to_str().unwrap();
    let env = [("PATH", folder), ("DISPLAY", ":0"), ("HOME", folder), ("BROWSER", "first --flag")];
    Browser::for_desktop(desktop(&env))
}

// B65 B66 H01
#[tokio::test]
async fn page_is_one_argument_and_not_seen_by_a_shell() {
    let folder = tempfile::tempdir().unwrap();
    let browser = programs(
        folder.path(),
        &[("first", "printf '%s\\n' \"$#\" \"$@\" > seen.new; /bin/mv seen.new seen")],
    );
    assert_eq!(browser.open_page(&page()).await, BrowserOutcome::Opened { program: "first".to_owned() });
    let seen = fs::read_to_string(folder.path().join("seen")).unwrap();
    assert_eq!(seen, format!("2\n--flag\n{ESCAPED}\n"));
}

// A8
#[tokio::test]
async fn failed_opener_is_followed_by_the_next_and_all_failures_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let browser = programs(folder.path(), &[("first", "exit 3"), ("gio", "exit 0")]);
    assert_eq!(browser.open_page(&page()).await, BrowserOutcome::Opened { program: "gio".to_owned() });

    let folder = tempfile::tempdir().unwrap();
    let browser = programs(folder.path(), &[("first", "exit 3"), ("xdg-open", "kill -9 $$")]);
    let BrowserOutcome::NoBrowser(why) = browser.open_page(&page()).await else { panic!("opened") };
    assert_eq!(
        why.to_string(),
        "cannot start a browser: `first`: exited with code 3; `xdg-open`: killed by signal 9; \
         `gio`: `gio` not found on PATH; `x-www-browser`: `x-www-browser` not found on PATH"
    );
}

// A8
#[tokio::test]
async fn without_a_display_no_program_is_started() {
    let browser = Browser::for_desktop(desktop(&[("PATH", "/usr/bin:/bin")]));
    let opened = browser.open_page(&page()).await;
    assert_eq!(opened, BrowserOutcome::NoBrowser(NoBrowser::NoScreen));
    assert!(!format!("{browser:?}").contains("/usr/bin"));
}
