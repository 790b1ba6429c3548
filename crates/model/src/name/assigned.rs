//! The table of assigned public names, with lookups in both directions.
//!
//! A catalog has thousands of them: each is one row, and copies of all names share the rows.
//! [`super::assign`] decides which name a tool gets.

use std::collections::HashMap;

use super::{PublicName, ServerName, ToolName};

/// All assigned names.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct AssignedNames {
    /// The rows, ordered by public name.
    rows: Vec<AssignedName>,
    /// The indexes of a server's rows, ordered by tool name.
    of_server: HashMap<ServerName, Vec<usize>>,
}

/// One tool and its public name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct AssignedName {
    pub(super) public: PublicName,
    pub(super) server: ServerName,
    pub(super) tool: ToolName,
}

impl AssignedNames {
    fn new(mut rows: Vec<AssignedName>) -> Self {
        rows.sort_unstable_by(|one, other| one.public.cmp(&other.public));
        let mut of_server: HashMap<ServerName, Vec<usize>> = HashMap::new();
        for (place, row) in rows.iter().enumerate() {
            of_server.entry(row.server.clone()).or_default().push(place);
        }
        for places in of_server.values_mut() {
            places.sort_unstable_by_key(|place| rows.get(*place).map(|row| &row.tool));
            places.shrink_to_fit();
        }
        Self { rows, of_server }
    }

    /// A copy of the table with additional rows.
    pub(super) fn with_rows(&self, newcomers: impl ExactSizeIterator<Item = AssignedName>) -> Self {
        let mut rows = Vec::with_capacity(self.rows.len() + newcomers.len());
        rows.extend(self.rows.iter().cloned());
        rows.extend(newcomers);
        Self::new(rows)
    }

    /// A copy of the table without the rows that `keep` rejects.
    pub(super) fn filter_rows(&self, keep: impl Fn(&AssignedName) -> bool) -> Self {
        let mut rows: Vec<AssignedName> = self.rows.iter().filter(|row| keep(row)).cloned().collect();
        rows.shrink_to_fit();
        Self::new(rows)
    }

    /// All rows, ordered by public name.
    pub(super) fn rows(&self) -> &[AssignedName] {
        &self.rows
    }

    /// The public name of a tool.
    pub(super) fn public_name(&self, server: &ServerName, tool: &ToolName) -> Option<&PublicName> {
        let row = |place: &usize| self.rows.get(*place);
        let places = self.of_server.get(server)?;
        let found = places.binary_search_by_key(&Some(tool), |place| row(place).map(|row| &row.tool)).ok()?;
        places.get(found).and_then(row).map(|row| &row.public)
    }

    /// The row of a public name.
    pub(super) fn find_row(&self, public: &str) -> Option<&AssignedName> {
        let found = self.rows.binary_search_by(|row| row.public.as_str().cmp(public)).ok()?;
        self.rows.get(found)
    }
}
