//! The components of a page as a tree (contract 4.14.3): order, depth, descendants.
//!
//! Siblings are sorted by `display_order`, then creation, then id. The tree is built from a flat list and borrows the
//! components.

use std::collections::HashMap;

use crate::model::component::{Component, ComponentKey};

/// The components of one page.
#[derive(Debug)]
pub struct ComponentTree<'a> {
    children: HashMap<Option<ComponentKey>, Vec<&'a Component>>,
    parents: HashMap<ComponentKey, Option<ComponentKey>>,
}

impl<'a> ComponentTree<'a> {
    /// Builds the tree of the components of one page.
    #[must_use]
    pub fn of(components: &'a [Component]) -> Self {
        let mut children: HashMap<_, Vec<&Component>> = HashMap::new();
        for component in components {
            children.entry(component.parent).or_default().push(component);
        }
        for siblings in children.values_mut() {
            siblings.sort_by_key(|sibling| (sibling.display_order, sibling.created_at, sibling.id));
        }
        let parents = components.iter().map(|component| (component.key, component.parent)).collect();
        Self { children, parents }
    }

    /// Returns the components directly in a group, in order; for `None`, the components at the top of the page.
    #[must_use]
    pub fn children(&self, parent: Option<ComponentKey>) -> &[&'a Component] {
        self.children.get(&parent).map_or(&[], Vec::as_slice)
    }

    /// Every component in the order of the page, parents before their children.
    #[must_use]
    pub fn depth_first(&self) -> Vec<&'a Component> {
        let mut ordered = Vec::new();
        let mut open: Vec<&Component> = self.children(None).iter().rev().copied().collect();
        while let Some(component) = open.pop() {
            ordered.push(component);
            open.extend(self.children(Some(component.key)).iter().rev());
        }
        ordered
    }

    /// Returns true if `inner` is `outer` or one of its descendants.
    #[must_use]
    pub fn is_within(&self, inner: ComponentKey, outer: ComponentKey) -> bool {
        let mut here = Some(inner);
        // A path has at most as many steps as there are components; the limit ends the search if there is a circle.
        for _ in 0..=self.parents.len() {
            match here {
                Some(key) if key == outer => return true,
                Some(key) => here = self.parents.get(&key).copied().flatten(),
                None => return false,
            }
        }
        false
    }

    /// Returns the number of groups around a component in this group, including the group itself.
    #[must_use]
    pub fn depth(&self, group: Option<ComponentKey>) -> usize {
        let mut depth = 0;
        let mut here = group;
        while let Some(key) = here.filter(|_| depth <= self.parents.len()) {
            depth += 1;
            here = self.parents.get(&key).copied().flatten();
        }
        depth
    }

    /// Returns how many levels of groups are nested below this group; 0 if it contains no group.
    #[must_use]
    pub fn height_below(&self, group: ComponentKey) -> usize {
        let inner = self.children(Some(group)).iter().filter(|child| child.is_group);
        inner.map(|child| 1 + self.height_below(child.key)).max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Timestamp;
    use crate::model::translated_text::TranslatedText;

    fn component(key: ComponentKey, parent: Option<ComponentKey>, order: i32, is_group: bool) -> Component {
        let new = Component::new(1, TranslatedText::single("en", key.to_string()), Timestamp::from_ms(key));
        Component { key, parent, is_group, display_order: order, ..new }
    }

    fn page() -> Vec<Component> {
        vec![
            component(1, None, 5, true),
            component(2, Some(1), 1, true),
            component(3, Some(2), 0, false),
            component(4, Some(1), 0, false),
            component(5, None, 5, false),
            component(6, None, 0, false),
            component(7, Some(2), 0, false),
        ]
    }

    /// A parent comes before its children, siblings in their display order (contract 4.14.3).
    #[test]
    fn components_are_listed_depth_first() {
        let components = page();
        let keys: Vec<_> = ComponentTree::of(&components).depth_first().iter().map(|one| one.key).collect();
        assert_eq!(keys, [6, 1, 4, 2, 3, 7, 5]);
    }

    #[test]
    fn siblings_created_at_the_same_time_are_ordered_by_id() {
        let mut components = vec![component(1, None, 0, false), component(2, None, 0, false)];
        components[1].created_at = components[0].created_at;
        components[0].id = "BBBBBBBBBBBBBBBBBBBBB".parse().unwrap();
        components[1].id = "AAAAAAAAAAAAAAAAAAAAA".parse().unwrap();
        let keys: Vec<_> = ComponentTree::of(&components).depth_first().iter().map(|one| one.key).collect();
        assert_eq!(keys, [2, 1]);
    }

    #[test]
    fn depth_and_descent_are_computed() {
        let components = page();
        let tree = ComponentTree::of(&components);
        assert_eq!((tree.depth(None), tree.depth(Some(1)), tree.depth(Some(2))), (0, 1, 2));
        assert_eq!((tree.height_below(1), tree.height_below(2)), (1, 0));
        for (inner, outer, within) in
            [(1, 1, true), (3, 1, true), (2, 1, true), (1, 2, false), (5, 1, false), (99, 1, false)]
        {
            assert_eq!(tree.is_within(inner, outer), within, "{inner} in {outer}");
        }
    }
}
