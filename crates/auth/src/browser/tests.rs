//! Which program opens a page, and what it is given.
#![expect(clippy::disallowed_methods, reason = "tests write programs and read what they saw")]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use super::*;

const LINK: &str = "https://as.example/authorize?a=`id`;$(id)&b=\"x y\"'";
const ESCAPED: &str = "https://as.example/authorize?a=%60id%60%3B%24%28id%29&b=%22x%20y%22%27";

fn page() -> Page {
    Page::parse(LINK).unwrap()
}

fn desktop(system: System, env: &[(&str, &str)]) -> Desktop {
    Desktop { system, env: env.iter().map(|(name, value)| (name.into(), value.into())).collect() }
}

/// The command lines that would be tried.
fn commands(system: System, env: &[(&str, &str)]) -> Vec<String> {
    let page = Page::parse("https://h/").unwrap();
    let openers = Opener::all(&desktop(system, env));
    let line = |opener: &Opener| {
        let mut words = vec![opener.program().to_owned()];
        words.extend(opener.arguments(&page));
        words.join(" ")
    };
    openers.iter().map(line).collect()
}

// A1 A8
#[test]
fn what_is_tried_follows_from_the_desktop() {
    use System::{Linux, MacOs, Windows};
    let display = ("DISPLAY", ":0");
    let free = ["xdg-open https://h/", "gio open https://h/", "x-www-browser https://h/"];
    assert_eq!(commands(Linux, &[]), Vec::<String>::new());
    assert_eq!(commands(Linux, &[("DISPLAY", ""), ("BROWSER", " : ")]), Vec::<String>::new());
    assert_eq!(commands(Linux, &[display]), free);
    assert_eq!(commands(Linux, &[("WAYLAND_DISPLAY", "wayland-0")]), free);
    assert_eq!(
        commands(Linux, &[("WSL_DISTRO_NAME", "Ubuntu")]),
        ["wslview https://h/", "rundll32.exe url.dll,FileProtocolHandler https://h/"]
    );
    assert_eq!(
        commands(Linux, &[("BROWSER", "a --new %s --end:b  'c':%s d")]),
        ["a --new https://h/ --end", "b 'c' https://h/"]
    );
    assert_eq!(commands(Linux, &[("BROWSER", "fox --at=%s")]), ["fox --at=https://h/"]);
    assert_eq!(commands(MacOs, &[]), ["/usr/bin/open https://h/"]);
    assert_eq!(commands(Windows, &[]), ["rundll32 url.dll,FileProtocolHandler https://h/"]);
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
    Browser::of(desktop(System::Linux, &env))
}

// B65 B66 H01
#[tokio::test]
async fn a_page_is_one_argument_and_no_shell_sees_it() {
    let folder = tempfile::tempdir().unwrap();
    let browser = programs(
        folder.path(),
        &[("first", "printf '%s\\n' \"$#\" \"$@\" > seen.new; /bin/mv seen.new seen")],
    );
    assert_eq!(browser.open(&page()).await, Opened::Yes { program: "first".to_owned() });
    let seen = fs::read_to_string(folder.path().join("seen")).unwrap();
    assert_eq!(seen, format!("2\n--flag\n{ESCAPED}\n"));
}

// A8
#[tokio::test]
async fn a_program_that_refuses_is_followed_by_the_next_and_all_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let browser = programs(folder.path(), &[("first", "exit 3"), ("gio", "exit 0")]);
    assert_eq!(browser.open(&page()).await, Opened::Yes { program: "gio".to_owned() });

    let folder = tempfile::tempdir().unwrap();
    let browser = programs(folder.path(), &[("first", "exit 3"), ("xdg-open", "kill -9 $$")]);
    let Opened::NoBrowser(why) = browser.open(&page()).await else { panic!("opened") };
    assert_eq!(
        why.to_string(),
        "no browser could be started: `first`: it exited with code 3; `xdg-open`: it was ended by signal 9; \
         `gio`: program `gio` not found; `x-www-browser`: program `x-www-browser` not found"
    );
}

// A8
#[tokio::test]
async fn without_a_screen_nothing_is_started() {
    let browser = Browser::of(desktop(System::Linux, &[("PATH", "/usr/bin:/bin")]));
    let opened = browser.open(&page()).await;
    assert_eq!(opened, Opened::NoBrowser(NoBrowser::NoScreen));
    assert!(!format!("{browser:?}").contains("/usr/bin"));
}
