"""The linter of the content: what has to be true of every topic, so that a learner can rely on it.

Each check yields its problems; nothing is printed or raised, and one broken topic does not hide the next. What takes
long is left out where `Clean` knows that nothing has changed since it was right.
"""

from __future__ import annotations

import contextlib
import http.client
import re
import tempfile
import urllib.request
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np

from grader.areas import INTERVIEW, JUDGE
from grader.emulator.nvrtc.compilation import Build
from grader.errors import WarpladderError
from grader.interview import bank, checks, rounds
from grader.interview.drills import drill
from grader.interview.drills.formats import FORMATS
from grader.interview.loops import plan as loops
from grader.judge import values
from grader.judge.claims.derived import SUMS
from grader.judge.clean import Clean
from grader.judge.grade import grade
from grader.judge.programs.judging import judge
from grader.results import Grade, Verdict
from grader.workbook import compiler, exercises, programs
from grader.workbook.exercises import Exercise
from grader.workbook.expressions import Expression, ExpressionError, Number, nearest
from grader.workbook.kernel_file import KernelFile
from grader.workbook.ladder import Rung, figures
from grader.workbook.launches.plan import plan
from grader.workbook.programs import Program
from grader.workbook.reference import Arrays, Problem
from grader.workbook.signature import impossible
from grader.workbook.source_file import SourceFile
from grader.workbook.topic import FirstStep, Topic
from grader.workbook.topics import load, names

TOPIC_FILES = (
    "topic.toml", "reference.py", "starter.cu", "starter.py", "lesson.md", rounds.FILE, rounds.FUNCTIONS
)  # fmt: skip
REQUIRED_FILES = TOPIC_FILES[:2]

LINKS_AT_A_TIME, LINK_TIMEOUT_S = 8, 20.0

_METRIC = re.compile(r"(sm|smsp|l1tex|lts|dram|gpu|gpc|sys)__\w+\.(sum|avg|min|max)(\.\w+)*")
_PLANNED_SMS = 132  # of an H200; plans have to work for any number


def check(root: Path, clean: Clean) -> list[WarpladderError]:
    """Every problem of the content under `root`; ladders run once all else is right."""
    problems = check_content(root, clean)
    if not problems:
        topics = {name: load(name, root) for name in names(root)}
        for topic in topics.values():
            problems += check_ladder(topic, clean)
        for exercise in exercises.discover(root).values():
            problems += check_exercise(exercise, clean)
        whole = programs.discover(root)
        for program in whole:
            problems += check_program(program, clean)
        judged = [path for program in whole for path in program.files]
        for what in FORMATS.values():
            for found in what.discover(root).values():
                files = [*checks.decided_by(found.file, topics), *judged]
                problems += clean.problems("proof", INTERVIEW, files, what.prove(found))
    return problems


def check_content(root: Path, clean: Clean) -> list[WarpladderError]:
    """The problems that show without grading a kernel."""
    problems = list(orphans(root))
    for name in names(root):
        try:
            problems += check_topic(load(name, root))
        except WarpladderError as error:
            problems.append(error)
    problems += check_exercises(root)
    return problems + check_questions(root, clean)


def check_questions(root: Path, clean: Clean) -> list[WarpladderError]:
    """The problems of the bank of questions, of the interviews, and of the links in all prose."""
    topics = {}
    for name in names(root):
        with contextlib.suppress(WarpladderError):  # check_topic() reports it
            topics[name] = load(name, root)
    problems = list(checks.check_bank(root, topics, clean))
    for what in FORMATS.values():
        problems += checks.check_drills(what, root, topics, clean)
    problems += loops.check(root, topics)
    for topic in topics.values():
        problems += checks.check_interview(topic, topics, clean)
        problems += interview_values(topic)
        if (topic.folder / "lesson.md").is_file():
            lesson = topic.folder / "lesson.md"
            problems += checks.check_links(lesson, lesson.read_text(encoding="utf-8"))
    return problems


