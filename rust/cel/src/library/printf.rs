//! `format` of strings (cel-go `ext/formatting.go`), at check time and at runtime.

#![allow(
    clippy::arithmetic_side_effects,
    reason = "sizes and costs are bounded by the budget of a run; numbers of a rule are calculated with checks"
)]
#![allow(clippy::indexing_slicing, reason = "numbers of nodes, arguments and tokens are given out by the parser")]

use std::fmt::Write as _;

use hydrofoil_text::quoted;

use crate::value::{Fail, Out, Val, number, time};

/// A format clause.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clause {
    pub sign: char,
    pub precision: Option<usize>,
}

/// Visit the pieces of a format: plain text, and clauses with the index of their value among `count`.
pub(crate) fn pieces(
    text: &str,
    count: usize,
    mut plain: impl FnMut(char),
    mut clause: impl FnMut(usize, Clause) -> Result<(), Fail>,
) -> Result<usize, Fail> {
    let mut used = 0;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '%' {
            plain(c);
            continue;
        }
        if chars.next_if_eq(&'%').is_some() {
            plain('%');
            continue;
        }
        let first = chars.next().ok_or_else(|| Fail::new("unexpected end of string"))?;
        if used >= count {
            return Err(Fail::new(format!("index {used} out of range")));
        }
        let (sign, precision) = if first == '.' { precision(&mut chars)? } else { (first, None) };
        if !matches!(sign, 's' | 'd' | 'f' | 'e' | 'b' | 'x' | 'X' | 'o') {
            return Err(parse_error(&format!("unrecognized formatting clause \"{sign}\"")));
        }
        clause(used, Clause { sign, precision })?;
        used += 1;
    }
    Ok(used)
}

fn parse_error(why: &str) -> Fail {
    Fail::new(format!("could not parse formatting clause: {why}"))
}

fn precision(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) -> Result<(char, Option<usize>), Fail> {
    let mut digits = String::new();
    loop {
        let Some(c) = chars.next() else {
            return Err(parse_error("error while parsing precision: could not find end of precision specifier"));
        };
        if !c.is_ascii_digit() {
            let found = digits.parse::<usize>().map_err(|_| {
                let why = if digits.is_empty() { "invalid syntax" } else { "value out of range" };
                let why = format!("strconv.Atoi: parsing \"{digits}\": {why}");
                parse_error(&format!(
                    "error while parsing precision: error while converting precision to integer: {why}"
                ))
            })?;
            // Go's formatting has this limit.
            return Ok((c, Some(found.min(1000))));
        }
        digits.push(c);
    }
}

/// Return the error of a clause for a value of an unsupported type.
pub(crate) fn unsupported_type(clause: Clause, kind: &str) -> String {
    let what = match clause.sign {
        's' => {
            "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps"
        }
        'd' => "decimal clause can only be used on integers",
        'f' => "fixed-point clause can only be used on doubles",
        'e' => "scientific clause can only be used on doubles",
        'b' => "only integers and bools can be formatted as binary",
        'o' => "octal clause can only be used on integers",
        _ => "only integers, byte buffers, and strings can be formatted as hex",
    };
    format!("error during formatting: {what}, was given {kind}")
}

/// Replace the clauses of a format by values.
pub(crate) fn format<'a>(text: &str, values: &[Val<'a>]) -> Out<'a> {
    let out = std::cell::RefCell::new(String::new());
    pieces(
        text,
        values.len(),
        |c| out.borrow_mut().push(c),
        |i, clause| values.get(i).map_or(Ok(()), |value| one(clause, value, &mut out.borrow_mut())),
    )?;
    Ok(Val::text(out.into_inner()))
}

fn one(clause: Clause, value: &Val<'_>, out: &mut String) -> Result<(), Fail> {
    match (clause.sign, value) {
        ('s', value) => string(value, out)?,
        ('d', Val::Int(n)) => out.push_str(&n.to_string()),
        ('d', Val::Uint(n)) => out.push_str(&n.to_string()),
        ('f' | 'e', value) => {
            let Some(f) = float(value) else { return Err(Fail::new(unsupported_type(clause, value.kind()))) };
            if clause.sign == 'f' {
                write_fixed(f, clause.precision, out);
            } else {
                scientific(f, clause.precision, out);
            }
        }
        ('b', Val::Bool(b)) => out.push(if *b { '1' } else { '0' }),
        ('b' | 'o' | 'x' | 'X', Val::Int(n)) => {
            if *n < 0 {
                out.push('-');
            }
            radix(clause.sign, n.unsigned_abs(), out);
        }
        ('b' | 'o' | 'x' | 'X', Val::Uint(n)) => radix(clause.sign, *n, out),
        ('x' | 'X', Val::Str(text)) => hex(clause.sign, text.as_bytes(), out),
        ('x' | 'X', Val::Bytes(bytes)) => hex(clause.sign, bytes, out),
        _ => return Err(Fail::new(unsupported_type(clause, value.kind()))),
    }
    Ok(())
}

fn float(value: &Val<'_>) -> Option<f64> {
    match value {
        Val::Double(f) => Some(*f),
        Val::Str(text) => match &**text {
            "NaN" => Some(f64::NAN),
            "Infinity" => Some(f64::INFINITY),
            "-Infinity" => Some(f64::NEG_INFINITY),
            _ => None,
        },
        _ => None,
    }
}

