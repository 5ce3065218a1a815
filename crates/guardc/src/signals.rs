//! Ends by signal: the commands of a guard lead process groups of their own, which a Ctrl-C on the terminal does not
//! reach, and are ended with us.

/// From now on an interrupt, a request to end or a hang-up first ends all commands that run. Signals that are
/// ignored, as under `nohup`, stay so.
#[cfg(unix)]
pub fn end_commands_with_us() {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    use signal_hook::iterator::Signals;
    let ignored = ignored();
    let heeded = [SIGHUP, SIGINT, SIGTERM].into_iter();
    let heeded = heeded.filter(|signal| ignored & (1 << (signal - 1)) == 0);
    // Without handlers we end as ever, and commands end by their time limits.
    let Ok(mut signals) = Signals::new(heeded) else { return };
    std::thread::spawn(move || {
        for signal in signals.forever() {
            guard_hosts::end_commands();
            if signal_hook::low_level::emulate_default_handler(signal).is_err() {
                std::process::exit(2);
            }
        }
    });
}

/// There are no such signals.
#[cfg(not(unix))]
pub fn end_commands_with_us() {}

/// The signals that whoever started us has made us ignore, a bit each, where the system says so.
#[cfg(unix)]
fn ignored() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}
