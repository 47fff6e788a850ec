"""Pages whose examples need the commands beside them: tests/cli/test_pages.py runs both, from top to bottom."""

collect_ignore = ["deploy.md"]
