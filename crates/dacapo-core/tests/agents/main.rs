//! What agents print becomes events: on recordings of the real ones.
#![expect(clippy::unwrap_used, reason = "the helpers of a test fail as the test does")]

mod acp;
