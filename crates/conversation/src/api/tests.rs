//! Tests of the request forms and the answer streams of the model APIs.
