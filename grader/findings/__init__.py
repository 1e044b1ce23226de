"""The words for findings: what happened, and what would mend it.

Whoever finds something hands on data; nowhere else is a sentence made of it, and nobody reads one back.

- `kernels`: what the emulator saw a kernel do; `remedies`: what would mend it.
- `host`: what the host's half of a program did wrong.
- `schedules`: what the judge saw in a schedule that was written down.
"""
