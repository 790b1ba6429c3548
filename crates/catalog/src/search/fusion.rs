//! Fuses two rankings: by words, and by the meaning of word vectors.
//!
//! Each score is divided by the best of its ranking, and the two are added: both rankings count the same. Where no tool
//! is close in meaning the cosines are divided by the least one that finds a tool, so that they stay as weak as they
//! are. Reciprocal ranks, which ignore how far apart two tools are, find less. The figures are in decision 065.

/// The least cosine with which meaning alone finds a tool. Tools that answer a query rarely have less; most others do.
pub(super) const LEAST_COSINE: f32 = 0.35;

/// The fused scores of all tools of either ranking, by their places; in the order of places.
pub(super) fn fuse_scores(words: &[(u32, f32)], cosines: &[(u32, f32)]) -> Vec<(u32, f32)> {
    let best =
        |scores: &[(u32, f32)]| scores.iter().fold(f32::MIN_POSITIVE, |best, (_, score)| best.max(*score));
    let (best_score, best_cosine) = (best(words), best(cosines).max(LEAST_COSINE));
    let places = words.iter().chain(cosines).map(|(place, _)| *place as usize + 1).max().unwrap_or_default();
    let mut fused: Vec<Option<f32>> = vec![None; places];
    let shares = words.iter().map(|(place, score)| (*place, score / best_score));
    let shares = shares.chain(cosines.iter().map(|(place, cosine)| (*place, cosine.max(0.0) / best_cosine)));
    for (place, share) in shares {
        if let Some(score) = fused.get_mut(place as usize) {
            *score.get_or_insert_default() += share;
        }
    }
    (0..).zip(fused).filter_map(|(place, score)| Some((place, score?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    // N10
    #[test]
    fn weak_cosines_stay_weak_although_they_are_the_best() {
        assert_eq!(fuse_scores(&[(0, 1.0)], &[(1, LEAST_COSINE / 2.0)]), [(0, 1.0), (1, 0.5)]);
    }

    // N10
    #[test]
    fn both_rankings_count_the_same() {
        let words = [(0, 8.0), (1, 4.0), (2, 2.0)];
        let cosines = [(1, 0.2), (2, 0.4), (3, 0.1), (0, -0.3)];
        assert_eq!(fuse_scores(&words, &cosines), [(0, 1.0), (1, 1.0), (2, 1.25), (3, 0.25)]);
        assert_eq!(fuse_scores(&words, &[]), [(0, 1.0), (1, 0.5), (2, 0.25)]);
        assert_eq!(fuse_scores(&[], &[(5, 0.5)]), [(5, 1.0)]);
        assert_eq!(fuse_scores(&[], &[]), []);
        assert_eq!(fuse_scores(&[], &[(1, -0.5)]), [(1, 0.0)]);
    }
}
