//! The lines of a channel: the messages in one of them about one subject go one after the other.

use sea_orm::{ColumnTrait, Condition};
use watchkeeper_entities::notification_delivery::Column;

use crate::model::notification::line::Line;

/// The messages of a channel in a line.
pub(super) fn in_line(line: Line) -> Condition {
    match line {
        Line::Whole => Condition::all(),
        Line::Own(None) => Condition::all().add(Column::ContactId.is_null()),
        Line::Own(Some(contact)) => Condition::all().add(Column::ContactId.eq(contact)),
    }
}
