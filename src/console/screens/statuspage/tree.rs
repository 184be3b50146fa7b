//! The tree of components of a status page, and the changes that move a component in it. Pure.
//!
//! Siblings are in the order of their numbers. A move changes as few numbers as possible, because each change is a request
//! of its own.

use serde_json::Value;

use crate::model::component::{DEPTH_MAX, ORDER_MAX};

/// Distance of numbers that are given where no number is free, so that later moves find some.
const GAP: i64 = 10;

/// A component in the tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TreeNode {
    pub(super) id: String,
    pub(super) parent: Option<String>,
    pub(super) order: i64,
    pub(super) is_group: bool,
    /// True if the group that follows a tag keeps the component where it is.
    pub(super) is_managed: bool,
}

/// A way to move a component.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TreeMove {
    /// Before the sibling above.
    Up,
    /// Behind the sibling below.
    Down,
    /// Into the group above, as its last child.
    Indent,
    /// Out of its group, behind it.
    Outdent,
}

/// A new position of a component.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct NodePlacement {
    pub(super) id: String,
    pub(super) order: i64,
    /// True if the component also gets another parent.
    pub(super) has_new_parent: bool,
    /// The new parent; `None` for the top level.
    pub(super) parent: Option<String>,
}

/// The components of a page, parents before children and siblings in their order.
pub(super) struct ComponentOutline(Vec<TreeNode>);

impl TreeMove {
    /// All moves, in the order of their buttons.
    pub(super) const ALL: [Self; 4] = [Self::Up, Self::Down, Self::Outdent, Self::Indent];

    /// Returns the word of the move in forms.
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Up => "up",
            Self::Down => "down",
            Self::Indent => "indent",
            Self::Outdent => "outdent",
        }
    }

    /// Reads the word of a move.
    pub(super) fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.word() == word)
    }
}

impl ComponentOutline {
    /// Reads the components of a page of the API.
    pub(super) fn of(components: &Value) -> Self {
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let read = |component: &Value| {
            Some(TreeNode {
                id: text(&component["id"])?,
                parent: text(&component["parent_id"]),
                order: component["display_order"].as_i64().unwrap_or_default(),
                is_group: component["is_group"] == true,
                is_managed: component["is_sync_managed"] == true,
            })
        };
        Self(components.as_array().into_iter().flatten().filter_map(read).collect())
    }

    /// Returns the number of groups around a component.
    pub(super) fn level(&self, id: &str) -> usize {
        // A circle cannot be stored; the limit keeps a wrong answer from an endless search.
        std::iter::successors(self.parent_of(id), |parent| self.parent_of(parent)).take(self.0.len()).count()
    }

    /// Returns the changes that move a component; `None` if it cannot be moved like this.
    pub(super) fn moved(&self, id: &str, direction: TreeMove) -> Option<Vec<NodePlacement>> {
        let node = self.find(id)?;
        let siblings = self.children(node.parent.as_deref());
        let place = siblings.iter().position(|sibling| sibling.id == id)?;
        match direction {
            TreeMove::Up => self.swapped(siblings, place.checked_sub(1)?),
            TreeMove::Down => (place + 1 < siblings.len()).then(|| self.swapped(siblings, place))?,
            TreeMove::Indent => {
                let group = siblings[place.checked_sub(1)?];
                let depth = self.level(&group.id) + 1 + self.height(node);
                let is_possible = group.is_group && !node.is_managed && depth <= DEPTH_MAX;
                is_possible.then(|| {
                    let children = self.children(Some(&group.id));
                    inserted(&children, children.len(), node, Some(&group.id))
                })
            }
            TreeMove::Outdent => {
                let group = self.find(node.parent.as_deref()?).filter(|_| !node.is_managed)?;
                let above = self.children(group.parent.as_deref());
                let place = above.iter().position(|sibling| sibling.id == group.id)?;
                Some(inserted(&above, place + 1, node, group.parent.as_deref()))
            }
        }
    }

    fn find(&self, id: &str) -> Option<&TreeNode> {
        self.0.iter().find(|node| node.id == id)
    }

    fn parent_of(&self, id: &str) -> Option<&str> {
        self.find(id)?.parent.as_deref()
    }

