"""Small agents for tests of the relay, each with one habit, and what drives them."""
