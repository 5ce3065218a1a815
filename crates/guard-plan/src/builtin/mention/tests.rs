//! The readings of prompts, and the laws of what is written in words.

use super::tokens::{SMALL, TENS};
use super::*;
use crate::time::Civil;

#[test]
fn words_are_whole_and_of_one_prompt() {
    let mut said = String::new();
    assert!(hear(&mut said, "Mail the Q3-report to  ÉMILE (emile@example.org),"));
    assert!(hear(&mut said, "please!"));
    for named in ["report", "q3 REPORT", "émile", "emile@example.org", "to Émile", "please"] {
        assert!(is_mentioned(named, &said), "{named}");
    }
    for named in ["", " - ", "repo", "port to", "example.organ", "org please", "to\nplease"] {
        assert!(!is_mentioned(named, &said), "{named}");
    }
}

#[test]
fn dates_and_numbers_are_read_as_the_file_says() {
    let cases = include_str!("readings.txt").lines();
    let cases = cases.filter(|line| !line.is_empty() && !line.starts_with("# "));
    let mut wrong = String::new();
    for case in cases {
        let (prompt, expected) = case.rsplit_once("->").expect("a prompt and its readings");
        let mut found: Vec<String> = marks(prompt.trim()).lines().map(String::from).collect();
        found.sort();
        let found = found.join(" ");
        if found != expected.trim() {
            wrong.push_str(&format!("{prompt}-> {found}\n"));
        }
    }
    assert!(wrong.is_empty(), "these differ:\n{wrong}");
}

#[test]
fn what_is_kept_is_bounded() {
    let mut said = String::new();
    assert!(hear(&mut said, "first"));
    assert!(!hear(&mut said, &"x ".repeat(MAX_SAID / 2)));
    assert!(hear(&mut said, "last"));
    assert!(is_mentioned("first", &said) && is_mentioned("last", &said));
    assert!(!is_mentioned("x x", &said));
}

/// Writes a number below one million in words, with `and` before tens and units or without.
fn in_words(n: i64, and: &str) -> String {
    let tail = |rest: i64, link: &str| match rest {
        0 => String::new(),
        rest => format!("{link}{}", in_words(rest, and)),
    };
    match n {
        0..20 => SMALL[n as usize].into(),
        20..100 => format!("{}{}", TENS[n as usize / 10 - 2], tail(n % 10, "-")),
        100..1000 => format!("{} hundred{}", SMALL[n as usize / 100], tail(n % 100, and)),
        _ => {
            let link = if n % 1000 < 100 { and } else { " " };
            format!("{} thousand{}", in_words(n / 1000, and), tail(n % 1000, link))
        }
    }
}

#[test]
fn a_number_in_words_is_that_number_and_no_other() {
    for n in (0..3000).chain((3000..1_000_000).step_by(997)) {
        for and in [" ", " and "] {
            let words = in_words(n, and);
            for text in
                [words.clone(), format!("Pay {words} dollars, please."), words.to_uppercase()]
            {
                assert_eq!(marks(&text), format!("#{n}\n"), "{text}");
            }
        }
    }
}

#[test]
fn a_number_in_digits_is_that_number_and_no_other() {
    for units in (0..3_000_000_000_000_i64).step_by(1_234_567_891) {
        // In whole cents.
        let units = units - units % 10_000;
        let plain = decimal::format(units);
        let (whole, fraction) = plain.split_once('.').unwrap_or((&plain, "00"));
        let mut grouped = String::new();
        for (at, digit) in whole.chars().enumerate() {
            if at > 0 && (whole.len() - at) % 3 == 0 {
                grouped.push(',');
            }
            grouped.push(digit);
        }
        let cents = format!("{fraction:0<2}");
        let european = format!("{},{cents} €", grouped.replace(',', "."));
        for text in
            [plain.clone(), format!("{grouped}.{cents}"), format!("(${grouped}.{cents})"), european]
        {
            assert_eq!(marks(&text), format!("#{plain}\n"), "{text}");
        }
    }
}

