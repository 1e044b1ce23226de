"""What was run on the emulator outside of the workbook: launches and findings."""
