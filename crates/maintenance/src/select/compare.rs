//! [`Compare`]: a comparison with a number.

use super::truth::Truth;

/// A comparison of a value with a number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Compare {
    operator: Operator,
    number: i64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Operator {
    Equal,
    NotEqual,
    Less,
    AtMost,
    Greater,
    AtLeast,
}

impl Compare {
    /// Returns the comparison with this operator, or `None` if it is not an operator for numbers.
    pub(super) fn parse(operator: &str, number: i64) -> Option<Self> {
        let operator = match operator {
            "=" => Operator::Equal,
            "!=" => Operator::NotEqual,
            "<" => Operator::Less,
            "<=" => Operator::AtMost,
            ">" => Operator::Greater,
            ">=" => Operator::AtLeast,
            _ => return None,
        };
        Some(Self { operator, number })
    }

    /// Returns the comparison `> 0`, which a test without an operator means.
    pub(super) fn some() -> Self {
        Self { operator: Operator::Greater, number: 0 }
    }

    pub(super) fn test(self, value: i64) -> bool {
        match self.operator {
            Operator::Equal => value == self.number,
            Operator::NotEqual => value != self.number,
            Operator::Less => value < self.number,
            Operator::AtMost => value <= self.number,
            Operator::Greater => value > self.number,
            Operator::AtLeast => value >= self.number,
        }
    }

    /// Tests all values from `first` to `last`.
    pub(super) fn test_all(self, first: i64, last: i64) -> Truth {
        let is_mixed = match self.operator {
            Operator::Equal | Operator::NotEqual => {
                first != last && (first..=last).contains(&self.number)
            }
            _ => self.test(first) != self.test(last),
        };
        if is_mixed { Truth::Unknown } else { self.test(first).into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_is_known_if_all_values_agree() {
        for operator in ["=", "!=", "<", "<=", ">", ">="] {
            for number in -3..10 {
                let compare = Compare::parse(operator, number).unwrap();
                for (first, last) in [(0, 0), (0, 5), (-2, 7)] {
                    let all: Vec<bool> = (first..=last).map(|value| compare.test(value)).collect();
                    let expected = match (all.contains(&true), all.contains(&false)) {
                        (true, false) => Truth::Yes,
                        (false, true) => Truth::No,
                        _ => Truth::Unknown,
                    };
                    let found = compare.test_all(first, last);
                    assert_eq!(found, expected, "{first}..{last} {operator} {number}");
                }
            }
        }
        assert_eq!(Compare::parse("~", 1), None);
        assert!(Compare::some().test(1) && !Compare::some().test(0));
    }
}
