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

[[point.probe]]
name = "bytes_moved"
kind = "number"
text = "How many bytes does a copy of {floats} floats move?"
unit = "bytes"
tolerance = 0
explain = "2 · 4 · {floats} = {answer}"

[point.probe.draw]
floats = [1024, 2048]

[[point]]
weight = 30
text = "Every byte is read once and written once."

[[point.probe]]
name = "touched"
kind = "choice"
text = "What becomes of a byte?"
right = ["It is read once and written once."]
wrong = ["It is read twice.", "It is written twice.", "It stays in the cache for good."]
explain = "A copy needs each byte once, and stores it once."

[[point.probe]]
name = "first_line"
kind = "line"
text = "Which line reads?"
code = '''
float x = in[i];  //!
out[i] = x;
'''
explain = "Line {answer} loads."

[[point]]
weight = 10
text = "It takes 8 N bytes in all."

[[point.probe]]
name = "larger"
kind = "order"
text = "Put these in order, smallest first."
items = ["a byte", "a float", "a sector"]
explain = "1, 4 and 32 bytes: {answer}."
"""

HEAD = """\
title = "A copy"
level = "mid"
as_of = 2026-11-01
builds_on = []
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

[[round.limit.probe]]
name = "many"
kind = "choice"
text = "Which holds?"
right = ["It makes many requests."]
wrong = ["One thing that does not.", "Another that does not.", "And a third one."]
explain = "It is so."

[[round.limit]]
weight = 30
text = "Each moves 32 floats."

[[round.limit.probe]]
name = "floats"
kind = "choice"
text = "Which holds?"
right = ["Each moves 32 floats."]
wrong = ["One thing that does not.", "Another that does not.", "And a third one."]
explain = "It is so."

[[round.next]]
weight = 70
text = "Take float4s."

[[round.next.probe]]
name = "wide"
kind = "choice"
text = "Which holds?"
right = ["float4s move more."]
wrong = ["One thing that does not.", "Another that does not.", "And a third one."]
explain = "It is so."

[[round.next]]
weight = 30
text = "Each moves 16 bytes."

[[round.next.probe]]
name = "sixteen"
kind = "choice"
text = "Which holds?"
right = ["A float4 has 16 bytes."]
wrong = ["One thing that does not.", "Another that does not.", "And a third one."]
explain = "It is so."

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

[[round.limit.probe]]
name = "band"
kind = "choice"
text = "Which holds?"
right = ["The bandwidth limits it."]
wrong = ["One thing that does not.", "Another that does not.", "And a third one."]
explain = "It is so."

[[round.limit]]
weight = 50
text = "Nothing else does: it is that alone."

[[round.limit.probe]]
name = "alone"
kind = "choice"
text = "Which holds?"
right = ["Nothing else limits it."]
wrong = ["One thing that does not.", "Another that does not.", "And a third one."]
explain = "It is so."

[[round.next]]
weight = 50
text = "Stop here."

[[round.next.probe]]
name = "stop"
kind = "choice"
text = "Which holds?"
right = ["One stops here."]
wrong = ["One thing that does not.", "Another that does not.", "And a third one."]
explain = "It is so."

[[round.next]]
weight = 50
text = "Nothing is left to gain."

[[round.next.probe]]
name = "left"
kind = "choice"
text = "Which holds?"
right = ["Nothing is left to gain."]
wrong = ["One thing that does not.", "Another that does not.", "And a third one."]
explain = "It is so."

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
    "lessons/questions/copies.toml": QUESTION,
    "lessons/questions/copies.py": FUNCTIONS,
    "lessons/copy/interview.py": FUNCTIONS,
}


def write(root: Path) -> Path:
    """Lay topic, interview and question out below `root`."""
    little_topic.write(root)
    for name, text in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root
