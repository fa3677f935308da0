//! Merge rules of a byte-pair model, from a list or from the scores of a SentencePiece vocabulary.

use ahash::AHashMap;

pub type Vocab = AHashMap<String, u32>;
pub type Merges = Vec<(String, String)>;

/// Rules "left right"; those whose parts or product are not in the vocabulary are dropped.
pub fn from_list<'a>(lines: impl Iterator<Item = &'a str>, vocab: &Vocab) -> Merges {
    let mut product = String::new();
    let mut merges = Vec::new();
    for line in lines {
        // The separator is the first space behind the first character: pieces of UTF-8 models may hold spaces.
        let Some(at) = line.char_indices().skip(1).find(|(_, c)| *c == ' ').map(|(i, _)| i) else { continue };
        let (left, right) = (&line[..at], &line[at + 1..]);
        product.clear();
        product.push_str(left);
        product.push_str(right);
        if vocab.contains_key(left) && vocab.contains_key(right) && vocab.contains_key(&product) {
            merges.push((left.to_owned(), right.to_owned()));
        }
    }
    merges
}

/// Every split of every piece into two pieces; best score first, then left id, then right id.
pub fn from_scores(vocab: &Vocab, scores: &[f64]) -> Merges {
    let mut found: Vec<(f64, u32, u32, &str, usize)> = Vec::new();
    for (piece, id) in vocab {
        let score = scores.get(*id as usize).copied().unwrap_or(0.0);
        for (at, _) in piece.char_indices().skip(1) {
            if let (Some(left), Some(right)) = (vocab.get(&piece[..at]), vocab.get(&piece[at..])) {
                found.push((score, *left, *right, piece, at));
            }
        }
    }
    found.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)).then(a.2.cmp(&b.2)));
    found.iter().map(|(_, _, _, piece, at)| (piece[..*at].to_owned(), piece[*at..].to_owned())).collect()
}
