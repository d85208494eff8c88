"""How foreign code runs. Nothing here knows who asked for a run, or why."""
