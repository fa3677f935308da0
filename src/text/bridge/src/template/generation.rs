//! `{% generation %}` marks what the assistant wrote, for training. Rendering only needs its scope.

/// Turns generation blocks into `with` blocks; everything else, line numbers included, stays.
pub fn without_tags(source: &str) -> String {
    let mut result = String::with_capacity(source.len());
    let mut rest = source;
    while let Some(at) = next_opening(rest) {
        let (before, tag) = rest.split_at(at);
        result.push_str(before);
        let end = tag_end(tag);
        let (tag, after) = tag.split_at(end);
        match tag_name(tag) {
            Some("generation") => result.push_str(&tag.replacen("generation", "with", 1)),
            Some("endgeneration") => result.push_str(&tag.replacen("endgeneration", "endwith", 1)),
            Some("raw") => {
                let raw_end = after.find("endraw").unwrap_or(after.len());
                result.push_str(tag);
                result.push_str(&after[..raw_end]);
                rest = &after[raw_end..];
                continue;
            }
            _ => result.push_str(tag),
        }
        rest = after;
    }
    result.push_str(rest);
    result
}

fn next_opening(text: &str) -> Option<usize> {
    let is_opening = |pair: &[u8]| pair[0] == b'{' && matches!(pair[1], b'%' | b'{' | b'#');
    text.as_bytes().windows(2).position(is_opening)
}

/// Where the tag that starts `text` ends. Closing marks inside string literals do not count.
fn tag_end(text: &str) -> usize {
    let close: &[u8; 2] = match text.as_bytes()[1] {
        b'%' => b"%}",
        b'#' => return text.find("#}").map_or(text.len(), |at| at + 2),
        _ => b"}}",
    };
    let bytes = text.as_bytes();
    let mut quote = None;
    let mut at = 2;
    while at < bytes.len() {
        match (quote, bytes[at]) {
            (Some(_), b'\\') => at += 1,
            (Some(open), byte) if byte == open => quote = None,
            (None, byte @ (b'"' | b'\'')) => quote = Some(byte),
            (None, _) if bytes[at..].starts_with(close) => return at + 2,
            _ => {}
        }
        at += 1;
    }
    text.len()
}

fn tag_name(tag: &str) -> Option<&str> {
    let inner = tag.strip_prefix("{%")?.strip_suffix("%}")?;
    Some(inner.trim_matches(|c: char| c.is_whitespace() || c == '-' || c == '+'))
}
