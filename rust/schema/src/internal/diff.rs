//! Unified diffs as go-difflib makes them, which are those of Python's difflib.

use std::collections::HashMap;
use std::ops::Range;

/// Lines around a change.
const CONTEXT: usize = 3;
/// Beyond this many lines only the unequal middle counts, as one change: the search is quadratic.
const SEARCHED: usize = 20_000;

/// A stretch of lines: whether it is the same in both, and where it stands.
#[derive(Clone)]
struct Stretch {
    same: bool,
    a: Range<usize>,
    b: Range<usize>,
}

/// The unified diff of two texts, without a header of file names; empty when they are the same.
pub(super) fn unified(a: &str, b: &str) -> String {
    let (a, b) = (lines(a), lines(b));
    let mut out = String::new();
    for group in groups(stretches(&a, &b)) {
        let (Some(first), Some(last)) = (group.first(), group.last()) else { continue };
        out.push_str("@@ -");
        range(&(first.a.start..last.a.end), &mut out);
        out.push_str(" +");
        range(&(first.b.start..last.b.end), &mut out);
        out.push_str(" @@\n");
        for stretch in &group {
            let (gone, come) = if stretch.same { (' ', 0..0) } else { ('-', stretch.b.clone()) };
            for line in &a[stretch.a.clone()] {
                write_line(gone, line, &mut out);
            }
            for line in &b[come] {
                write_line('+', line, &mut out);
            }
        }
    }
    out
}

fn lines(text: &str) -> Vec<&str> {
    text.split('\n').collect()
}

fn write_line(mark: char, line: &str, out: &mut String) {
    out.push(mark);
    out.push_str(line);
    out.push('\n');
}

fn range(lines: &Range<usize>, out: &mut String) {
    // An empty range begins at the line before it.
    let start = if lines.is_empty() { lines.start } else { lines.start + 1 };
    out.push_str(&start.to_string());
    if lines.len() != 1 {
        out.push(',');
        out.push_str(&lines.len().to_string());
    }
}

/// `GetGroupedOpCodes`: changes that are close together, with their context.
fn groups(mut all: Vec<Stretch>) -> Vec<Vec<Stretch>> {
    if let Some(first) = all.first_mut().filter(|s| s.same) {
        first.a.start = first.a.start.max(first.a.end.saturating_sub(CONTEXT));
        first.b.start = first.b.start.max(first.b.end.saturating_sub(CONTEXT));
    }
    if let Some(last) = all.last_mut().filter(|s| s.same) {
        last.a.end = last.a.end.min(last.a.start + CONTEXT);
        last.b.end = last.b.end.min(last.b.start + CONTEXT);
    }
    let (mut out, mut group) = (Vec::new(), Vec::new());
    for mut stretch in all {
        if stretch.same && stretch.a.len() > 2 * CONTEXT {
            let end = Stretch {
                same: true,
                a: stretch.a.start..stretch.a.start + CONTEXT,
                b: stretch.b.start..stretch.b.start + CONTEXT,
            };
            group.push(end);
            out.push(std::mem::take(&mut group));
            stretch.a.start = stretch.a.end - CONTEXT;
            stretch.b.start = stretch.b.end - CONTEXT;
        }
        group.push(stretch);
    }
    out.push(group);
    out.retain(|group| group.iter().any(|s| !s.same));
    out
}

/// `GetOpCodes`: both texts as a row of equal and unequal stretches.
fn stretches(a: &[&str], b: &[&str]) -> Vec<Stretch> {
    let mut out = Vec::new();
    let (mut i, mut j) = (0, 0);
    for (x, y, size) in matches(a, b).into_iter().chain([(a.len(), b.len(), 0)]) {
        if i < x || j < y {
            out.push(Stretch { same: false, a: i..x, b: j..y });
        }
        if size > 0 {
            out.push(Stretch { same: true, a: x..x + size, b: y..y + size });
        }
        (i, j) = (x + size, y + size);
    }
    out
}

