//! Contracts on texts: the stories, what is found in what producers write, and laws on generated input.

mod main {
    mod build;
    mod cases;
    mod corpus;
    mod damage;
    mod finding;
    mod forms;
    mod hints;
    mod hostile_texts;
    mod laws;
    mod look_alikes;
    mod nested;
    mod stories;
}
