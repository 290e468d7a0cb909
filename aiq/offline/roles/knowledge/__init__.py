"""Programs of the roles that read users' documents."""