#[test]
fn a_date_in_words_is_that_day_and_no_other() {
    const MONTHS: [&str; 12] = [
        "January",
        "February",
        "March",
        "April",
        "May",
        "June",
        "July",
        "August",
        "September",
        "October",
        "November",
        "December",
    ];
    const DAY: i64 = 24 * 60 * 60 * 1000;
    // Four years from 2023-01-01 on: one of them has a leap day.
    for day in 0..4 * 365 + 1 {
        let civil = Civil::from_millis(1_672_531_200_000 + day * DAY);
        let Civil { year, month, day, .. } = civil;
        let name = MONTHS[month as usize - 1];
        let short = &name[..3];
        let suffix = match day {
            1 | 21 | 31 => "st",
            2 | 22 => "nd",
            3 | 23 => "rd",
            _ => "th",
        };
        let iso = format!("{year}-{month:02}-{day:02}");
        let with_year = [
            iso.clone(),
            format!("{year}{month:02}{day:02}."),
            format!("{name} {day}, {year}"),
            format!("{name} {day}{suffix} {year}"),
            format!("{short}. {day:02},{year}"),
            format!("{day} {name} {year}"),
            format!("the {day}{suffix} of {name}, {year}"),
            format!("{day:02}-{short}-{year}"),
            format!("{day}{short}{year}"),
            format!("{day} {short} '{:02}", year % 100),
            format!("{year}, {name} {day}"),
        ];
        for text in &with_year {
            let found: Vec<String> = marks(text).lines().map(String::from).collect();
            let dates: Vec<&String> = found.iter().filter(|mark| mark.starts_with('@')).collect();
            assert_eq!(dates, [&format!("@{iso}")], "{text}");
        }
        let any_year = format!("@--{month:02}-{day:02}");
        for text in [format!("{name} {day}{suffix}"), format!("on {day}{suffix} of {short}.")] {
            assert_eq!(marks(&text), format!("{any_year}\n"), "{text}");
        }
        let mut said = String::new();
        assert!(hear(&mut said, &format!("{name} {day}{suffix}")));
        assert!(
            is_date_mentioned(&iso, &said) && is_date_mentioned(&format!("{iso}T10:00Z"), &said)
        );
        let other = Civil::from_millis(civil.to_millis().expect("a day") + DAY);
        let other = format!("{year}-{:02}-{:02}", other.month, other.day);
        assert!(!is_date_mentioned(&other, &said), "{other}");
    }
}

#[test]
fn only_dates_are_mentioned_as_dates() {
    let mut said = String::new();
    assert!(hear(&mut said, "2026-11-15 and 5"));
    for date in ["2026-11-15", "2026-11-15T10:00:00.5+01:00", "2026-11-15 10:00"] {
        assert!(is_date_mentioned(date, &said), "{date}");
    }
    let no_dates = [
        "",
        "2026-11-15x",
        "2026-11-15; rm",
        "11/15/2026",
        "2026-11-1é",
        "20261115",
        "5",
        "2026-11-15Tx",
    ];
    for date in no_dates {
        assert!(!is_date_mentioned(date, &said), "{date}");
    }
    assert!(is_number_mentioned(5_000_000, &said) && !is_number_mentioned(15_000_000, &said));
    // Marks are no words, and words are no marks.
    assert!(!is_mentioned("2026-11-15 5", &said) && is_mentioned("2026-11-15 and 5", &said));
    assert!(hear(&mut said, "@2027-01-02x\n@2027-01-02\n#7q\n#--"));
    assert!(!is_date_mentioned("2027-01-02", &said) && !is_number_mentioned(7_000_000, &said));
}

#[test]
fn a_code_is_named_whatever_divides_it() {
    let mut said = String::new();
    assert!(hear(&mut said, "Card 4111-1111 1111/1111, contact USR-002, order 12"));
    assert!(hear(&mut said, "345 and Ann"));
    for code in
        ["4111111111111111", "4111 1111 1111 1111", "usr002", "USR-002", "US R00 2", "12", "Ann"]
    {
        assert!(is_code_mentioned(code, &said), "{code}");
    }
    // Parts of words, words of two prompts, texts without a digit, marks.
    for code in
        ["", "-", "1111111111", "411111111111111", "USR00", "order12345", "contactusr", "ann345"]
    {
        assert!(!is_code_mentioned(code, &said), "{code}");
    }
    let long = "a1".repeat(40);
    assert!(hear(&mut said, &format!("{long} a1a1 {}", "1".repeat(64))));
    assert!(is_code_mentioned(&long, &said) && is_code_mentioned(&"1".repeat(64), &said));
    assert!(!is_code_mentioned(&"a1".repeat(42), &said));
}

/// Texts of these pieces in any order are read without a panic, and in time that grows with their
/// length.
#[test]
fn any_text_is_read() {
    const PIECES: [&str; 41] = [
        "1",
        "20",
        "2024",
        "31",
        "1.5",
        "1,000",
        "20240503",
        "99999999999999999999",
        "-",
        "/",
        ".",
        ",",
        " ",
        "\n",
        "'",
        "$",
        "€",
        "th",
        "st",
        "May",
        "sept",
        "the ",
        " of ",
        " and ",
        " a ",
        "half",
        "hundred",
        "thousand",
        "million",
        "dozen",
        "twenty",
        "one",
        "point",
        "zero",
        "k",
        "M",
        "T",
        "cents",
        "last day",
        "é",
        "’",
    ];
    let mut random = crate::random::Rng::new(7);
    for _ in 0..20_000 {
        let length = random.below(14);
        let text: String = (0..length).map(|_| *random.pick(&PIECES)).collect();
        let marks = marks(&text);
        assert!(marks.is_ascii() && (marks.is_empty() || marks.ends_with('\n')), "{text:?}");
    }
    for piece in PIECES
        .iter()
        .flat_map(|piece| [piece.to_string(), format!("{piece} "), format!("{piece}-")])
    {
        marks(&piece.repeat(30_000 / piece.len()));
    }
}
