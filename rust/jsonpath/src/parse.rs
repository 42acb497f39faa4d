//! The parser of templates, with upstream's messages (client-go `util/jsonpath/parser.go`).

#![allow(
    clippy::arithmetic_side_effects,
    clippy::string_slice,
    reason = "the places are those of characters that were read, within the text"
)]

use std::sync::LazyLock;

use hydrofoil_text::rune;
use hydrofoil_types::Finite;
use regex::Regex;

use super::unquote::unquote;
use super::{JsonPath, Node, Slice};

static TEST: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new("^([^!<>=]+)([!<>=]+)(.+?)$").ok());
static LETTER: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"\p{L}").ok());
static DIGIT: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"\p{Nd}").ok());

impl JsonPath {
    /// Parse the path of a printer column or of a field, which upstream puts in braces.
    pub fn parse(path: &str) -> Result<Self, String> {
        template(&format!("{{{path}}}")).map(Self)
    }
}

fn template(text: &str) -> Result<Vec<Node>, String> {
    let mut parser = Parser { text, at: 0, start: 0, width: 0 };
    let mut root = Vec::new();
    while let Some(brace) = text[parser.at..].find('{') {
        if brace > 0 {
            root.push(Node::Text(text[parser.at..parser.at + brace].to_owned()));
        }
        parser.at += brace + 1;
        parser.start = parser.at;
        root.push(Node::List(parser.action()?));
    }
    if parser.at < text.len() {
        root.push(Node::Text(text[parser.at..].to_owned()));
    }
    Ok(root)
}

/// Return the steps of a part that is itself written as a path (`parseAction`).
fn steps(text: &str) -> Result<Vec<Node>, String> {
    match template(&format!("{{{text}}}"))?.into_iter().next() {
        Some(Node::List(nodes)) => Ok(nodes),
        _ => Ok(Vec::new()),
    }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    /// The place behind the last part that was taken.
    start: usize,
    /// The length of the last character that was read.
    width: usize,
}

impl<'a> Parser<'a> {
    fn next(&mut self) -> Option<char> {
        let found = self.rest().chars().next();
        self.width = found.map_or(0, char::len_utf8);
        self.at += self.width;
        found
    }

    fn back(&mut self) {
        self.at -= self.width;
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn take(&mut self) -> &'a str {
        let found = &self.text[self.start..self.at];
        self.start = self.at;
        found
    }

    /// Report whether the character before the last one, which has one byte, is a backslash.
    fn escaped(&self) -> bool {
        self.at >= 2 && self.text.as_bytes().get(self.at - 2) == Some(&b'\\')
    }

    /// Parse the steps up to the closing brace.
    fn action(&mut self) -> Result<Vec<Node>, String> {
        let mut found = Vec::new();
        loop {
            if self.rest().starts_with('}') {
                self.at += 1;
                self.start = self.at;
                return Ok(found);
            }
            if self.rest().starts_with("[?(") {
                found.push(self.filter()?);
                continue;
            }
            if self.rest().starts_with("..") {
                if found.last() == Some(&Node::Descent) {
                    return Err("invalid multiple recursive descent".to_owned());
                }
                self.at += 2;
                self.start = self.at;
                found.push(Node::Descent);
                if self.rest().chars().next().is_some_and(word) {
                    found.push(self.field());
                }
                continue;
            }
            match self.next() {
                None | Some('\r' | '\n') => return Err("unclosed action".to_owned()),
                Some(' ' | '@' | '$') => self.start = self.at,
                Some('[') => self.array(&mut found)?,
                Some(quote @ ('"' | '\'')) => found.push(self.parse_quoted(quote)?),
                Some('.') => {
                    self.start = self.at;
                    found.push(self.field());
                }
                Some(c) if matches!(c, '+' | '-') || digit(c) => {
                    self.back();
                    found.push(self.number()?);
                }
                Some(c) if word(c) => {
                    self.back();
                    found.push(self.identifier());
                }
                Some(c) => return Err(format!("unrecognized character in action: {}", rune(c))),
            }
        }
    }

    fn identifier(&mut self) -> Node {
        while self.next().is_some_and(|c| !ends(c)) {}
        self.back();
        match self.take() {
            "true" => Node::Bool(true),
            "false" => Node::Bool(false),
            _ => Node::Identifier,
        }
    }

    fn number(&mut self) -> Result<Node, String> {
        if self.rest().starts_with(['+', '-']) {
            self.next();
        }
        while self.next().is_some_and(|c| c == '.' || digit(c)) {}
        self.back();
        let text = self.take();
        if let Ok(n) = text.parse() {
            return Ok(Node::Int(n));
        }
        match text.parse().ok().and_then(Finite::new) {
            Some(f) => Ok(Node::Float(f)),
            None => Err(format!("cannot parse number {text}")),
        }
    }

