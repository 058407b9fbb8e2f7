"""Real servers for tests: started on first use, one per test process, and gone with it."""
