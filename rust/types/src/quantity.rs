//! Quantities in their canonical form (apimachinery `pkg/api/resource`).

#![allow(clippy::arithmetic_side_effects, reason = "amounts are capped below 128 bits before they are calculated with")]
#![allow(clippy::indexing_slicing, reason = "there is a unit for each power that is counted")]
#![allow(clippy::string_slice, reason = "a sign has one byte")]

use std::fmt;

use smol_str::SmolStr;

const NANO: i128 = 1_000_000_000;
/// Binary quantities are capped at the maximum of 64 bits.
const MAX: i128 = i64::MAX as i128 * NANO;
/// Decimal ones are unbounded upstream; here they end at the maximum of 128 bits.
const HUGE: i128 = 10i128.pow(37);

/// The format of a quantity, kept when it is written again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuantityFormat {
    /// `Ki`, `Mi`, ...
    BinarySi,
    /// `m`, `k`, `M`, ...
    DecimalSi,
    /// `e3`.
    DecimalExponent,
}

/// A fixed-point number with a unit, exact to a billionth.
#[derive(Clone, Copy, Debug)]
pub struct Quantity {
    nano: i128,
    format: QuantityFormat,
    /// Whether upstream has it in 64 bits, which decides what an overflow gives.
    small: bool,
    /// Whether it is written as it was read.
    kept: bool,
}

impl PartialEq for Quantity {
    /// Report whether the values are equal, in any format.
    fn eq(&self, other: &Self) -> bool {
        self.nano == other.nano
    }
}

impl Quantity {
    /// Upstream's message for an invalid quantity.
    pub const FORM: &str =
        "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";

    /// Parse a quantity. The error is upstream's message.
    pub fn parse(text: &str) -> Result<Self, &'static str> {
        const SUFFIX: &str = "unable to parse quantity's suffix";
        let (negative, rest) = match text.as_bytes().first() {
            Some(b'-') => (true, &text[1..]),
            Some(b'+') => (false, &text[1..]),
            _ => (false, text),
        };
        let (mut end, mut point) = (0, None);
        for byte in rest.bytes() {
            match byte {
                b'0'..=b'9' => {}
                b'.' if point.is_none() => point = Some(end),
                b'.' => return Err(Self::FORM),
                _ => break,
            }
            end += 1;
        }
        let (digits, suffix) = rest.split_at(end);
        let (whole, fraction) = point.map_or((digits, ""), |at| (&digits[..at], &digits[at + 1..]));
        // Upstream's parser takes a suffix, a sign or a point for zero; only the empty string is rejected.
        if text.is_empty() {
            return Err(Self::FORM);
        }
        let (base, exponent, format) = match suffix {
            "" => (10, 0, QuantityFormat::DecimalSi),
            "n" => (10, -9, QuantityFormat::DecimalSi),
            "u" => (10, -6, QuantityFormat::DecimalSi),
            "m" => (10, -3, QuantityFormat::DecimalSi),
            "k" => (10, 3, QuantityFormat::DecimalSi),
            "M" => (10, 6, QuantityFormat::DecimalSi),
            "G" => (10, 9, QuantityFormat::DecimalSi),
            "T" => (10, 12, QuantityFormat::DecimalSi),
            "P" => (10, 15, QuantityFormat::DecimalSi),
            "E" => (10, 18, QuantityFormat::DecimalSi),
            "Ki" => (2, 10, QuantityFormat::BinarySi),
            "Mi" => (2, 20, QuantityFormat::BinarySi),
            "Gi" => (2, 30, QuantityFormat::BinarySi),
            "Ti" => (2, 40, QuantityFormat::BinarySi),
            "Pi" => (2, 50, QuantityFormat::BinarySi),
            "Ei" => (2, 60, QuantityFormat::BinarySi),
            _ => {
                let Some(number) = suffix.strip_prefix(['e', 'E']) else {
                    let known = suffix.bytes().all(|b| b"eEinumkKMGTP+-0123456789".contains(&b));
                    return Err(if known { SUFFIX } else { Self::FORM });
                };
                let Ok(exponent) = number.parse::<i32>() else {
                    let known = suffix.bytes().all(|b| b"eEinumkKMGTP+-0123456789".contains(&b));
                    return Err(if known { SUFFIX } else { Self::FORM });
                };
                (10, exponent, QuantityFormat::DecimalExponent)
            }
        };
        let nano = scale(whole, fraction, base, exponent);
        let nano = if negative { -nano } else { nano };
        let (small, kept) = fits(whole.trim_start_matches('0'), fraction, base, exponent, nano);
        Ok(Self { nano, format, small, kept })
    }

    /// Return the text that stands for a quantity where it is written: some texts are not brought into canonical form.
    /// The error is upstream's message.
    pub fn canonical_text(text: &str) -> Result<SmolStr, &'static str> {
        let quantity = Self::parse(text)?;
        Ok(if quantity.kept { SmolStr::new(text) } else { smol_str::format_smolstr!("{quantity}") })
    }

    /// Return the value in billionths.
    pub fn nano(self) -> i128 {
        self.nano
    }

    /// Return the value in thousandths, rounded up, as Go's `MilliValue` with its overflows.
    pub fn milli(self) -> i128 {
        self.cut(div_up(self.nano, 1_000_000))
    }

    /// Return the value, rounded up, as Go's `Value` with its overflows.
    pub fn value(self) -> i128 {
        self.cut(div_up(self.nano, NANO))
    }

    /// Return a number as upstream's 64 bits hold it: nothing of a small amount, the low bits of a large one.
    fn cut(self, number: i128) -> i128 {
        match i64::try_from(number) {
            Err(_) if self.small => 0,
            Err(_) => i128::from(number as i64),
            Ok(_) => number,
        }
    }

    /// Return a quantity of the same format with another value in billionths.
    #[must_use]
    pub fn with_nano(self, nano: i128) -> Self {
        Self { nano, kept: false, ..self }
    }
}

