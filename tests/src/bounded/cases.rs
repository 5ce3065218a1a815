//! Guards about bounds, one claim each: invariants `i` that follow from what a session may do, and invariants that nearly do.

/// Every invariant and every type is proved.
pub const PROVED: &[(&str, &str)] = &[
    (
        "a limit, and a parameter's largest value",
        "state { n: int = 0 }\ninvariant i { n <= 150 }\ntool t(x: int in 0..=50) {\n  limit 3 per session\n  effect n += x\n}",
    ),
    (
        "a limit, and a deny",
        "state { n: int = 0 }\ninvariant i { n <= 20 }\ntool t(x: int) {\n  limit 4 per session\n  deny when x > 5\n  effect n += x\n}",
    ),
    (
        "a limit of successes: those that succeeded never stop counting",
        "state { n: int = 0 }\ninvariant i { n <= 3 }\ntool t() {\n  limit 3 success per session\n  effect n += 1\n}",
    ),
    (
        "a limit that two tools share",
        "state { n: int = 0 }\ninvariant i { n <= 15 }\ntool a() { effect n += 5 }\ntool b() { effect n += 3 }\npolicy p for { a, b } { limit 3 per session }",
    ),
    (
        "two limits",
        "state { n: int = 0 }\ninvariant i { n <= 13 }\ntool a() {\n  limit 2 per session\n  effect n += 5\n}\ntool b() {\n  limit 1 per session\n  effect n += 3\n}",
    ),
    (
        "what goes down again stays below",
        "state { n: int = 0 }\ninvariant i { n <= 10 }\ntool a() {\n  limit 2 per session\n  effect n += 5\n}\ntool b(x: int in 0..=9) { effect n -= x }\ntool c() { effect n = 0 }",
    ),
    (
        "a limit bounds from below",
        "state { n: int = 9 }\ninvariant i { n >= 1 }\ntool t(x: int in 0..=4) {\n  limit 2 per session\n  effect n -= x\n}",
    ),
    (
        "a variable moves with a budget",
        "budget money = 500\nstate { d: decimal = 0 }\ninvariant i { d <= 500 }\ntool t(c: decimal in 0..=900) {\n  costs c money\n  effect d += c\n}",
    ),
    (
        "an int moves with a budget",
        "budget money = 40\nstate { n: int = 0 }\ninvariant i { n <= 40 }\ntool t(x: int in 0..=9) {\n  costs decimal(x) money\n  effect n += x\n}",
    ),
    (
        "every call costs two",
        "budget money = 9\nstate { n: int = 0 }\ninvariant i { n <= 4 }\ntool t() {\n  costs 2 money\n  effect n += 1\n}",
    ),
    (
        "a budget of calls bounds what each call adds",
        "budget calls = 20\nstate { l: list<string> max 20 = [] }\ntool t(x: string) { effect append x to l }",
    ),
    (
        "a limit bounds a map",
        "state { m: map<string, int> max 5 = {} }\ntool t(k: string, x: int) {\n  limit 5 per session\n  effect m[k] = x\n}",
    ),
    (
        "who must have been called has set it",
        "state {\n  tested: bool = false\n  live: bool = false\n}\ninvariant i { live implies tested }\ntool test() { effect tested = true }\ntool deploy() {\n  requires test\n  effect live = true\n}",
    ),
    (
        "also where the result does not decode",
        "state {\n  tested: bool = false\n  live: bool = false\n}\ninvariant i { live implies tested }\ntool test() {\n  returns int\n  effect tested = true\n}\ntool deploy() {\n  requires latest test within 5m\n  effect live = true\n}",
    ),
    (
        "asked for in a deny",
        "state {\n  ready: int in 0..=9 = 0\n  n: int = 0\n}\ninvariant i { n <= ready }\ntool test() { effect ready = 9 }\ntool go(x: int in 0..=9) {\n  deny unless called(test)\n  effect n = x\n}",
    ),
    (
        "an interval that no invariant says",
        "state {\n  speed: int = 0\n  n: int = 0\n}\ninvariant i { n <= 7 }\ntool set(x: int) {\n  deny when x > 7\n  effect speed = x\n}\ntool go() { effect n = speed }",
    ),
    (
        "two intervals, each by the other",
        "state {\n  a: int = 0\n  b: int = 0\n}\ninvariant i { a <= 5 }\ntool s() {\n  effect a = b\n  effect b = a\n}\ntool t(x: int in 0..=5) { effect b = x }",
    ),
    (
        "one variable is never above another, which a limit bounds",
        "state {\n  hi: int = 0\n  lo: int = 0\n}\ninvariant i { lo <= 18 }\ntool up(x: int in 0..=9) {\n  limit 2 per session\n  effect hi += x\n}\ntool low(x: int) {\n  deny unless lo + x <= hi\n  effect lo += x\n}",
    ),
    (
        "a flag that is never set",
        "state {\n  frozen: bool = false\n  n: int = 0\n}\ninvariant i { n <= 3 }\ntool t(x: int) {\n  deny unless frozen or x <= 3\n  effect n = x\n}",
    ),
];

