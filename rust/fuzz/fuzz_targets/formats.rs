//! Formats, quantities and times: no string makes a parser panic.
#![no_main]

use hydrofoil_custom::StringFormat;
use hydrofoil_types::{Quantity, Timestamp, notation};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    for (name, format) in StringFormat::ALL {
        assert_eq!(StringFormat::parse(name), Some(format));
        let _ = format.allows(text);
    }
    if let Ok(amount) = Quantity::parse(text) {
        assert!(Quantity::parse(&amount.to_string()).is_ok());
        let _ = (amount.milli(), amount.value());
    }
    if let Some(time) = Timestamp::parse(text) {
        // A zone can carry it into the year 10000 or -1, which is written and not read, as in Go.
        let shown = time.rfc3339_micro();
        let four = shown.len() == "2006-01-02T15:04:05.000000Z".len();
        assert_eq!(Timestamp::parse(&shown).is_some(), four, "{text} is {shown}");
    }
    let _ = notation::parse(text);
});