/// Return whether upstream parses the digits times `base^exponent` into 64 bits, and then keeps the text: the fast path of
/// `ParseQuantity`. `whole` has no leading zeros.
fn fits(whole: &str, fraction: &str, base: i32, exponent: i32, nano: i128) -> (bool, bool) {
    let whole = if whole.is_empty() { "0" } else { whole };
    let digits = i32::try_from(whole.len().saturating_add(fraction.len())).unwrap_or(i32::MAX);
    if base == 2 {
        let room = 15 - digits - exponent * 3 / 10 - 1;
        let small = fraction.is_empty() && room >= 0;
        return (small, small && whole.parse::<i64>().is_ok_and(|n| n & 7 != 0));
    }
    let scale = exponent.saturating_sub(fraction.len() as i32);
    let small = digits <= 18 && scale >= -9;
    let last = whole.bytes().chain(fraction.bytes()).rev();
    let even = last.clone().count() < 3 || last.take(3).any(|b| b != b'0');
    let first = whole.bytes().chain(fraction.bytes()).next();
    (small, small && nano != 0 && scale % 3 == 0 && even && first != Some(b'0'))
}

fn div_up(n: i128, by: i128) -> i128 {
    let q = n / by;
    if n % by == 0 { q } else { q + n.signum() }
}

/// The number of digits that always fit into 64 bits.
const FEW_DIGITS: usize = 18;

