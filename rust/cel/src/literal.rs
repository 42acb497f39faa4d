//! The values of literals (cel-go `parser/unescape.go`).

#![allow(
    clippy::arithmetic_side_effects,
    reason = "sizes and costs are bounded by the budget of a run; numbers of a rule are calculated with checks"
)]
#![allow(clippy::string_slice, reason = "it is cut at characters that were found there")]

/// Return the text of a string literal with its quotes, or the error in it.
pub(crate) fn string(text: &str) -> Result<String, &'static str> {
    let mut out = String::new();
    each(text, |unit| match unit {
        Unit::Char(c) => out.push(c),
        Unit::Byte(b) => out.push(char::from(b)),
    })?;
    Ok(out)
}

/// Return the bytes of a bytes literal with its quotes, or the error in it.
pub(crate) fn bytes(text: &str) -> Result<Vec<u8>, &'static str> {
    let mut out = Vec::new();
    each(text, |unit| match unit {
        Unit::Char(c) => out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
        Unit::Byte(b) => out.push(b),
    })?;
    Ok(out)
}

enum Unit {
    Char(char),
    /// The byte of `\x` or an octal escape.
    Byte(u8),
}

fn each(text: &str, mut take: impl FnMut(Unit)) -> Result<(), &'static str> {
    let start = text.find(['"', '\'']).unwrap_or(0);
    let raw = text[..start].contains(['r', 'R']);
    let body = &text[start..];
    let triple = body.len() >= 6 && (body.starts_with("\"\"\"") || body.starts_with("'''"));
    let quote = if triple { 3 } else { 1 };
    let body = body.get(quote..body.len().saturating_sub(quote)).unwrap_or("");
    // Line ends are normalized.
    let body = body.replace("\r\n", "\n").replace('\r', "\n");
    let mut rest = body.chars();
    while let Some(c) = rest.next() {
        if c != '\\' || raw {
            take(Unit::Char(c));
            continue;
        }
        let letter = rest.next().ok_or("unable to unescape string, found '\\' as last character")?;
        let mut code = |digits: usize, radix: u32, first: u32| {
            (0..digits).try_fold(first, |n, _| Some(n * radix + rest.next()?.to_digit(radix)?)).ok_or("invalid escape")
        };
        take(match letter {
            'a' => Unit::Char('\u{7}'),
            'b' => Unit::Char('\u{8}'),
            'f' => Unit::Char('\u{c}'),
            'n' => Unit::Char('\n'),
            'r' => Unit::Char('\r'),
            't' => Unit::Char('\t'),
            'v' => Unit::Char('\u{b}'),
            'x' | 'X' => Unit::Byte(code(2, 16, 0)? as u8),
            '0'..='3' => Unit::Byte(code(2, 8, letter as u32 - '0' as u32)? as u8),
            'u' => Unit::Char(char::from_u32(code(4, 16, 0)?).ok_or("invalid unicode code point")?),
            'U' => Unit::Char(char::from_u32(code(8, 16, 0)?).ok_or("invalid unicode code point")?),
            other => Unit::Char(other),
        });
    }
    Ok(())
}