def interview_values(topic: Topic) -> Iterator[WarpladderError]:
    """Ratios of a topic's interview that name something else than claims may."""
    with contextlib.suppress(WarpladderError):  # check_interview() reports it
        for item in rounds.read_interview(topic).rounds if (topic.folder / rounds.FILE).is_file() else ():
            if item.ratio is not None:
                path = topic.folder / rounds.FILE
                yield from _unknown_names(topic, item.ratio.value, "the ratio", path, item.ratio.line)


def check_ladder(topic: Topic, clean: Clean) -> Iterator[WarpladderError]:
    """Problems that show when the kernels run, on the emulator: about a second for each rung.

    Graded like a submission, every rung passes and reaches itself, and the starter fails. The interview's ratios
    can be computed from what was counted.
    """
    counted: dict[str, Mapping[str, Number]] = {}
    for rung in topic.rungs:
        result = _graded(topic, rung.path, clean, right=partial(_reaches, rung.id))
        counted[rung.id] = values.of_grade(topic, result) or {}
        if result.verdict != "pass":
            yield WarpladderError(f"the rung does not pass: {result.reason}", file=rung.path)
        elif result.rung_reached != rung.id:
            yield _misplaced(topic, rung, result)
    if topic.starter.is_file():
        result = _graded(topic, topic.starter, clean, right=_fails)
        if result.verdict != "fail":
            message = f"the starter has to run and fail; its verdict is {result.verdict}"
            yield WarpladderError(message, file=topic.starter, remedy=result.reason)
    if topic.first_step is not None and topic.starter.is_file():
        yield from _mended(topic, topic.first_step, clean)
    yield from _ratios(topic, counted)


def _mended(topic: Topic, step: FirstStep, clean: Clean) -> Iterator[WarpladderError]:
    """The starter with what its hints show is right, and the lesson has the section that they name."""
    lesson = topic.folder / "lesson.md"
    if lesson.is_file() and f"\n## {step.section}\n" not in lesson.read_text(encoding="utf-8"):
        yield WarpladderError(
            f"`[starter]` names the section {step.section!r}, which lesson.md does not have", file=topic.file
        )
    try:
        text = topic.mended(step)
    except WarpladderError as error:
        yield error
        return
    result = clean.grade(
        "mended", JUDGE, (*topic.graded_by, topic.starter), partial(_grade_text, topic, text), _passes
    )
    if result.verdict != "pass":
        yield WarpladderError(
            f"the starter, mended as `[starter]` says, is not right: {result.reason}", file=topic.file
        )


def _graded(topic: Topic, file: Path, clean: Clean, right: Callable[[Grade], bool]) -> Grade:
    """The grade of a topic's own file, as if it were handed in."""
    run = partial(grade, topic, file, device="emulator")
    return clean.grade("kernel", JUDGE, (*topic.graded_by, file), run, right)


def _grade_text(topic: Topic, text: str) -> Grade:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / topic.starter.name
        file.write_text(text, encoding="utf-8")
        return grade(topic, file, device="emulator")


def _passes(result: Grade) -> bool:
    return result.verdict == "pass"


def _reaches(rung: str, result: Grade) -> bool:
    return result.verdict == "pass" and result.rung_reached == rung


def _fails(result: Grade) -> bool:
    return result.verdict == "fail"


def _ratios(topic: Topic, counted: Mapping[str, Mapping[str, Number]]) -> Iterator[WarpladderError]:
    """Ratios without a value, of the version that a round asks for or of the one before."""
    path = topic.folder / rounds.FILE
    asked = rounds.read_interview(topic).rounds if path.is_file() else ()
    for before, item in zip((asked[:1] + asked)[:-1], asked, strict=True):
        if item.ratio is None:
            continue
        for rung in dict.fromkeys((before.rung, item.rung)):
            try:
                item.ratio.value.evaluate(counted[rung])
            except ExpressionError as error:
                message = f"the ratio has no value for {rung}: {error}"
                yield WarpladderError(message, file=path, line=item.ratio.line)


