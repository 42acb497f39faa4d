use super::to_protobuf;

fn has(out: &[u8], part: &[u8]) -> bool {
    out.windows(part.len()).any(|w| w == part)
}

#[test]
fn a_schema_of_version_2_wraps_types_and_items() {
    let document = br#"{"swagger":"2.0","definitions":{"A":{"type":"array","items":{"$ref":"B"}}}}"#;
    let out = to_protobuf(document).unwrap();
    // swagger=1 "2.0"; definitions=9 { entry=1 { name=1 "A", value=2 { type=22 {1 "array"}, items=23 {1 { $ref=1 "B" }}}}}
    let schema: &[u8] = b"\xb2\x01\x07\x0a\x05array\xba\x01\x05\x0a\x03\x0a\x01B";
    assert!(out.starts_with(b"\x0a\x032.0\x4a"), "{out:?}");
    assert!(out.ends_with(schema), "{out:?}");
}

#[test]
fn extensions_are_kept_as_yaml() {
    let document = br#"{"swagger":"2.0","definitions":{"A":{"x-kubernetes-list-map-keys":["a","b"]}}}"#;
    assert!(has(&to_protobuf(document).unwrap(), b"\x12\x0a\x12\x08- a\n- b\n"));
}

#[test]
fn a_property_may_be_named_like_an_extension() {
    let document = br#"{"swagger":"2.0","definitions":{"A":{"properties":{"x-y":{"format":"f"}}}}}"#;
    assert!(has(&to_protobuf(document).unwrap(), b"\x0a\x03x-y\x12\x03\x12\x01f"));
}

#[test]
fn version_3_tells_references_and_explicit_zeros() {
    let document = br#"{"openapi":"3.0.0","components":{"schemas":{"A":{"default":false,"allOf":[{"$ref":"B"}]}}}}"#;
    let out = to_protobuf(document).unwrap();
    // allOf=26 { reference=2 { $ref=1 "B" } }, default=33 { boolean=2 false }
    assert!(out.ends_with(b"\xd2\x01\x05\x12\x03\x0a\x01B\x8a\x02\x02\x10\x00"), "{out:?}");
}

#[test]
fn a_parameter_is_of_the_form_of_its_place() {
    let document =
        br#"{"swagger":"2.0","parameters":{"w":{"in":"query","name":"watch"},"b":{"in":"body","name":"b"}}}"#;
    let out = to_protobuf(document).unwrap();
    // non_body_parameter=2 { query=3 { in=2 "query", name=4 "watch" } }
    assert!(has(&out, b"\x12\x10\x1a\x0e\x12\x05query\x22\x05watch"), "{out:?}");
    assert!(has(&out, b"\x0a\x09\x12\x01b\x1a\x04body"), "{out:?}");
}

#[test]
fn what_is_no_json_is_an_error() {
    assert!(to_protobuf(b"{").is_err());
}