/// `GetMatchingBlocks`: start in both and size, in order, blocks that touch joined.
fn matches(a: &[&str], b: &[&str]) -> Vec<(usize, usize, usize)> {
    let mut found = if a.len().max(b.len()) > SEARCHED { ends(a, b) } else { Matcher::new(a, b).blocks() };
    found.sort_unstable();
    let mut out: Vec<(usize, usize, usize)> = Vec::new();
    for (i, j, size) in found {
        match out.last_mut() {
            Some(last) if last.0 + last.2 == i && last.1 + last.2 == j => last.2 += size,
            _ => out.push((i, j, size)),
        }
    }
    out
}

/// What two texts have in common at their ends.
fn ends(a: &[&str], b: &[&str]) -> Vec<(usize, usize, usize)> {
    let head = a.iter().zip(b).take_while(|(x, y)| x == y).count();
    let tail = a[head..].iter().rev().zip(b[head..].iter().rev()).take_while(|(x, y)| x == y).count();
    vec![(0, 0, head), (a.len() - tail, b.len() - tail, tail)]
}

struct Matcher<'a> {
    a: &'a [&'a str],
    b: &'a [&'a str],
    /// Where each line of `b` stands, lines that are all over the text left out.
    places: HashMap<&'a str, Vec<usize>>,
}

impl<'a> Matcher<'a> {
    fn new(a: &'a [&'a str], b: &'a [&'a str]) -> Self {
        let mut places: HashMap<&str, Vec<usize>> = HashMap::new();
        for (j, line) in b.iter().enumerate() {
            places.entry(line).or_default().push(j);
        }
        if b.len() >= 200 {
            let most = b.len() / 100 + 1;
            places.retain(|_, at| at.len() <= most);
        }
        Self { a, b, places }
    }

    fn blocks(&self) -> Vec<(usize, usize, usize)> {
        let mut out = Vec::new();
        let mut open = vec![(0..self.a.len(), 0..self.b.len())];
        while let Some((a, b)) = open.pop() {
            let (i, j, size) = self.longest(&a, &b);
            if size == 0 {
                continue;
            }
            out.push((i, j, size));
            if a.start < i && b.start < j {
                open.push((a.start..i, b.start..j));
            }
            if i + size < a.end && j + size < b.end {
                open.push((i + size..a.end, j + size..b.end));
            }
        }
        out
    }

    /// `findLongestMatch`: the first longest run of equal lines, grown over the lines that were left out.
    fn longest(&self, a: &Range<usize>, b: &Range<usize>) -> (usize, usize, usize) {
        let (mut i, mut j, mut size) = (a.start, b.start, 0);
        let mut before: HashMap<usize, usize> = HashMap::new();
        for x in a.clone() {
            let mut now = HashMap::new();
            for &y in self.places.get(self.a[x]).into_iter().flatten() {
                if y < b.start {
                    continue;
                }
                if y >= b.end {
                    break;
                }
                let run = y.checked_sub(1).and_then(|y| before.get(&y)).map_or(1, |run| run + 1);
                now.insert(y, run);
                if run > size {
                    (i, j, size) = (x + 1 - run, y + 1 - run, run);
                }
            }
            before = now;
        }
        while i > a.start && j > b.start && self.a[i - 1] == self.b[j - 1] {
            (i, j, size) = (i - 1, j - 1, size + 1);
        }
        while i + size < a.end && j + size < b.end && self.a[i + size] == self.b[j + size] {
            size += 1;
        }
        (i, j, size)
    }
}

#[cfg(test)]
mod tests {
    use super::unified;

    #[test]
    fn changes_far_apart_are_groups_of_their_own() {
        let a: Vec<String> = (0..20).map(|n| n.to_string()).collect();
        let mut b = a.clone();
        b[2] = "x".into();
        b.remove(15);
        let want =
            "@@ -1,6 +1,6 @@\n 0\n 1\n-2\n+x\n 3\n 4\n 5\n@@ -13,7 +13,6 @@\n 12\n 13\n 14\n-15\n 16\n 17\n 18\n";
        assert_eq!(unified(&a.join("\n"), &b.join("\n")), want);
    }

    #[test]
    fn equal_texts_have_no_difference() {
        assert_eq!(unified("a\nb", "a\nb"), "");
    }

    #[test]
    fn a_long_text_is_compared_in_time() {
        let a = "  \"x\": null\n".repeat(100_000);
        let b = format!("{a}tail");
        assert!(unified(&a, &b).contains("+tail"));
    }
}
