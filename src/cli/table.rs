//! Text tables: each column as wide as its widest cell, numbers aligned to the right.

use crate::cli::picture::paint;
use crate::cli::printable::printable;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ColumnAlignment {
    Left,
    Right,
}

/// A text, optionally with a colour.
pub(super) struct TableCell {
    text: String,
    colour: Option<&'static str>,
}

impl TableCell {
    /// Creates a cell with text, which is escaped because it may come from outside.
    pub(super) fn of(text: impl Into<String>) -> Self {
        Self { text: printable(&text.into()).into_owned(), colour: None }
    }

    /// A cell with a number.
    pub(super) fn number(number: u64) -> Self {
        Self::of(number.to_string())
    }

    /// Returns the cell in a colour if `is_so` is true.
    pub(super) fn painted(self, colour: &'static str, is_so: bool) -> Self {
        if is_so { Self { colour: Some(colour), ..self } } else { self }
    }

    fn width(&self) -> usize {
        self.text.chars().count()
    }

    fn draw(&self, side: ColumnAlignment, width: usize, colours: bool) -> String {
        let blank = " ".repeat(width.saturating_sub(self.width()));
        let text = match self.colour {
            Some(colour) => paint(&self.text, colour, colours),
            None => self.text.clone(),
        };
        if side == ColumnAlignment::Left { text + &blank } else { blank + &text }
    }
}

/// Draws a table, with its header in bold. The last cell of a row that is shorter than the header may have any width.
pub(super) fn draw<const N: usize>(
    head: [(&str, ColumnAlignment); N],
    rows: Vec<Vec<TableCell>>,
    colours: bool,
) -> Vec<String> {
    let titles =
        head.iter().map(|(title, _)| TableCell::of(*title).painted("1", !title.is_empty())).collect();
    let rows: Vec<Vec<TableCell>> = [titles].into_iter().chain(rows).collect();
    let columns: [(ColumnAlignment, usize); N] = std::array::from_fn(|column| {
        let bounded = rows.iter().filter(|row| row.len() == N || column + 1 < row.len());
        let widest = bounded.map(|row| row[column].width()).max();
        (head[column].1, widest.unwrap_or(0))
    });
    let line = |row: &Vec<TableCell>| {
        let cells = row.iter().zip(columns).map(|(cell, (side, width))| cell.draw(side, width, colours));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    rows.iter().map(line).collect()
}
