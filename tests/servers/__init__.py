"""Real servers for tests, each started on first use and stopped with the tests."""
