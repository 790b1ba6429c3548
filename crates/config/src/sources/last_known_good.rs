//! Last known good content of configuration files.
//!
//! An editor leaves half a file for a moment, and a full disk an empty one. Until such a file can be read
//! again, its last known good text is used. Every other file counts as it is now, so that breaking one file
//! cannot keep a rule in another from applying.

use std::collections::HashMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use mcparley_model::scope::Source;

use super::file::ConfigProblem;

/// The text of each file when it could last be read.
#[derive(Clone, Default)]
pub(super) struct LastKnownGood {
    texts: HashMap<Source, Arc<str>>,
    stale_problems: Vec<ConfigProblem>,
}

impl LastKnownGood {
    /// The problems of files whose last known good text is in use.
    pub(super) fn stale_problems(&self) -> &[ConfigProblem] {
        &self.stale_problems
    }

    /// Remembers the text of a file. Inline text is skipped, because it cannot be half written.
    pub(super) fn remember_text(&mut self, source: &Source, text: &str) {
        let is_known = self.texts.get(source).is_some_and(|known| **known == *text);
        if source.path().is_some() && !is_known {
            self.texts.insert(source.clone(), Arc::from(text));
        }
    }

    /// The last known good text for a file with this problem, if the problem may be temporary and there is a
    /// text.
    pub(super) fn substitute_for(&mut self, problem: &ConfigProblem) -> Option<Arc<str>> {
        let text = self.texts.get(&problem.origin.source).filter(|_| problem.may_pass)?;
        if !self.stale_problems.contains(problem) {
            self.stale_problems.push(problem.clone());
        }
        Some(Arc::clone(text))
    }

    pub(super) fn forget_file(&mut self, source: &Source) {
        self.texts.remove(source);
    }

    pub(super) fn start_load(&mut self) {
        self.stale_problems.clear();
    }

    /// Forgets files that are not looked for any more.
    pub(super) fn finish_load(&mut self, files: &[PathBuf]) {
        self.texts
            .retain(|source, _| source.path().is_some_and(|path| files.iter().any(|file| file == path)));
    }
}

impl fmt::Debug for LastKnownGood {
    /// Omits the texts, because they contain secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Earlier").field("held_back", &self.stale_problems).finish_non_exhaustive()
    }
}
