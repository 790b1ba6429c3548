//! Trust store: accepted tool definitions, permission rules bound to them, and the user's last answers.
//!
//! | file, below [`Paths::trust`] | content |
//! |---|---|
//! | `tools/KEY.json` | accepted tools of one server (`accepted_tools`), by its trust key (`key`) |
//! | `rules.json` | rules that are bound to a tool definition (`rule_bindings`) |
//!
//! Both lie outside of every project, only the user may access them, and every change is an atomic write
//! under an advisory lock. The catalog decides from them which tools have changed, the permission gate which
//! rules hold.

mod accepted_tools;
mod checker;
mod key;
mod rule_bindings;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::json_editor::EditError;
use mcparley_model::config::ServerConfig;
use mcparley_model::limits::{TRUST_BYTES, TRUST_SERVERS};
use mcparley_model::name::{ServerName, ToolName};
use mcparley_model::permission::ToolPin;
use mcparley_model::signature::Signature;
use mcparley_model::tool::{Tool, ToolDigest};
use mcparley_model::trust::TrustKey;
use mcparley_platform::file::{self, FileUpdateError, PrivateChange, SymlinkPolicy};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::change_error::ChangeError;
use crate::paths::Paths;

use accepted_tools::AcceptedTools;
pub use accepted_tools::ToolAnswer;
use accepted_tools::ToolAnswers;
pub use checker::TrustChecker;
use key::trust_key;
pub use rule_bindings::{EVERY_TOOL, RuleBinding, RuleBindings};

/// Accepted tool definitions and rule bindings, on disk and in memory.
#[derive(Debug)]
pub struct TrustStore {
    paths: Arc<Paths>,
    memory: Mutex<TrustMemory>,
}

/// The part of the store in memory. With a folder, definitions are read from disk each time, because they are
/// large.
#[derive(Debug, Default)]
struct TrustMemory {
    pin: ToolPin,
    keys: HashMap<Signature, TrustKey>,
    /// The accepted tools per server, if there is no folder.
    tools: HashMap<TrustKey, Arc<AcceptedTools>>,
    /// Cache of the users' answers per server.
    answers: HashMap<TrustKey, Arc<ToolAnswers>>,
    rule_bindings: Option<Arc<RuleBindings>>,
}

impl TrustStore {
    /// A store below the trust folder of these paths.
    #[must_use]
    pub fn new(paths: Arc<Paths>) -> Self {
        Self { paths, memory: Mutex::default() }
    }

    /// A store for the user of these paths.
    pub fn for_paths(paths: &Paths) -> Self {
        Self::new(Arc::new(paths.clone()))
    }

    /// Sets the pinning policy for changed tools, and drops caches so that writes of other processes count.
    pub fn set_pin(&self, pin: ToolPin) {
        let mut memory = self.lock_memory();
        memory.pin = pin;
        if self.paths.trust.is_some() {
            memory.answers.clear();
            memory.rule_bindings = None;
        }
    }

    /// The checker for the tools of one server.
    pub fn checker_for(&self, config: &ServerConfig) -> TrustChecker {
        let key = self.server_key(config);
        let pin = if key.is_pinned { self.lock_memory().pin } else { ToolPin::Off };
        TrustChecker::new(self.accepted_tools(&key), self.rule_bindings(), key, pin)
    }

    /// The bindings of permission rules to tool definitions.
    pub fn rule_bindings(&self) -> Arc<RuleBindings> {
        let mut memory = self.lock_memory();
        let read = || Arc::new(Self::read_json(self.bindings_file()).unwrap_or_default());
        Arc::clone(memory.rule_bindings.get_or_insert_with(read))
    }

    /// Accepts tools that were never seen before (trust on first use).
    ///
    /// Returns the names of the tools that have changed since they were accepted.
    pub fn record_tools(
        &self,
        config: &ServerConfig,
        server: &ServerName,
        tools: &[Arc<Tool>],
    ) -> Vec<ToolName> {
        let judge = self.checker_for(config);
        let changed: Vec<&Arc<Tool>> =
            tools.iter().filter(|tool| judge.definition_change(tool).is_some()).collect();
        let sheet = self.accepted_tools(&judge.key);
        let is_new = judge.pin != ToolPin::Off && tools.iter().any(|tool| !sheet.has_tool(&tool.name));
        if is_new || changed.iter().any(|tool| !sheet.is_flagged(&tool.name)) {
            // Tools that could not be recorded count as new the next time.
            let _unwritten = self.change_tools(&judge.key, server, |sheet| {
                changed
                    .iter()
                    .filter(|tool| !sheet.is_flagged(&tool.name))
                    .collect::<Vec<_>>()
                    .into_iter()
                    .for_each(|tool| sheet.flag_tool(tool));
                if is_new {
                    tools.iter().for_each(|tool| sheet.accept_new_tool(tool));
                }
            });
        }
        changed.into_iter().map(|tool| tool.name.clone()).collect()
    }

    /// Accepts the current definition of a tool after a review.
    pub fn accept_tool(&self, key: &TrustKey, server: &ServerName, tool: &Tool) -> Result<(), ChangeError> {
        self.change_tools(key, server, |sheet| sheet.accept_tool(tool))?;
        self.change_bindings(|ledger| ledger.reviews += 1)
    }

    /// Binds permission rules to the servers and tools of these bindings.
    pub fn bind_rules(&self, bindings: Vec<RuleBinding>) -> Result<(), ChangeError> {
        if self.rule_bindings().is_full() {
            return Err(ChangeError::TooManyBound);
        }
        self.change_bindings(|ledger| bindings.into_iter().for_each(|binding| ledger.add_binding(binding)))
    }

