//! Cells of CSV for spreadsheets (RFC 4180).

/// First characters that make a spreadsheet treat a text as a formula.
const FORMULA: [char; 6] = ['=', '+', '-', '@', '\t', '\r'];

/// Formats a user's text as a cell: never as a formula, and quoted if it has commas, quotes or line breaks.
#[must_use]
pub fn csv_cell(cell: &str) -> String {
    let guarded = if cell.starts_with(FORMULA) { format!("'{cell}") } else { cell.to_owned() };
    if guarded.contains([',', '"', '\n', '\r']) {
        return format!("\"{}\"", guarded.replace('"', "\"\""));
    }
    guarded
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("Shop", "Shop")]
    #[case("Shop, \"gold\"", "\"Shop, \"\"gold\"\"\"")]
    #[case("a\nb", "\"a\nb\"")]
    #[case("=HYPERLINK(1)", "'=HYPERLINK(1)")]
    #[case("@SUM(1,2)", "\"'@SUM(1,2)\"")]
    fn a_cell_is_quoted_and_is_no_formula(#[case] cell: &str, #[case] expected: &str) {
        assert_eq!(csv_cell(cell), expected);
    }
}
