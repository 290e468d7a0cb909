"""Citations: URLs, the registry of sources, reading reports, matching, verification, sanitising, audit."""
