//! Contracts on texts: the stories, what is found in what producers write, and laws on generated input.

mod main {
    mod build;
    mod cases;
    mod corpus;
    mod damage;
    mod finding;
    mod hints;
    mod hostile_texts;
    mod laws;
    mod nested;
    mod stories;
}
