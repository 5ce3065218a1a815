//! Vertical positions: lanes tall enough for their columns, and cells near their neighbours.

use super::{APART, Cell, Graph, Grid, PAD, SPACE, SWEEPS, TITLE};

/// Computes the height of every cell, and the top and bottom of every lane.
pub(super) fn place(graph: &Graph, grid: &mut Grid) -> Vec<(i64, i64)> {
    let lanes = lanes(graph, grid);
    for column in 0..grid.columns.len() {
        for (lane, run) in runs(grid, column) {
            let middle = (lanes[lane].0 + lanes[lane].1) / 2;
            settle(grid, &run, lanes[lane], graph.framed, |_, _| middle);
        }
    }
    for sweep in 0..SWEEPS {
        let count = grid.columns.len();
        for step in 0..count {
            let forward = sweep % 2 == 0;
            let column = if forward { step } else { count - 1 - step };
            for (lane, run) in runs(grid, column) {
                settle(grid, &run, lanes[lane], graph.framed, |grid, cell| {
                    wish(grid, cell, forward)
                });
            }
        }
    }
    lanes
}

/// Returns the top and bottom of every lane, from its tallest column.
fn lanes(graph: &Graph, grid: &Grid) -> Vec<(i64, i64)> {
    let mut tall = vec![0; graph.lanes];
    for column in 0..grid.columns.len() {
        for (lane, run) in runs(grid, column) {
            let boxes: i64 = run.iter().map(|cell| grid.cells[*cell].height).sum();
            let height = boxes + SPACE * (run.len() as i64 - 1);
            tall[lane] = height.max(tall[lane]);
        }
    }
    let around = if graph.framed { 2 * PAD + TITLE } else { 0 };
    let mut top = 0;
    tall.iter()
        .map(|height| {
            let lane = (top, top + height + around);
            top = lane.1 + APART;
            lane
        })
        .collect()
}

/// Returns the cells of a column, lane by lane.
fn runs(grid: &Grid, column: usize) -> Vec<(usize, Vec<usize>)> {
    let mut runs: Vec<(usize, Vec<usize>)> = Vec::new();
    for cell in &grid.columns[column] {
        let lane = grid.cells[*cell].lane;
        match runs.last_mut() {
            Some((last, run)) if *last == lane => run.push(*cell),
            _ => runs.push((lane, vec![*cell])),
        }
    }
    runs
}

/// Returns the preferred position of a cell: the mean of its neighbours in the sweep direction
/// first.
fn wish(grid: &Grid, cell: usize, forward: bool) -> i64 {
    let (first, then) =
        if forward { (&grid.before, &grid.after) } else { (&grid.after, &grid.before) };
    let beside = if first[cell].is_empty() { &then[cell] } else { &first[cell] };
    if beside.is_empty() {
        return grid.cells[cell].y;
    }
    beside.iter().map(|other| grid.cells[*other].y).sum::<i64>() / beside.len() as i64
}

/// Places a run of cells as near to their preferred positions as order, distances and the lane
/// allow: a monotone regression that pools conflicting neighbours.
fn settle(
    grid: &mut Grid,
    run: &[usize],
    lane: (i64, i64),
    framed: bool,
    wish: impl Fn(&Grid, usize) -> i64,
) {
    let (head, foot) = if framed { (TITLE + PAD, PAD) } else { (0, 0) };
    // Offsets eliminate the distances, so that only an order constraint remains.
    let mut offsets = Vec::with_capacity(run.len());
    let mut below = 0;
    for cell in run {
        let Cell { height, .. } = grid.cells[*cell];
        offsets.push(below + height / 2);
        below += height + SPACE;
    }
    let low = lane.0 + head;
    let high = (lane.1 - foot - (below - SPACE)).max(lane.0 + head);
    let mut pools: Vec<(i64, i64)> = Vec::new();
    for (cell, offset) in run.iter().zip(&offsets) {
        pools.push((wish(grid, *cell) - offset, 1));
        // Means are compared by cross-multiplication, because whole-number division would round
        // them to ties.
        while let [.., (sum_a, n_a), (sum_b, n_b)] = pools[..]
            && sum_a * n_b > sum_b * n_a
        {
            pools.truncate(pools.len() - 2);
            pools.push((sum_a + sum_b, n_a + n_b));
        }
    }
    let mut placed = run.iter().zip(&offsets);
    for (sum, count) in pools {
        let base = (sum / count).clamp(low, high);
        for (cell, offset) in placed.by_ref().take(count as usize) {
            grid.cells[*cell].y = base + offset;
        }
    }
}
