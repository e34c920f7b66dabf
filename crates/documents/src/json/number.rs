//! Floats in Java's text form.

/// Appends a float as Java's `Double.toString` writes it: the shortest digits that parse to the
/// same number, without an exponent between 10^-3 and 10^7.
pub(super) fn write_double(value: f64, out: &mut String) {
    if !value.is_finite() {
        out.push_str(match (value.is_nan(), value > 0.0) {
            (true, _) => "NaN",
            (false, true) => "Infinity",
            (false, false) => "-Infinity",
        });
        return;
    }
    // The shortest digits, such as -1.2345e-7.
    let scientific = format!("{value:e}");
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let magnitude = value.abs();
    let even = even_last_digit(value, mantissa);
    let with_even = |digits: &str| match even {
        Some(even) => {
            format!("{}{even}", digits.get(..digits.len().saturating_sub(1)).unwrap_or_default())
        }
        None => digits.to_owned(),
    };
    if magnitude == 0.0 || (1e-3..1e7).contains(&magnitude) {
        let plain = with_even(&value.to_string());
        out.push_str(&plain);
        if !plain.contains('.') {
            out.push_str(".0");
        }
        return;
    }
    let mantissa = with_even(mantissa);
    out.push_str(&mantissa);
    if !mantissa.contains('.') {
        out.push_str(".0");
    }
    out.push('E');
    out.push_str(&exponent.to_string());
}

/// Returns Java's last digit if it differs from Rust's. Two shortest forms can be equally near to a
/// number: 80.88003540039062 and ...63 to 80.880035400390625. Java uses the even digit, Rust the
/// upper one.
fn even_last_digit(value: f64, mantissa: &str) -> Option<u32> {
    let (_, decimals) = mantissa.split_once('.')?;
    let last = decimals.chars().next_back()?.to_digit(10)?;
    if last % 2 == 0 {
        return None;
    }
    // Enough digits for the exact midpoint of two forms with at most 17 digits.
    let exact = format!("{value:.40e}");
    let (_, exact_decimals) = exact.split_once('.')?;
    let (lower, rest) = exact_decimals.split_at_checked(decimals.len())?;
    let rest = rest.split('e').next()?.strip_prefix('5')?;
    let is_between = rest.bytes().all(|digit| digit == b'0');
    let lower = lower.chars().next_back()?.to_digit(10)?;
    let even = if lower % 2 == 0 { lower } else { lower.saturating_add(1) };
    // 10 is not a digit. In that case the number has a shorter form.
    (is_between && even < 10).then_some(even)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(value: f64) -> String {
        let mut out = String::new();
        write_double(value, &mut out);
        out
    }

    #[test]
    fn golden_texts() {
        for (value, text) in [
            (0.0, "0.0"),
            (-0.0, "-0.0"),
            (100.0, "100.0"),
            (0.300_000_011_920_928_96, "0.30000001192092896"),
            (1.0e-5, "1.0E-5"),
            (0.001, "0.001"),
            (0.000_999_999, "9.99999E-4"),
            (9_999_999.0, "9999999.0"),
            (1.0e7, "1.0E7"),
            (1.0e10, "1.0E10"),
            (9.999_999_843_067_494e17, "9.999999843067494E17"),
            (-86.720_016_479_492_19, "-86.72001647949219"),
            (80.880_035_400_390_63, "80.88003540039062"),
            (-11.810_928_344_726_563, "-11.810928344726562"),
            (f64::MIN_POSITIVE, "2.2250738585072014E-308"),
            (f64::MAX, "1.7976931348623157E308"),
            (f64::NAN, "NaN"),
            (f64::NEG_INFINITY, "-Infinity"),
        ] {
            assert_eq!(written(value), text);
        }
    }

    #[test]
    fn every_text_parses_to_the_same_number() {
        for bits in (0..u64::MAX).step_by(0x0003_1415_9265_3589) {
            let value = f64::from_bits(bits);
            let again: f64 = written(value).parse().unwrap();
            assert!(again.to_bits() == bits || value.is_nan(), "{value:e}");
        }
    }
}
