//! Small coupled rules, each about one construct: an invariant, what a tool asks and what it does. With some numbers they are so, with
//! others nearly.

use guard_plan::random::Rng;

/// State, invariant, and the body of a tool with the parameters `x: int in 0..=9`, `y: int`, `g: string max 5`, `h: string`, `f: bool`, `c:
/// decimal in 0..=9`, `u: int in -9..=9`. `K`, `J` are small numbers, `O` an order.
const SCENARIOS: &[(&str, &str, &str)] = &[
    ("sd: int = 0", "sd <= K", "deny unless x * u <= J\n  effect sd = x * y"),
    ("sd: int = 0", "sd <= K", "deny unless u * x <= J\n  effect sd = u * y"),
    ("sd: decimal = 0", "sd <= K", "deny unless c * decimal(x) <= J\n  effect sd = c * decimal(u)"),
    ("sd: int = 0", "sd >= 0", "effect sd = x / -2"),
    ("sd: int = 0", "sd <= K", "deny unless u / -3 <= J\n  effect sd = u / -3"),
    ("sw: int in 0..=9 = 0", "sw <= 9", "effect sw = x"),
    ("sw: int in 0..=9 = 0", "sw <= 8", "deny unless x <= 8\n  effect sw = x"),
    (
        "sm: map<string, int in 0..=9> max 3 = {}",
        "sz <= K",
        "deny unless g == h and (sm[g] else 0) <= K\n  effect sz = (sm[h] else 0)",
    ),
    (
        "sm: map<string, int in 0..=9> max 3 = {}",
        "sz <= K",
        "deny unless (sm[g] else 0) <= K\n  effect sz = (sm[h] else 0)",
    ),
    (
        "sl: list<int in 0..=9> max 3 = []",
        "sz <= K",
        "deny unless x in sl\n  effect sz = if len(sl) >= J then 0 else 99",
    ),
    (
        "sm: map<string, int> max 3 = {}",
        "sz <= K or (any r1, u1 in sm: u1 >= J)",
        "effect sm[g] = x\n  deny unless x O J\n  effect sz = y",
    ),
    (
        "sl: list<int> max 3 = []",
        "K in sl implies sz <= 9",
        "effect remove x from sl\n  deny when K in sl and x != K",
    ),
    (
        "sl: list<int> max 3 = []",
        "K in sl implies sz <= 9",
        "effect remove K from sl\n  effect sz = 99",
    ),
    (
        "ss: set<int> max 3 = {}",
        "K in ss implies sz <= 9",
        "effect remove K from ss\n  effect sz = 99",
    ),
    (
        "ss: set<int> max 3 = {}",
        "K in ss implies sz <= 9",
        "effect remove x from ss\n  effect sz = y\n  deny unless x O K",
    ),
    ("sl: list<int> max 3 = []", "all u1 in sl: u1 + 1 <= K", "effect remove y from sl"),
    (
        "sl: list<int> max 3 = []",
        "all u1 in sl: u1 + 1 <= K",
        "deny unless y O J\n  effect append y to sl",
    ),
    ("sl: list<int> max 3 = []", "all r1, u1 in sl: u1 >= r1", "effect remove y from sl"),
    (
        "sl: list<int> max 3 = []",
        "all r1, u1 in sl: u1 >= r1",
        "deny unless x >= len(sl)\n  effect append x to sl",
    ),
    ("sl: list<int> max 3 = []", "all r1, u1 in sl: r1 <= K", "effect append x to sl"),
    (
        "sl: list<int> max 3 = []",
        "len(sl) <= K",
        "deny unless len(sl) O J\n  effect append x to sl",
    ),
    (
        "sl: list<int> max 3 = []",
        "len(sl) <= sz",
        "effect remove x from sl\n  effect sz -= 1\n  deny unless sz >= K",
    ),
    ("sl: list<int> max 3 = []", "len(sl) <= sz", "effect append x to sl\n  effect sz += J"),
    ("sm: map<string, int> max 3 = {}", "len(sm) <= sz", "effect sm[g] = x\n  effect sz += J"),
    (
        "sm: map<string, int> max 3 = {}",
        "len(sm) <= sz",
        "deny unless g in sm\n  effect delete sm[g]\n  effect sz -= J",
    ),
    (
        "sm: map<string, int> max 3 = {}",
        "len(sm) <= sz",
        "effect delete sm[g]\n  effect sz -= 1\n  deny unless sz >= 1",
    ),
    (
        "sm: map<string, int> max 3 = {}",
        "(sm[\"a\"] else 0) <= K",
        "deny unless x O J\n  effect sm[g] = x",
    ),
    ("sm: map<string, int> max 3 = {}", "(sm[\"a\"] else 0) <= K", "effect delete sm[g]"),
    (
        "sm: map<string, int> max 3 = {}",
        "(sm[\"a\"] else 0) <= K",
        "deny unless x <= J\n  effect sm[\"a\"] += x",
    ),
    (
        "sm: map<string, int> max 3 = {}",
        "\"a\" in sm implies sz <= K",
        "deny when \"a\" in sm\n  deny when g == \"a\"\n  effect sm[g] = x\n  effect sz = y",
    ),
    (
        "sm: map<string, int> max 3 = {}",
        "\"a\" in sm implies sz <= K",
        "effect delete sm[\"a\"]\n  effect sz = y",
    ),
    (
        "sm: map<string, int> max 3 = {}",
        "all r1, u1 in sm: u1 <= K",
        "deny unless x O J\n  effect sm[g] = x",
    ),
    (
        "sm: map<string, int> max 3 = {}",
        "all r1, u1 in sm: u1 <= K or r1 == \"a\"",
        "deny unless g == \"a\"\n  effect sm[g] = y",
    ),
    (
        "sm: map<string, int> max 3 = {}",
        "sum(r1, u1 in sm: u1) <= K",
        "deny unless sum(r1, u1 in sm: u1) + x <= J\n  effect sm[g] = x",
    ),
    (
        "sm: map<string, int in 0..=9> max 3 = {}",
        "sum(r1, u1 in sm: u1) <= K",
        "deny unless sum(r1, u1 in sm: u1) + x <= J\n  effect sm[g] = x",
    ),
    (
        "sm: map<string, int in 0..=9> max 3 = {}",
        "sum(r1, u1 in sm: u1) <= K",
        "effect delete sm[g]",
    ),
    (
        "sl: list<int in 0..=9> max 3 = []",
        "sum(u1 in sl: u1) <= K",
        "deny unless sum(u1 in sl: u1) + x <= J\n  effect append x to sl",
    ),
    ("sl: list<int in 0..=9> max 3 = []", "sum(u1 in sl: u1) <= K", "effect remove x from sl"),
    (
        "sl: list<int in 0..=9> max 3 = []",
        "count(u1 in sl: u1 > 1) <= K",
        "deny unless count(u1 in sl: u1 > J) <= 0\n  effect append x to sl",
    ),
    (
        "sl: list<int in 0..=9> max 3 = []",
        "sum(u1 in sl: u1) <= sz",
        "effect append x to sl\n  effect sz += x",
    ),
    (
        "ss: set<int in 0..=9> max 3 = {}",
        "sum(u1 in ss: u1) <= sz",
        "effect add x to ss\n  effect sz += x",
    ),
    (
        "ss: set<int in 0..=9> max 3 = {}",
        "len(ss) <= K",
        "deny unless len(ss) O J\n  effect add x to ss",
    ),
    ("ss: set<int in 0..=9> max 3 = {}", "len(ss) >= sz", "effect add x to ss\n  effect sz += 1"),
    ("ss: set<int> max 3 = {}", "all u1 in ss: u1 <= K", "deny unless x O J\n  effect add x to ss"),
    ("ss: set<int> max 3 = {}", "len(ss) <= 2", "effect ss = {x, u}"),
    ("ss: set<int> max 3 = {}", "len(ss) == 2 or sz == 0", "effect ss = {x, u}\n  effect sz = 1"),
    ("ss: set<int> max 3 = {}", "K in ss or sz == 0", "effect ss = {u, K}\n  effect sz = 1"),
    (
        "sl: list<int> max 3 = []",
        "(sl[0] else 0) <= K",
        "deny unless x O J\n  effect append x to sl",
    ),
    ("sl: list<int> max 3 = []", "(sl[0] else 0) <= K", "deny unless x O J\n  effect sl[0] = x"),
    (
        "sl: list<int> max 3 = []",
        "(sl[1] else 0) <= K",
        "deny unless len(sl) == J\n  effect append y to sl",
    ),
    (
        "sl: list<int> max 3 = []",
        "(sl[u] else 0) <= 5 or true",
        "deny unless u >= len(sl)\n  effect sz = (sl[u] else 0)",
    ),
    (
        "sl: list<int in 0..=5> max 3 = []",
        "sz <= K",
        "deny unless u >= len(sl)\n  effect sz = (sl[u] else 0)",
    ),
    (
        "sl: list<int in 0..=5> max 3 = []",
        "sz >= 0",
        "deny unless u <= len(sl)\n  effect sz = if sl[u] is some then u else 0",
    ),
    (
        "sl: list<int in 0..=5> max 3 = []",
        "sz <= 3",
        "deny unless u <= len(sl)\n  effect sz = if sl[u] is some then u else 0",
    ),
    ("so: int? = none", "(so else 0) <= K", "deny unless x O J\n  effect so = x"),
    ("so: int? = none", "so is none or sz <= K", "effect delete so\n  effect sz = y"),
    ("so: int? = none", "so is none or sz <= K", "effect so = x\n  deny unless sz O J"),
    ("so: int? = none", "sz <= K", "deny when so != K\n  effect sz = (so else 0)"),
    ("so: int? = none", "sz <= K", "deny unless so <= J\n  effect sz = (so else 99)"),
    ("so: int? = none", "sz <= K", "deny when so > J\n  effect sz = (so else 0)"),
    ("so: int? = none", "sz <= K", "deny unless so in [1, 2, 3]\n  effect sz = (so else 99)"),
    ("sp: Item = { k: 0, v: 0, o: none }", "sp.k <= K", "deny unless x O J\n  effect sp.k = x"),
    ("sp: Item = { k: 0, v: 0, o: none }", "sp.v <= K", "deny unless c <= J\n  effect sp.v = c"),
    (
        "sp: Item = { k: 0, v: 0, o: none }",
        "sp.k + sz <= K",
        "deny unless sp.k + sz + x <= J\n  effect sz += x",
    ),
    (
        "sp: Item = { k: 0, v: 0, o: none }\n  sr: Item = { k: 0, v: 0, o: none }",
        "sp == sr implies sz <= K",
        "effect sz = y\n  deny when sp.k == sr.k",
    ),
    (
        "sp: Item = { k: 0, v: 0, o: none }\n  sr: Item = { k: 0, v: 0, o: none }",
        "sz <= K",
        "deny unless sp == sr and sp.v <= J\n  effect sz = floor(sr.v)",
    ),
    (
        "sq: Item = { k: 0, v: 0, o: none }",
        "sz == 0",
        "deny when sq.o != K\n  effect sz = if sq == sq then 0 else 1",
    ),
    ("sd: decimal in 0..=9 = 0", "sz <= K", "deny unless sd <= J\n  effect sz = floor(sd)"),
    ("sd: decimal = 0", "sz >= K", "deny unless sd >= J\n  effect sz = floor(sd)"),
    ("sd: decimal in -9..=9 = 0", "decimal(sz) >= sd", "effect sz = floor(sd)"),
    ("sd: decimal in -9..=9 = 0", "decimal(sz) <= sd or sz == 0", "effect sz = floor(sd)"),
    ("sd: decimal in 0..=9 = 0", "sz <= K", "deny unless sd <= J\n  effect sz = round(sd)"),
    ("sd: decimal in 0..=9 = 0", "2 * sd <= K", "deny unless c <= J\n  effect sd = c / 2"),
    ("sd: decimal in 0..=9 = 0", "sd * 3 <= 9", "effect sd = c / 3\n  deny unless c <= K"),
    ("sd: decimal in 0..=100 = 0", "sd <= K", "deny unless c <= 2\n  effect sd = c * c"),
    ("sd: decimal = 0", "sd <= 12", "effect sd = c * 1.333333"),
    ("sd: int in 0..=100 = 0", "sd <= K", "deny unless x <= 2\n  effect sd = x * x"),
    ("sd: int = 0", "sd <= 81", "effect sd = x * x"),
    ("sd: int = 0", "sd >= -81", "effect sd = x * u"),
    ("sd: int = 0", "sd >= K", "deny unless u >= J\n  effect sd = x * u"),
    ("sd: int = 0", "sd >= 0", "deny unless y >= J\n  effect sd = x * y"),
    ("sd: int = 0", "sd <= K", "deny unless x <= 9\n  effect sd = x / 2"),
    ("sd: int = 0", "sd >= -4", "effect sd = u / 2"),
    ("sd: int = 0", "sd >= K", "effect sd = u / 2\n  deny unless u >= J"),
    ("sd: int = 0", "sd >= -1", "effect sd = u % 2"),
    ("sd: int = 0", "sd <= 1", "effect sd = u % J0"),
    ("sd: int = 0", "sd <= K", "deny unless u <= J\n  effect sd = u / -1"),
    ("sd: int = 0", "sd >= 0", "effect sd = abs(y)"),
    ("sd: int = 0", "sd <= 9", "effect sd = abs(u)"),
    ("sd: int = 0", "sd >= -K", "effect sd = -(x)\n  deny unless x O J"),
    ("sd: int = 0", "sd <= K", "effect sd = min(x, J)"),
    ("sd: int = 0", "sd >= K", "effect sd = max(x, J)"),
    ("sd: int = 0", "sd + 1 > sd", "effect sd = y"),
    ("sd: int = 0", "sd - 1 < sd", "effect sd = y"),
    ("sd: int = 0", "sd - y == sd or sd <= 9 or true", "effect sd = x - J"),
    ("sd: int = 0", "sd <= K", "effect sd = x - J"),
    ("sd: int = 0", "sd <= K", "effect sd -= x\n  deny unless sd - x <= J"),
    ("sd: int = 0", "sd <= K", "effect sd += x\n  deny unless sd + x <= J"),
    ("sd: int = 0", "sd <= K", "effect sd *= 2\n  deny unless sd * 2 <= J"),
    ("sd: int = 0", "sd >= 0", "effect sd -= x\n  deny unless x <= sd"),
    (
        "sd: int = 0",
        "sd <= K",
        "effect sd = if f then x else u\n  deny unless x <= J and (f or u <= J)",
    ),
    ("sd: int = 0", "sd <= K", "effect sd = if f then J else x\n  deny unless f"),
    (
        "sd: int = 0\n  sb: bool = false",
        "sb implies sd <= K",
        "effect sb = if f then x <= J else false\n  effect sd = x",
    ),
    (
        "sd: int = 0\n  sb: bool = false",
        "sb implies sd <= K",
        "effect sb = f and x <= J\n  effect sd = x",
    ),
    ("sd: int = 0\n  sb: bool = true", "sb == (sd <= K)", "effect sb = x <= J\n  effect sd = x"),
    (
        "st: string max 5 = \"a\"",
        "sz <= K",
        "deny unless st < \"b\"\n  effect sz = if st == \"b\" then 99 else 0",
    ),
    ("st: string max 5 = \"a\"", "len(st) <= 5", "effect st = g"),
    ("st: string max 5 = \"a\"", "len(st) <= 4", "effect st = g"),
    ("st: string max 5 = \"a\"", "len(st) <= 9 or sz == 0", "effect st = h"),
    (
        "st: string max 5 = \"a\"",
        "sz <= K",
        "deny unless lower(st) == \"a\"\n  effect sz = if upper(st) == \"a\" then 99 else 0",
    ),
    (
        "st: string max 5 = \"a\"",
        "sz <= 0",
        "deny unless lower(st) == \"a\" and st == g\n  effect sz = if lower(g) == \"a\" then 0 else 1",
    ),
    (
        "st: string max 9 = \"a\"",
        "sz <= K",
        "deny unless st == g + \"b\"\n  effect sz = if len(st) > J then 99 else 0",
    ),
    ("st: string max 5 = \"a\"", "len(st) <= 5 or sz == 0", "effect st = st + g"),
    ("st: string = \"a\"", "st != \"ab\" or sz <= K", "effect st = g + h\n  effect sz = x"),
    (
        "st: string max 9 = \"a\"",
        "sz <= K",
        "deny unless g + h == st\n  effect sz = if h + g == st then 0 else 99",
    ),
    ("sl: list<int> max 3 = []", "sz <= K", "deny when sz >= K\n  effect sz += 1 for u1 in sl"),
    ("sz2: int = 0", "sz <= K", "effect sz = if email_domain(h) is some then 0 else 99"),
    ("sz2: int = 0", "sz <= K", "effect sz = if email_local(h) is some then 0 else 99"),
    ("sz2: int = 0", "sz <= K", "deny when email_local(g) is some\n  effect sz = 99"),
    ("sz2: int = 0", "sz <= K", "deny when path(g) is none\n  effect sz = 99"),
    (
        "sz2: int = 0",
        "sz <= K",
        "deny unless text(x) == text(y)\n  effect sz = if x == y then 0 else 99",
    ),
    (
        "sz2: int = 0",
        "sz <= K",
        "effect sz = if text(1) == text(decimal(x)) and x != 1 then 99 else 0",
    ),
    (
        "st: string = \"a\"",
        "sz <= K",
        "deny when path(st) == path(g)\n  effect sz = if st == g then 0 else 99",
    ),
    ("sz2: int = 0", "sz <= K", "deny when email_domain(g) is some\n  effect sz = 99"),
    (
        "sl: list<int> max 3 = []",
        "sz <= K",
        "effect sz = if (first u1 in sl: u1 > J) is some then 0 else 99",
    ),
    (
        "sl: list<int> max 3 = []",
        "sz <= K",
        "deny unless (first u1 in sl: u1 > J) is some\n  effect sz = (first u1 in sl: u1 > J) else 99",
    ),
    ("sl: list<int in 0..=9> max 3 = []", "sz <= 9", "effect sz = (first u1 in sl: u1 > J) else 3"),
    (
        "sl: list<int in 0..=9> max 3 = []",
        "sz <= K",
        "deny when (first u1 in sl: 9 / u1 > J) == x\n  effect sz = if x in sl then 99 else 0",
    ),
    (
        "sm: map<string, int> max 3 = {}",
        "sz <= K",
        "deny unless (first r1 in sm: r1 != g) == h\n  effect sz = if h in sm then 0 else 99",
    ),
    (
        "sl: list<int> max 3 = []",
        "(first u1 in sl: u1 > J) is none",
        "deny when x > J\n  effect append x to sl",
    ),
    (
        "sl: list<int> max 3 = []",
        "sz <= K or (first u1 in sl: u1 == K) is some",
        "effect append K to sl\n  effect sz = 99",
    ),
    ("sn: string? = none", "sn is none or sz <= K", "effect sn = g\n  deny unless sz <= J"),
    (
        "sl: list<int in 0..=5> max 3 = []\n  sm2: list<int in -5..=5> max 3 = []",
        "sz >= 0",
        "deny unless sum(u1 in sl: u1) <= K\n  effect sz = sum(u1 in sm2: u1)",
    ),
    (
        "sl: list<int> max 3 = []",
        "sz <= K",
        "deny when any u1 in sl: u1 > J\n  deny unless x in sl\n  effect sz = x",
    ),
    (
        "sl: list<int> max 3 = []",
        "sz <= K",
        "deny unless all u1 in sl: u1 <= J\n  effect sz = if any u1 in sl: u1 > 3 then 99 else 0",
    ),
    (
        "sl: list<int> max 3 = []",
        "sz <= K",
        "deny unless all u1 in sl: u1 <= J\n  effect sz = y\n  deny unless y in sl or y == J",
    ),
    (
        "sl: list<int> max 3 = []",
        "sz <= K",
        "deny unless any u1 in sl: u1 <= J\n  effect sz = y\n  deny unless y in sl",
    ),
    (
        "sl: list<int> max 3 = []",
        "sz <= 9",
        "deny when any i, v in sl: v > 9\n  effect sz = if y in sl then 500 else 5",
    ),
    (
        "sl: list<int> max 3 = []",
        "sz <= 9",
        "deny unless all i, v in sl: v >= 0\n  deny when any i, v in sl: v > 9\n  effect sz = if y in sl then 500 else 5",
    ),
    (
        "sl: list<int in 0..=9> max 3 = []",
        "sz <= 9",
        "deny unless sum(u1 in sl: u1) <= 9\n  effect sz = sum(u1 in sl: u1 * u1)",
    ),
    (
        "sl: list<int in 0..=9> max 3 = []",
        "sz <= 9",
        "deny unless sum(u1 in sl: u1) <= 9\n  effect sz = count(u1 in sl: u1 == 9)",
    ),
    (
        "sl: list<int in 0..=9> max 3 = []",
        "sz <= K",
        "deny unless sum(u1 in sl: u1 + sz) <= J\n  effect sz = 1 + sum(u1 in sl: u1 + sz)",
    ),
    (
        "sl: list<int in 0..=9> max 3 = []",
        "sum(u1 in sl: u1 * sz) <= K",
        "effect sz += 1\n  deny unless sum(u1 in sl: u1 * sz) <= J",
    ),
    (
        "sl: list<int in 0..=9> max 3 = []",
        "sum(u1 in sl: 1) <= sz",
        "effect append x to sl\n  effect sz += J",
    ),
    (
        "sl: list<list<int in 0..=3> max 2> max 2 = []",
        "all u1 in sl: all u2 in u1: u2 <= K",
        "deny unless x <= J\n  effect append [x] to sl",
    ),
    (
        "sl: list<list<int in 0..=3> max 2> max 2 = []",
        "sz <= K",
        "deny unless all u1 in sl: any u2 in u1: u2 <= K\n  effect sz = if any u1 in sl: any u2 in u1: u2 > K then 99 else 0",
    ),
    (
        "sl: list<int> max 3 = []",
        "sz <= 0",
        "deny unless all u1 in sl: all u2 in sl: u1 <= u2\n  effect sz = if any u1 in sl: any u2 in sl: u2 < u1 then 0 else 0",
    ),
    (
        "sl: list<int> max 3 = []",
        "sz <= 0",
        "deny unless any u1 in sl: all u2 in sl: u1 <= u2\n  effect sz = if any u1 in sl: all u2 in sl: u2 <= u1 then 0 else 1",
    ),
    (
        "sl: list<int in 0..=9> max 3 = []",
        "sz <= K",
        "deny unless all r1, u1 in sl: r1 <= u1\n  effect sz = if all r1, u1 in sl: u1 <= r1 then 0 else 1",
    ),
    (
        "sl: list<Item> max 3 = []",
        "all u1 in sl: u1.k <= K",
        "deny unless x O J\n  effect append { k: x, v: c, o: none } to sl",
    ),
    (
        "sl: list<Item> max 3 = []",
        "sum(u1 in sl: u1.v) <= sz2",
        "effect append { k: x, v: c, o: none } to sl\n  effect sz2 += c",
    ),
    (
        "sm: map<string, Item> max 3 = {}",
        "all r1, u1 in sm: u1.k <= K",
        "deny unless x O J\n  effect sm[g].k = x",
    ),
    ("sl: list<int> max 3 = []", "sl == [] or sz <= K", "effect sl = [x]\n  deny unless sz O J"),
    (
        "sl: list<int> max 3 = []",
        "sz == 0",
        "deny unless sl == [x]\n  effect sz = if x in sl then 0 else 1",
    ),
    ("su: int = 0", "su <= K", "costs c money\n  effect su = floor(c)"),
    (
        "sc: decimal = 0",
        "sc <= 20",
        "costs c money\n  deny unless spent(money) + c <= 20\n  effect sc = c + spent(money)",
    ),
    ("sc: decimal = 0", "sc <= 20", "costs c money\n  effect sc = c + spent(money)"),
    ("sc: decimal = 0", "sc <= 19.5", "costs c money\n  effect sc = c + spent(money)"),
    ("sc: decimal = 0", "sc <= 20", "shadow costs c money\n  effect sc = c + spent(money)"),
    ("sa: int = 0\n  sb: int = 0", "sa + sb == K0", "effect sa += x\n  effect sb -= x"),
    ("sa: int = 0\n  sb: int = 0", "sa <= sb", "effect sa = sb\n  effect sb = sa"),
    (
        "sa: int = 0\n  sb: int = 0",
        "sa <= K and sa + 1 <= K + 1",
        "deny unless x O J\n  effect sa = x",
    ),
    (
        "sa: int = 0\n  sb: int = 0",
        "sa <= K and (sa > K or sb <= J)",
        "deny unless x <= K\n  effect sa = x\n  effect sb = y",
    ),
    (
        "sb: list<int in -5..=5> max 4 = []\n  sc: list<int> max 3 = []",
        "sum(r1, u1 in sc: (sb[r1] else J)) <= 3",
        "effect sb = [len(sb)]",
    ),
    ("sl: list<int> max 5 = []", "K in sl implies sl[K] is some", "effect remove x from sl"),
    ("sg: set<Stage> max 3 = {}", "sz <= 9", "effect add if f then high else mid to sg"),
    ("sg: set<Stage> max 2 = {}", "sz <= 9", "effect add if f then high else mid to sg"),
];

/// A random one with the number `at`: state, invariant, tool.
pub fn draw(rng: &mut Rng, at: usize) -> (String, String, String) {
    let (state, invariant, body) = SCENARIOS[rng.below(SCENARIOS.len())];
    let k = rng.below(7);
    let j = rng.below(7);
    let j = if rng.chance(50) { k } else { j };
    let order = ["<=", "<=", "<", ">=", ">", "==", "!="][rng.below(7)];
    let fill = |text: &str| {
        text.replace("K0", "0")
            .replace("J0", ["2", "3", "-2", "-1"][k % 4])
            .replace(" O ", &format!(" {order} "))
            .replace("K", &k.to_string())
            .replace("J", &j.to_string())
    };
    let also = if body.contains("sz2") {
        "  sz: int = 0\n  sz2: decimal = 0\n"
    } else {
        "  sz: int = 0\n"
    };
    let tool = format!(
        "tool s{at}(x: int in 0..=9, y: int, g: string max 5, h: string, f: bool, c: decimal in 0..=9, u: int in -9..=9) {{\n  {}\n}}\n",
        fill(body)
    );
    (format!("{also}  {state}\n"), format!("invariant s{at} {{ {} }}\n", fill(invariant)), tool)
}
