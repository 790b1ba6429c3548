//! Cuts bytes into chunks, for decoders with a result that must not depend on the chunking.

/// The longest chunk of a random cut: a few times the length of the separators that matter.
const LONGEST: u64 = 23;

/// Several ways to cut the same bytes: whole, byte by byte, and at random places.
///
/// The random places follow from the bytes alone, so that an input that breaks a rule always breaks it.
pub(crate) fn cut_variants(data: &[u8]) -> [Vec<&[u8]>; 3] {
    [vec![data], data.chunks(1).collect(), cut_randomly(data)]
}

fn cut_randomly(data: &[u8]) -> Vec<&[u8]> {
    // FNV-1a, and then xorshift.
    let mut state = data.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let mut rest = data;
    let mut chunks = Vec::new();
    while !rest.is_empty() {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let length = usize::try_from(state % LONGEST).unwrap_or_default().min(rest.len());
        let (chunk, after) = rest.split_at(length);
        chunks.push(chunk);
        rest = after;
    }
    chunks
}
