//! The public names that were given, found from either side.
//!
//! A catalogue has thousands: each is one row, and whoever keeps a copy of all names shares the rows. Which name a tool
//! gets is decided by [`super::catalogue`].

use std::collections::HashMap;

use super::{PublicName, ServerName, ToolName};

/// Every name that was given.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Given {
    /// In the order of the public names.
    rows: Vec<Row>,
    /// The places of a server's rows, in the order of its tools' names.
    of_server: HashMap<ServerName, Vec<usize>>,
}

/// One tool and its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) public: PublicName,
    pub(super) server: ServerName,
    pub(super) tool: ToolName,
}

impl Given {
    fn new(mut rows: Vec<Row>) -> Self {
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

    /// The same with more.
    pub(super) fn with(&self, newcomers: impl ExactSizeIterator<Item = Row>) -> Self {
        let mut rows = Vec::with_capacity(self.rows.len() + newcomers.len());
        rows.extend(self.rows.iter().cloned());
        rows.extend(newcomers);
        Self::new(rows)
    }

    /// The same without those that `keep` refuses.
    pub(super) fn retained(&self, keep: impl Fn(&Row) -> bool) -> Self {
        let mut rows: Vec<Row> = self.rows.iter().filter(|row| keep(row)).cloned().collect();
        rows.shrink_to_fit();
        Self::new(rows)
    }

    /// All of them, in the order of the public names.
    pub(super) fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// The name of a tool.
    pub(super) fn public(&self, server: &ServerName, tool: &ToolName) -> Option<&PublicName> {
        let row = |place: &usize| self.rows.get(*place);
        let places = self.of_server.get(server)?;
        let found = places.binary_search_by_key(&Some(tool), |place| row(place).map(|row| &row.tool)).ok()?;
        places.get(found).and_then(row).map(|row| &row.public)
    }

    /// The tool that has a name.
    pub(super) fn original(&self, public: &str) -> Option<&Row> {
        let found = self.rows.binary_search_by(|row| row.public.as_str().cmp(public)).ok()?;
        self.rows.get(found)
    }
}