/// Return the digits times `base^exponent` in billionths, rounded up (away from zero) and capped.
fn scale(whole: &str, fraction: &str, base: i32, exponent: i32) -> i128 {
    let most = if base == 2 { MAX } else { HUGE };
    let mut mantissa: i128 = 0;
    let mut places = 0i32;
    let mut inexact = false;
    let few = whole.len() + fraction.len() <= FEW_DIGITS;
    if few {
        let digits = whole.bytes().chain(fraction.bytes());
        mantissa = digits.fold(0_i64, |n, digit| n * 10 + i64::from(digit - b'0')).into();
        places = fraction.len() as i32;
    }
    let long = if few { ("", "") } else { (whole, fraction) };
    for (i, digit) in long.0.bytes().chain(long.1.bytes()).enumerate() {
        if mantissa > most / 10 {
            if i < whole.len() {
                return most;
            }
            inexact |= digit != b'0';
            continue;
        }
        mantissa = mantissa * 10 + i128::from(digit - b'0');
        places += i32::from(i >= whole.len());
    }
    let mut value = mantissa;
    if base == 2 {
        value = match value.checked_mul(1i128 << exponent) {
            Some(v) => v,
            None => return most,
        };
    }
    if value == 0 {
        return 0;
    }
    let shift = (9 - places).saturating_add(if base == 10 { exponent } else { 0 });
    if shift >= 0 {
        10i128.checked_pow(shift as u32).and_then(|p| value.checked_mul(p)).map_or(most, |v| v.min(most))
    } else {
        match 10i128.checked_pow(shift.unsigned_abs()) {
            Some(p) => (div_up(value, p) + i128::from(inexact && value % p == 0)).min(most),
            None => 1,
        }
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.nano == 0 {
            return f.write_str("0");
        }
        let whole = self.nano / NANO;
        let binary =
            self.format == QuantityFormat::BinarySi && self.nano % NANO == 0 && !(-1024 < whole && whole < 1024);
        if binary {
            let mut value = whole;
            let mut unit = 0;
            while value % 1024 == 0 && unit < 6 {
                value /= 1024;
                unit += 1;
            }
            return write!(f, "{value}{}", ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"][unit]);
        }
        let mut value = self.nano;
        let mut exponent = -9;
        while value % 1000 == 0 {
            value /= 1000;
            exponent += 3;
        }
        write!(f, "{value}")?;
        if self.format == QuantityFormat::DecimalExponent {
            return if exponent == 0 { Ok(()) } else { write!(f, "e{exponent}") };
        }
        f.write_str(match exponent {
            -9 => "n",
            -6 => "u",
            -3 => "m",
            3 => "k",
            6 => "M",
            9 => "G",
            12 => "T",
            15 => "P",
            18 => "E",
            // Upstream has no suffix for more either, and writes none.
            _ => "",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Quantity;

    #[test]
    fn canonical_forms() {
        for (given, canonical) in [
            ("0.5", "500m"),
            ("1024Ki", "1Mi"),
            ("2000m", "2"),
            ("1e3", "1e3"),
            ("100", "100"),
            ("1000", "1k"),
            ("1.5Gi", "1536Mi"),
            ("512", "512"),
            ("1Ki", "1Ki"),
            ("0.5Ki", "512"),
            ("-1.5", "-1500m"),
            ("0.0000000001", "1n"),
            ("10Ei", "9223372036854775807"),
            ("99999999999999999999", "99999999999999999999"),
            ("100000000000000000000", "100E"),
            ("100000000000000000000000", "100"),
            ("0Mi", "0"),
        ] {
            assert_eq!(Quantity::parse(given).unwrap().to_string(), canonical, "{given}");
        }
    }

    #[test]
    fn written_forms() {
        for (given, written) in [
            ("5.", "5."),
            ("+1", "+1"),
            ("007", "007"),
            ("1.500", "1.500"),
            ("1.5", "1500m"),
            ("1e30", "1e30"),
            ("1000", "1k"),
            ("+3Ki", "+3Ki"),
            ("8Ki", "8Ki"),
            ("1024Ki", "1Mi"),
            ("0.100", "100m"),
            ("+0", "0"),
            ("12345678901234567890", "12345678901234567890"),
        ] {
            assert_eq!(Quantity::canonical_text(given).unwrap(), written, "{given}");
        }
    }

    #[test]
    fn overflows_are_those_of_go() {
        let number = |text: &str| Quantity::parse(text).unwrap().value();
        assert_eq!(number("9223372036854775808"), i128::from(i64::MIN));
        assert_eq!(number("1e30"), 0);
        assert_eq!(number("1E"), 1_000_000_000_000_000_000);
        assert_eq!(Quantity::parse("1E").unwrap().milli(), 0);
    }

    #[test]
    fn refused_forms() {
        for given in ["", "x", "1x", "1.2.3", "--1", "1 Gi", "1ee"] {
            assert!(Quantity::parse(given).is_err(), "{given}");
        }
    }
}
