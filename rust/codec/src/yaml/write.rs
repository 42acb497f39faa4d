//! From a value to YAML, in Go's style: block form, keys sorted.

use hydrofoil_types::Value;

/// A value as a YAML document.
pub fn write(value: &Value) -> Vec<u8> {
    let mut out = String::new();
    node(&mut out, value, 0, false);
    if !out.ends_with('\n') {
        out.push('\n');
    }
    out.into_bytes()
}

/// Writes a value; `inline` when it follows `- `, so that its first line is indented already.
fn node(out: &mut String, value: &Value, indent: usize, inline: bool) {
    match value {
        Value::Object(map) if !map.is_empty() => {
            let mut members: Vec<_> = map.iter().collect();
            members.sort_by(|a, b| a.0.cmp(&b.0));
            for (i, (key, member)) in members.into_iter().enumerate() {
                if i > 0 || !inline {
                    pad(out, indent);
                }
                text(out, key, indent);
                out.push(':');
                match member {
                    Value::Object(m) if !m.is_empty() => {
                        out.push('\n');
                        node(out, member, indent + 2, false);
                    }
                    Value::Array(a) if !a.is_empty() => {
                        out.push('\n');
                        node(out, member, indent, false);
                    }
                    _ => {
                        out.push(' ');
                        scalar(out, member, indent + 2);
                        out.push('\n');
                    }
                }
            }
        }
        Value::Array(items) if !items.is_empty() => {
            for (i, item) in items.iter().enumerate() {
                if i > 0 || !inline {
                    pad(out, indent);
                }
                out.push_str("- ");
                match item {
                    Value::Object(m) if !m.is_empty() => node(out, item, indent + 2, true),
                    Value::Array(a) if !a.is_empty() => node(out, item, indent + 2, true),
                    _ => {
                        scalar(out, item, indent + 2);
                        out.push('\n');
                    }
                }
            }
        }
        _ => {
            scalar(out, value, indent);
            out.push('\n');
        }
    }
}

fn pad(out: &mut String, indent: usize) {
    out.extend(std::iter::repeat_n(' ', indent));
}

fn scalar(out: &mut String, value: &Value, indent: usize) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(b) => out.push_str(if *b { "true" } else { "false" }),
        Value::Int(n) => out.push_str(&n.to_string()),
        Value::Float(f) => out.push_str(&f.to_string()),
        Value::Str(s) => text(out, s, indent),
        // JSON is YAML.
        Value::Raw(s) => out.push_str(s),
        Value::Array(_) => out.push_str("[]"),
        Value::Object(_) => out.push_str("{}"),
    }
}

/// A text: plain where it reads back as the same text, as a block where it has lines, else quoted.
fn text(out: &mut String, s: &str, indent: usize) {
    let block = s.contains('\n')
        && !s.starts_with([' ', '\n'])
        && s.chars().all(|c| {
            c == '\n' || (c >= ' ' && c != '\u{7f}' && c != '\u{feff}' && !('\u{80}'..='\u{9f}').contains(&c))
        })
        && s.lines().all(|l| !l.ends_with(' '));
    if block {
        let body = s.trim_end_matches('\n');
        out.push_str(match s.len() - body.len() {
            0 => "|-",
            1 => "|",
            _ => "|+",
        });
        for line in s.strip_suffix('\n').unwrap_or(s).split('\n') {
            out.push('\n');
            if !line.is_empty() {
                pad(out, indent);
                out.push_str(line);
            }
        }
        return;
    }
    if is_plain(s) {
        out.push_str(s);
        return;
    }
    let single = s.chars().all(|c| c >= ' ' && c != '\u{7f}' && c != '\u{feff}' && !('\u{80}'..='\u{9f}').contains(&c));
    if single && !s.is_empty() && !s.contains('"') || single && s.contains(['"', '\\']) {
        out.push('\'');
        out.push_str(&s.replace('\'', "''"));
        out.push('\'');
        return;
    }
    let mut quoted = Vec::new();
    crate::json::write_string(&mut quoted, s);
    out.push_str(std::str::from_utf8(&quoted).expect("JSON of a text is text"));
}

fn is_plain(s: &str) -> bool {
    let Some(first) = s.chars().next() else { return false };
    if s.starts_with([
        '-', '?', ':', ',', '[', ']', '{', '}', '#', '&', '*', '!', '|', '>', '\'', '"', '%', '@', '`', ' ', '=', '<',
        '.', '+', '~',
    ]) {
        // A leading sign or dot could still be a name, but quoting is never wrong.
        let name = (first == '-' || first == '.') && s[1..].starts_with(|c: char| c.is_ascii_alphabetic());
        if !name {
            return false;
        }
    }
    if first.is_ascii_digit()
        && !s.contains(|c: char| {
            c.is_ascii_alphabetic() && !matches!(c, 'e' | 'E' | 'x' | 'o' | 'b' | 'a'..='f' | 'A'..='F' | 'T' | 'Z')
        })
    {
        return false;
    }
    let reserved = ["y", "n", "yes", "no", "on", "off", "true", "false", "null", "nan", "inf"];
    if reserved.contains(&s.to_ascii_lowercase().as_str()) {
        return false;
    }
    !s.ends_with([' ', ':'])
        && !s.contains(": ")
        && !s.contains(" #")
        && s.chars().all(|c| c >= ' ' && c != '\u{7f}' && c != '\u{feff}' && !('\u{80}'..='\u{9f}').contains(&c))
}

#[cfg(test)]
mod tests {
    #[test]
    fn reads_back_what_it_writes() {
        let source = r#"{"a":"yes","b":"1","c":["x",{"k":"v","l":[1,[2]]}],"d":{},"e":[],"f":"line\nline\n","g":"a: b","h":"","i":"\t","j":"it's","k":"1e3","m":"2001-02-03","n":"- x","o":"\"q\"","p":null,"q":"tail\n\n","r":" lead","s":"0x1f","t":"10.0.0.1"}"#;
        let value = crate::json::parse(source.as_bytes()).unwrap().value;
        let text = super::write(&value);
        let back = crate::yaml::parse(&text).unwrap();
        assert_eq!(back.value, value, "{}", String::from_utf8_lossy(&text));
    }
}
