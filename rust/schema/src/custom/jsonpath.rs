//! `JSONPath` as printer columns use it (client-go `util/jsonpath`): members, items, slices, filters, descent.

#![allow(
    clippy::arithmetic_side_effects,
    reason = "the cursor is bounded by the text; places count from the end of a list or saturate"
)]
#![allow(clippy::indexing_slicing, reason = "the cursor never passes the end of the text")]

use hydrofoil_types::Value;

/// A parsed path.
#[derive(Clone, Debug, PartialEq)]
pub struct JsonPath(Vec<Step>);

#[derive(Clone, Debug, PartialEq)]
enum Step {
    Member(String),
    Wildcard,
    Slice { from: Option<i64>, to: Option<i64>, step: i64 },
    Union(Vec<Step>),
    Filter { left: Operand, test: Option<(Test, Operand)> },
    Descent,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Test {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

#[derive(Clone, Debug, PartialEq)]
enum Operand {
    Path(JsonPath),
    Value(Value),
}

/// The deepest nesting of a path in its filters, and of a value in a descent.
const MAX_DEPTH: usize = 64;

impl JsonPath {
    /// Parse a path such as `.status.conditions[?(@.type=="Ready")].status`; `None` when it is invalid.
    pub fn parse(text: &str) -> Option<Self> {
        Parser { chars: text.chars().collect(), at: 0 }.path(0, false)
    }

    /// Return the values it leads to; members that are missing lead nowhere.
    pub fn find<'a>(&self, value: &'a Value) -> Vec<&'a Value> {
        let mut found = vec![value];
        for step in &self.0 {
            let mut next = Vec::new();
            for value in found {
                step.walk(value, &mut next);
            }
            found = next;
        }
        found
    }

    /// Return the first value it leads to.
    pub fn first<'a>(&self, value: &'a Value) -> Option<&'a Value> {
        self.find(value).into_iter().next()
    }
}

impl Step {
    fn walk<'a>(&self, value: &'a Value, out: &mut Vec<&'a Value>) {
        match self {
            Self::Member(name) => out.extend(value.get(name)),
            Self::Wildcard => out.extend(children(value)),
            Self::Slice { from, to, step } => {
                let items = value.as_array().unwrap_or(&[]);
                let size = items.len() as i64;
                let place = |n: i64| if n < 0 { (n + size).max(0) } else { n.min(size) };
                let (from, to) = (place(from.unwrap_or(0)), place(to.unwrap_or(size)));
                if from < to && *step > 0 {
                    out.extend(items[from as usize..to as usize].iter().step_by(*step as usize));
                }
            }
            Self::Union(steps) => steps.iter().for_each(|s| s.walk(value, out)),
            Self::Filter { left, test } => out.extend(children(value).filter(|item| holds(item, left, test.as_ref()))),
            Self::Descent => descend(value, out, 0),
        }
    }
}

fn children(value: &Value) -> Box<dyn Iterator<Item = &Value> + '_> {
    match value {
        Value::Array(items) => Box::new(items.iter()),
        Value::Object(map) => Box::new(map.iter().map(|(_, v)| v)),
        _ => Box::new(std::iter::empty()),
    }
}

fn descend<'a>(value: &'a Value, out: &mut Vec<&'a Value>, depth: usize) {
    if depth > MAX_DEPTH {
        return;
    }
    out.push(value);
    children(value).for_each(|child| descend(child, out, depth + 1));
}