def orphans(root: Path) -> Iterator[WarpladderError]:
    """Files of lessons/ and kernels/ that belong to no topic, and files a topic lacks."""
    topics = names(root)
    yield from _orphans_in(programs.FOLDER, programs.names(root), programs.FILES, "program", root)
    yield from _orphans_in(exercises.FOLDER, exercises.names(root), exercises.FILES, "exercise", root)
    for path in _files(root / "lessons"):
        if path.parent == root / "lessons" / bank.FOLDER:
            continue  # check_questions() looks at these
        if {root / "lessons" / name for name in (programs.FOLDER, exercises.FOLDER)} & {*path.parents}:
            continue  # _orphans_in() looks at these
        if root / "lessons" / drill.FOLDER in path.parents or path.parent == root / "lessons" / loops.FOLDER:
            continue  # check_questions() looks at these
        if path.parent.name not in topics:
            yield WarpladderError(
                "this file belongs to no topic", file=path, remedy="add topic.toml, or remove it"
            )
        elif path.name not in TOPIC_FILES and path.parent.parent == root / "lessons":
            remedy = f"a topic's folder has {', '.join(TOPIC_FILES)}"
            yield WarpladderError("nothing reads this file", file=path, remedy=remedy)
    for path in _files(root / "kernels"):
        place = path.relative_to(root / "kernels")
        topic = path.stem if place.parts[0] == "naive" else path.parent.name
        naive = f"naive/{topic}{path.suffix}"
        expected = naive if place.parts[0] == "naive" else f"optimized/{topic}/{path.name}"
        if topic not in topics or path.suffix not in (".cu", ".py") or place.as_posix() != expected:
            remedy = "rungs are naive/<topic> and optimized/<topic>/NN_name, with .cu, or .py for schedules"
            yield WarpladderError("this file belongs to no topic", file=path, remedy=remedy)
    for topic in topics:
        starter = "starter.py" if (root / "kernels" / "naive" / f"{topic}.py").is_file() else "starter.cu"
        for name in (*REQUIRED_FILES, starter):
            path = root / "lessons" / topic / name
            if not path.is_file():
                yield WarpladderError("the topic lacks this file", file=path)


def _orphans_in(
    place: str, found: Sequence[str], files: Sequence[str], what: str, root: Path
) -> Iterator[WarpladderError]:
    """The same of one folder of lessons/, in which each that was found has a folder of certain files."""
    folders = [root / "lessons" / place / name for name in found]
    for path in _files(root / "lessons" / place):
        if path.parent not in folders or path.name not in files:
            remedy = f"lessons/{place}/<name> has {', '.join(files)}"
            yield WarpladderError(f"this file belongs to no {what}", file=path, remedy=remedy)
    for folder in folders:
        for name in files:
            if not (folder / name).is_file():
                yield WarpladderError(f"the {what} lacks this file", file=folder / name)


def check_program(program: Program, clean: Clean) -> Iterator[WarpladderError]:
    """Problems that show when a program is judged: its answer passes, and its starter compiles and fails."""

    def judged(file: Path, verdict: Verdict) -> Grade:
        run = partial(judge, program, file)
        return clean.grade(
            "program", JUDGE, (*program.files, file), run, lambda made: made.verdict == verdict
        )

    result = judged(program.answer, "pass")
    if result.verdict != "pass":
        yield WarpladderError(f"the answer does not pass: {result.reason}", file=program.answer)
    result = judged(program.starter, "fail")
    if result.verdict != "fail":
        message = f"the starter has to run and fail; its verdict is {result.verdict}"
        yield WarpladderError(message, file=program.starter, remedy=result.reason)


def check_exercises(root: Path) -> Iterator[WarpladderError]:
    """Problems of the small exercises that show without grading a kernel."""
    orders: dict[int, str] = {}
    for name in exercises.names(root):
        folder = root / "lessons" / exercises.FOLDER / name
        if not all((folder / file).is_file() for file in exercises.FILES):
            continue  # orphans() reports it
        try:
            found = exercises.load(name, root)
            yield from _exercise(found, root)
        except WarpladderError as error:
            yield error
            continue
        if (other := orders.setdefault(found.order, name)) != name:
            yield WarpladderError(f"`order` {found.order} is that of `{other}` as well", file=found.file)


