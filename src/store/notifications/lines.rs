//! The lines of a channel, also called ordering scopes: messages of one line about one subject are sent one after another.

use sea_orm::{ColumnTrait, Condition};
use watchkeeper_entities::notification_delivery::Column;

use crate::model::notification::ordering_scope::OrderingScope;

/// Condition for the messages of a channel that belong to a line.
pub(super) fn in_line(line: OrderingScope) -> Condition {
    match line {
        OrderingScope::Whole => Condition::all(),
        OrderingScope::Own(None) => Condition::all().add(Column::ContactId.is_null()),
        OrderingScope::Own(Some(contact)) => Condition::all().add(Column::ContactId.eq(contact)),
    }
}
