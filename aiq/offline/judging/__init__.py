"""What the offline judges share: reading their request, and comparing texts by numbers, names and words."""