/// `i`, or else the type of `o`, is not proved to be kept by `t`: in some session it is broken.
pub const OPEN: &[(&str, &str)] = &[
    (
        "one call more",
        "state { n: int = 0 }\ninvariant i { n <= 149 }\ntool t(x: int in 0..=50) {\n  limit 3 per session\n  effect n += x\n}",
    ),
    (
        "a limit of a window",
        "state { n: int = 0 }\ninvariant i { n <= 3 }\ntool t() {\n  limit 3 per 1h\n  effect n += 1\n}",
    ),
    (
        "a limit of each key",
        "state { n: int = 0 }\ninvariant i { n <= 3 }\ntool t(k: string) {\n  limit 3 per session by k\n  effect n += 1\n}",
    ),
    (
        "a limit of equal calls",
        "state { n: int = 0 }\ninvariant i { n <= 3 }\ntool t(k: string) {\n  limit 3 identical\n  effect n += 1\n}",
    ),
    (
        "a limit of calls in flight",
        "state { n: int = 0 }\ninvariant i { n <= 3 }\ntool t() {\n  limit 3 in flight\n  effect n += 1\n}",
    ),
    (
        "a limit over which somebody is asked",
        "state { n: int = 0 }\ninvariant i { n <= 3 }\ntool t() {\n  limit 3 per session else ask boss\n  effect n += 1\n}",
    ),
    (
        "a limit in shadow",
        "state { n: int = 0 }\ninvariant i { n <= 3 }\ntool t() {\n  shadow limit 3 per session\n  effect n += 1\n}",
    ),
    (
        "a limit of another tool",
        "state { n: int = 0 }\ninvariant i { n <= 3 }\ntool u() {\n  limit 3 per session\n  effect n += 1\n}\ntool t() { effect n += 1 }",
    ),
    (
        "a cost in shadow",
        "budget money = 5\nstate { d: decimal = 0 }\ninvariant i { d <= 5 }\ntool t(c: decimal in 0..=9) {\n  shadow costs c money\n  costs 1 money\n  effect d += c\n}",
    ),
    (
        "what calls in flight have spent may come back",
        "budget money = 100\nstate { d: decimal = 0 }\ninvariant i { d <= 100 }\ntool pay(c: decimal in 0..=100) { costs c money, returned on failure }\ntool lock() {\n  costs 0 money\n  effect d = spent(money)\n}\ntool t(c: decimal in 0..=100) {\n  costs c money\n  effect d += c\n}",
    ),
    (
        "half of it is charged",
        "budget money = 5\nstate { d: decimal = 0 }\ninvariant i { d <= 5 }\ntool t(c: decimal in 0..=9) {\n  costs c / 2 money\n  effect d += c\n}",
    ),
    (
        "a call that costs nothing",
        "budget calls = 5\nstate { n: int = 0 }\ninvariant i { n <= 5 }\ntool t() {\n  costs 0 calls\n  effect n += 1\n}",
    ),
    (
        "a budget that the host charges",
        "budget tokens = 5\nstate { n: int = 0 }\ninvariant i { n <= 5 }\ntool t() { effect n += 1 }",
    ),
    (
        "what begins higher",
        "state { n: int = 1 }\ninvariant i { n <= 3 }\ntool t() {\n  limit 3 per session\n  effect n += 1\n}",
    ),
    (
        "what another tool sets higher",
        "state { n: int = 0 }\ninvariant i { n <= 3 }\ntool u() {\n  limit 1 per session\n  effect n = 2\n}\ntool t() {\n  limit 3 per session\n  effect n += 1\n}",
    ),
    (
        "what an observation sets",
        "state {\n  n: int = 0\n  m: int = 0\n}\ninvariant i { m <= 6 }\ntool look() {\n  trusted\n  returns int in 0..=9\n  observe n = result\n}\ntool u() {\n  limit 3 per session\n  effect n += 1\n}\ntool t() { effect m = n }",
    ),
    (
        "one of two that may be called",
        "state {\n  tested: bool = false\n  live: bool = false\n}\ninvariant i { live implies tested }\ntool test() { effect tested = true }\ntool skip() { }\ntool t() {\n  requires test or skip\n  effect live = true\n}",
    ),
    (
        "required only sometimes",
        "state {\n  tested: bool = false\n  live: bool = false\n}\ninvariant i { live implies tested }\ntool test() { effect tested = true }\ntool t(f: bool) {\n  requires test when f\n  effect live = true\n}",
    ),
    (
        "required in shadow",
        "state {\n  tested: bool = false\n  live: bool = false\n}\ninvariant i { live implies tested }\ntool test() { effect tested = true }\ntool t() {\n  shadow requires test\n  effect live = true\n}",
    ),
    (
        "what was set is unset",
        "state {\n  tested: bool = false\n  live: bool = false\n}\ninvariant i { live implies tested }\ntool test() { effect tested = true }\ntool edit() {\n  deny when live\n  effect tested = false\n}\ntool t() {\n  requires test\n  effect live = true\n}",
    ),
    (
        "set only where it passes",
        "state {\n  tested: bool = false\n  live: bool = false\n}\ninvariant i { live implies tested }\ntool test(f: bool) { effect tested = f }\ntool t() {\n  requires test\n  effect live = true\n}",
    ),
    (
        "set in shadow",
        "state {\n  tested: bool = false\n  live: bool = false\n}\ninvariant i { live implies tested }\ntool test() { shadow effect tested = true }\ntool t() {\n  requires test\n  effect live = true\n}",
    ),
    (
        "called is not what failed",
        "state {\n  tested: bool = false\n  live: bool = false\n}\ninvariant i { live implies tested }\ntool test() { effect tested = true }\ntool t() {\n  deny unless failed(test)\n  effect live = true\n}",
    ),
    (
        "a result that does not decode is no success, and its effects stay",
        "state {\n  tested: bool = false\n  n: int = 0\n}\ninvariant i { n <= 3 }\ntool test() {\n  returns int\n  effect tested = true\n}\ntool t(x: int in 0..=9) {\n  deny unless tested\n  deny when called(test) and x > 3\n  effect n = x\n}",
    ),
    (
        "what begins with an element",
        "state { l: list<int> max 4 = [0] }\ninvariant i { len(l) <= 3 }\ntool t(x: int) {\n  limit 3 per session\n  effect append x to l\n}",
    ),
    (
        "doubled at each call",
        "state { n: int = 1 }\ninvariant i { n <= 3 }\ntool t() {\n  limit 3 per session\n  effect n *= 2\n}",
    ),
    (
        "the sum of what a limit bounds",
        "state {\n  a: int = 0\n  n: int = 0\n}\ninvariant i { n <= 6 }\ntool u() {\n  limit 3 per session\n  effect a += 1\n}\ntool t() {\n  limit 3 per session\n  effect n += a\n}",
    ),
    (
        "one above the other at first",
        "state {\n  hi: int = 0\n  lo: int = 1\n  n: int = 0\n}\ninvariant i { n <= hi }\ntool t() { effect n = lo }",
    ),
    (
        "a type that a budget nearly keeps",
        "budget calls = 21\nstate { o: list<string> max 20 = [] }\ntool t(x: string) { effect append x to o }",
    ),
    (
        "a call counts once",
        "state { n: int = 0 }\ninvariant i { n <= 5 }\ntool t(x: int in 1..=2) {\n  limit 3 per session\n  effect n += x\n}",
    ),
    (
        "a cost in shadow beside one that is paid",
        "budget calls = 5\nstate { n: int = 0 }\ninvariant i { n <= 9 }\ntool t(x: int in 1..=2) {\n  costs 1 calls\n  shadow costs 1 calls\n  effect n += x\n}",
    ),
];
