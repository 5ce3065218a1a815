//! Tests of the advice and of the drive, on plans that are built by hand.

mod main {
    mod advice;
    mod advice_laws;
    #[allow(dead_code, reason = "the kernel's tests share it, and use more of it")]
    #[path = "../../../guard-runtime/tests/main/build.rs"]
    mod build;
    mod drive;
    mod drive_laws;
    mod run;
    mod wild;
}
