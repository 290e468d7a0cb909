"""Programs that play the person who asks."""
