//! Whole requests: the parts are the input, and no bytes break the cut.
#![no_main]

use hydrofoil_repeat::split;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some(request) = split(data) else { return };
    let [front, back] = request.lines;
    assert!(data.starts_with(request.method.as_bytes()) && data.ends_with(request.body));
    assert_eq!(request.length.map_or(0, |text| text.parse().unwrap()), request.body.len());
    assert_eq!(request.key().len(), 1 + front.len() + back.len());
    // One more byte, or one less, is no whole request.
    assert!(split(&[data, b"x"].concat()).is_none() && split(&data[..data.len() - 1]).is_none());
});
