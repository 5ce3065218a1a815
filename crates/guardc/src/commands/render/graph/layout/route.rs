//! Widths of columns, and the points of routes.

use super::{APART, GAP, Graph, Grid, Layout, PAD, Rect, Route};

/// The distance between links that arrive at one box.
const ARRIVE: i64 = 13;
/// The distance between links that run back.
const RETURN: i64 = 20;

/// Computes boxes and routes in pixels.
pub(super) fn route(graph: &Graph, grid: &Grid, lanes: Vec<(i64, i64)>) -> Layout {
    let columns = columns(graph, grid);
    let boxes: Vec<Rect> = graph
        .nodes
        .iter()
        .zip(&grid.cells)
        .map(|(node, cell)| {
            let x = columns[cell.column].0;
            Rect { x, y: cell.y - node.height / 2, width: node.width, height: node.height }
        })
        .collect();
    let margin = if graph.framed { PAD } else { 0 };
    let width = columns.last().map_or(0, |(left, width)| left + width) + margin;
    let bottom = lanes.last().map_or(0, |(_, bottom)| *bottom);
    let ends = ends(graph, grid, &boxes);
    let mut backs = 0;
    let routes = (0..graph.links.len())
        .map(|id| match &grid.passes[id] {
            Some(passes) => forward(graph, grid, &columns, &boxes, (id, passes, ends[id])),
            None => back(graph, &boxes, id, bottom, &mut backs),
        })
        .collect();
    let lanes = lanes
        .into_iter()
        .map(|(top, bottom)| Rect { x: 0, y: top, width, height: bottom - top })
        .collect();
    let below = if backs > 0 { APART + backs * RETURN } else { 0 };
    Layout { boxes, routes, lanes, width, height: bottom + below }
}

/// Returns the left edge and width of every column. The gap before a column holds the labels of its
/// links, and the links that run back.
fn columns(graph: &Graph, grid: &Grid) -> Vec<(i64, i64)> {
    let mut left = if graph.framed { PAD } else { 0 };
    let mut columns = Vec::new();
    for (at, cells) in grid.columns.iter().enumerate() {
        let nodes = || cells.iter().filter_map(|cell| graph.nodes.get(*cell));
        let width = nodes().map(|node| node.width).max().unwrap_or(0);
        let ends_here = |to: usize| grid.cells[to].column == at;
        let labels = graph.links.iter().filter(|l| ends_here(l.to)).map(|l| l.label).max();
        // Many links need space to bend.
        let bends: usize = cells.iter().map(|cell| grid.before[*cell].len()).sum();
        let bends = 2 * (bends as i64).min(30);
        let room = GAP + bends + labels.filter(|width| *width > 0).unwrap_or(0);
        left += if at == 0 { 0 } else { room };
        columns.push((left, width));
        left += width;
    }
    columns
}

/// Returns the positions where links arrive at their boxes: ordered by their origin, evenly about
/// the middle.
fn ends(graph: &Graph, grid: &Grid, boxes: &[Rect]) -> Vec<i64> {
    let mut ends = vec![0; graph.links.len()];
    for (node, rect) in boxes.iter().enumerate() {
        let mut arriving: Vec<(i64, usize)> = graph
            .links
            .iter()
            .enumerate()
            .filter(|(id, link)| link.to == node && grid.passes[*id].is_some())
            .map(|(id, link)| {
                let slots = grid.passes[id].as_deref().unwrap_or_default();
                (grid.cells[*slots.last().unwrap_or(&link.from)].y, id)
            })
            .collect();
        arriving.sort_unstable();
        let count = arriving.len() as i64;
        let step = ARRIVE.min((rect.height - 6) / count.max(1));
        for (n, (_, id)) in (0..).zip(arriving) {
            ends[id] = rect.y + rect.height / 2 + (2 * n - count + 1) * step / 2;
        }
    }
    ends
}

fn forward(
    graph: &Graph,
    grid: &Grid,
    columns: &[(i64, i64)],
    boxes: &[Rect],
    (id, passes, end): (usize, &[usize], i64),
) -> Route {
    let from = boxes[graph.links[id].from];
    let to = boxes[graph.links[id].to];
    let out = grid.cells[graph.links[id].from].column;
    let mut points = vec![(from.x + from.width, from.y + from.height / 2)];
    // The route first goes to the border of the column, so that no curve begins beside a wider
    // neighbour.
    points.push((columns[out].0 + columns[out].1, from.y + from.height / 2));
    for slot in passes {
        let cell = grid.cells[*slot];
        let (left, width) = columns[cell.column];
        points.extend([(left, cell.y), (left + width, cell.y)]);
    }
    let into = grid.cells[graph.links[id].to].column;
    points.extend([(columns[into].0, end), (to.x, end)]);
    Route::Forward(points)
}

/// Routes a link back: out on the left, below all boxes, and in from the right, only through gaps
/// between columns.
fn back(graph: &Graph, boxes: &[Rect], id: usize, bottom: i64, backs: &mut i64) -> Route {
    let link = graph.links[id];
    let from = boxes[link.from];
    let to = boxes[link.to];
    if link.from == link.to {
        return Route::Own(from.x + from.width / 2, from.y);
    }
    *backs += 1;
    let aside = 8 + (*backs * 6) % (GAP / 2);
    let y = bottom + APART / 2 + *backs * RETURN - RETURN / 2;
    let left = from.x - aside;
    let right = to.x + to.width + aside;
    let leave = from.y + from.height - 6;
    let enter = to.y + to.height - 6;
    Route::Back(vec![
        (from.x, leave),
        (left, leave),
        (left, y),
        (right, y),
        (right, enter),
        (to.x + to.width, enter),
    ])
}
