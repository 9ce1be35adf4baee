"""Judging: observations against expectations, every bound in one file. Imports no framework."""
