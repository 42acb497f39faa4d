//! Parse text to an expression (cel-go `parser/parser.go`): precedence climbing with ANTLR's messages.

#![allow(
    clippy::arithmetic_side_effects,
    reason = "sizes and costs are bounded by the budget of a run; numbers of a rule are calculated with checks"
)]
#![allow(clippy::indexing_slicing, reason = "numbers of nodes, arguments and tokens are given out by the parser")]

mod composite;
mod macros;
mod words;

use smol_str::SmolStr;

use self::words::{begins, is_operator, starts};

use crate::ast::{Call, Expr, Kind, Literal};
use crate::escape::is_reserved;
use crate::literal;
use crate::source::Issue;
use crate::token::{self, Kind as Word, Token};

/// The maximum depth of an expression, nesting and chains of operators together.
const DEEPEST: usize = 250;
/// The maximum length of an expression in characters.
const LONGEST: usize = 100_000;

/// Parse an expression, or return the issues in it. `bind` enables the macro `cel.bind`.
pub(crate) fn parse(source: &str, bind: bool) -> Result<(Expr, usize), Vec<Issue>> {
    let size = source.chars().count();
    if size > LONGEST {
        let text = format!("expression code point size exceeds limit: size: {size}, limit {LONGEST}");
        return Err(vec![Issue::new(0, text)]);
    }
    let mut issues = Vec::new();
    let tokens = token::split(source, &mut issues);
    let mut parser = Parser { source, tokens, at: 0, issues, ids: 0, nested: 0, open: 0, bind, beside: &[] };
    let parsed = parser.expr();
    if parsed.is_ok() {
        parser.end();
    }
    match parsed {
        Ok(expr) if parser.issues.is_empty() => Ok((expr, parser.ids)),
        _ => Err(parser.issues),
    }
}

pub(crate) struct Parser<'s> {
    source: &'s str,
    tokens: Vec<Token<'s>>,
    at: usize,
    issues: Vec<Issue>,
    ids: usize,
    nested: usize,
    /// The number of open parentheses.
    open: usize,
    /// Whether the macro `cel.bind` is enabled.
    pub bind: bool,
    /// The tokens that could be next instead of an expression.
    beside: &'static [&'static str],
}

/// The error that ends parsing; its issue is already reported.
pub(crate) struct Stop;

type Parsed<T = Expr> = Result<T, Stop>;

