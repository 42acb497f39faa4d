//! Strings in quotes (`UnquoteExtend`, Go's `strconv.UnquoteChar`).

/// Return the text between two quotes; `None` if it has an invalid escape or ends too early.
pub(super) fn unquote(text: &str) -> Option<String> {
    let quote = text.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let inner = text.strip_prefix(quote)?.strip_suffix(quote)?;
    let mut out: Vec<u8> = Vec::with_capacity(inner.len());
    let mut rest = inner.chars();
    while let Some(c) = rest.next() {
        match c {
            '\\' => escape(&mut rest, quote, &mut out)?,
            c if c == quote => return None,
            c => out.extend(c.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    Some(String::from_utf8_lossy(&out).into_owned())
}

fn escape(rest: &mut std::str::Chars<'_>, quote: char, out: &mut Vec<u8>) -> Option<()> {
    let c = rest.next()?;
    let plain = match c {
        'a' => 7,
        'b' => 8,
        'f' => 12,
        'n' => b'\n',
        'r' => b'\r',
        't' => b'\t',
        'v' => 11,
        '\\' => b'\\',
        '"' if quote == '"' => b'"',
        '\'' if quote == '\'' => b'\'',
        'x' => u8::try_from(number(rest, 2, 16)?).ok()?,
        'u' | 'U' => {
            let c = char::from_u32(number(rest, if c == 'u' { 4 } else { 8 }, 16)?)?;
            out.extend(c.encode_utf8(&mut [0; 4]).as_bytes());
            return Some(());
        }
        '0'..='7' => {
            let low = number(rest, 2, 8)?;
            u8::try_from(c.to_digit(8)?.checked_mul(64)?.checked_add(low)?).ok()?
        }
        _ => return None,
    };
    out.push(plain);
    Some(())
}

fn number(rest: &mut std::str::Chars<'_>, digits: usize, base: u32) -> Option<u32> {
    (0..digits).try_fold(0_u32, |sum, _| sum.checked_mul(base)?.checked_add(rest.next()?.to_digit(base)?))
}

#[cfg(test)]
mod tests {
    use super::unquote;

    #[test]
    fn reads_escapes_as_go_does() {
        for (text, expected) in [
            (r#""a b""#, Some("a b")),
            ("'a'", Some("a")),
            (r"'it\'s'", Some("it's")),
            (r#"'a\"'"#, None),
            (r"'\x41\u00e9\101\n'", Some("A\u{e9}A\n")),
            (r"'\q'", None),
            (r"'\777'", None),
            (r"'\x4'", None),
            ("'", None),
        ] {
            assert_eq!(unquote(text).as_deref(), expected, "{text}");
        }
    }
}
