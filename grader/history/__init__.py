"""What a learner was asked and how it went: one file of their own, what is due again, and what is weak."""