    /// Removes the tool bindings of a rule, not its server bindings.
    pub fn unbind_rule_tools(&self, rule: &str, file: &Path) -> Result<(), ChangeError> {
        if self.rule_bindings().bindings_of(rule, file).any(|binding| binding.tool != EVERY_TOOL) {
            self.change_bindings(|ledger| ledger.remove_rule_tools(rule, file))
        } else {
            Ok(())
        }
    }

    /// Removes every binding of a rule.
    pub fn unbind_rule(&self, rule: &str, file: &Path) -> Result<(), ChangeError> {
        match self.rule_bindings().bindings_of(rule, file).next() {
            Some(_) => self.change_bindings(|ledger| ledger.remove_rule(rule, file)),
            None => Ok(()),
        }
    }

    /// Records the user's answer to a permission question about the tool.
    pub fn record_answer(
        &self,
        key: &TrustKey,
        server: &ServerName,
        tool: &ToolName,
        said: ToolAnswer,
    ) -> Result<(), ChangeError> {
        if self.answers_for(key).get(tool.as_str()) == Some(&said) {
            return Ok(());
        }
        self.change_tools(key, server, |sheet| sheet.record_answer(tool, said))
    }

    /// Whether the user's last answer allowed the tool with its current definition.
    pub fn was_allowed(&self, key: &TrustKey, tool: &ToolName, definition: &ToolDigest) -> bool {
        let said = self.answers_for(key);
        let said = said.get(tool.as_str());
        said.is_some_and(|said| said.allowed && said.definition == definition.to_string())
    }

    fn answers_for(&self, key: &TrustKey) -> Arc<ToolAnswers> {
        if let Some(known) = self.lock_memory().answers.get(key) {
            return Arc::clone(known);
        }
        let said = Arc::new(self.accepted_tools(key).answers());
        self.lock_memory().answers.insert(key.clone(), Arc::clone(&said));
        said
    }

    /// The trust key of the server with this entry.
    #[must_use]
    pub fn server_key(&self, config: &ServerConfig) -> TrustKey {
        let signature = Signature::from_config(config);
        if let Some(key) = self.lock_memory().keys.get(&signature) {
            return key.clone();
        }
        let key = trust_key(config, &self.paths);
        self.lock_memory().keys.insert(signature, key.clone());
        key
    }

    fn accepted_tools(&self, key: &TrustKey) -> Arc<AcceptedTools> {
        match self.tools_file(key) {
            Some(file) => Arc::new(Self::read_json(Some(file)).unwrap_or_default()),
            None => self.lock_memory().tools.get(key).cloned().unwrap_or_default(),
        }
    }

    fn change_tools(
        &self,
        key: &TrustKey,
        server: &ServerName,
        change: impl FnOnce(&mut AcceptedTools),
    ) -> Result<(), ChangeError> {
        let known = self.accepted_tools(key);
        let (is_new, file) = (known.is_empty(), self.tools_file(key));
        let sheet =
            update_file(file.as_deref(), Arc::unwrap_or_clone(known), |sheet: &mut AcceptedTools| {
                sheet.set_server(server);
                change(sheet);
            })?;
        let mut memory = self.lock_memory();
        memory.answers.insert(key.clone(), Arc::new(sheet.answers()));
        if file.is_none() {
            memory.tools.insert(key.clone(), Arc::new(sheet));
        }
        drop(memory);
        if let (true, Some(folder)) = (is_new, file.as_deref().and_then(Path::parent)) {
            file::prune_cache_folder(folder, TRUST_SERVERS);
        }
        Ok(())
    }

    fn change_bindings(&self, change: impl FnOnce(&mut RuleBindings)) -> Result<(), ChangeError> {
        let known = RuleBindings::clone(&self.rule_bindings());
        let ledger = update_file(self.bindings_file().as_deref(), known, change)?;
        self.lock_memory().rule_bindings = Some(Arc::new(ledger));
        Ok(())
    }

    fn tools_file(&self, key: &TrustKey) -> Option<PathBuf> {
        Some(self.paths.trust.as_ref()?.join("tools").join(format!("{key}.json")))
    }

    fn bindings_file(&self) -> Option<PathBuf> {
        self.paths.trust_rules()
    }

    /// Reads a JSON file. One that cannot be read counts as absent, so its tools count as new.
    fn read_json<T: DeserializeOwned>(file: Option<PathBuf>) -> Option<T> {
        let read = file::read_private(&file?, TRUST_BYTES, SymlinkPolicy::Refuse).ok()??;
        serde_json::from_str(&read.text).ok()
    }

    fn lock_memory(&self) -> MutexGuard<'_, TrustMemory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Updates a JSON file under its lock, or only the `known` value if there is no file.
///
/// A damaged file is moved aside and replaced.
fn update_file<T: Serialize + DeserializeOwned + Default>(
    file: Option<&Path>,
    known: T,
    change: impl FnOnce(&mut T),
) -> Result<T, ChangeError> {
    let mut value = known;
    let Some(file) = file else {
        change(&mut value);
        return Ok(value);
    };
    let changed: Result<_, FileUpdateError<EditError>> = file::update_private(file, TRUST_BYTES, |old| {
        let read = old.map(serde_json::from_slice::<T>);
        let is_damaged = matches!(read, Some(Err(_)));
        value = read.and_then(Result::ok).unwrap_or_default();
        change(&mut value);
        let content = serde_json::to_vec(&value).unwrap_or_default();
        Ok(match (is_damaged, old == Some(content.as_slice())) {
            (true, _) => PrivateChange::SetAside { ending: ".damaged".to_owned(), content },
            (false, true) => PrivateChange::Keep,
            (false, false) => PrivateChange::Replace(content),
        })
    });
    changed?;
    Ok(value)
}

#[cfg(test)]
mod tests;