    fn children(&self, parent: Option<&str>) -> Vec<&TreeNode> {
        self.0.iter().filter(|node| node.parent.as_deref() == parent).collect()
    }

    /// Returns the levels of groups of a component: 0 for one that is no group.
    fn height(&self, node: &TreeNode) -> usize {
        if !node.is_group {
            return 0;
        }
        let own = self.level(&node.id);
        let inner = self.0.iter().filter(|other| other.is_group && self.is_within(&other.id, &node.id));
        inner.map(|other| self.level(&other.id) - own).max().unwrap_or_default() + 1
    }

    fn is_within(&self, id: &str, group: &str) -> bool {
        let parents = std::iter::successors(self.parent_of(id), |parent| self.parent_of(parent));
        parents.take(self.0.len()).any(|parent| parent == group)
    }

    /// Returns the changes that exchange the siblings at `place` and behind it.
    fn swapped(&self, mut siblings: Vec<&TreeNode>, place: usize) -> Option<Vec<NodePlacement>> {
        let orders: Vec<i64> = siblings.iter().map(|sibling| sibling.order).collect();
        siblings.swap(place, place + 1);
        let placed = siblings.iter().zip(rising(&orders));
        let changed = placed.filter(|(node, order)| node.order != *order);
        let placement = |(node, order): (&&TreeNode, i64)| NodePlacement {
            id: node.id.clone(),
            order,
            has_new_parent: false,
            parent: None,
        };
        Some(changed.map(placement).collect())
    }
}

/// Returns the changes that put a component at a place among the children of another parent.
fn inserted(
    siblings: &[&TreeNode],
    place: usize,
    node: &TreeNode,
    parent: Option<&str>,
) -> Vec<NodePlacement> {
    let mut orders: Vec<i64> = siblings.iter().map(|sibling| sibling.order).collect();
    let before = place.checked_sub(1).map_or(-1, |before| orders[before]);
    orders.insert(place, before + 1);
    let orders = rising(&orders);
    let mut others: Vec<&TreeNode> = siblings.to_vec();
    others.insert(place, node);
    let mut changed = Vec::new();
    for (one, order) in others.into_iter().zip(orders) {
        let is_moved = one.id == node.id;
        if is_moved || one.order != order {
            let parent = parent.filter(|_| is_moved).map(str::to_owned);
            changed.push(NodePlacement { id: one.id.clone(), order, has_new_parent: is_moved, parent });
        }
    }
    // The numbers behind are changed first, so that the order is right after each change.
    changed.reverse();
    changed
}

