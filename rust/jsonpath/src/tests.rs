use hydrofoil_codec::json;

use super::JsonPath;

const OBJECT: &[u8] =
    br#"{"a":{"b":[1,2,3],"c.d":"x","e f":true},"s":[{"t":"A","v":"1"},{"t":"B","v":"2","n":5}],"m":{"x":1,"y":2},
    "n":null,"text":"hi","f":1.5}"#;

#[test]
fn leads_to_the_first_value() {
    let object = json::parse(OBJECT).expect("json").value;
    for (path, expected) in [
        (".a.b", "[1,2,3]"),
        (".a.b[0]", "1"),
        (".a.b[-1]", "3"),
        (".a.b[1:]", "2"),
        (".a.b[*]", "1"),
        (".a.b[1:2:1]", "2"),
        (r".a.c\.d", r#""x""#),
        (".a['c.d']", "null"),
        (r".a['c\.d']", r#""x""#),
        (r".a['e\ f']", "true"),
        (r#".s[?(@.t=="B")].v"#, r#""2""#),
        (".s[?(@.t=='A')].v", r#""1""#),
        (".s[?(@.n>4)].t", r#""B""#),
        (".s[?(@.n)].t", r#""B""#),
        (".m.*", "1"),
        ("..v", r#""1""#),
        (".a.b[2,0]", "3"),
        (".none.at.all", "null"),
        (".a.b[9]", "null"),
        (".m[0]", "null"),
        (".n.x", "null"),
        (".text.*", "104"),
        (".s[?(@.n>4.5)].t", "null"),
        (".", "null"),
        ("@", r#"{"a""#),
        (".m.x}text", "1"),
        ("range .s", "null"),
        ("'word'", r#""word""#),
        (".f", "1.5"),
    ] {
        let parsed = JsonPath::parse(path).expect(path);
        let found = parsed.first(&object).map_or("null".to_owned(), |value| value.to_json());
        assert!(found == expected || (path == "@" && found.starts_with(expected)), "{path}: {found}");
    }
}

#[test]
fn says_why_a_path_is_invalid() {
    for (path, why) in [
        (".a[", "unterminated array"),
        (".a[?(@.b]", "unterminated filter"),
        (".a[?(@.b)", "unclosed array expect ]"),
        (".a[x]", "invalid array index x"),
        (".a[1:2:3:4]", "invalid array index 1:2:3:4"),
        (".a[-]", "array index - is not a number"),
        (".a[99999999999999999999]", "array index 99999999999999999999 is not a number"),
        ("#", "unrecognized character in action: U+0023 '#'"),
        ("\u{7}", "unrecognized character in action: U+0007"),
        ("....a", "invalid multiple recursive descent"),
        (".a\nb", "unclosed action"),
        ("'a", "unterminated quoted string"),
        (r"'\q'", r"unquote string '\q' error invalid syntax"),
        ("-", "cannot parse number -"),
        ("²", "unrecognized character in action: U+00B2 '²'"),
        ("Ⅷ", "unrecognized character in action: U+2167 'Ⅷ'"),
        ("१", "cannot parse number १"),
        ("1.2.3", "cannot parse number 1.2.3"),
    ] {
        assert_eq!(JsonPath::parse(path).map(|_| ()), Err(why.to_owned()), "{path}");
    }
    for path in [".a...b", ".a.b(c)", "}x", "é"] {
        assert!(JsonPath::parse(path).is_ok(), "{path}");
    }
}

#[test]
fn descents_that_multiply_end() {
    let mut text = "1".to_owned();
    for _ in 0..200 {
        text = format!(r#"{{"a":{text}}}"#);
    }
    let object = json::parse(text.as_bytes()).expect("json").value;
    assert!(JsonPath::parse(&"..a".repeat(10)).expect("path").first(&object).is_none());
}
