//! The locations that reach a component, and its agreed availability, as visitors read them.

use crate::model::sla::calendar::SlaPeriod;
use crate::pages::display_time::DisplayTime;
use crate::pages::page_texts::{PageTexts, TextValue};
use crate::pages::service_figures::{AgreementFigure, LocationFigure};
use crate::pages::view::{AgreementRow, LocationRow, StatusBadge};

/// Per cent in thousandths.
const WHOLE: i64 = 100_000;

/// Returns the newest checks of locations.
pub(super) fn location_rows(words: &PageTexts, locations: &[LocationFigure]) -> Vec<LocationRow> {
    let row = |one: &LocationFigure| {
        let (class, text) =
            if one.has_reached { ("operational", "reached") } else { ("major_outage", "not-reached") };
        let badge = StatusBadge { class, text: words.text(text) };
        LocationRow { name: one.name.clone(), badge, at: DisplayTime::from(one.at) }
    };
    locations.iter().map(row).collect()
}

/// Returns the agreed availabilities in their present periods.
pub(super) fn agreement_rows(words: &PageTexts, agreements: &[AgreementFigure]) -> Vec<AgreementRow> {
    agreements.iter().map(|one| agreement_row(words, one)).collect()
}

fn agreement_row(words: &PageTexts, one: &AgreementFigure) -> AgreementRow {
    let AgreementFigure { terms, sums, budget } = one;
    let measured = sums.up_ms + sums.down_ms;
    let reached = (measured > 0).then(|| {
        let share = i128::from(sums.up_ms) * i128::from(WHOLE) / i128::from(measured);
        words.percent(i64::try_from(share).unwrap_or_default())
    });
    #[expect(clippy::cast_possible_truncation, reason = "a percentage in thousandths is small")]
    let agreed = words.percent((terms.objective.percent() * 1_000.0).round() as i64);
    let (used, total) = (words.duration(budget.used_ms), words.duration(budget.total_ms));
    let hours = if terms.business_hours.is_some() { "agreed-in-hours" } else { "agreed" };
    AgreementRow {
        period: period(words, terms.period),
        reached: reached.map(|share| words.filled("reached-share", &[TextValue::text("share", &share)])),
        agreed: words.filled(hours, &[TextValue::text("share", &agreed)]),
        budget: words.filled("budget", &[TextValue::text("used", &used), TextValue::text("total", &total)]),
        used_percent: used_percent(budget.used_ms, budget.total_ms),
        badge: if budget.is_met() {
            StatusBadge { class: "operational", text: words.text("agreement-met") }
        } else {
            StatusBadge { class: "major_outage", text: words.text("agreement-missed") }
        },
    }
}

fn period(words: &PageTexts, period: SlaPeriod) -> String {
    match period {
        SlaPeriod::Month => words.text("this-month"),
        SlaPeriod::Quarter => words.text("this-quarter"),
        SlaPeriod::Year => words.text("this-year"),
        SlaPeriod::Rolling(days) => words.filled("last-days", &[TextValue::number("days", i64::from(days))]),
    }
}

/// Returns the used part of a budget in per cent, at most 100; 100 if there is no budget and some time was down.
fn used_percent(used_ms: i64, total_ms: i64) -> i64 {
    if total_ms <= 0 {
        return if used_ms > 0 { 100 } else { 0 };
    }
    (used_ms.saturating_mul(100) / total_ms).clamp(0, 100)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::model::sla::SlaTerms;
    use crate::model::sla::budget::ErrorBudget;
    use crate::model::sla::objective::SlaObjective;
    use crate::stats::sla::SlaSums;

    /// A budget of 43 min 12 s.
    fn row(down_ms: i64) -> AgreementRow {
        let terms = SlaTerms {
            objective: SlaObjective::from_percent(99.9).unwrap(),
            period: SlaPeriod::Month,
            zone: "UTC".parse().unwrap(),
            business_hours: None,
        };
        let sums = SlaSums { up_ms: 1_000_000_000 - down_ms, down_ms, ..SlaSums::default() };
        let budget = ErrorBudget { total_ms: 2_592_000, used_ms: down_ms };
        agreement_row(&PageTexts::of("en"), &AgreementFigure { terms, sums, budget })
    }

    #[rstest]
    #[case(0, "100%", "0 s of 43 min 12 s", 0, "operational")]
    #[case(1_296_000, "99.87%", "21 min 36 s of 43 min 12 s", 50, "operational")]
    #[case(2_592_001, "99.74%", "43 min 12 s of 43 min 12 s", 100, "major_outage")]
    fn an_agreement_is_told_with_its_budget(
        #[case] down_ms: i64,
        #[case] reached: &str,
        #[case] budget: &str,
        #[case] used_percent: i64,
        #[case] class: &str,
    ) {
        let row = row(down_ms);
        assert_eq!(row.period, "This month");
        assert!(row.reached.unwrap().contains(reached), "{reached}");
        assert!(row.budget.contains(budget), "{}", row.budget);
        assert_eq!((row.used_percent, row.badge.class), (used_percent, class));
    }

    #[rstest]
    #[case(0, 0, 0)]
    #[case(1, 0, 100)]
    #[case(9, 4, 100)]
    #[case(1, 3, 33)]
    fn a_part_of_a_budget_is_at_most_all(#[case] used_ms: i64, #[case] total_ms: i64, #[case] percent: i64) {
        assert_eq!(used_percent(used_ms, total_ms), percent);
    }
}