impl<'s> Parser<'s> {
    fn peek(&self) -> Token<'s> {
        self.tokens[self.at]
    }

    fn ahead(&self) -> Token<'s> {
        self.tokens[(self.at + 1).min(self.tokens.len() - 1)]
    }

    fn next(&mut self) -> Token<'s> {
        let token = self.peek();
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        token
    }

    fn take(&mut self, sign: &str) -> Option<Token<'s>> {
        self.peek().is(sign).then(|| self.next())
    }

    /// Report an issue and continue.
    pub(crate) fn note(&mut self, at: usize, message: impl Into<String>) {
        self.issues.push(Issue::new(at, message));
    }

    fn syntax(&mut self, at: usize, message: &str) {
        self.note(at, format!("Syntax error: {message}"));
    }

    /// Report that no rule accepts two tokens, which upstream shows with the blanks between them.
    fn not_viable(&mut self, first: Token<'s>, second: Token<'s>) {
        let from = first.at + first.text.chars().count();
        let between = self.source.chars().take(second.at).skip(from);
        let blanks: String = between.filter(|c| matches!(c, ' ' | '\t' | '\r' | '\n' | '\u{c}')).collect();
        self.syntax(second.at, &format!("no viable alternative at input '{}{blanks}{}'", first.text, second.text));
    }

    /// Report a name between backticks, which Kubernetes does not enable.
    fn unquotable(&mut self, name: Token<'s>) {
        self.note(name.at, "unsupported syntax: '`'");
    }

    fn expect(&mut self, sign: &str) -> Parsed<Token<'s>> {
        if let Some(token) = self.take(sign) {
            return Ok(token);
        }
        let found = self.peek();
        if self.ahead().is(sign) {
            self.syntax(found.at, &format!("extraneous input {} expecting '{sign}'", found.text()));
            self.next();
            return Ok(self.next());
        }
        // It is missing if the next token could follow it.
        let follows = if sign == ":" { begins(found) } else { found.kind == Word::End || is_operator(found) };
        if follows {
            self.syntax(found.at, &format!("missing '{sign}' at {}", found.text()));
        } else {
            self.syntax(found.at, &format!("mismatched input {} expecting '{sign}'", found.text()));
        }
        Err(Stop)
    }

    /// Consume the end of a literal, where another comma would also be valid.
    fn close(&mut self, sign: &str) -> Parsed<Token<'s>> {
        if self.peek().is(sign) {
            return self.expect(sign);
        }
        let found = self.peek();
        if self.ahead().is(sign) {
            self.syntax(found.at, &format!("extraneous input {} expecting {{'{sign}', ','}}", found.text()));
            self.next();
            return Ok(self.next());
        }
        self.syntax(found.at, &format!("mismatched input {} expecting {{'{sign}', ','}}", found.text()));
        Err(Stop)
    }

    fn end(&mut self) {
        let found = self.peek();
        if found.kind != Word::End {
            let how = if self.ahead().kind == Word::End { "extraneous" } else { "mismatched" };
            self.syntax(found.at, &format!("{how} input {} expecting <EOF>", found.text()));
        }
    }

    /// Return a node with a new number.
    pub(crate) fn node(&mut self, at: usize, kind: Kind) -> Expr {
        let depth = 1 + below(&kind);
        self.ids += 1;
        Expr { id: self.ids - 1, at, depth, kind }
    }

    fn call(&mut self, at: usize, name: &str, args: Vec<Expr>) -> Parsed {
        let call = Call { name: SmolStr::new(name), target: None, args };
        let expr = self.node(at, Kind::Call(call));
        self.check_depth(expr)
    }

    fn check_depth(&mut self, expr: Expr) -> Parsed {
        if expr.depth + self.nested > DEEPEST {
            self.note(expr.at, format!("expression recursion limit exceeded: {DEEPEST}"));
            return Err(Stop);
        }
        Ok(expr)
    }

    pub(crate) fn expr(&mut self) -> Parsed {
        self.nested += 1;
        if self.nested > DEEPEST {
            self.note(self.peek().at, format!("expression recursion limit exceeded: {DEEPEST}"));
            return Err(Stop);
        }
        let condition = self.logic("||")?;
        let out = if let Some(op) = self.take("?") {
            let yes = self.logic("||")?;
            self.expect(":")?;
            let no = self.expr()?;
            self.call(op.at, "_?_:_", vec![condition, yes, no])
        } else {
            Ok(condition)
        };
        self.nested -= 1;
        out
    }

    /// Parse terms of `||` or `&&`; upstream balances them, so the node is at the operator in the middle.
    fn logic(&mut self, sign: &str) -> Parsed {
        let term = |p: &mut Self| if sign == "||" { p.logic("&&") } else { p.binary(0) };
        let first = term(self)?;
        if !self.peek().is(sign) {
            return Ok(first);
        }
        let mut terms = vec![first];
        let mut ops = Vec::new();
        while let Some(op) = self.take(sign) {
            ops.push(op.at);
            terms.push(term(self)?);
        }
        let name = if sign == "||" { "_||_" } else { "_&&_" };
        self.call(ops[(ops.len() - 1) / 2], name, terms)
    }

    /// Parse operators that bind at least as tightly as a level.
    fn binary(&mut self, least: usize) -> Parsed {
        const OPERATORS: [(&str, &str, usize); 12] = [
            ("<", "_<_", 0),
            ("<=", "_<=_", 0),
            (">=", "_>=_", 0),
            (">", "_>_", 0),
            ("==", "_==_", 0),
            ("!=", "_!=_", 0),
            ("in", "@in", 0),
            ("+", "_+_", 1),
            ("-", "_-_", 1),
            ("*", "_*_", 2),
            ("/", "_/_", 2),
            ("%", "_%_", 2),
        ];
        let mut left = self.unary()?;
        loop {
            let next = self.peek();
            let Some((_, name, level)) = OPERATORS.iter().find(|(sign, _, level)| next.is(sign) && *level >= least)
            else {
                return Ok(left);
            };
            self.next();
            let right = self.binary(level + 1)?;
            left = self.call(next.at, name, vec![left, right])?;
        }
    }

    fn unary(&mut self) -> Parsed {
        for (sign, name) in [("!", "!_"), ("-", "-_")] {
            if !self.peek().is(sign) || (sign == "-" && matches!(self.ahead().kind, Word::Int | Word::Float)) {
                continue;
            }
            let at = self.peek().at;
            let mut count = 0;
            while self.peek().is(sign) && !(sign == "-" && matches!(self.ahead().kind, Word::Int | Word::Float)) {
                self.next();
                count += 1;
            }
            self.beside = &[];
            let operand = self.member()?;
            // Two of them cancel out.
            return if count % 2 == 0 { Ok(operand) } else { self.call(at, name, vec![operand]) };
        }
        self.member()
    }

    fn member(&mut self) -> Parsed {
        let mut expr = self.primary()?;
        loop {
            let op = self.peek();
            if self.take(".").is_some() {
                let optional = self.take("?").is_some();
                let id = self.peek();
                let closes = self.open > 0 && id.is(")");
                if id.kind == Word::Sign && (closes || is_operator(id)) && !optional {
                    // Upstream takes it for the operator or for the closing parenthesis.
                    self.not_viable(op, id);
                    return Ok(self.node(if closes { expr.at } else { op.at }, Kind::Bad));
                }
                self.next();
                let field = match id.kind {
                    Word::Ident => SmolStr::new(id.text),
                    Word::Escaped => {
                        self.unquotable(id);
                        SmolStr::new(id.text.trim_matches('`'))
                    }
                    _ if optional => {
                        let text = format!("mismatched input {} expecting {{IDENTIFIER, ESC_IDENTIFIER}}", id.text());
                        self.syntax(id.at, &text);
                        self.note(id.at, "unsupported ident kind");
                        return Err(Stop);
                    }
                    _ => {
                        self.not_viable(op, id);
                        return Err(Stop);
                    }
                };
                expr = if optional {
                    let field = self.node(id.at, Kind::Literal(Literal::Str(field)));
                    self.call(op.at, "_?._", vec![expr, field])?
                } else if id.kind == Word::Ident && self.peek().is("(") {
                    let open = self.next().at;
                    let (args, closed) = self.args()?;
                    let made = macros::expand(self, open, id.text, Some(expr), args);
                    closed?;
                    self.check_depth(made)?
                } else {
                    let made = self.node(op.at, Kind::Select { operand: Box::new(expr), field, test: false });
                    self.check_depth(made)?
                };
            } else if self.take("[").is_some() {
                let name = if self.take("?").is_some() { "_[?_]" } else { "_[_]" };
                self.beside = if name == "_[_]" { &["?"] } else { &[] };
                let index = self.expr()?;
                self.expect("]")?;
                expr = self.call(op.at, name, vec![expr, index])?;
            } else {
                return Ok(expr);
            }
        }
    }

    /// Parse the arguments of a call, and report whether they are closed: macros get those before an error.
    fn args(&mut self) -> Parsed<(Vec<Expr>, Parsed<()>)> {
        let mut args = Vec::new();
        if self.take(")").is_some() {
            return Ok((args, Ok(())));
        }
        self.beside = &[")"];
        self.open += 1;
        loop {
            args.push(self.expr()?);
            if self.take(",").is_none() {
                self.open -= 1;
                let closed = self.expect(")").map(drop);
                return Ok((args, closed));
            }
        }
    }

    fn primary(&mut self) -> Parsed {
        let token = self.peek();
        let beside = std::mem::take(&mut self.beside);
        if !begins(token) {
            let ahead = self.ahead();
            let follows = token.kind != Word::End && (begins(ahead) || beside.iter().any(|sign| ahead.is(sign)));
            let denied = token.kind == Word::End && self.at > 0 && self.tokens[self.at - 1].is("!");
            let how = if follows || denied { "extraneous" } else { "mismatched" };
            self.syntax(token.at, &format!("{how} input {} expecting {{{}}}", token.text(), starts(beside)));
            if !follows && is_operator(token) {
                // Upstream continues with the operator.
                return Ok(self.node(token.at, Kind::Bad));
            }
            if !begins(ahead) || token.kind == Word::End {
                return Err(Stop);
            }
            self.next();
            return self.unary();
        }
        self.next();
        let literal = |p: &mut Self, at, literal| Ok(p.node(at, Kind::Literal(literal)));
        match (token.kind, token.text) {
            (Word::Sign, "(") => {
                self.open += 1;
                let inner = self.expr()?;
                self.open -= 1;
                self.expect(")")?;
                Ok(inner)
            }
            (Word::Sign, "[") => self.list(token.at),
            (Word::Sign, "{") => self.map(token.at),
            (Word::Sign, "-") => {
                let number = self.next();
                Ok(self.number(token.at, number, "-"))
            }
            (Word::Sign, "!") => {
                self.at -= 1;
                self.unary()
            }
            (Word::Sign, "true") => literal(self, token.at, Literal::Bool(true)),
            (Word::Sign, "false") => literal(self, token.at, Literal::Bool(false)),
            (Word::Sign, "null") => literal(self, token.at, Literal::Null),
            (Word::Sign, _) => {
                // A leading dot has no effect, as the container is empty.
                let name = self.next();
                if name.kind != Word::Ident {
                    self.not_viable(token, name);
                    return Err(Stop);
                }
                self.parse_name(name)
            }
            (Word::Ident, _) => self.parse_name(token),
            (Word::String, text) => match literal::string(text) {
                Ok(value) => literal(self, token.at, Literal::Str(value.into())),
                Err(why) => Ok(self.refuse(token.at, why)),
            },
            (Word::Bytes, text) => match literal::bytes(text) {
                Ok(value) => literal(self, token.at, Literal::Bytes(value.into())),
                Err(why) => Ok(self.refuse(token.at, why)),
            },
            _ => Ok(self.number(token.at, token, "")),
        }
    }

    fn refuse(&mut self, at: usize, why: &str) -> Expr {
        self.note(at, why);
        self.node(at, Kind::Bad)
    }

    fn number(&mut self, at: usize, token: Token<'s>, sign: &str) -> Expr {
        let whole = |text: &str| match text.strip_prefix("0x") {
            Some(hex) => i128::from_str_radix(hex, 16).ok(),
            None => text.parse::<i128>().ok(),
        };
        let found = match token.kind {
            Word::Int => {
                let n = whole(token.text).map(|n| if sign.is_empty() { n } else { -n });
                n.and_then(|n| i64::try_from(n).ok()).map(Literal::Int).ok_or("invalid int literal")
            }
            Word::Uint => whole(token.text.trim_end_matches(['u', 'U']))
                .and_then(|n| u64::try_from(n).ok())
                .map(Literal::Uint)
                .ok_or("invalid uint literal"),
            _ => {
                let n: Option<f64> = format!("{sign}{}", token.text).parse().ok();
                n.filter(|n| n.is_finite()).map(Literal::Double).ok_or("invalid double literal")
            }
        };
        match found {
            Ok(literal) => self.node(at, Kind::Literal(literal)),
            Err(why) => self.refuse(at, why),
        }
    }

    fn parse_name(&mut self, token: Token<'s>) -> Parsed {
        let name = token.text;
        if is_reserved(name) {
            return Ok(self.refuse(token.at, &format!("reserved identifier: {name}")));
        }
        if self.peek().is("(") {
            let open = self.next().at;
            let (args, closed) = self.args()?;
            let made = macros::expand(self, open, name, None, args);
            return closed.map(|()| made);
        }
        if let Some(open) = self.message_ahead() {
            return self.message(name, open);
        }
        Ok(self.node(token.at, Kind::Ident(SmolStr::new(name))))
    }
}

fn below(kind: &Kind) -> usize {
    let deepest = |nodes: &mut dyn Iterator<Item = &Expr>| nodes.map(|e| e.depth).max().unwrap_or(0);
    match kind {
        Kind::Literal(_) | Kind::Ident(_) | Kind::Bad => 0,
        Kind::Select { operand, .. } => operand.depth,
        Kind::Call(call) => deepest(&mut call.target.as_deref().into_iter().chain(&call.args)),
        Kind::List(items) => deepest(&mut items.iter().map(|(e, _)| e)),
        Kind::Map(entries) => deepest(&mut entries.iter().flat_map(|(k, v, _)| [k, v])),
        Kind::Message(_, members) => deepest(&mut members.iter().map(|m| &m.value)),
        Kind::Fold(f) => deepest(&mut [&f.range].into_iter().chain(&f.filter).chain(&f.body)),
        Kind::Opt { operand, body, .. } => operand.depth.max(body.depth),
        Kind::Bind { value, body, .. } => value.depth.max(body.depth),
    }
}
