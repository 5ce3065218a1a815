//! Advice and the drive on hand-built plans.

mod main {
    mod advice;
    mod advice_laws;
    #[allow(dead_code, reason = "the kernel's tests share it, and use more of it")]
    #[path = "../../../guard-runtime/tests/main/build.rs"]
    mod build;
    mod drive;
    mod drive_laws;
    mod wild;
}
