"""Interviews as a learner's history knows them: what there is to ask, what was answered, what is asked again."""
