//! Expressions as in apiserver 1.36 (cel-go 0.26): messages, static cost, result and cost of the run (CRD-29).
//!
//! `expressions.jsonl` begins with a schema and an object of it; each further line is one rule with the results of
//! upstream's `schema/cel.Compile` and its program. The cost of a run is omitted where this project's differs.

use std::sync::Arc;

use hydrofoil_cel::{Decl, Failure, Kind, Program, Refusal, Variables};
use hydrofoil_types::Value;

fn lines() -> Vec<Value> {
    let parsed = |line: &str| hydrofoil_codec::json::parse(line.as_bytes()).expect("a line is JSON").value;
    include_str!("expressions.jsonl").lines().map(parsed).collect()
}

/// Return the differences from upstream's results for a rule, if any.
fn wrong(case: &Value, this: &Value, decl: &Arc<Decl>) -> Option<String> {
    let differs = |what: &str, want: &str, got: &str| (want != got).then(|| format!("{what}: want {want}, got {got}"));
    let program = match Program::compile(case.str_at(&["rule"]), decl, false, Kind::Bool) {
        Ok(program) => program,
        Err(refusal) => {
            let got = match refusal {
                Refusal::Issues(why) => format!("compilation failed: {why}"),
                Refusal::Instance(why) => format!("program instantiation failed: {why}"),
                Refusal::Type => "cel expression must evaluate to a bool".to_owned(),
            };
            return differs("error", case.str_at(&["error"]), &got);
        }
    };
    if let Some(error) = case.get("error") {
        return Some(format!("compiles, though upstream says {error:?}"));
    }
    let (found, spent) = program.truth(Variables { this, old: None, decl }, None);
    let (key, got) = match found {
        Ok(found) => ("result", found.to_string()),
        Err(Failure::Error(why)) => ("fail", why),
        Err(Failure::Limit) => ("fail", "limit".to_owned()),
    };
    let spent = spent.to_string();
    let want = case.int_at(&["spent"]).map_or(spent.clone(), |n| n.to_string());
    differs("cost", case.str_at(&["cost"]), &program.cost.to_string())
        .or_else(|| differs(key, case.str_at(&[key]), &got))
        .or_else(|| differs("spent", &want, &spent))
}

#[test]
fn expressions_are_as_upstream_has_them() {
    let lines = lines();
    let (head, cases) = lines.split_first().expect("the first line is the schema");
    let decl = Decl::compile(head.get("schema").expect("a schema"), false).expect("an object is seen");
    let this = head.get("self").expect("an object");
    let wrong: Vec<String> = cases
        .iter()
        .filter_map(|case| wrong(case, this, &decl).map(|why| format!("{}\n    {why}", case.str_at(&["rule"]))))
        .collect();
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

#[test]
fn no_text_panics_and_depth_is_bounded() {
    // Frames of a debug build are large; the server's thread has the same stack size.
    let thread = std::thread::Builder::new().stack_size(8 << 20).spawn(texts).expect("a thread starts");
    thread.join().expect("no text panics");
}

fn texts() {
    let decl = Decl::compile(lines()[0].get("schema").expect("a schema"), false).expect("an object is seen");
    let compile = |text: &str| drop(Program::compile(text, &decl, false, Kind::Bool));
    for part in [
        "(",
        "[",
        "{",
        "-",
        "!",
        "self.",
        "1+",
        "a?b:",
        "[1].map(x,",
        "'",
        "`",
        "\\",
        "é.",
        "0x",
        "1e",
        "..",
        "?",
        "{1:",
    ] {
        for times in [1, 2, 300, 20_000] {
            compile(&part.repeat(times));
        }
    }
    let rules: Vec<Value> = lines();
    for case in &rules[1..] {
        let rule = case.str_at(&["rule"]);
        for (cut, _) in rule.char_indices().step_by(4) {
            compile(&rule[..cut]);
        }
    }
}

#[test]
fn runs_are_stopped_before_they_take_all_memory() {
    let lines = lines();
    let decl = Decl::compile(lines[0].get("schema").expect("a schema"), false).expect("an object is seen");
    let this = lines[0].get("self").expect("an object");
    let doubled = format!("[[1]]{}.size() > 0", ".map(x, x + x)".repeat(60));
    for rule in [
        doubled.as_str(),
        "lists.range(100000000).size() > 0",
        "lists.range(2000).map(x, lists.range(2000)).flatten().size() > 0",
        "lists.range(5000).distinct().size() > 0",
        "lists.range(300).map(x, lists.range(3000).map(y, 'a').join('bbbbbbbbbb')).join('').size() > 0",
        "lists.range(100000).map(x, 'a').join('').replace('', lists.range(100000).map(x, 'a').join('')).size() > 0",
    ] {
        let program = Program::compile(rule, &decl, false, Kind::Bool).expect("a rule compiles");
        let found = program.truth(Variables { this, old: None, decl: &decl }, None).0;
        assert_eq!(found, Err(Failure::Limit), "{rule}");
    }
}

/// Print the time of a typical rule: `cargo test --release -p hydrofoil-cel -- --ignored --nocapture`.
#[allow(clippy::disallowed_methods, reason = "it measures work")]
#[test]
#[ignore = "prints figures, which mean something in a release build only"]
fn speed() {
    const RUNS: u32 = 200_000;
    let lines = lines();
    let decl = Decl::compile(lines[0].get("schema").expect("a schema"), false).expect("an object is seen");
    let this = lines[0].get("self").expect("an object");
    for rule in [
        "self.s == 'hello'",
        "!has(self.i) || !has(self.n) || self.i >= 3",
        "self.l.all(x, x.size() <= 5)",
        "self.s.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",
        "self.lo.all(x, x.v > 0 && x.k != '')",
        "self.m.all(k, k in ['x', 'y'] && self.m[k] != '')",
        "quantity('1Gi').isGreaterThan(quantity('1G'))",
    ] {
        let program = Program::compile(rule, &decl, false, Kind::Bool).expect("a rule compiles");
        let start = std::time::Instant::now();
        for _ in 0..RUNS {
            let found = program.truth(Variables { this, old: None, decl: &decl }, None).0;
            assert_eq!(found, Ok(true), "{rule}");
        }
        eprintln!("{:>8.0} ns  {rule}", start.elapsed().as_nanos() as f64 / f64::from(RUNS));
    }
}
