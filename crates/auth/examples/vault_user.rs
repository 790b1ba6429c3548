//! A process that uses a vault with its key in a file, for tests that start many and kill some.
//!
//! - `vault_user fill <folder> <prefix> <count>`: writes this many entries.
//! - `vault_user count <folder> <count>`: increments the number in one entry under its lock, this many times.
//! - `vault_user hold <folder>`: locks the entry `shared`, says so, and holds the lock until its input ends.

use mcparley_auth::vault::{EntryId, ExpectedEntry, KeyStorage, Vault, VaultError, VaultSettings};
use mcparley_model::explain::Explain as _;
use mcparley_model::secret::Secret;
use std::io::{self, Read, Write};
use std::process::ExitCode;
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(60);

#[tokio::main(flavor = "current_thread")]
async fn main() -> io::Result<ExitCode> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        ["fill", folder, prefix, count] => fill(&open(folder), prefix, number(count)).await,
        ["count", folder, count] => count_up(&open(folder), number(count)).await,
        ["hold", folder] => return hold(&open(folder)).await,
        _ => return Ok(ExitCode::from(64)),
    };
    let Err(error) = done else { return Ok(ExitCode::SUCCESS) };
    writeln!(io::stderr(), "error: {error}\nhint: {}", error.hint().unwrap_or_default())?;
    Ok(ExitCode::FAILURE)
}

fn open(folder: &str) -> Vault {
    Vault::new(VaultSettings { storage: KeyStorage::File, ..VaultSettings::new(folder) })
}

fn number(text: &str) -> u32 {
    text.parse().unwrap_or_default()
}

fn shared() -> EntryId {
    EntryId::new("server", "shared")
}

async fn fill(vault: &Vault, prefix: &str, count: u32) -> Result<(), VaultError> {
    for number in 0..count {
        let id = EntryId::new("server", format!("{prefix}-{number}"));
        vault.write_entry(&id, Secret::new(id.as_str().into()), ExpectedEntry::Absent).await?;
    }
    Ok(())
}

async fn count_up(vault: &Vault, count: u32) -> Result<(), VaultError> {
    for _ in 0..count {
        let _held = vault.lock_entry(&shared(), PATIENCE).await?;
        let entry = vault.read_entry(&shared()).await?;
        let expected =
            entry.as_ref().map_or(ExpectedEntry::Absent, |entry| ExpectedEntry::Generation(entry.generation));
        let before = entry.map_or(0, |entry| number(&String::from_utf8_lossy(entry.value.expose())));
        vault.write_entry(&shared(), Secret::new((before + 1).to_string().into()), expected).await?;
    }
    Ok(())
}

async fn hold(vault: &Vault) -> io::Result<ExitCode> {
    let _held = vault.lock_entry(&shared(), PATIENCE).await.map_err(io::Error::other)?;
    writeln!(io::stdout(), "held")?;
    io::stdin().read_to_end(&mut Vec::new())?;
    Ok(ExitCode::SUCCESS)
}
