//! The trees of pages that tables are, gone over as far as they can be.

use super::Pages;
use super::row::{Row, values};
use crate::store::format::{number16, number32, varint};

/// Rows of more bytes than this are not to be believed.
const LONGEST: usize = 256 << 20;

/// What kind of table a tree is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Kind {
    /// Rows with numbers.
    Numbered,
    /// Rows in the order of what stands in them.
    Ordered,
}

/// What was met of a tree.
#[derive(Debug, Default)]
pub(in super::super) struct Tree {
    /// Pages that are none of it, or none that can be read.
    pub(in super::super) bad_pages: usize,
    /// Rows that cannot be read.
    pub(in super::super) bad_rows: usize,
}

/// A page of a tree.
struct Node {
    kind: Kind,
    is_leaf: bool,
    cells: Vec<usize>,
    right: Option<u32>,
}

impl Node {
    fn read(number: u32, page: &[u8], pages: &Pages) -> Option<Self> {
        let header = if number == 1 { 100 } else { 0 };
        let (kind, is_leaf) = match page.get(header)? {
            2 => (Kind::Ordered, false),
            5 => (Kind::Numbered, false),
            10 => (Kind::Ordered, true),
            13 => (Kind::Numbered, true),
            _ => return None,
        };
        let pointers = header + if is_leaf { 8 } else { 12 };
        let count = number16(page, header + 3)?;
        if pointers + 2 * count > pages.usable {
            return None;
        }
        let cells = (0..count).filter_map(|at| number16(page, pointers + 2 * at)).collect();
        let right = if is_leaf { None } else { number32(page, header + 8) };
        Some(Self { kind, is_leaf, cells, right })
    }
}

impl Tree {
    /// Gives every row of the tree that begins at this page, as far as there is a way to it. Pages that it has been at are
    /// marked.
    pub(in super::super) fn walk(
        pages: &Pages,
        root: u32,
        kind: Kind,
        visited: &mut [bool],
        give: &mut impl FnMut(Row),
    ) -> Self {
        let mut tree = Self::default();
        let mut next = vec![root];
        while let Some(number) = next.pop() {
            let Some(is_visited) = visited.get_mut(number as usize).filter(|is_visited| !**is_visited) else {
                tree.bad_pages += 1;
                continue;
            };
            *is_visited = true;
            let Some(page) = pages.page(number) else {
                tree.bad_pages += 1;
                continue;
            };
            let Some(node) = Node::read(number, &page, pages).filter(|node| node.kind == kind) else {
                // One that is none of a tree may be one of another's rows: it is nobody's again.
                tree.bad_pages += 1;
                continue;
            };
            tree.rows(pages, &page, &node, visited, give);
            // In their order, which is the order of the rows.
            next.extend(node.right);
            if !node.is_leaf {
                next.extend(node.cells.iter().rev().filter_map(|cell| number32(&page, *cell)));
            }
        }
        tree
    }

    /// What kind of table begins at this page.
    pub(in super::super) fn kind(pages: &Pages, root: u32) -> Option<Kind> {
        Some(Node::read(root, &pages.page(root)?, pages)?.kind)
    }

    /// Gives the rows of a single page, if it is a leaf of such a tree.
    pub(in super::super) fn leaf(
        pages: &Pages,
        number: u32,
        kind: Kind,
        visited: &mut [bool],
        give: &mut impl FnMut(Row),
    ) -> Option<Self> {
        let page = pages.page(number)?;
        let node = Node::read(number, &page, pages)?;
        let has_rows = node.is_leaf || node.kind == Kind::Ordered;
        if node.kind != kind || !has_rows {
            return None;
        }
        let mut tree = Self::default();
        tree.rows(pages, &page, &node, visited, give);
        Some(tree)
    }

    fn rows(&mut self, pages: &Pages, page: &[u8], node: &Node, visited: &mut [bool], give: &mut impl FnMut(Row)) {
        let has_rows = node.is_leaf || node.kind == Kind::Ordered;
        for cell in node.cells.iter().filter(|_| has_rows) {
            match row(pages, page, node, *cell, visited) {
                Some(row) => give(row),
                None => self.bad_rows += 1,
            }
        }
    }
}

fn row(pages: &Pages, page: &[u8], node: &Node, cell: usize, visited: &mut [bool]) -> Option<Row> {
    let mut at = cell + if node.is_leaf { 0 } else { 4 };
    let (length, size) = varint(page.get(at..)?)?;
    at += size;
    let length = usize::try_from(length).ok().filter(|length| *length <= LONGEST)?;
    let mut number = 0;
    if node.kind == Kind::Numbered {
        let (read, size) = varint(page.get(at..)?)?;
        (number, at) = (read, at + size);
    }
    let usable = pages.usable;
    let most = if node.kind == Kind::Numbered { usable - 35 } else { (usable - 12) * 64 / 255 - 23 };
    let local = if length <= most {
        length
    } else {
        let least = (usable - 12) * 32 / 255 - 23;
        let even = least + (length - least) % (usable - 4);
        if even <= most { even } else { least }
    };
    let mut payload = page.get(at..at + local)?.to_vec();
    let mut next = if local < length { number32(page, at + local)? } else { 0 };
    while payload.len() < length {
        let overflow = pages.page(next)?;
        if let Some(is_visited) = visited.get_mut(next as usize) {
            *is_visited = true;
        }
        let more = (length - payload.len()).min(usable - 4);
        payload.extend_from_slice(overflow.get(4..4 + more)?);
        next = number32(&overflow, 0)?;
    }
    Some(Row { number, values: values(&payload)? })
}
