//! What is known and accepted about tools: how each was when it was first met or last reviewed, which rules of
//! "always allow" hold for which of them, and what a person last said about each (H09, P6).
//!
//! | file, below [`Paths::trust`] | what |
//! |---|---|
//! | `tools/KEY.json` | the tools of one server (`sheet`), by what the server is (`key`) |
//! | `rules.json` | the rules that are bound to a definition (`ledger`) |
//!
//! Both lie outside of every project, belong to the user alone, and are changed under a lock, whole or not at all. What
//! follows from them is decided by the catalogue (which tools have changed) and the gate (which rules hold).

mod judge;
mod key;
mod ledger;
mod sheet;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mcparley_model::config::ServerConfig;
use mcparley_model::edit::EditError;
use mcparley_model::limits::{TRUST_BYTES, TRUST_SERVERS};
use mcparley_model::name::{ServerName, ToolName};
use mcparley_model::permission::Pin;
use mcparley_model::signature::Signature;
use mcparley_model::tool::{Digest, Tool};
use mcparley_platform::file::{self, Change, Links, UpdateError};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::change::ChangeError;
use crate::paths::Paths;

pub(crate) use judge::{Judge, Trusted};
pub(crate) use key::Key;
pub(crate) use ledger::{Binding, EVERY_TOOL, Ledger};
pub(crate) use sheet::{Answers, Said, Sheet};

/// What is accepted about tools, on disk and in memory.
#[derive(Debug)]
pub(crate) struct Trust {
    paths: Arc<Paths>,
    memory: Mutex<Memory>,
}

/// What is held in memory. Definitions are as large as what servers offer, so with a folder they are not.
#[derive(Debug, Default)]
struct Memory {
    pin: Pin,
    keys: HashMap<Signature, Key>,
    /// Without a folder this is all there is.
    sheets: HashMap<Key, Arc<Sheet>>,
    /// What people said about the tools of servers that were asked for.
    said: HashMap<Key, Arc<Answers>>,
    ledger: Option<Arc<Ledger>>,
}

impl Trust {
    pub(crate) fn new(paths: Arc<Paths>) -> Self {
        Self { paths, memory: Mutex::default() }
    }

    /// What is accepted by the user of these paths.
    pub(crate) fn of(paths: &Paths) -> Self {
        Self::new(Arc::new(paths.clone()))
    }

    /// From now on this is done about tools that have changed. What others have written meanwhile counts.
    pub(crate) fn follow(&self, pin: Pin) {
        let mut memory = self.locked();
        memory.pin = pin;
        if self.paths.trust.is_some() {
            memory.said.clear();
            memory.ledger = None;
        }
    }

    /// Who is asked what has changed about a server's tools.
    pub(crate) fn judge(&self, config: &ServerConfig) -> Judge {
        let key = self.key(config);
        let pin = if key.is_pinned { self.locked().pin } else { Pin::Off };
        Judge::new(self.sheet(&key), self.ledger(), key, pin)
    }

    /// The rules that hold for one definition only.
    pub(crate) fn ledger(&self) -> Arc<Ledger> {
        let mut memory = self.locked();
        let read = || Arc::new(Self::read(self.ledger_file()).unwrap_or_default());
        Arc::clone(memory.ledger.get_or_insert_with(read))
    }

    /// Remembers tools that were never met before: as they are now, they are trusted. Gives the names of those that
    /// have changed since.
    pub(crate) fn meet(
        &self,
        config: &ServerConfig,
        server: &ServerName,
        tools: &[Arc<Tool>],
    ) -> Vec<ToolName> {
        let judge = self.judge(config);
        let changed: Vec<&Arc<Tool>> = tools.iter().filter(|tool| judge.change(tool).is_some()).collect();
        let sheet = self.sheet(&judge.key);
        let is_new = judge.pin != Pin::Off && tools.iter().any(|tool| !sheet.has(&tool.name));
        if is_new || changed.iter().any(|tool| !sheet.is_flagged(&tool.name)) {
            // What could not be written down is met anew the next time.
            let _unwritten = self.change_sheet(&judge.key, server, |sheet| {
                changed
                    .iter()
                    .filter(|tool| !sheet.is_flagged(&tool.name))
                    .collect::<Vec<_>>()
                    .into_iter()
                    .for_each(|tool| sheet.flag(tool));
                if is_new {
                    tools.iter().for_each(|tool| sheet.meet(tool));
                }
            });
        }
        changed.into_iter().map(|tool| tool.name.clone()).collect()
    }

    /// Takes the tool for what it is now.
    pub(crate) fn accept(&self, key: &Key, server: &ServerName, tool: &Tool) -> Result<(), ChangeError> {
        self.change_sheet(key, server, |sheet| sheet.accept(tool))?;
        self.change_ledger(|ledger| ledger.reviews += 1)
    }

    /// Lets rules hold for the servers and tools of these bindings, and for no other.
    pub(crate) fn bind(&self, bindings: Vec<Binding>) -> Result<(), ChangeError> {
        if self.ledger().is_full() {
            return Err(ChangeError::TooManyBound);
        }
        self.change_ledger(|ledger| bindings.into_iter().for_each(|binding| ledger.bind(binding)))
    }

