//! Layered layout of boxes in lanes: their positions, and the routes of the links between them.
//!
//! Longest paths determine the columns, barycentres the order within a column, and a monotone
//! regression the positions. A link that skips columns passes each of them in its own slot, so that
//! no link crosses a box. Links that close a cycle run back below all boxes. The layout does not
//! depend on guards or drawing. It uses whole pixels only, so the result is the same on every
//! machine.

mod place;
mod route;

use std::collections::BTreeMap;

/// The distance between boxes of a column.
const SPACE: i64 = 18;
/// The distance between the border of a lane and its boxes.
const PAD: i64 = 18;
/// The height of a lane's title.
const TITLE: i64 = 20;
/// The distance between lanes.
const APART: i64 = 14;
/// The minimum distance between columns.
const GAP: i64 = 48;
/// The height of the slot of a passing link.
const PASS: i64 = 4;
/// The number of ordering and placing sweeps.
const SWEEPS: usize = 8;

/// The input of the layout.
#[derive(Debug, Default)]
pub struct Graph {
    /// The boxes.
    pub nodes: Vec<LayoutBox>,
    /// The arrows between the boxes.
    pub links: Vec<LayoutArrow>,
    /// The number of lanes, from the top; every box is in one of them.
    pub lanes: usize,
    /// True if lanes have borders and titles.
    pub framed: bool,
}

/// A box.
#[derive(Debug, Clone, Copy)]
pub struct LayoutBox {
    /// The width.
    pub width: i64,
    /// The height.
    pub height: i64,
    /// The lane of the box.
    pub lane: usize,
}

/// An arrow.
#[derive(Debug, Clone, Copy)]
pub struct LayoutArrow {
    /// The box where the arrow starts.
    pub from: usize,
    /// The box where the arrow ends.
    pub to: usize,
    /// The width of the label at the end of the arrow.
    pub label: i64,
}

/// A rectangle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rect {
    /// The left edge.
    pub x: i64,
    /// The top edge.
    pub y: i64,
    /// The width.
    pub width: i64,
    /// The height.
    pub height: i64,
}

/// The route of a link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Route {
    /// A route to the right: out of a box, through slots (two points each), into a box.
    Forward(Vec<(i64, i64)>),
    /// A route back, as corner points.
    Back(Vec<(i64, i64)>),
    /// A route to the same box: the middle of the upper side.
    Own(i64, i64),
}

/// The positions of all parts.
#[derive(Debug)]
pub struct Layout {
    /// The rectangles of the boxes.
    pub boxes: Vec<Rect>,
    /// The routes of the links.
    pub routes: Vec<Route>,
    /// The rectangles of the lanes.
    pub lanes: Vec<Rect>,
    /// The whole width.
    pub width: i64,
    /// The whole height.
    pub height: i64,
}

/// A box, or the slot of a link that passes a column.
#[derive(Debug, Clone, Copy)]
struct Cell {
    lane: usize,
    column: usize,
    height: i64,
    /// The middle, measured from the top.
    y: i64,
}

/// Cells in columns, and their neighbours.
#[derive(Debug, Default)]
struct Grid {
    /// The boxes first, in order, then the slots.
    cells: Vec<Cell>,
    /// The neighbours in the column before, and in the column after.
    before: Vec<Vec<usize>>,
    after: Vec<Vec<usize>>,
    /// Each column's cells from the top, lane by lane.
    columns: Vec<Vec<usize>>,
    /// The slots that each link passes; `None` if the link runs back.
    passes: Vec<Option<Vec<usize>>>,
}

/// Computes the layout of a graph.
pub fn layout(graph: &Graph) -> Layout {
    let back = closing(graph);
    let mut grid = grid(graph, &back);
    order(&mut grid);
    let lanes = place::place(graph, &mut grid);
    route::route(graph, &grid, lanes)
}

/// Returns the links that close a cycle: found depth first, with boxes and links in order.
fn closing(graph: &Graph) -> Vec<bool> {
    let mut out: Vec<Vec<(usize, usize)>> = vec![Vec::new(); graph.nodes.len()];
    for (id, link) in graph.links.iter().enumerate() {
        out[link.from].push((id, link.to));
    }
    let mut back = vec![false; graph.links.len()];
    // The state of each node: 0 unvisited, 1 in progress, 2 done.
    let mut seen = vec![0_u8; graph.nodes.len()];
    for start in 0..graph.nodes.len() {
        let mut way = if seen[start] == 0 { vec![(start, 0)] } else { Vec::new() };
        seen[start] = seen[start].max(1);
        while let Some((node, next)) = way.last_mut() {
            let Some((id, to)) = out[*node].get(*next).copied() else {
                seen[*node] = 2;
                way.pop();
                continue;
            };
            *next += 1;
            match seen[to] {
                0 => {
                    seen[to] = 1;
                    way.push((to, 0));
                }
                1 => back[id] = true,
                _ => {}
            }
        }
    }
    back
}

