use super::*;

/// Returns a graph of boxes in lanes, with links as pairs.
fn graph(lanes: &[usize], links: &[(usize, usize)]) -> Graph {
    let node = |(id, lane): (usize, &usize)| {
        let id = id as i64;
        LayoutBox { width: 60 + id * 17 % 90, height: 30 + id * 11 % 40, lane: *lane }
    };
    Graph {
        nodes: lanes.iter().enumerate().map(node).collect(),
        links: links
            .iter()
            .map(|(from, to)| LayoutArrow { from: *from, to: *to, label: 20 })
            .collect(),
        lanes: lanes.iter().max().map_or(0, |last| last + 1),
        framed: true,
    }
}

/// Checks the properties of every layout.
fn check(graph: &Graph) -> Layout {
    let laid = layout(graph);
    let overlap = |a: &Rect, b: &Rect| {
        a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height
    };
    for (id, one) in laid.boxes.iter().enumerate() {
        for other in &laid.boxes[id + 1..] {
            assert!(!overlap(one, other), "{one:?} overlaps {other:?}");
        }
        let lane = laid.lanes[graph.nodes[id].lane];
        let inside = one.x >= lane.x
            && one.y >= lane.y
            && one.x + one.width <= lane.x + lane.width
            && one.y + one.height <= lane.y + lane.height;
        assert!(inside, "{one:?} stands out of {lane:?}");
    }
    for (link, route) in graph.links.iter().zip(&laid.routes) {
        let from = laid.boxes[link.from];
        let to = laid.boxes[link.to];
        if let Route::Forward(points) = route {
            assert!(from.x + from.width < to.x, "{link:?} does not go to the right");
            assert_eq!(points.len() % 2, 0);
            straight(points, &laid.boxes, link);
        }
    }
    laid
}

/// Checks that the horizontal parts of a route, which pass columns, cross no box.
fn straight(points: &[(i64, i64)], boxes: &[Rect], link: &LayoutArrow) {
    for pair in points.chunks(2).skip(1).take((points.len() / 2).saturating_sub(2)) {
        let left = pair[0].0;
        let y = pair[0].1;
        let right = pair[1].0;
        for one in boxes {
            let across = left < one.x + one.width && one.x < right;
            let through = across && y > one.y && y < one.y + one.height;
            assert!(!through, "{link:?} runs through {one:?}");
        }
    }
}

#[test]
fn nothing_is_laid_out() {
    let laid = check(&graph(&[], &[]));
    assert_eq!((laid.width, laid.height, laid.boxes.len()), (PAD, 0, 0));
}

#[test]
fn a_chain_goes_to_the_right() {
    let laid = check(&graph(&[0, 0, 0], &[(2, 1), (1, 0)]));
    assert!(laid.boxes[2].x < laid.boxes[1].x && laid.boxes[1].x < laid.boxes[0].x);
}

#[test]
fn a_link_that_skips_columns_passes_between_boxes() {
    check(&graph(&[0, 0, 0, 0], &[(0, 1), (1, 2), (2, 3), (0, 3), (0, 2)]));
}

#[test]
fn lanes_keep_their_boxes() {
    check(&graph(&[0, 1, 2, 1, 0, 2], &[(0, 1), (1, 2), (0, 5), (3, 4), (4, 5)]));
}

#[test]
fn a_cycle_is_closed_from_below() {
    let graph = graph(&[0, 0, 0], &[(0, 1), (1, 2), (2, 0), (1, 1)]);
    let laid = check(&graph);
    let Route::Back(corners) = &laid.routes[2] else { panic!("{:?}", laid.routes) };
    let bottom = laid.boxes.iter().map(|b| b.y + b.height).max().unwrap_or(0);
    assert!(corners[2].1 > bottom && corners[2].1 <= laid.height);
    assert!(matches!(laid.routes[3], Route::Own(..)));
}

#[test]
fn boxes_without_links_stand_side_by_side() {
    let laid = check(&graph(&[0; 16], &[]));
    assert!(laid.boxes.iter().any(|one| one.x > laid.boxes[0].x + laid.boxes[0].width));
}

#[test]
fn crossings_that_need_not_be_go_away() {
    let mut grid = grid(&graph(&[0; 4], &[(0, 3), (1, 2)]), &[false, false]);
    assert_eq!(crossings(&grid), 1);
    order(&mut grid);
    assert_eq!(crossings(&grid), 0);
}

#[test]
fn generated_graphs_keep_the_laws() {
    let mut seed = 7_u64;
    let mut draw = |below: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % below
    };
    for _ in 0..200 {
        let count = 1 + draw(50);
        let lanes: Vec<usize> = (0..count).map(|_| draw(5)).collect();
        let links: Vec<(usize, usize)> =
            (0..draw(80)).map(|_| (draw(count), draw(count))).collect();
        check(&graph(&lanes, &links));
    }
}
