//! Unified diffs as go-difflib makes them, which are those of Python's difflib.

#![allow(clippy::arithmetic_side_effects, reason = "it counts lines")]
#![allow(clippy::indexing_slicing, reason = "places are those of lines")]

use std::collections::HashMap;
use std::ops::Range;

/// The number of lines around a change.
const CONTEXT: usize = 3;
/// Beyond this many lines only the unequal middle counts, as one change: the search is quadratic.
const SEARCHED: usize = 20_000;
/// After this many steps of the search the rest counts as one change: repeated lines make them many.
const STEPS: usize = 200_000_000;

/// A stretch of lines: whether it is the same in both, and its place.
#[derive(Clone)]
struct Stretch {
    same: bool,
    a: Range<usize>,
    b: Range<usize>,
}

/// Return the unified diff of two texts, without a header of file names; empty when they are the same.
pub(super) fn unified_diff(a: &str, b: &str) -> String {
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

/// Return the stretches that two texts have in common at their ends.
fn ends(a: &[&str], b: &[&str]) -> Vec<(usize, usize, usize)> {
    let head = a.iter().zip(b).take_while(|(x, y)| x == y).count();
    let tail = a[head..].iter().rev().zip(b[head..].iter().rev()).take_while(|(x, y)| x == y).count();
    vec![(0, 0, head), (a.len() - tail, b.len() - tail, tail)]
}

struct Matcher<'a> {
    a: &'a [&'a str],
    b: &'a [&'a str],
    /// The places of a line in `b`, without lines that occur all over the text.
    places: Vec<Vec<usize>>,
    /// Which of these each line of `a` has; an empty one where it is not in `b`.
    of: Vec<usize>,
}

impl<'a> Matcher<'a> {
    fn new(a: &'a [&'a str], b: &'a [&'a str]) -> Self {
        let mut known: HashMap<&str, usize> = HashMap::new();
        let mut places: Vec<Vec<usize>> = vec![Vec::new()];
        for (j, line) in b.iter().enumerate() {
            let at = *known.entry(line).or_insert(places.len());
            if at == places.len() {
                places.push(Vec::new());
            }
            places[at].push(j);
        }
        if b.len() >= 200 {
            let most = b.len() / 100 + 1;
            places.iter_mut().filter(|at| at.len() > most).for_each(Vec::clear);
        }
        let of = a.iter().map(|line| known.get(line).copied().unwrap_or(0)).collect();
        Self { a, b, places, of }
    }

    fn blocks(&self) -> Vec<(usize, usize, usize)> {
        let mut out = Vec::new();
        // No run in a part is longer than the longest of the whole.
        let mut open = vec![(0..self.a.len(), 0..self.b.len(), usize::MAX)];
        let mut runs = Runs { before: vec![0; self.b.len() + 1], now: vec![0; self.b.len() + 1], ..Runs::default() };
        while let Some((a, b, most)) = open.pop().filter(|_| runs.steps < STEPS) {
            let (i, j, size, longest) = self.longest(&a, &b, most, &mut runs);
            if size == 0 {
                continue;
            }
            out.push((i, j, size));
            if a.start < i && b.start < j {
                open.push((a.start..i, b.start..j, longest));
            }
            if i + size < a.end && j + size < b.end {
                open.push((i + size..a.end, j + size..b.end, longest));
            }
        }
        out
    }

    /// `findLongestMatch`: the first longest run of equal lines, extended over the lines that were left out, and its
    /// length before that. None is longer than `most`, so the first that is as long ends the search.
    fn longest(
        &self,
        a: &Range<usize>,
        b: &Range<usize>,
        most: usize,
        runs: &mut Runs,
    ) -> (usize, usize, usize, usize) {
        let (mut i, mut j, mut size) = (a.start, b.start, 0);
        'search: for x in a.clone() {
            if size == most {
                break;
            }
            let places = &self.places[self.of[x]];
            let from = places.partition_point(|y| *y < b.start);
            for &y in places[from..].iter().take_while(|y| **y < b.end) {
                let run = runs.before[y] + 1;
                runs.now[y + 1] = run;
                runs.set.push(y + 1);
                if run > size {
                    (i, j, size) = (x + 1 - run, y + 1 - run, run);
                    if size == most {
                        break 'search;
                    }
                }
            }
            runs.step();
        }
        runs.step();
        runs.step();
        let longest = size;
        while i > a.start && j > b.start && self.a[i - 1] == self.b[j - 1] {
            (i, j, size) = (i - 1, j - 1, size + 1);
        }
        while i + size < a.end && j + size < b.end && self.a[i + size] == self.b[j + size] {
            size += 1;
        }
        (i, j, size, longest)
    }
}