/// Assigns columns by longest path. A box without links is placed in the emptiest column of its
/// lane.
fn columns(graph: &Graph, back: &[bool]) -> Vec<usize> {
    let mut column = vec![0; graph.nodes.len()];
    let forward = || graph.links.iter().zip(back).filter(|(_, back)| !**back).map(|(link, _)| link);
    // Without cycles the loop ends after at most as many rounds as the longest path has links.
    loop {
        let mut settled = true;
        for link in forward() {
            if column[link.to] <= column[link.from] {
                column[link.to] = column[link.from] + 1;
                settled = false;
            }
        }
        if settled {
            break;
        }
    }
    let linked = |node: usize| graph.links.iter().any(|l| l.from == node || l.to == node);
    let linked: Vec<bool> = (0..graph.nodes.len()).map(linked).collect();
    // A box that only others require is placed directly before the first of them.
    for node in (0..graph.nodes.len()).filter(|n| linked[*n] && !forward().any(|l| l.to == *n)) {
        let first = forward().filter(|l| l.from == node).map(|l| column[l.to]).min();
        column[node] = first.map_or(0, |first| first - 1);
    }
    let lone = linked.iter().filter(|linked| !**linked).count();
    let depth = column.iter().max().map_or(0, |last| last + 1);
    let wide = if lone > 0 { depth.max(lone.isqrt().clamp(1, 4)) } else { depth };
    let mut filled: BTreeMap<(usize, usize), i64> = BTreeMap::new();
    for (node, at) in
        graph.nodes.iter().zip(&column).zip(&linked).filter(|(_, l)| **l).map(|(n, _)| n)
    {
        *filled.entry((node.lane, *at)).or_default() += node.height;
    }
    for (id, node) in graph.nodes.iter().enumerate().filter(|(id, _)| !linked[*id]) {
        let height = |at: &usize| filled.get(&(node.lane, *at)).copied().unwrap_or(0);
        column[id] = (0..wide).min_by_key(height).unwrap_or(0);
        *filled.entry((node.lane, column[id])).or_default() += node.height;
    }
    column
}

/// Returns boxes and slots in columns, in order of first use.
fn grid(graph: &Graph, back: &[bool]) -> Grid {
    let column = columns(graph, back);
    let mut grid = Grid::default();
    for (node, column) in graph.nodes.iter().zip(&column) {
        grid.add(Cell { lane: node.lane, column: *column, height: node.height, y: 0 });
    }
    // Links from one box to one lane share their slots as long as their path is the same.
    let mut slots: BTreeMap<(usize, usize, usize), usize> = BTreeMap::new();
    for (link, back) in graph.links.iter().zip(back) {
        if *back {
            grid.passes.push(None);
            continue;
        }
        let lane = graph.nodes[link.to].lane;
        let mut passes = Vec::new();
        let mut last = link.from;
        for at in column[link.from] + 1..column[link.to] {
            let slot = *slots
                .entry((link.from, lane, at))
                .or_insert_with(|| grid.add(Cell { lane, column: at, height: PASS, y: 0 }));
            grid.join(last, slot);
            passes.push(slot);
            last = slot;
        }
        grid.join(last, link.to);
        grid.passes.push(Some(passes));
    }
    grid
}

impl Grid {
    fn add(&mut self, cell: Cell) -> usize {
        let id = self.cells.len();
        self.columns.resize(self.columns.len().max(cell.column + 1), Vec::new());
        self.columns[cell.column].push(id);
        self.cells.push(cell);
        self.before.push(Vec::new());
        self.after.push(Vec::new());
        id
    }

    fn join(&mut self, from: usize, to: usize) {
        if !self.after[from].contains(&to) {
            self.after[from].push(to);
            self.before[to].push(from);
        }
    }
}

/// Orders every column by the barycentres of its neighbours, alternating directions; lanes stay
/// together. The best order is kept.
fn order(grid: &mut Grid) {
    let lanes = |grid: &mut Grid| {
        for at in 0..grid.columns.len() {
            let Grid { columns, cells, .. } = grid;
            columns[at].sort_by_key(|cell| cells[*cell].lane);
        }
    };
    lanes(grid);
    let mut best = (crossings(grid), grid.columns.clone());
    for sweep in 0..SWEEPS {
        let count = grid.columns.len();
        for step in 0..count {
            let forward = sweep % 2 == 0;
            let at = if forward { step } else { count - 1 - step };
            let ranks = ranks(grid);
            let Grid { columns, cells, before, after, .. } = &mut *grid;
            let beside = if forward { &*before } else { &*after };
            columns[at].sort_by_key(|cell| {
                (
                    cells[*cell].lane,
                    barycentre(&beside[*cell], &ranks).unwrap_or(ranks[*cell] * 1000),
                )
            });
        }
        let crossed = crossings(grid);
        if crossed < best.0 {
            best = (crossed, grid.columns.clone());
        }
    }
    grid.columns = best.1;
}

/// Returns the rank of every cell in its column.
fn ranks(grid: &Grid) -> Vec<i64> {
    let mut ranks = vec![0; grid.cells.len()];
    for column in &grid.columns {
        (0..).zip(column).for_each(|(rank, cell)| ranks[*cell] = rank);
    }
    ranks
}

/// Returns the mean rank of neighbours, in thousandths.
fn barycentre(beside: &[usize], ranks: &[i64]) -> Option<i64> {
    let sum: i64 = beside.iter().map(|cell| ranks[*cell]).sum();
    (!beside.is_empty()).then(|| sum * 1000 / beside.len() as i64)
}

/// Counts the crossing pairs of links between columns.
fn crossings(grid: &Grid) -> usize {
    let ranks = ranks(grid);
    let mut crossed = 0;
    for column in &grid.columns {
        let mut ends: Vec<(i64, i64)> = column
            .iter()
            .flat_map(|cell| grid.after[*cell].iter().map(|to| (ranks[*cell], ranks[*to])))
            .collect();
        ends.sort_unstable();
        for (at, (from, to)) in ends.iter().enumerate() {
            crossed += ends[at..].iter().filter(|(f, t)| f > from && t < to).count();
        }
    }
    crossed
}

#[cfg(test)]
mod tests;