/// Returns numbers that rise from one to the next, and that equal the given ones as far as those do.
fn rising(orders: &[i64]) -> Vec<i64> {
    let with_gap = |gap: i64| {
        let mut last = -1;
        let next = |order: &i64| {
            last = if *order > last { *order } else { last + gap };
            last
        };
        orders.iter().map(next).collect::<Vec<i64>>()
    };
    let fits = |found: &Vec<i64>| found.last().is_none_or(|last| *last <= i64::from(ORDER_MAX));
    let found = [GAP, 1].into_iter().map(with_gap).find(fits);
    found.unwrap_or_else(|| (0..).take(orders.len()).collect())
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    /// Components as `name parent order`, groups in capitals, managed ones with a star; a dash for the top level.
    fn outline(text: &str) -> ComponentOutline {
        let node = |line: &str| {
            let mut parts = line.split_whitespace();
            let (name, parent) = (parts.next().unwrap(), parts.next().unwrap());
            TreeNode {
                id: name.trim_end_matches('*').to_owned(),
                parent: (parent != "-").then(|| parent.to_owned()),
                order: parts.next().unwrap().parse().unwrap(),
                is_group: name.starts_with(char::is_uppercase),
                is_managed: name.ends_with('*'),
            }
        };
        ComponentOutline(text.split(',').map(node).collect())
    }

    fn shown(changes: &[NodePlacement]) -> String {
        let line = |NodePlacement { id, order, has_new_parent, parent }: &NodePlacement| {
            let parent = has_new_parent.then(|| format!(" in {}", parent.as_deref().unwrap_or("-")));
            format!("{id} {order}{}", parent.unwrap_or_default())
        };
        changes.iter().map(line).collect::<Vec<_>>().join(", ")
    }

    #[rstest]
    #[case::up("a - 0, b - 1, c - 2", "c", TreeMove::Up, Some("c 1, b 2"))]
    #[case::the_first_is_up("a - 0, b - 1", "a", TreeMove::Up, None)]
    #[case::down("a - 0, b - 5, c - 9", "a", TreeMove::Down, Some("b 0, a 5"))]
    #[case::the_last_is_down("a - 0, b - 1", "b", TreeMove::Down, None)]
    #[case::equal_numbers("a - 3, b - 3, c - 3", "b", TreeMove::Up, Some("a 13, c 23"))]
    #[case::no_number_left("a - 9999, b - 10000, c - 10000", "c", TreeMove::Up, Some("a 0, c 1, b 2"))]
    #[case::indent("G - 0, x G 4, a - 1", "a", TreeMove::Indent, Some("a 5 in G"))]
    #[case::indent_into_an_empty_group("G - 0, a - 1", "a", TreeMove::Indent, Some("a 0 in G"))]
    #[case::nothing_above("a - 0, G - 1", "a", TreeMove::Indent, None)]
    #[case::no_group_above("b - 0, a - 1", "a", TreeMove::Indent, None)]
    #[case::a_managed_one_stays("T - 0, a* T 0", "a", TreeMove::Outdent, None)]
    #[case::a_managed_one_changes_its_order("T - 0, a* T 0, b* T 1", "b", TreeMove::Up, Some("b 0, a 1"))]
    #[case::outdent("G - 0, a G 0, b - 1, c - 40", "a", TreeMove::Outdent, Some("b 11, a 1 in -"))]
    #[case::outdent_into_a_gap("G - 0, a G 0, b - 5", "a", TreeMove::Outdent, Some("a 1 in -"))]
    #[case::outdent_one_level("G - 0, H G 0, a H 0", "a", TreeMove::Outdent, Some("a 1 in G"))]
    #[case::top_level("a - 0", "a", TreeMove::Outdent, None)]
    #[case::five_levels(
        "A - 0, B A 0, C B 0, D C 0, e D 0, E D 1, x D 2",
        "x",
        TreeMove::Indent,
        Some("x 0 in E")
    )]
    #[case::six_levels("A - 0, B A 0, C B 0, D C 0, E D 0, F D 1", "F", TreeMove::Indent, None)]
    #[case::unknown("a - 0", "b", TreeMove::Up, None)]
    fn a_move_changes_few_numbers(
        #[case] tree: &str,
        #[case] id: &str,
        #[case] direction: TreeMove,
        #[case] expected: Option<&str>,
    ) {
        let found = outline(tree).moved(id, direction);
        assert_eq!(found.as_deref().map(shown).as_deref(), expected);
    }

    #[test]
    fn a_group_is_as_high_as_the_groups_in_it() {
        let tree = outline("A - 0, B A 0, C B 0, X - 1, Y X 0, Z Y 0");
        assert_eq!(tree.moved("X", TreeMove::Indent).as_deref().map(shown).as_deref(), Some("X 1 in A"));
        let tree = outline("A - 0, B A 0, X B 1, Y X 0, Z Y 0, V Z 0");
        assert_eq!(tree.level("V"), 5);
        assert_eq!(tree.moved("X", TreeMove::Indent), None, "nothing is above");
        let tree = outline("A - 0, B A 0, C A 1, X C 0, Y X 0, Z Y 0");
        assert_eq!(tree.moved("C", TreeMove::Indent), None, "that would be six levels");
    }

    #[test]
    fn the_components_of_the_api_are_a_tree() {
        let components = json!([
            {"id": "a", "parent_id": null, "display_order": 3, "is_group": true, "is_sync_managed": false},
            {"id": "b", "parent_id": "a", "display_order": 0, "is_group": false, "is_sync_managed": true},
        ]);
        assert_eq!(ComponentOutline::of(&components).0, outline("a - 3, b* a 0").with_group("a").0);
    }

    impl ComponentOutline {
        fn with_group(mut self, id: &str) -> Self {
            self.0.iter_mut().filter(|node| node.id == id).for_each(|node| node.is_group = true);
            self
        }
    }
}
