//! Tells the linker that Node has the symbols of its own interface.

fn main() {
    napi_build::setup();
}