def _exercise(exercise: Exercise, root: Path) -> Iterator[WarpladderError]:
    known = names(root)
    if exercise.name in (*known, *programs.names(root)):
        message = f"`{exercise.name}` is the name of a topic, or of a whole program"
        yield WarpladderError(message, file=exercise.file, remedy="rename the folder")
    if exercise.before not in known:
        message = f"`before`: there is no topic `{exercise.before}`{nearest(exercise.before, known)}"
        yield WarpladderError(message, file=exercise.file, remedy="name the topic that it prepares")
    elif exercise.prepares not in (rungs := load(exercise.before, root).ladder.ids):
        message = f"`prepares`: {exercise.before} has no rung `{exercise.prepares}`{nearest(exercise.prepares, rungs)}"
        yield WarpladderError(message, file=exercise.file, remedy=f"its rungs are {', '.join(rungs)}")
    if not exercise.rungs[0].idea:
        remedy = "open the file with a comment: what the kernel does, and with which threads"
        yield WarpladderError(
            "the file does not say what it does", file=exercise.solution, line=1, remedy=remedy
        )
    yield from _named_in_claims(exercise, exercise.file)
    yield from _reference(exercise, exercise.judge_cases)


def check_exercise(exercise: Exercise, clean: Clean) -> Iterator[WarpladderError]:
    """Problems that show when an exercise is judged: its solution passes, and its starter compiles and fails."""
    result = _graded(exercise, exercise.solution, clean, partial(_reaches, exercises.SOLUTION))
    if result.verdict != "pass":
        yield WarpladderError(f"the solution does not pass: {result.reason}", file=exercise.solution)
    elif result.rung_reached != exercises.SOLUTION:
        broken = next(claim for claim in result.claims if not claim.held)
        message = f"the solution breaks the claim: {broken.text} ({broken.expect})"
        yield WarpladderError(message, file=exercise.file, remedy=figures(broken))
    run = partial(_grade_text, exercise, exercise.starter_text)
    result = clean.grade("starter", JUDGE, exercise.graded_by, run, _fails)
    if result.verdict != "fail":
        message = f"the starter has to run and fail; its verdict is {result.verdict}"
        yield WarpladderError(message, file=exercise.solution, remedy=result.reason)


def dead_links(root: Path) -> list[WarpladderError]:
    """The links of all prose below lessons/ to the web that do not answer; each is opened once."""
    found: dict[str, WarpladderError] = {}
    for path in (path for path in _files(root / "lessons") if path.suffix in (".md", ".toml")):
        for url, line in checks.external_links(path, path.read_text(encoding="utf-8")):
            found.setdefault(url, WarpladderError(f"{url} does not answer", file=path, line=line))
    with ThreadPoolExecutor(LINKS_AT_A_TIME) as pool:
        said = list(pool.map(_complaint, found))
    for problem, complaint in zip(found.values(), said, strict=True):
        problem.remedy = complaint
    return [problem for problem in found.values() if problem.remedy is not None]


def _complaint(url: str) -> str | None:
    """Why a page cannot be read; None: it can."""
    request = urllib.request.Request(
        url.partition("#")[0], headers={"User-Agent": "Mozilla/5.0 (warpladder)"}
    )
    try:
        with urllib.request.urlopen(request, timeout=LINK_TIMEOUT_S):
            return None
    except (OSError, ValueError, http.client.HTTPException) as error:
        return f"{type(error).__name__}: {error}"


def check_topic(topic: Topic) -> Iterator[WarpladderError]:
    """Problems of one topic: its ladder, its starter, its claims, its reference."""
    yield from _numbering(topic)
    for file in topic.kernel_files:
        yield from check_kernel_file(file, topic)
    yield from _starter(topic)
    if topic.first_step is None:
        remedy = "say with `[starter]` what it asks for: concept, section, mend"
        yield WarpladderError(
            "no hint leads from the starter to a right kernel", file=topic.file, remedy=remedy
        )
    yield from _claims(topic)
    yield from _reference(topic, (*topic.judge_cases[:1], _crooked(topic)))


