"""Runnable examples: `python -m guardc.examples.NAME`."""
