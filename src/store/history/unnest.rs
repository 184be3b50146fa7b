//! Many rows as one array a column: what PostgreSQL takes in fastest.
//!
//! An array travels as its text, which the server reads faster than it binds thousands of values to one statement.

use std::fmt::Write as _;

use sea_orm::Value;

/// Columns in the making, each with its element type.
#[derive(Debug)]
pub(super) struct Columns {
    types: &'static [&'static str],
    texts: Vec<String>,
    /// The column that the next value goes to.
    next: usize,
}

impl Columns {
    /// Columns of these types.
    pub(super) fn new(types: &'static [&'static str]) -> Self {
        Self { types, texts: types.iter().map(|_| String::from("{")).collect(), next: 0 }
    }

    /// The next value of the row; after the last one comes the next row.
    pub(super) fn number(&mut self, value: Option<i64>) {
        let text = self.column();
        match value {
            // Writing to a string cannot fail.
            Some(value) => drop(write!(text, "{value}")),
            None => text.push_str("NULL"),
        }
    }

    /// The same for texts.
    pub(super) fn text(&mut self, value: Option<&str>) {
        let text = self.column();
        let Some(value) = value else { return text.push_str("NULL") };
        text.push('"');
        for character in value.chars() {
            if matches!(character, '"' | '\\') {
                text.push('\\');
            }
            text.push(character);
        }
        text.push('"');
    }

    fn column(&mut self) -> &mut String {
        let column = self.next;
        self.next = (column + 1) % self.texts.len();
        let text = &mut self.texts[column];
        if text.len() > 1 {
            text.push(',');
        }
        text
    }

    /// `INSERT` of all rows, none of which may exist already.
    pub(super) fn insert_text(&self, table: &str, columns: &str) -> String {
        let arrays: Vec<String> =
            (1..).zip(self.types).map(|(number, of)| format!("${number}::text::{of}[]")).collect();
        format!("INSERT INTO {table} ({columns}) SELECT * FROM unnest({})", arrays.join(", "))
    }

    /// Returns the values to bind.
    pub(super) fn values(self) -> Vec<Value> {
        self.texts.into_iter().map(|text| Value::from(text + "}")).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_become_arrays() {
        let mut columns = Columns::new(&["bigint", "text"]);
        columns.number(Some(-1));
        columns.text(Some(r#"a "b", \{}"#));
        columns.number(None);
        columns.text(None);
        assert_eq!(
            columns.insert_text("t", "a, b"),
            "INSERT INTO t (a, b) SELECT * FROM unnest($1::text::bigint[], $2::text::text[])"
        );
        let expected = ["{-1,NULL}", r#"{"a \"b\", \\{}",NULL}"#];
        assert_eq!(columns.values(), expected.map(Value::from).to_vec());
    }
}
