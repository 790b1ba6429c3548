//! Figures of a retrieval measurement, their goals, and the table.

use serde_json::{Value, json};

use crate::table::align_columns;

/// The ranks within which a tool counts as found.
const WITHIN: [usize; 3] = [1, 5, 10];

/// Counts the ranks at which the right tool was found.
#[derive(Clone, Debug, Default)]
pub(super) struct RankTally {
    queries: usize,
    hits: [usize; 3],
    reciprocal_ranks: f64,
}

/// The figures of one set.
#[derive(Clone, Debug)]
pub(super) struct SetReport {
    pub(super) name: String,
    pub(super) tools: usize,
    /// The number of tools that are first when their own name is the query.
    pub(super) names_first: usize,
    pub(super) ours: RankTally,
    pub(super) bm25: RankTally,
    /// The goal for hit@5: the least share of queries with their tool among the first five.
    pub(super) hit_at_5: f64,
}

/// The figures of all sets.
#[derive(Clone, Debug)]
pub(crate) struct RetrievalReport {
    pub(super) sets: Vec<SetReport>,
}

impl RankTally {
    /// Counts a query by the place of its tool, from 0; `None` if the tool was not found.
    pub(super) fn add(&mut self, place: Option<usize>) {
        self.queries += 1;
        let Some(place) = place else { return };
        for (hits, within) in self.hits.iter_mut().zip(WITHIN) {
            *hits += usize::from(place < within);
        }
        self.reciprocal_ranks += 1.0 / (place + 1) as f64;
    }

    /// hit@1, hit@5, hit@10 and the mean reciprocal rank.
    fn figures(&self) -> [f64; 4] {
        let queries = self.queries.max(1) as f64;
        let [first, five, ten] = self.hits.map(|hits| hits as f64 / queries);
        [first, five, ten, self.reciprocal_ranks / queries]
    }
}

const FIGURES: [&str; 4] = ["hit@1", "hit@5", "hit@10", "MRR"];

impl SetReport {
    fn missed_goals(&self) -> Vec<String> {
        let mut missed = Vec::new();
        if self.ours.queries == 0 {
            missed.push(format!("{} has no query", self.name));
        }
        for ((figure, ours), bm25) in FIGURES.iter().zip(self.ours.figures()).zip(self.bm25.figures()) {
            if ours < bm25 {
                missed.push(format!("{}: {figure} is {ours:.3}, that of plain BM25 {bm25:.3}", self.name));
            }
        }
        let [_, hit_at_5, ..] = self.ours.figures();
        if hit_at_5 < self.hit_at_5 {
            missed.push(format!("{}: hit@5 is {hit_at_5:.3}, the goal {}", self.name, self.hit_at_5));
        }
        if self.names_first < self.tools {
            let behind = self.tools - self.names_first;
            missed.push(format!("{}: {behind} tools are not first for their own name", self.name));
        }
        missed
    }

    fn to_rows(&self) -> [Vec<String>; 2] {
        let row = |ranking: &str, tally: &RankTally, names: String| {
            let set =
                [self.name.clone(), self.tools.to_string(), tally.queries.to_string(), ranking.to_owned()];
            let figures = tally.figures().map(|figure| format!("{figure:.3}"));
            set.into_iter().chain(figures).chain([names]).collect()
        };
        [row("BM25", &self.bm25, String::new()), row("mcparley", &self.ours, self.names_first.to_string())]
    }

    fn to_json(&self) -> Value {
        let figures = |tally: &RankTally| {
            FIGURES
                .iter()
                .zip(tally.figures())
                .map(|(name, figure)| (*name, json!(figure)))
                .collect::<Value>()
        };
        json!({
            "set": self.name, "tools": self.tools, "queries": self.ours.queries, "namesFirst": self.names_first,
            "mcparley": figures(&self.ours), "bm25": figures(&self.bm25),
        })
    }
}

impl RetrievalReport {
    /// The goals that are missed, as sentences. Without a set, nothing was measured.
    pub(crate) fn missed_goals(&self) -> Vec<String> {
        if self.sets.is_empty() {
            return vec!["there is no set; give `--bfcl` or `--set`".to_owned()];
        }
        self.sets.iter().flat_map(SetReport::missed_goals).collect()
    }

    pub(crate) fn to_text(&self) -> String {
        let head = ["set", "tools", "queries", "ranking"].into_iter().chain(FIGURES).chain(["names first"]);
        let head: Vec<String> = head.map(str::to_owned).collect();
        let rows: Vec<Vec<String>> =
            std::iter::once(head).chain(self.sets.iter().flat_map(SetReport::to_rows)).collect();
        align_columns(&rows, |column| column == 0 || column == 3)
    }

    pub(crate) fn to_json(&self) -> Value {
        self.sets.iter().map(SetReport::to_json).collect()
    }
}