/// The length of the run that ends before a line of `b`, for the line of `a` before and for this one.
#[derive(Default)]
struct Runs {
    before: Vec<usize>,
    now: Vec<usize>,
    /// Where they are not 0.
    set_before: Vec<usize>,
    set: Vec<usize>,
    /// The number of steps that the search has taken.
    steps: usize,
}

impl Runs {
    /// Advance to the next line of `a`.
    fn step(&mut self) {
        self.steps += 1 + self.set.len();
        for at in self.set_before.drain(..) {
            self.before[at] = 0;
        }
        std::mem::swap(&mut self.before, &mut self.now);
        std::mem::swap(&mut self.set_before, &mut self.set);
    }
}

#[cfg(test)]
mod tests {
    use super::unified_diff;

    #[test]
    fn changes_far_apart_are_groups_of_their_own() {
        let a: Vec<String> = (0..20).map(|n| n.to_string()).collect();
        let mut b = a.clone();
        b[2] = "x".into();
        b.remove(15);
        let want =
            "@@ -1,6 +1,6 @@\n 0\n 1\n-2\n+x\n 3\n 4\n 5\n@@ -13,7 +13,6 @@\n 12\n 13\n 14\n-15\n 16\n 17\n 18\n";
        assert_eq!(unified_diff(&a.join("\n"), &b.join("\n")), want);
    }

    /// Blocks are those that the plain search finds, however many lines are alike.
    #[test]
    fn the_search_that_ends_early_finds_the_same() {
        fn plain(a: &[&str], b: &[&str], at: (usize, usize), out: &mut Vec<(usize, usize, usize)>) {
            let mut found = (0, 0, 0);
            for i in 0..a.len() {
                for j in 0..b.len() {
                    let size = a[i..].iter().zip(&b[j..]).take_while(|(x, y)| x == y).count();
                    if size > found.2 {
                        found = (i, j, size);
                    }
                }
            }
            let (i, j, size) = found;
            if size > 0 {
                out.push((at.0 + i, at.1 + j, size));
                plain(&a[..i], &b[..j], at, out);
                plain(&a[i + size..], &b[j + size..], (at.0 + i + size, at.1 + j + size), out);
            }
        }
        let mut seed = 7_u32;
        let mut dice = |sides: u32| {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            ((seed >> 16) % sides) as usize
        };
        for kinds in [2, 3, 7, 40] {
            let words: Vec<String> = (0..kinds).map(|n| n.to_string()).collect();
            for _ in 0..200 {
                let mut text = || (0..dice(30)).map(|_| words[dice(kinds)].as_str()).collect::<Vec<_>>();
                let (a, b) = (text(), text());
                let mut want = Vec::new();
                plain(&a, &b, (0, 0), &mut want);
                want.sort_unstable();
                let mut found = super::Matcher::new(&a, &b).blocks();
                found.sort_unstable();
                assert_eq!(found, want, "{a:?} {b:?}");
            }
        }
    }

    #[test]
    fn equal_texts_have_no_difference() {
        assert_eq!(unified_diff("a\nb", "a\nb"), "");
    }

    #[test]
    fn a_long_text_is_compared_in_time() {
        let a = "  \"x\": null\n".repeat(100_000);
        let b = format!("{a}tail");
        assert!(unified_diff(&a, &b).contains("+tail"));
    }
}
