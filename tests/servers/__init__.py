"""Real servers for journals, on this machine: started when a test needs one, ended with the tests."""
