"""Guard behind the extension points of agent frameworks, a module each."""
