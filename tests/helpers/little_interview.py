"""An interview on the little topic and a question, complete, for tests that play or break them."""

from pathlib import Path

import little_topic

TALK = """\
[[follow_up]]
ask = "And in place?"
answer = "There is nothing to do."

[[follow_up]]
ask = "And twice?"
answer = "Twice the bytes."

[[common_error]]
says = "Copies are free."
correction = "They cost bandwidth."

[[common_error]]
says = "Copies are bound by arithmetic."
correction = "They compute nothing."

[[source]]
title = "The guide"
url = "https://example.org/guide#copies"
"""

POINTS = """\
[[point]]
weight = 60
text = "A copy is bound by the bandwidth of memory."
any = ["bandwidth", "memory-bound"]

[[point]]
weight = 30
text = "Every byte is read once and written once."
all = [["read"], ["writ"]]

[[point]]
weight = 10
text = "It takes 8 N bytes in all."
any = ["8 ?N", "eight bytes"]
"""

HEAD = """\
title = "A copy"
question = "How fast can a copy be?"
answer = '''
It is memory-bound: every byte is read once and is written once, so it takes 8 N bytes, and no version is faster
than those over the bandwidth.
'''
looks_for = "That you think in bytes."
"""

INTERVIEW = f"""\
id = "code-09"
minutes = 30
{HEAD}
{POINTS}
{TALK}
[[round]]
rung = "00_naive"
ask = "Write the naive version."
hint = "One thread for each element."
answer = "It is limited by the requests, one for 32 floats. So I would take float4s, because each moves 16 bytes."

[[round.limit]]
weight = 70
text = "It makes many requests."
any = ["requests?"]

[[round.limit]]
weight = 30
text = "Each moves 32 floats."
any = ["32 floats"]

[[round.next]]
weight = 70
text = "Take float4s."
any = ["float4"]

[[round.next]]
weight = 30
text = "Each moves 16 bytes."
any = ["16 bytes"]

[round.ratio]
text = "How many floats does a request bring?"
unit = "floats"
value = "N / l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"
tolerance = 0.05
explain = "A warp of 32 threads, a float each."

[[round]]
rung = "01_wide"
ask = "Now with float4s."
hint = "Cast the pointers."
answer = "It is limited by the bandwidth alone, so I would stop, since nothing is left to gain."

[[round.limit]]
weight = 50
text = "The bandwidth limits it."
any = ["bandwidth"]

[[round.limit]]
weight = 50
text = "Nothing else does: it is that alone."
any = ["alone", "nothing else"]

[[round.next]]
weight = 50
text = "Stop here."
any = ["stop"]

[[round.next]]
weight = 50
text = "Nothing is left to gain."
any = ["nothing is left"]

[round.ratio]
text = "How many floats does a request bring?"
unit = "floats"
value = "N / l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"
tolerance = 0.05
explain = "Four times as many."
"""

QUESTION = f"""\
id = "hpc-01"
topics = ["copy"]
{HEAD}
{POINTS}
{TALK}
[[number]]
id = "bytes_moved"
text = "How many bytes does a copy of {{floats}} floats move?"
unit = "bytes"
tolerance = 0
explain = "2 · 4 · {{floats}} = {{answer}}"
[number.draw]
floats = [1024, 2048]

[[kernel]]
topic = "copy"
rung = "01_wide"
ask = "Write it with float4s."
"""

FUNCTIONS = '''\
def bytes_moved(floats):
    """Each is read and written. Source: arithmetic."""
    return 8 * floats
'''

FILES = {
    "lessons/copy/interview.toml": INTERVIEW,
    "lessons/questions/hpc-01.toml": QUESTION,
    "lessons/questions/hpc-01.py": FUNCTIONS,
}


def write(root: Path) -> Path:
    """Lay topic, interview and question out below `root`."""
    little_topic.write(root)
    for name, text in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root