fn holds(item: &Value, left: &Operand, test: Option<&(Test, Operand)>) -> bool {
    let of = |operand: &Operand| match operand {
        Operand::Path(path) => path.first(item).cloned(),
        Operand::Value(value) => Some(value.clone()),
    };
    let Some((test, right)) = test else { return of(left).is_some() };
    let (Some(left), Some(right)) = (of(left), of(right)) else { return false };
    let order = match (&left, &right) {
        (Value::Int(a), Value::Int(b)) => Some(a.cmp(b)),
        (Value::Float(a), Value::Float(b)) => a.partial_cmp(b),
        (Value::Int(a), Value::Float(b)) => (*a as f64).partial_cmp(b),
        (Value::Float(a), Value::Int(b)) => a.partial_cmp(&(*b as f64)),
        (Value::Str(a), Value::Str(b)) => Some(a.cmp(b)),
        (Value::Bool(a), Value::Bool(b)) => Some(a.cmp(b)),
        _ => None,
    };
    order.is_some_and(|order| match test {
        Test::Equal => order.is_eq(),
        Test::NotEqual => order.is_ne(),
        Test::Less => order.is_lt(),
        Test::LessOrEqual => order.is_le(),
        Test::Greater => order.is_gt(),
        Test::GreaterOrEqual => order.is_ge(),
    })
}

struct Parser {
    chars: Vec<char>,
    at: usize,
}

impl Parser {
    fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    fn take(&mut self, c: char) -> bool {
        let found = self.peek() == Some(c);
        self.at += usize::from(found);
        found
    }

    fn spaces(&mut self) {
        while self.peek() == Some(' ') {
            self.at += 1;
        }
    }

    /// Parse a whole path, or within a filter one that ends before an operator or `)`.
    fn path(&mut self, depth: usize, inner: bool) -> Option<JsonPath> {
        if depth > MAX_DEPTH {
            return None;
        }
        let mut steps = Vec::new();
        while let Some(c) = self.peek() {
            match c {
                '.' => {
                    self.at += 1;
                    if self.take('.') {
                        steps.push(Step::Descent);
                    }
                    match self.peek() {
                        Some('[') => {}
                        None if steps.is_empty() => {}
                        _ => steps.push(self.name()?),
                    }
                }
                '[' => {
                    self.at += 1;
                    steps.push(self.bracket(depth)?);
                }
                '@' | '$' if steps.is_empty() => self.at += 1,
                _ if inner => break,
                _ => return None,
            }
        }
        Some(JsonPath(steps))
    }

    fn name(&mut self) -> Option<Step> {
        if self.take('*') {
            return Some(Step::Wildcard);
        }
        let mut name = String::new();
        while let Some(c) = self.peek() {
            match c {
                '\\' => {
                    self.at += 1;
                    name.push(self.peek()?);
                }
                '.' | '[' | ' ' | ')' | '=' | '!' | '<' | '>' | ']' | '{' | '}' | ',' => break,
                c => name.push(c),
            }
            self.at += 1;
        }
        (!name.is_empty()).then_some(Step::Member(name))
    }

    fn bracket(&mut self, depth: usize) -> Option<Step> {
        if self.take('?') {
            if !self.take('(') {
                return None;
            }
            let step = self.filter(depth)?;
            return (self.take(')') && self.take(']')).then_some(step);
        }
        let mut steps = Vec::new();
        loop {
            self.spaces();
            steps.push(match self.peek()? {
                '*' => {
                    self.at += 1;
                    Step::Wildcard
                }
                '\'' | '"' => Step::Member(self.quoted()?),
                _ => self.slice()?,
            });
            self.spaces();
            if self.take(',') {
                continue;
            }
            if !self.take(']') {
                return None;
            }
            return if steps.len() == 1 { steps.pop() } else { Some(Step::Union(steps)) };
        }
    }

    fn slice(&mut self) -> Option<Step> {
        let from = self.number();
        if !self.take(':') {
            let from = from?;
            let to = if from == -1 { None } else { Some(from.saturating_add(1)) };
            return Some(Step::Slice { from: Some(from), to, step: 1 });
        }
        let to = self.number();
        let step = if self.take(':') { self.number().unwrap_or(1) } else { 1 };
        Some(Step::Slice { from, to, step })
    }

