"""What one turn owes to those before it, and what Steward knows of itself: procedures for the planner."""