    /// Forgets the tools that a rule holds for, not the servers.
    pub(crate) fn unbind_tools(&self, rule: &str, file: &Path) -> Result<(), ChangeError> {
        match self.ledger().of(rule, file).any(|binding| binding.tool != EVERY_TOOL) {
            true => self.change_ledger(|ledger| ledger.unbind_tools(rule, file)),
            false => Ok(()),
        }
    }

    /// Forgets what a rule holds for.
    pub(crate) fn unbind(&self, rule: &str, file: &Path) -> Result<(), ChangeError> {
        match self.ledger().of(rule, file).next() {
            Some(_) => self.change_ledger(|ledger| ledger.unbind(rule, file)),
            None => Ok(()),
        }
    }

    /// Remembers what a person said about the tool.
    pub(crate) fn note(
        &self,
        key: &Key,
        server: &ServerName,
        tool: &ToolName,
        said: Said,
    ) -> Result<(), ChangeError> {
        if self.said(key).get(tool.as_str()) == Some(&said) {
            return Ok(());
        }
        self.change_sheet(key, server, |sheet| sheet.note(tool, said))
    }

    /// Whether a person last allowed the tool, defined as it is now.
    pub(crate) fn was_allowed(&self, key: &Key, tool: &ToolName, definition: &Digest) -> bool {
        let said = self.said(key);
        let said = said.get(tool.as_str());
        said.is_some_and(|said| said.allowed && said.definition == definition.to_string())
    }

    fn said(&self, key: &Key) -> Arc<Answers> {
        if let Some(known) = self.locked().said.get(key) {
            return Arc::clone(known);
        }
        let said = Arc::new(self.sheet(key).answers());
        self.locked().said.insert(key.clone(), Arc::clone(&said));
        said
    }

    pub(crate) fn key(&self, config: &ServerConfig) -> Key {
        let signature = Signature::of(config);
        if let Some(key) = self.locked().keys.get(&signature) {
            return key.clone();
        }
        let key = Key::of(config, &self.paths);
        self.locked().keys.insert(signature, key.clone());
        key
    }

    fn sheet(&self, key: &Key) -> Arc<Sheet> {
        match self.sheet_file(key) {
            Some(file) => Arc::new(Self::read(Some(file)).unwrap_or_default()),
            None => self.locked().sheets.get(key).cloned().unwrap_or_default(),
        }
    }

    fn change_sheet(
        &self,
        key: &Key,
        server: &ServerName,
        change: impl FnOnce(&mut Sheet),
    ) -> Result<(), ChangeError> {
        let known = self.sheet(key);
        let (is_new, file) = (known.is_empty(), self.sheet_file(key));
        let sheet = update(file.as_deref(), Arc::unwrap_or_clone(known), |sheet: &mut Sheet| {
            sheet.name(server);
            change(sheet);
        })?;
        let mut memory = self.locked();
        memory.said.insert(key.clone(), Arc::new(sheet.answers()));
        if file.is_none() {
            memory.sheets.insert(key.clone(), Arc::new(sheet));
        }
        drop(memory);
        if let (true, Some(folder)) = (is_new, file.as_deref().and_then(Path::parent)) {
            file::prune(folder, TRUST_SERVERS);
        }
        Ok(())
    }

    fn change_ledger(&self, change: impl FnOnce(&mut Ledger)) -> Result<(), ChangeError> {
        let known = Ledger::clone(&self.ledger());
        let ledger = update(self.ledger_file().as_deref(), known, change)?;
        self.locked().ledger = Some(Arc::new(ledger));
        Ok(())
    }

    fn sheet_file(&self, key: &Key) -> Option<PathBuf> {
        Some(self.paths.trust.as_ref()?.join("tools").join(format!("{key}.json")))
    }

    fn ledger_file(&self) -> Option<PathBuf> {
        self.paths.trust_rules()
    }

    /// A file that cannot be read says nothing: its tools are met anew.
    fn read<T: DeserializeOwned>(file: Option<PathBuf>) -> Option<T> {
        let read = file::read_private(&file?, TRUST_BYTES, Links::Refuse).ok()??;
        serde_json::from_str(&read.text).ok()
    }

    fn locked(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Changes what a file holds, under its lock; without a file, what is `known`. A file that is damaged is set aside.
fn update<T: Serialize + DeserializeOwned + Default>(
    file: Option<&Path>,
    known: T,
    change: impl FnOnce(&mut T),
) -> Result<T, ChangeError> {
    let mut value = known;
    let Some(file) = file else {
        change(&mut value);
        return Ok(value);
    };
    let changed: Result<_, UpdateError<EditError>> = file::update_private(file, TRUST_BYTES, |old| {
        let read = old.map(serde_json::from_slice::<T>);
        let is_damaged = matches!(read, Some(Err(_)));
        value = read.and_then(Result::ok).unwrap_or_default();
        change(&mut value);
        let content = serde_json::to_vec(&value).unwrap_or_default();
        Ok(match (is_damaged, old == Some(content.as_slice())) {
            (true, _) => Change::SetAside { ending: ".damaged".to_owned(), content },
            (false, true) => Change::Keep,
            (false, false) => Change::Replace(content),
        })
    });
    changed?;
    Ok(value)
}

#[cfg(test)]
mod tests;
