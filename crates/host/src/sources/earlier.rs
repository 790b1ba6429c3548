//! What files said when they could last be read.
//!
//! An editor leaves half a file for a moment, and a full disk an empty one. Until such a file can be read again, what
//! it said before goes on; every other file counts as it is now, so that nobody who breaks one keeps a rule in
//! another from applying.

use std::collections::HashMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use mcparley_model::scope::Source;

use super::file::Problem;

/// The texts of files, as of the last time each could be read.
#[derive(Clone, Default)]
pub(crate) struct Earlier {
    texts: HashMap<Source, Arc<str>>,
    held_back: Vec<Problem>,
}

impl Earlier {
    /// The problems of files for which an earlier text stands in.
    pub(crate) fn held_back(&self) -> &[Problem] {
        &self.held_back
    }

    /// Remembers what was read. Text that is no file cannot be half written.
    pub(super) fn keep(&mut self, source: &Source, text: &str) {
        let is_known = self.texts.get(source).is_some_and(|known| **known == *text);
        if source.path().is_some() && !is_known {
            self.texts.insert(source.clone(), Arc::from(text));
        }
    }

    /// The text that stands in for a file with this problem, if it may pass and there is one.
    pub(super) fn instead(&mut self, problem: &Problem) -> Option<Arc<str>> {
        let text = self.texts.get(&problem.origin.source).filter(|_| problem.may_pass)?;
        if !self.held_back.contains(problem) {
            self.held_back.push(problem.clone());
        }
        Some(Arc::clone(text))
    }

    pub(super) fn forget(&mut self, source: &Source) {
        self.texts.remove(source);
    }

    pub(super) fn begin(&mut self) {
        self.held_back.clear();
    }

    /// Forgets files that are not looked for any more.
    pub(super) fn finish(&mut self, files: &[PathBuf]) {
        self.texts
            .retain(|source, _| source.path().is_some_and(|path| files.iter().any(|file| file == path)));
    }
}

impl fmt::Debug for Earlier {
    /// Without the texts: there are secrets in them.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Earlier").field("held_back", &self.held_back).finish_non_exhaustive()
    }
}