def check_kernel_file(file: KernelFile, topic: Topic) -> Iterator[WarpladderError]:
    """A rung explains its idea, compiles without spills, and can be launched at every size."""
    if not file.idea:
        remedy = "open the file with a comment: what changed, what it should buy, and why"
        yield WarpladderError("the rung does not explain its idea", file=file.path, line=1, remedy=remedy)
    for arch in dict.fromkeys((compiler.DEFAULT_ARCH, file.smallest_arch or topic.smallest_arch)):
        try:
            built = compiler.compile_source(file.source, file=file.path, kernels=file.kernels, arch=arch)
            yield from _spills(file, built)
            constants = compiler.constants(file.source, file.constant_names, file=file.path, arch=arch)
            for problem in (topic.sizes_main, topic.sizes_count, *topic.judge_cases):
                plan(file, problem, constants, _PLANNED_SMS)
        except WarpladderError as error:
            yield error


def _spills(file: KernelFile, built: Build) -> Iterator[WarpladderError]:
    for kernel, symbol in built.lowered.items():
        used = built.resources.get(symbol)
        if used is None:
            yield WarpladderError(f"ptxas reports no registers for `{kernel}`", file=file.path)
        elif used.spill_store_bytes or used.spill_load_bytes:
            yield WarpladderError(
                f"`{kernel}` spills for {built.arch}: with {used.registers} registers, each thread stores "
                f"{used.spill_store_bytes} bytes and loads {used.spill_load_bytes}",
                file=file.path,
                remedy="use smaller tiles, or ask for fewer blocks in __launch_bounds__",
            )


def _numbering(topic: Topic) -> Iterator[WarpladderError]:
    for number, rung in enumerate(topic.rungs):
        if not rung.id.startswith(f"{number:02}_"):
            remedy = f"number the rungs from 01 without gaps: this is {number:02}_{rung.id[3:]}"
            yield WarpladderError("the ladder has a gap, or a number twice", file=rung.path, remedy=remedy)
            return


def _starter(topic: Topic) -> Iterator[WarpladderError]:
    """A learner starts from something that compiles; that it fails is for the judge to say."""
    if topic.starter.is_file():
        try:
            starter = topic.parse(topic.starter)
            if not isinstance(starter, KernelFile):
                return
            compiler.compile_source(starter.source, file=starter.path, kernels=starter.kernels)
            compiler.constants(starter.source, starter.constant_names, file=starter.path)
        except WarpladderError as error:
            yield error


def _claims(topic: Topic) -> Iterator[WarpladderError]:
    """Every rung is told apart by a claim of its own, and claims name sizes, facts and metrics."""
    path = topic.folder / "topic.toml"
    for rung in topic.rungs[1:]:
        if not any(claim.rung == rung.id for claim in topic.claims):
            remedy = "add a [[claim]] that it satisfies and the rung before it does not"
            yield WarpladderError(f"rung {rung.id} claims nothing", file=path, remedy=remedy)
    yield from _named_in_claims(topic, path)


def _named_in_claims(topic: Topic, path: Path) -> Iterator[WarpladderError]:
    for claim in topic.claims:
        for expression in (claim.expect, claim.per):
            if expression is not None:
                yield from _unknown_names(topic, expression, "the claim", path, claim.line)


def _unknown_names(
    topic: Topic, expression: Expression, what: str, path: Path, line: int
) -> Iterator[WarpladderError]:
    """Names in an expression that have no value when it is evaluated on a kernel or a schedule."""
    sizes = [size.name for size in topic.signature.sizes] + [name for name, _ in topic.signature.derived]
    facts = (*topic.claim_facts, *(SUMS if topic.claims_name_metrics else ()))
    metrics = "Nsight Compute's metrics such as dram__bytes.sum, " if topic.claims_name_metrics else ""
    for name in sorted(expression.names - {*sizes, *facts}):
        if not (metrics and _METRIC.fullmatch(name)):
            yield WarpladderError(
                f"{what} names `{name}`{nearest(name, [*sizes, *facts])}",
                file=path,
                line=line,
                remedy=f"sizes, {metrics}{', '.join(facts)}",
            )


