//! The lines of a channel: the messages in one of them about one subject go one after the other.

use sea_orm::{ColumnTrait, Condition};
use watchkeeper_entities::notification_delivery::Column;

use crate::model::notification::ordering_scope::OrderingScope;

/// The messages of a channel in a line.
pub(super) fn in_line(line: OrderingScope) -> Condition {
    match line {
        OrderingScope::Whole => Condition::all(),
        OrderingScope::Own(None) => Condition::all().add(Column::ContactId.is_null()),
        OrderingScope::Own(Some(contact)) => Condition::all().add(Column::ContactId.eq(contact)),
    }
}