    /// Parse a number, if there is one.
    fn number(&mut self) -> Option<i64> {
        let start = self.at;
        let _ = self.take('-') || self.take('+');
        while self.peek().is_some_and(|c| c.is_ascii_digit()) {
            self.at += 1;
        }
        let text: String = self.chars[start..self.at].iter().collect();
        text.parse().ok()
    }

    fn quoted(&mut self) -> Option<String> {
        let quote = self.peek()?;
        self.at += 1;
        let mut out = String::new();
        loop {
            match self.peek()? {
                '\\' => {
                    self.at += 1;
                    out.push(self.peek()?);
                }
                c if c == quote => {
                    self.at += 1;
                    return Some(out);
                }
                c => out.push(c),
            }
            self.at += 1;
        }
    }

    fn filter(&mut self, depth: usize) -> Option<Step> {
        let left = self.operand(depth)?;
        self.spaces();
        let test = match (self.peek()?, self.chars.get(self.at + 1)) {
            (')', _) => return Some(Step::Filter { left, test: None }),
            ('=', Some('=')) => (Test::Equal, 2),
            ('!', Some('=')) => (Test::NotEqual, 2),
            ('<', Some('=')) => (Test::LessOrEqual, 2),
            ('>', Some('=')) => (Test::GreaterOrEqual, 2),
            ('<', _) => (Test::Less, 1),
            ('>', _) => (Test::Greater, 1),
            _ => return None,
        };
        self.at += test.1;
        let right = self.operand(depth)?;
        self.spaces();
        Some(Step::Filter { left, test: Some((test.0, right)) })
    }

    fn operand(&mut self, depth: usize) -> Option<Operand> {
        self.spaces();
        Some(match self.peek()? {
            '\'' | '"' => Operand::Value(Value::from(self.quoted()?)),
            '@' | '.' | '$' => Operand::Path(self.path(depth + 1, true)?),
            _ => {
                let start = self.at;
                while self.peek().is_some_and(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '+' | '.')) {
                    self.at += 1;
                }
                let text: String = self.chars[start..self.at].iter().collect();
                Operand::Value(match text.as_str() {
                    "true" => Value::Bool(true),
                    "false" => Value::Bool(false),
                    other => match other.parse() {
                        Ok(n) => Value::Int(n),
                        Err(_) => Value::Float(other.parse().ok()?),
                    },
                })
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use hydrofoil_codec::json;

    use super::JsonPath;

    #[test]
    fn finds() {
        let object = json::parse(
            br#"{"a":{"b":[1,2,3],"c.d":"x","e f":true},"s":[{"t":"A","v":"1"},{"t":"B","v":"2","n":5}],"m":{"x":1,"y":2}}"#,
        )
        .expect("json")
        .value;
        let cases = [
            (".a.b", "[1,2,3]"),
            (".a.b[0]", "1"),
            (".a.b[-1]", "3"),
            (".a.b[1:]", "2 3"),
            (".a.b[*]", "1 2 3"),
            (r".a.c\.d", r#""x""#),
            (".a['c.d']", r#""x""#),
            (r#".s[?(@.t=="B")].v"#, r#""2""#),
            (".s[?(@.t=='A')].v", r#""1""#),
            (".s[?(@.n > 4)].t", r#""B""#),
            (".s[?(@.n)].t", r#""B""#),
            (".m.*", "1 2"),
            ("..v", r#""1" "2""#),
            (".a.b[0,2]", "1 3"),
            (".none.at.all", ""),
            (".a.b[9]", ""),
        ];
        for (path, expected) in cases {
            let parsed = JsonPath::parse(path).expect(path);
            let found: Vec<_> = parsed.find(&object).iter().map(|v| v.to_json()).collect();
            assert_eq!(found.join(" "), expected, "{path}");
        }
        for bad in [".a[", ".a[?(@.b]", ".a[x]", ".s[?(@.t=)]", "a"] {
            assert_eq!(JsonPath::parse(bad), None, "{bad}");
        }
    }
}