def _crooked(topic: Topic) -> Problem:
    """Sizes of which no two are alike."""
    sizes = {size.name: 3 + 2 * number for number, size in enumerate(topic.signature.sizes)}
    crooked: Problem = {**topic.sizes_count, **sizes}
    # The last case, where sizes have to be multiples.
    return topic.judge_cases[-1] if impossible(crooked, topic.signature) else crooked


def _reference(topic: Topic, problems: Iterable[Problem]) -> Iterator[WarpladderError]:
    """reference.py gives what the judge needs."""
    path = topic.folder / "reference.py"
    try:
        for ends in topic.drawn_cases:
            for corner in product(*ends.values()):
                topic.problem("count", dict(zip(ends, corner, strict=True)))
        for problem in problems:
            for complaint in _wrong_with_reference(topic, problem):
                yield WarpladderError(f"{complaint}, where {problem}", file=path)
    except WarpladderError as error:
        yield error
    except Exception as error:
        yield WarpladderError(f"it fails with {type(error).__name__}: {error}", file=path)


def _wrong_with_reference(topic: Topic, problem: Problem) -> Iterator[str]:
    reference = topic.reference
    outputs = [item.name for item in topic.signature.outputs]
    for kind in ("exact", "real"):
        inputs = reference.make_inputs(problem, np.random.default_rng(7), kind)
        yield from _wrong_inputs(topic, inputs, kind)
        again = reference.make_inputs(problem, np.random.default_rng(7), kind)
        if any(not np.array_equal(inputs[name], again[name], equal_nan=True) for name in inputs):
            yield f"make_inputs(…, {kind!r}) differs from call to call: draw from `rng` alone"
        expected = reference.reference(inputs, problem)
        magnitude = reference.magnitude(inputs, problem)
        if sorted(expected) != sorted(outputs) or sorted(magnitude) != sorted(outputs):
            yield f"reference() gives {sorted(expected)} and magnitude() {sorted(magnitude)}, not {outputs}"
            continue
        for name in outputs:
            if expected[name].dtype != np.float64 or magnitude[name].dtype != np.float64:
                yield f"`{name}` is not float64"
            if expected[name].shape != magnitude[name].shape:
                yield f"`{name}` has shape {expected[name].shape}, its magnitude {magnitude[name].shape}"
            elif (np.abs(expected[name]) > magnitude[name] * (1 + 1e-9)).any():
                yield f"the magnitude of `{name}` is below its value"
    for function in (reference.min_flop, reference.min_bytes):
        value = function(problem)
        if type(value) is not int or value < 0:
            yield f"{function.__name__}() gives {value!r}, not a whole number"


def _wrong_inputs(topic: Topic, inputs: Arrays, kind: str) -> Iterator[str]:
    wanted = {item.name: str(item.dtype) for item in topic.signature.inputs}
    found = {name: str(array.dtype) for name, array in inputs.items()}
    if found != wanted:
        yield f"make_inputs(…, {kind!r}) gives {found}, not {wanted}"
    for name, array in inputs.items():
        if not array.flags.c_contiguous:
            yield f"`{name}` is not contiguous"
        if kind == "exact" and not np.array_equal(array, np.round(array)):
            yield f"the exact `{name}` holds fractions"


def _misplaced(topic: Topic, rung: Rung[SourceFile], result: Grade) -> WarpladderError:
    for claim in result.claims:
        if claim.rung in topic.ladder.up_to(rung.id) and not claim.held:
            message = f"rung {rung.id} breaks the claim of {claim.rung}: {claim.text} ({claim.expect})"
            return WarpladderError(
                message, file=rung.path, remedy=f"found {claim.value}, allowed {claim.limit}"
            )
    above = topic.ladder.above(rung.id)
    return WarpladderError(
        f"graded as a submission, rung {rung.id} reaches {result.rung_reached}",
        file=topic.file,
        remedy=f"give {above.id if above else 'a higher rung'} a claim that {rung.id} does not satisfy",
    )


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file() and path.parent.name != "__pycache__")
