//! Many processes and one sign-in: the first to need a renewal renews it for all.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use mcparley_testkit::example_path;

use crate::signing::Signing;

/// A process with the sign-in of a test.
pub(crate) struct User {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl User {
    pub(crate) fn start(signing: &Signing) -> Self {
        Self::run(Command::new(example_path("account_user")), signing)
    }

    /// Starts a process that can write no file larger than a kilobyte, which fails like a full disk.
    fn start_without_space(signing: &Signing) -> Self {
        let mut program = Command::new("bash");
        program
            .args(["-c", "ulimit -f 1; trap '' XFSZ; exec \"$@\"", "bash"])
            .arg(example_path("account_user"));
        Self::run(program, signing)
    }

    fn run(mut program: Command, signing: &Signing) -> Self {
        program.arg(signing.folder()).arg(signing.server.url()).arg("-");
        let mut child = program.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let mut user = Self { child, input, output: BufReader::new(output) };
        assert_eq!(user.answer(), "ready");
        user
    }

    /// Makes the process call the server.
    pub(crate) fn ask(&mut self, message: &str) {
        writeln!(self.input, "{message}").unwrap();
    }

    pub(crate) fn answer(&mut self) -> String {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }

    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for User {
    fn drop(&mut self) {
        // A process that has already ended is fine.
        self.child.kill().unwrap_or_default();
        drop(self.child.wait());
    }
}

// F79 A3
#[tokio::test]
async fn heavy_eight_processes_renew_an_expired_token_once() {
    const ROUNDS: u64 = 100;
    let signing = Signing::start(&["refresh:rotate"]);
    signing.signed_in().await;
    let mut users: Vec<User> = (0..8).map(|_| User::start(&signing)).collect();
    let begun = Instant::now();
    let (mut good, mut slowest) = (0, Duration::ZERO);
    for round in 0..ROUNDS {
        signing.server.expire_access_tokens();
        let start = Instant::now();
        users.iter_mut().for_each(|user| user.ask(&format!("round {round}")));
        for user in &mut users {
            let answer = user.answer();
            assert_eq!(answer, format!("ok round {round}"), "{}", signing.server.stats());
            good += 1;
        }
        slowest = slowest.max(start.elapsed());
        assert_eq!(signing.grants("refresh_token"), round + 1, "after round {round}");
    }
    let stats = signing.server.stats();
    println!(
        "{ROUNDS} rounds of 8 processes in {:?} (slowest {slowest:?}): {} token requests, {good} calls good, errors {}",
        begun.elapsed(),
        stats["grants"]["refresh_token"],
        stats["errors"],
    );
    assert_eq!((stats["replays"].as_u64(), stats["errors"].as_object().unwrap().len()), (Some(0), 0));
}

// F79 A3 F86
#[tokio::test]
async fn heavy_tokens_that_expire_by_the_clock_are_renewed_once_for_eight_processes() {
    let signing = Signing::start(&["refresh:rotate", "access-ms:1200"]);
    signing.signed_in().await;
    let mut users: Vec<User> = (0..8).map(|_| User::start(&signing)).collect();
    let begun = Instant::now();
    let mut rounds = 0;
    while begun.elapsed() < Duration::from_secs(6) {
        users.iter_mut().for_each(|user| user.ask("hi"));
        for user in &mut users {
            assert_eq!(user.answer(), "ok hi", "{}", signing.server.stats());
        }
        rounds += 1;
    }
    let stats = signing.server.stats();
    let renewed = signing.grants("refresh_token");
    println!("{rounds} rounds in {:?}, {renewed} renewals", begun.elapsed());
    // Each token lasts for half a second before it is due.
    assert!((3..=14).contains(&renewed), "{renewed}");
    assert_eq!((stats["replays"].as_u64(), stats["errors"].as_object().unwrap().len()), (Some(0), 0));
}

// F82 A3
#[tokio::test]
async fn heavy_process_killed_during_renewal_does_not_block_others() {
    let signing = Signing::start(&["refresh:rotate"]);
    signing.signed_in().await;
    let (mut first, mut second) = (User::start(&signing), User::start(&signing));
    for user in [&mut first, &mut second] {
        user.ask("warm");
        assert_eq!(user.answer(), "ok warm");
    }
    signing.server.expire_access_tokens();
    signing.server.apply_lies(&["token:hang", "token-times:1"]);
    first.ask("hangs");
    signing.until(|stats| stats["grants"]["refresh_token"] == 1).await;
    second.ask("waits");
    // It has been refused, so it is waiting for the lock, or soon will be.
    signing.until(|stats| stats["refused"]["unauthorized"].as_u64() >= Some(3)).await;
    first.kill();
    let killed = Instant::now();
    signing.until(|stats| stats["grants"]["refresh_token"] == 2).await;
    let proceeded = killed.elapsed();
    assert_eq!(second.answer(), "ok waits");
    println!("asked for a token {proceeded:?} after the kill, answered {:?} after it", killed.elapsed());
    assert!(proceeded <= Duration::from_millis(100), "{proceeded:?}");
    let mut third = User::start(&signing);
    third.ask("later");
    assert_eq!(third.answer(), "ok later");
    let stats = signing.server.stats();
    assert_eq!((stats["replays"].as_u64(), stats["errors"].as_object().unwrap().len()), (Some(0), 0));
}

// F73 A3
#[tokio::test]
async fn rotated_token_that_cannot_be_stored_is_used_from_memory() {
    let signing = Signing::start(&["refresh:rotate"]);
    signing.signed_in().await;
    let vault = signing.folder().join("vault");
    let before = std::fs::read(&vault).unwrap();
    let mut user = User::start_without_space(&signing);
    for round in ["first", "second", "third"] {
        signing.server.expire_access_tokens();
        user.ask(round);
        assert_eq!(user.answer(), format!("ok {round}"), "{}", signing.server.stats());
    }
    assert_eq!(std::fs::read(&vault).unwrap(), before, "the disk was not full");
    let stats = signing.server.stats();
    assert_eq!((stats["replays"].as_u64(), stats["grants"]["refresh_token"].as_u64()), (Some(0), Some(3)));
}
