"""Drills: short exercises of formats that can be checked, `lessons/drills/FORMAT/NAME.toml`."""
