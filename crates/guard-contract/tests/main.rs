//! Tests of contracts: the stories, the documents in texts of producers, and property tests on
//! generated input.

mod main {
    mod build;
    mod cases;
    mod corpus;
    mod damage;
    mod doubts;
    mod finding;
    mod forms;
    mod hints;
    mod hostile_texts;
    mod laws;
    mod look_alikes;
    mod nested;
    mod stories;
}
