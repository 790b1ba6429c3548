//! Figures of a retrieval measurement, their goals, and the table.

use serde_json::{Value, json};

use super::speed::SearchTimes;
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
    pub(super) ours: SearchTally,
    /// The figures with word vectors, if they were measured.
    pub(super) fused: Option<SearchTally>,
    pub(super) bm25: RankTally,
    pub(super) goals: HitGoals,
}

/// The figures of tool search in one set.
#[derive(Clone, Debug)]
pub(super) struct SearchTally {
    pub(super) ranks: RankTally,
    /// The number of tools that are first when their own name is the query.
    pub(super) names_first: usize,
}

/// The goals for hit@5, by words and with vectors: the least share of queries with their tool among the first
/// five.
#[derive(Clone, Copy, Debug)]
pub(super) struct HitGoals {
    pub(super) words: f64,
    pub(super) fused: f64,
}

/// The figures of all sets.
#[derive(Clone, Debug)]
pub(crate) struct RetrievalReport {
    pub(super) sets: Vec<SetReport>,
    /// The times of searches, if word vectors were given.
    pub(super) times: Vec<SearchTimes>,
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
        if self.ours.ranks.queries == 0 {
            missed.push(format!("{} has no query", self.name));
        }
        if self.tools == 0 {
            missed.push(format!("{} has no tool", self.name));
        }
        self.check_search(&self.ours, self.goals.words, &mut missed);
        if let Some(fused) = &self.fused {
            let (name, [_, by_words, ..]) = (&self.name, self.ours.ranks.figures());
            let [_, hit_at_5, ..] = fused.ranks.figures();
            if hit_at_5 < by_words {
                missed.push(format!("{name}: hit@5 with vectors is {hit_at_5:.3}, by words {by_words:.3}"));
            }
            self.check_search(fused, self.goals.fused, &mut missed);
        }
        missed
    }

    /// Compares the figures with plain BM25 and with the goals.
    fn check_search(&self, search: &SearchTally, goal: f64, missed: &mut Vec<String>) {
        for ((figure, ours), bm25) in FIGURES.iter().zip(search.ranks.figures()).zip(self.bm25.figures()) {
            if ours < bm25 {
                missed.push(format!("{}: {figure} is {ours:.3}, that of plain BM25 {bm25:.3}", self.name));
            }
        }
        let [_, hit_at_5, ..] = search.ranks.figures();
        if hit_at_5 < goal {
            missed.push(format!("{}: hit@5 is {hit_at_5:.3}, the goal {goal}", self.name));
        }
        if search.names_first < self.tools {
            let behind = self.tools - search.names_first;
            missed.push(format!("{}: {behind} tools are not first for their own name", self.name));
        }
    }

    fn to_rows(&self) -> Vec<Vec<String>> {
        let row = |ranking: &str, tally: &RankTally, names: String| {
            let set =
                [self.name.clone(), self.tools.to_string(), tally.queries.to_string(), ranking.to_owned()];
            let figures = tally.figures().map(|figure| format!("{figure:.3}"));
            set.into_iter().chain(figures).chain([names]).collect()
        };
        let searched =
            |name: &str, search: &SearchTally| row(name, &search.ranks, search.names_first.to_string());
        let mut rows = vec![row("BM25", &self.bm25, String::new()), searched("mcparley", &self.ours)];
        rows.extend(self.fused.as_ref().map(|fused| searched("with vectors", fused)));
        rows
    }

    fn to_json(&self) -> Value {
        let figures = |tally: &RankTally| {
            FIGURES
                .iter()
                .zip(tally.figures())
                .map(|(name, figure)| (*name, json!(figure)))
                .collect::<Value>()
        };
        let mut set = json!({
            "set": self.name, "tools": self.tools, "queries": self.ours.ranks.queries,
            "namesFirst": self.ours.names_first, "mcparley": figures(&self.ours.ranks), "bm25": figures(&self.bm25),
        });
        if let (Some(fused), Some(members)) = (&self.fused, set.as_object_mut()) {
            members.insert("withVectors".to_owned(), figures(&fused.ranks));
            members.insert("namesFirstWithVectors".to_owned(), json!(fused.names_first));
        }
        set
    }
}

impl RetrievalReport {
    /// The goals that are missed, as sentences. Without a set, nothing was measured.
    pub(crate) fn missed_goals(&self) -> Vec<String> {
        if self.sets.is_empty() {
            return vec!["there is no set; give `--bfcl` or `--set`".to_owned()];
        }
        let of_sets = self.sets.iter().flat_map(SetReport::missed_goals);
        of_sets.chain(self.times.iter().flat_map(SearchTimes::missed_goals)).collect()
    }

    pub(crate) fn to_text(&self) -> String {
        let head = ["set", "tools", "queries", "ranking"].into_iter().chain(FIGURES).chain(["names first"]);
        let head: Vec<String> = head.map(str::to_owned).collect();
        let rows: Vec<Vec<String>> =
            std::iter::once(head).chain(self.sets.iter().flat_map(SetReport::to_rows)).collect();
        let mut text = align_columns(&rows, |column| column == 0 || column == 3);
        for times in &self.times {
            text.push_str(&times.to_line());
            text.push('\n');
        }
        text
    }

    pub(crate) fn to_json(&self) -> Value {
        let sets = self.sets.iter().map(SetReport::to_json);
        sets.chain(self.times.iter().map(SearchTimes::to_json)).collect()
    }
}
