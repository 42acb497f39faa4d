//! `format` of texts (cel-go `ext/formatting.go`).

use std::fmt::Write as _;

use crate::convert;
use crate::time;
use crate::value::{Fail, Out, Val};

/// Puts values into the places that `%` marks.
pub(crate) fn format<'a>(text: &str, values: &[Val<'a>]) -> Out<'a> {
    let mut out = String::new();
    let mut values_left = values.iter();
    let mut index = 0;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c != '%' {
            out.push(c);
            continue;
        }
        let mut clause = chars.next().ok_or_else(|| Fail::new("unexpected end of format string"))?;
        if clause == '%' {
            out.push('%');
            continue;
        }
        let mut precision = None;
        if clause == '.' {
            let mut digits = String::new();
            loop {
                clause = chars.next().ok_or_else(|| Fail::new("could not find end of precision specifier"))?;
                if !clause.is_ascii_digit() {
                    break;
                }
                digits.push(clause);
            }
            let given =
                digits.parse::<usize>().map_err(|_| Fail::new("error while converting precision to integer"))?;
            if given > 1000 {
                return Err(Fail::new("precision is too large"));
            }
            precision = Some(given);
        }
        let value = values_left.next().ok_or_else(|| Fail::new(format!("index {index} out of range")))?;
        index += 1;
        one(clause, precision, value, &mut out)?;
    }
    Ok(Val::text(out))
}

fn one(clause: char, precision: Option<usize>, value: &Val<'_>, out: &mut String) -> Result<(), Fail> {
    let wrong = |what: &str| {
        let text =
            format!("error during formatting: {what} clause can only be used on numbers, was given {}", value.kind());
        Err(Fail::new(text))
    };
    match (clause, value) {
        ('s', value) => string(value, out)?,
        ('d', Val::Int(n)) => out.push_str(&n.to_string()),
        ('d', Val::Uint(n)) => out.push_str(&n.to_string()),
        ('f', _) => {
            let _ = write!(out, "{:.*}", precision.unwrap_or(6), float(value)?);
        }
        ('e', _) => {
            let text = format!("{:.*e}", precision.unwrap_or(6), float(value)?);
            let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
            let exponent: i32 = exponent.parse().unwrap_or(0);
            let sign = if exponent < 0 { '-' } else { '+' };
            let _ = write!(out, "{digits}e{sign}{:02}", exponent.abs());
        }
        ('b', Val::Bool(b)) => out.push(if *b { '1' } else { '0' }),
        ('b' | 'o' | 'x' | 'X', Val::Int(n)) => {
            if *n < 0 {
                out.push('-');
            }
            radix(clause, n.unsigned_abs(), out);
        }
        ('b' | 'o' | 'x' | 'X', Val::Uint(n)) => radix(clause, *n, out),
        ('x' | 'X', Val::Str(text)) => hex(clause, text.as_bytes(), out),
        ('x' | 'X', Val::Bytes(bytes)) => hex(clause, bytes, out),
        ('d', _) => return wrong("decimal"),
        ('b', _) => return wrong("binary"),
        ('o', _) => return wrong("octal"),
        ('x' | 'X', _) => return wrong("hex"),
        _ => {
            let text = format!("could not parse formatting clause: unrecognized formatting clause \"{clause}\"");
            return Err(Fail::new(text));
        }
    }
    Ok(())
}

fn float(value: &Val<'_>) -> Result<f64, Fail> {
    match value {
        Val::Double(f) => Ok(*f),
        Val::Int(n) => Ok(*n as f64),
        Val::Uint(n) => Ok(*n as f64),
        _ => Err(Fail::new("error during formatting: fixed-point clause can only be used on doubles")),
    }
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

fn string(value: &Val<'_>, out: &mut String) -> Result<(), Fail> {
    match value {
        Val::Null => out.push_str("null"),
        Val::Str(text) => out.push_str(text),
        Val::Type(name) => out.push_str(name),
        Val::Double(f) => out.push_str(&convert::number(*f)),
        Val::Duration(n) => out.push_str(&time::duration_text(*n)),
        Val::Bytes(bytes) => out.push_str(&String::from_utf8_lossy(bytes)),
        Val::Time(t) => out.push_str(&time::moment_text(*t)),
        Val::Bool(_) | Val::Int(_) | Val::Uint(_) => out.push_str(&value.shown()),
        Val::List(list) => {
            out.push('[');
            for (i, item) in list.iter().enumerate() {
                if i > 0 {
                    out.push_str(", ");
                }
                string(&item?, out)?;
            }
            out.push(']');
        }
        Val::Map(map) => {
            let mut parts = Vec::new();
            for key in map.keys() {
                let mut part = String::new();
                string(&key, &mut part)?;
                part.push_str(": ");
                string(&map.get(&key).ok_or_else(Fail::overload)??, &mut part)?;
                parts.push(part);
            }
            parts.sort();
            out.push('{');
            out.push_str(&parts.join(", "));
            out.push('}');
        }
        other => {
            let text = format!(
                "error during formatting: string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps, was given {}",
                other.kind()
            );
            return Err(Fail::new(text));
        }
    }
    Ok(())
}
