//! URL globs: `*` stands for anything but `/`, `**` for anything, `{a,b}` for one of both; all else for itself.

/// Whether all of `text` fits.
pub(crate) fn fits(glob: &str, text: &str) -> bool {
    alternatives(glob).iter().any(|glob| simple(glob.as_bytes(), text.as_bytes()))
}

/// Most alternatives that are tried; what has more fits nothing.
const MOST: usize = 256;

/// The globs without braces that one with braces stands for.
pub(crate) fn alternatives(glob: &str) -> Vec<String> {
    let mut done = vec![String::new()];
    let mut rest = glob;
    while let Some((before, after)) = rest.split_once('{') {
        let Some((inside, behind)) = after.split_once('}') else { break };
        let choices: Vec<&str> = inside.split(',').collect();
        if done.len() * choices.len() > MOST {
            return Vec::new();
        }
        done = done
            .iter()
            .flat_map(|start| choices.iter().map(move |choice| format!("{start}{before}{choice}")))
            .collect();
        rest = behind;
    }
    done.into_iter().map(|start| start + rest).collect()
}

/// Linear in glob times text: `at[n]` says whether the glob so far fits the first `n` bytes.
fn simple(glob: &[u8], text: &[u8]) -> bool {
    let mut at = vec![false; text.len() + 1];
    at[0] = true;
    let mut rest = glob;
    while let Some((&c, after)) = rest.split_first() {
        let mut next = vec![false; text.len() + 1];
        if c == b'*' {
            let any = after.first() == Some(&b'*');
            rest = if any { &after[1..] } else { after };
            next[0] = at[0];
            for n in 1..=text.len() {
                next[n] = at[n] || (next[n - 1] && (any || text[n - 1] != b'/'));
            }
        } else {
            rest = after;
            for n in 1..=text.len() {
                next[n] = at[n - 1] && text[n - 1] == c;
            }
        }
        at = next;
    }
    at[text.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_and_braces_stand_for_what_they_say() {
        for (glob, text, fit) in [
            ("http://x/", "http://x/", true),
            ("http://x/*", "http://x/done", true),
            ("http://x/*", "http://x/a/b", false),
            ("http://x/**", "http://x/a/b?c=/d", true),
            ("**/done", "http://x/a/done", true),
            ("**/done", "http://x/a/done?", false),
            ("*://x/{a,b}?q=*", "https://x/b?q=1", true),
            ("*://x/{a,b}?q=*", "https://x/c?q=1", false),
            ("http://x/a?b", "http://x/acb", false),
            ("http://x/{a", "http://x/{a", true),
            ("", "", true),
            ("*", "a/b", false),
        ] {
            assert_eq!(fits(glob, text), fit, "{glob} {text}");
        }
    }

    #[test]
    fn a_hostile_glob_ends() {
        let glob = "*a".repeat(400);
        assert!(!fits(&glob, &"a".repeat(300)));
        assert!(!fits(&"{a,b}".repeat(100), "x"));
    }
}