    fn array(&mut self, found: &mut Vec<Node>) -> Result<(), String> {
        loop {
            match self.next() {
                None | Some('\n') => return Err("unterminated array".to_owned()),
                Some(']') => break,
                Some(_) => {}
            }
        }
        let text = self.take();
        let text = &text[1..text.len() - 1];
        let text = if text == "*" { ":" } else { text };
        if text.contains(',') {
            let parts = text.split(',').map(|part| steps(&format!("[{}]", part.trim_matches(' '))));
            found.push(Node::Union(parts.collect::<Result<_, _>>()?));
        } else if let Some(name) = key(text) {
            found.extend(steps(&format!(".{name}"))?);
        } else {
            found.push(Node::Slice(slice(text)?));
        }
        Ok(())
    }

    fn filter(&mut self) -> Result<Node, String> {
        self.at += 3;
        self.start = self.at;
        let (mut pair, mut closed) = (None, false);
        loop {
            match self.next() {
                None | Some('\n') => return Err("unterminated filter".to_owned()),
                Some(c @ ('"' | '\'')) => match pair {
                    None => pair = Some(c),
                    Some(quote) => closed |= quote == c && !self.escaped(),
                },
                Some(')') if pair.is_some() == closed => break,
                Some(_) => {}
            }
        }
        if self.next() != Some(']') {
            return Err("unclosed array expect ]".to_owned());
        }
        let text = self.take();
        let text = &text[..text.len() - 2];
        let Some(parts) = TEST.as_ref().and_then(|test| test.captures(text)) else {
            return Ok(Node::Filter { left: steps(text)?, test: None });
        };
        let part = |i: usize| parts.get(i).map_or("", |found| found.as_str());
        let left = steps(part(1))?;
        Ok(Node::Filter { left, test: Some((part(2).to_owned(), steps(part(3))?)) })
    }

    fn parse_quoted(&mut self, end: char) -> Result<Node, String> {
        loop {
            match self.next() {
                None | Some('\n') => return Err("unterminated quoted string".to_owned()),
                Some(c) if c == end && !self.escaped() => break,
                Some(_) => {}
            }
        }
        let text = self.take();
        unquote(text).map(Node::Text).ok_or_else(|| format!("unquote string {text} error invalid syntax"))
    }

    fn field(&mut self) -> Node {
        self.start = self.at;
        loop {
            match self.next() {
                Some('\\') => {
                    self.next();
                }
                None => break,
                Some(c) if ends(c) => {
                    self.back();
                    break;
                }
                Some(_) => {}
            }
        }
        match self.take() {
            "*" => Node::Wildcard,
            name => Node::Field(name.replace('\\', "")),
        }
    }
}

/// Return the text between single quotes that has none itself.
fn key(text: &str) -> Option<&str> {
    text.strip_prefix('\'')?.strip_suffix('\'').filter(|name| !name.contains('\''))
}

fn slice(text: &str) -> Result<Slice, String> {
    let parts: Vec<&str> = text.split(':').collect();
    let fits = |part: &&str| part.strip_prefix('-').unwrap_or(part).bytes().all(|byte| byte.is_ascii_digit());
    if parts.len() > 3 || !parts.iter().all(fits) {
        return Err(format!("invalid array index {text}"));
    }
    let place = |i: usize| match parts.get(i) {
        None | Some(&"") => Ok(None),
        Some(part) => part.parse::<i64>().map(Some).map_err(|_| format!("array index {part} is not a number")),
    };
    let (from, to, step) = (place(0)?, place(1)?, place(2)?);
    let one = parts.len() == 1;
    let to = if one { Some(from.unwrap_or(0).wrapping_add(1)) } else { to };
    Ok(Slice { from, to, one, step })
}

fn ends(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\r' | '\n' | '.' | ',' | '[' | ']' | '$' | '@' | '{' | '}')
}

fn word(c: char) -> bool {
    c == '_' || digit(c) || if c.is_ascii() { c.is_ascii_alphabetic() } else { of(&LETTER, c) }
}

fn digit(c: char) -> bool {
    if c.is_ascii() { c.is_ascii_digit() } else { of(&DIGIT, c) }
}

fn of(class: &LazyLock<Option<Regex>>, c: char) -> bool {
    class.as_ref().is_some_and(|class| class.is_match(c.encode_utf8(&mut [0; 4])))
}