/// Return infinities and NaN as in the English locale.
fn special(f: f64) -> Option<&'static str> {
    match f {
        f if f.is_nan() => Some("NaN"),
        f if f.is_infinite() => Some(if f > 0.0 { "∞" } else { "-∞" }),
        _ => None,
    }
}

/// Append a number as in the English locale: with separated thousands.
fn write_fixed(f: f64, precision: Option<usize>, out: &mut String) {
    if let Some(text) = special(f) {
        return out.push_str(text);
    }
    let text = format!("{:.*}", precision.unwrap_or(6), f.abs());
    let (whole, rest) = text.find('.').map_or((text.as_str(), ""), |at| text.split_at(at));
    if f.is_sign_negative() {
        out.push('-');
    }
    for (i, digit) in whole.chars().enumerate() {
        if i > 0 && (whole.len() - i) % 3 == 0 {
            out.push(',');
        }
        out.push(digit);
    }
    out.push_str(rest);
}

/// Append a number; upstream takes the precision for a width here, and always writes six digits.
fn scientific(f: f64, width: Option<usize>, out: &mut String) {
    let mut shown = String::new();
    if let Some(text) = special(f) {
        shown.push_str(text);
    } else {
        let text = format!("{f:.6e}");
        let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let exponent: i32 = exponent.parse().unwrap_or(0);
        shown.push_str(digits);
        shown.push_str("×10");
        if exponent < 0 {
            shown.push('⁻');
        }
        for digit in format!("{:02}", exponent.abs()).bytes() {
            const RAISED: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
            shown.push(RAISED[usize::from(digit - b'0') % 10]);
        }
    }
    let _ = write!(out, "{shown:>0$}", width.unwrap_or(6));
}

fn radix(clause: char, n: u64, out: &mut String) {
    let _ = match clause {
        'b' => write!(out, "{n:b}"),
        'o' => write!(out, "{n:o}"),
        'x' => write!(out, "{n:x}"),
        _ => write!(out, "{n:X}"),
    };
}

fn hex(clause: char, bytes: &[u8], out: &mut String) {
    for byte in bytes {
        let _ = if clause == 'x' { write!(out, "{byte:02x}") } else { write!(out, "{byte:02X}") };
    }
}

/// Append a value of a string clause (`FormatString`).
fn string(value: &Val<'_>, out: &mut String) -> Result<(), Fail> {
    match value {
        Val::Null => out.push_str("null"),
        Val::Str(text) => out.push_str(text),
        Val::Type(name) => out.push_str(name),
        Val::Double(f) => out.push_str(&number(*f)),
        Val::Duration(n) => out.push_str(&time::duration_text(*n)),
        Val::Bytes(bytes) => out.push_str(&String::from_utf8_lossy(bytes)),
        Val::Time(t) => out.push_str(&time::moment_text(*t)),
        Val::Bool(_) | Val::Int(_) | Val::Uint(_) => out.push_str(&value.error_text()),
        Val::List(list) => {
            out.push('[');
            for (i, item) in list.iter().enumerate() {
                if i > 0 {
                    out.push_str(", ");
                }
                member(&item?, out)?;
            }
            out.push(']');
        }
        Val::Map(map) => {
            let mut parts = Vec::new();
            for key in map.keys() {
                if !matches!(key, Val::Str(_) | Val::Bool(_) | Val::Int(_) | Val::Uint(_)) {
                    return Err(unwritable(&format!("map key of type {}", key.kind())));
                }
                let (mut name, mut text) = (String::new(), String::new());
                member(&key, &mut name)?;
                member(&map.get(&key).ok_or_else(Fail::overload)??, &mut text)?;
                parts.push((name, text));
            }
            parts.sort();
            let parts: Vec<_> = parts.into_iter().map(|(name, text)| format!("{name}:{text}")).collect();
            out.push('{');
            out.push_str(&parts.join(", "));
            out.push('}');
        }
        other => return Err(Fail::new(unsupported_type(Clause { sign: 's', precision: None }, other.kind()))),
    }
    Ok(())
}

fn unwritable(what: &str) -> Fail {
    Fail::new(format!("error during formatting: no formatting function for {what}"))
}

/// Append a value in a list or map: like a literal of the language (`clauseForType`, `quoteForCEL`).
fn member(value: &Val<'_>, out: &mut String) -> Result<(), Fail> {
    let mut text = String::new();
    match value {
        Val::Double(f) => {
            let shown =
                if f.is_infinite() { if *f > 0.0 { "+Inf" } else { "-Inf" }.to_owned() } else { format!("{f:.6}") };
            if f.is_finite() {
                out.push_str(&shown);
            } else {
                let _ = write!(out, "{shown:?}");
            }
            return Ok(());
        }
        Val::Optional(_)
        | Val::Ip(_)
        | Val::Cidr(_)
        | Val::Url(_)
        | Val::Quantity(_)
        | Val::Semver(_)
        | Val::Format(_) => return Err(unwritable(value.kind())),
        _ => string(value, &mut text)?,
    }
    match value {
        Val::Str(_) => out.push_str(&quoted(&text)),
        Val::Bytes(_) => {
            out.push('b');
            out.push_str(&quoted(&text));
        }
        Val::Time(_) | Val::Duration(_) => {
            out.push_str(if matches!(value, Val::Time(_)) { "timestamp(" } else { "duration(" });
            out.push_str(&quoted(&text));
            out.push(')');
        }
        _ => out.push_str(&text),
    }
    Ok(())
}
