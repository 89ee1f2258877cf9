#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| dacapo_fuzz::parse("text", bytes));
