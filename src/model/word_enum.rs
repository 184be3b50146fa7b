//! Enums whose values are words of the API and the database: one spelling, derived from the names of the values.
//!
//! `strum` derives it; [`words`] bundles the derives, and gives all these enums the same three names. A word that is
//! not its value's name in snake case is set at the value: `#[strum(serialize = "…")]`.

/// Declares an enum of words.
macro_rules! words {
    ($(#[$about:meta])* pub enum $name:ident { $($values:tt)* }) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[derive(strum::Display, strum::EnumString, strum::VariantArray, strum::VariantNames)]
        #[strum(serialize_all = "snake_case")]
        $(#[$about])*
        pub enum $name { $($values)* }

        impl $name {
            /// Every value, in the order of its definition.
            pub const ALL: [Self; <Self as strum::VariantArray>::VARIANTS.len()] =
                $crate::model::word_enum::array(<Self as strum::VariantArray>::VARIANTS);

            /// The words of all values, in the same order.
            pub const WORDS: &'static [&'static str] = <Self as strum::VariantNames>::VARIANTS;

            /// The word of the value.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                let mut position = 0;
                while Self::ALL[position] as usize != self as usize {
                    position += 1;
                }
                Self::WORDS[position]
            }
        }
    };
}

pub(crate) use words;

/// Stores a value of these enums as its word, for `#[serde(with = "word::spelled")]`.
pub(crate) mod spelled {
    use std::fmt::Display;
    use std::str::FromStr;

    use serde::{Deserialize, Deserializer, Serializer};

    pub(crate) fn serialize<T: Display, S: Serializer>(word: &T, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(word)
    }

    pub(crate) fn deserialize<'de, T, D>(deserializer: D) -> Result<T, D::Error>
    where
        T: FromStr<Err: Display>,
        D: Deserializer<'de>,
    {
        let word = String::deserialize(deserializer)?;
        word.parse().map_err(serde::de::Error::custom)
    }

    /// The same for a word that may be missing.
    pub(crate) mod option {
        use std::fmt::Display;
        use std::str::FromStr;

        use serde::{Deserialize, Deserializer, Serializer};

        pub(crate) fn serialize<T: Display, S: Serializer>(
            word: &Option<T>,
            serializer: S,
        ) -> Result<S::Ok, S::Error> {
            match word {
                Some(word) => serializer.collect_str(word),
                None => serializer.serialize_none(),
            }
        }

        pub(crate) fn deserialize<'de, T, D>(deserializer: D) -> Result<Option<T>, D::Error>
        where
            T: FromStr<Err: Display>,
            D: Deserializer<'de>,
        {
            let word: Option<String> = Option::deserialize(deserializer)?;
            word.map(|word| word.parse().map_err(serde::de::Error::custom)).transpose()
        }
    }
}

/// Returns a slice of this length as an array.
pub(crate) const fn array<T: Copy, const N: usize>(values: &[T]) -> [T; N] {
    match values.first_chunk() {
        Some(values) => *values,
        None => unreachable!(),
    }
}
