"""A learner's file: what is written is there again, in every version, whoever else writes, and whole."""

import json
import multiprocessing
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

from grader.errors import WarpladderError
from grader.history import schema, store
from grader.history.exchange import exported, import_from
from grader.history.outcomes import Graded, Outcome, Sitting
from grader.history.store import Store

NOON = datetime(2026, 11, 2, 12, tzinfo=UTC)
OUTCOME = Outcome("banks/one_word", NOON, 0.5, 1.0, "mid", ("transpose", "gemm"), "quiz", 12.5, "one")
SITTING = Sitting("one", "quiz", "banks", NOON, 300.0, 0.5, 1.0)
GRADE = Graded("transpose", NOON, "mine.cu", "ab12", "pass", "01_coalesced_writes")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "data" / "progress.sqlite"


@pytest.fixture
def kept(file: Path) -> Iterator[Store]:
    with Store(file) as opened:
        yield opened


def of_version(number: int, file: Path) -> Path:
    """A file as that version wrote it."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(file)) as connection:
        connection.executescript(
            (Path(__file__).parent / f"version_{number}.sql").read_text(encoding="utf-8")
        )
    return file


def tables(file: Path) -> set[str]:
    with closing(sqlite3.connect(file)) as connection:
        return {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}


# ---- what is written is there again ------------------------------------------------------------------------


def test_what_was_written_is_read_again(kept: Store, file: Path) -> None:
    kept.record(SITTING, [OUTCOME])
    wrong = replace(GRADE, when=NOON + timedelta(hours=1), verdict="fail", rung=None)
    kept.note(wrong)
    kept.note(GRADE)
    with Store(file) as again:
        assert again.outcomes() == [OUTCOME]
        assert again.sittings() == [SITTING]
        assert again.grades() == [GRADE, wrong]


def test_outcomes_come_in_the_order_of_time_wherever_they_were_made(kept: Store) -> None:
    there = timezone(timedelta(hours=9))
    later = replace(OUTCOME, item="b/later", when=NOON + timedelta(hours=1))
    earlier = replace(OUTCOME, item="b/earlier", when=datetime(2026, 11, 2, 20, tzinfo=there))  # 11:00 UTC
    kept.record(SITTING, [later, earlier, OUTCOME])
    found = kept.outcomes()
    assert [item.item for item in found] == ["b/earlier", "banks/one_word", "b/later"]
    assert found[0].when == NOON - timedelta(hours=1)


def test_a_session_that_goes_on_replaces_what_it_had_written(kept: Store) -> None:
    kept.record(SITTING, [OUTCOME])
    later = replace(OUTCOME, when=NOON + timedelta(minutes=5), share=1.0)
    longer = replace(SITTING, seconds=600.0, share=0.75)
    kept.record(longer, [later])
    kept.record(longer, [later])
    assert kept.outcomes() == [later]
    assert kept.sittings() == [longer]


def test_of_a_session_stays_what_is_no_item_any_more(kept: Store) -> None:
    gone, taken_back = replace(OUTCOME, item="banks/gone"), replace(OUTCOME, item="banks/taken_back")
    kept.record(SITTING, [OUTCOME, gone, taken_back])
    shorter = replace(SITTING, seconds=10.0)
    kept.record(shorter, [OUTCOME], gone={"banks/gone"})
    assert [each.item for each in kept.outcomes()] == ["banks/gone", "banks/one_word"]
    assert kept.sittings() == [shorter]


def test_a_session_is_written_whole_or_not_at_all(kept: Store) -> None:
    broken = replace(OUTCOME, item="banks/two", level=None)  # type: ignore[arg-type]
    with pytest.raises(WarpladderError):
        kept.record(SITTING, [OUTCOME, broken])
    assert (kept.outcomes(), kept.sittings()) == ([], [])


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({"WARPLADDER_HOME": "/a", "XDG_DATA_HOME": "/b"}, "/a"),
        ({"XDG_DATA_HOME": "/b"}, "/b/warpladder"),
        ({}, "/home/me/.local/share/warpladder"),
    ],
)
def test_where_it_lies(monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], expected: str) -> None:
    for name in ("WARPLADDER_HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {"HOME": "/home/me", **variables}.items():
        monkeypatch.setenv(name, value)
    assert store.folder() == Path(expected)


# ---- versions ----------------------------------------------------------------------------------------------


def test_a_file_of_version_1_is_brought_to_this_version_with_all_that_is_in_it(file: Path) -> None:
    with Store(of_version(1, file)) as kept:
        outcomes, sittings = kept.outcomes(), kept.sittings()
    assert [(found.item, found.share, found.rated) for found in outcomes] == [
        ("banks/one_word", 1.0, None),
        ("banks/padding", 0.5, None),
        ("late_barrier/line", -0.25, None),
    ]
    assert outcomes[0] == Outcome(
        "banks/one_word", NOON, 1.0, None, "mid", ("transpose", "gemm"), "quiz", 10.0, "one"
    )
    # Version 1 had no sittings: what is known of them follows from the outcomes.
    assert sittings == [
        Sitting("one", "quiz", "banks", NOON, 30.0, 0.75, None),
        Sitting("two", "review", "late_barrier", NOON + timedelta(days=1), 90.5, -0.25, None),
    ]


UNHALVED = {"banks/one_word": 1.0, "banks/padding": 1.0, "banks/bank_of": -0.25, "late_barrier/line": -0.25}
"""Two of them counted half in version 2, because words were not found in prose."""


def test_what_counted_half_in_version_2_is_worth_what_its_probe_showed(file: Path) -> None:
    with Store(of_version(2, file)) as kept:
        assert {found.item: found.share for found in kept.outcomes()} == UNHALVED
        assert {found.rated for found in (*kept.outcomes(), *kept.sittings())} == {None}


def test_an_export_of_version_2_is_imported_as_its_file_is_migrated(file: Path, tmp_path: Path) -> None:
    with closing(sqlite3.connect(of_version(2, file))) as old:
        old.row_factory = sqlite3.Row
        outcomes, sittings = (
            [dict(row) for row in old.execute(f"SELECT * FROM {name}")] for name in ("outcome", "sitting")
        )
    for outcome in outcomes:
        outcome["when"], outcome["topics"] = outcome.pop("moment"), json.loads(outcome["topics"])
    path = tmp_path / "history.json"
    path.write_text(
        json.dumps({"schema": "warpladder/progress/1", "sittings": sittings, "outcomes": outcomes})
    )
    with Store(file) as migrated, Store(tmp_path / "elsewhere.sqlite") as other:
        assert import_from(path, other) == 4
        assert exported(other) == exported(migrated)


def test_a_file_of_version_3_has_room_for_grades(file: Path) -> None:
    with Store(of_version(3, file)) as kept:
        assert {found.item: found.share for found in kept.outcomes()} == UNHALVED
        kept.note(GRADE)
        assert kept.grades() == [GRADE]


def test_a_file_of_version_4_has_room_for_starters_which_are_told_as_long_as_they_are_there(
    file: Path, tmp_path: Path
) -> None:
    first, second = tmp_path / "mine.cu", tmp_path / "other.cu"
    with Store(of_version(4, file)) as kept:
        assert [grade.topic for grade in kept.grades()] == ["transpose"]
        for starter in (first, second):
            starter.touch()
            kept.begin("copy", starter)
        assert kept.begun() == {"copy": second}
        second.unlink()
        assert kept.begun() == {}


def test_an_export_without_grades_is_imported(kept: Store, tmp_path: Path) -> None:
    path = tmp_path / "history.json"
    kept.record(SITTING, [OUTCOME])
    found = json.loads(exported(kept))
    del found["grades"]
    path.write_text(json.dumps({**found, "schema": "warpladder/progress/2"}))
    with Store(tmp_path / "elsewhere.sqlite") as other:
        assert import_from(path, other) == 1
        assert exported(other) == exported(kept)


@pytest.mark.parametrize("number", [1, 2, 3, 4])
def test_a_file_that_is_brought_to_this_version_is_like_a_new_one(
    number: int, file: Path, tmp_path: Path
) -> None:
    Store(of_version(number, file)).close()
    Store(tmp_path / "new.sqlite").close()
    layouts = []
    for path in (file, tmp_path / "new.sqlite"):
        with closing(sqlite3.connect(path)) as connection:
            rows = connection.execute("SELECT name, sql FROM sqlite_master ORDER BY name").fetchall()
            version = connection.execute("PRAGMA user_version").fetchone()
            layouts.append((rows, version))
    assert layouts[0] == layouts[1]


def test_an_upgrade_that_fails_leaves_the_file_as_it_was(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = of_version(1, file).read_bytes()
    broken = (*schema.MIGRATIONS, ("CREATE TABLE third (x)", "INSERT INTO nowhere VALUES (1)"))
    with monkeypatch.context() as patched:
        patched.setattr(schema, "MIGRATIONS", broken)
        patched.setattr(schema, "VERSION", len(broken))
        with pytest.raises(WarpladderError, match="nowhere"):
            Store(file)
    assert file.read_bytes() == before
    with Store(file) as kept:
        assert len(kept.outcomes()) == 3


def test_a_file_of_a_later_version_is_refused_and_left_alone(file: Path) -> None:
    Store(file).close()
    with closing(sqlite3.connect(file)) as connection:
        connection.execute(f"PRAGMA user_version = {schema.VERSION + 1}")
    before = file.read_bytes()
    with pytest.raises(WarpladderError, match="a newer Warpladder") as refused:
        Store(file)
    assert "upgrade Warpladder" in str(refused.value)
    assert file.read_bytes() == before


# ---- files that are none -----------------------------------------------------------------------------------


def test_what_is_no_database_is_refused_and_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "progress.sqlite"
    file.write_text("my notes, " * 1000)
    with pytest.raises(WarpladderError, match="no database") as refused:
        Store(file)
    assert refused.value.file == str(file)
    assert file.read_text() == "my notes, " * 1000


def test_another_programs_database_is_refused_and_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "progress.sqlite"
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("CREATE TABLE mail (text)")
    with pytest.raises(WarpladderError, match="another program's"):
        Store(file)
    assert tables(file) == {"mail"}


def test_a_damaged_file_is_an_error_that_says_what_to_do(file: Path) -> None:
    with Store(file) as kept:
        kept.record(SITTING, [replace(OUTCOME, item=f"banks/{number}") for number in range(500)])
    data = bytearray(file.read_bytes())
    data[4096:] = bytes(len(data) - 4096)
    file.write_bytes(data)
    with pytest.raises(WarpladderError) as refused, Store(file) as kept:
        kept.outcomes()
    assert "--import" in str(refused.value)


def test_a_value_that_there_cannot_be_is_an_error(file: Path) -> None:
    with Store(file) as kept:
        kept.record(SITTING, [OUTCOME])
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("UPDATE outcome SET level = 'wizard'")
    with pytest.raises(WarpladderError, match="wizard"), Store(file) as kept:
        kept.outcomes()


def test_a_place_where_nothing_can_be_written_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(WarpladderError, match="WARPLADDER_HOME"):
        Store(tmp_path / "file" / "progress.sqlite")


# ---- two processes -----------------------------------------------------------------------------------------


def _write(file: Path, process: int, sessions: int) -> None:
    for number in range(sessions):
        name = f"{process}-{number}"
        outcomes = [replace(OUTCOME, item=f"banks/{item}", session=name) for item in range(5)]
        with Store(file) as kept:
            kept.record(replace(SITTING, id=name), outcomes)


def test_processes_that_write_at_once_lose_nothing(file: Path) -> None:
    """They also make the file at once."""
    context = multiprocessing.get_context("fork")
    writers = [context.Process(target=_write, args=(file, number, 10)) for number in range(4)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert [writer.exitcode for writer in writers] == [0] * 4
    with Store(file) as kept:
        assert (len(kept.outcomes()), len(kept.sittings())) == (200, 40)


def test_a_file_that_stays_locked_is_an_error(file: Path) -> None:
    Store(file).close()
    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with Store(file, patience_s=0.01) as kept, pytest.raises(WarpladderError, match="locked"):
            kept.record(SITTING, [OUTCOME])


# ---- export and import -------------------------------------------------------------------------------------


def test_an_export_imported_elsewhere_is_the_same_history(kept: Store, tmp_path: Path) -> None:
    kept.record(SITTING, [OUTCOME, replace(OUTCOME, item="banks/padding", rated=None, share=-0.5)])
    path = tmp_path / "history.json"
    path.write_bytes(exported(kept))
    with Store(tmp_path / "elsewhere.sqlite") as other:
        assert import_from(path, other) == 2
        assert exported(other) == path.read_bytes()


def test_importing_twice_or_in_another_order_comes_to_the_same(tmp_path: Path) -> None:
    """Two machines, one session on both of them, which went on on the second."""
    paths = []
    with Store(tmp_path / "first") as first, Store(tmp_path / "second") as second:
        first.record(SITTING, [OUTCOME])
        first.record(replace(SITTING, id="two"), [replace(OUTCOME, session="two")])
        second.record(
            replace(SITTING, seconds=900.0), [replace(OUTCOME, when=NOON + timedelta(hours=1), share=1.0)]
        )
        for name, kept in (("first", first), ("second", second)):
            paths.append(tmp_path / f"{name}.json")
            paths[-1].write_bytes(exported(kept))
    histories = set()
    for name, order in (("a", paths), ("b", paths[::-1]), ("c", [*paths, *paths])):
        with Store(tmp_path / name) as merged:
            added = [import_from(path, merged) for path in order]
            histories.add(exported(merged))
    assert len(histories) == 1
    assert added == [2, 0, 0, 0]
    with Store(tmp_path / "a") as merged:
        assert [(found.session, found.share) for found in merged.outcomes()] == [("two", 0.5), ("one", 1.0)]
        assert [found.seconds for found in merged.sittings()] == [900.0, 300.0]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("not JSON", "this is no history"),
        ('{"schema": "warpladder/card/2"}', "warpladder/card/2"),
        (
            '{"schema": "warpladder/progress/2", "sittings": [], "outcomes": [{"item": "banks/one_word", "when": '
            '"2026-11-02T12:00:00Z", "share": 40, "rated": null, "level": "mid", "topics": [], "format": "quiz", '
            '"seconds": 1, "session": "one"}]}',
            r"<= 1\.0 - at `\$\.outcomes\[0\]\.share`",
        ),
    ],
)
def test_what_is_no_export_is_refused_and_changes_nothing(
    kept: Store, tmp_path: Path, text: str, complaint: str
) -> None:
    kept.record(SITTING, [OUTCOME])
    path = tmp_path / "history.json"
    path.write_text(text)
    with pytest.raises(WarpladderError, match=complaint) as refused:
        import_from(path, kept)
    assert refused.value.file == str(path)
    assert kept.outcomes() == [OUTCOME]
