"""Pseudonyms: for a student of a course always the same one, and nobody but the lecturer can tell whose it is.

They come from a keyed hash (HMAC-SHA256), whose key scrypt makes of the course's secret, the seed of its hidden cases.
That has 128 bits, too many to try all until one's own pseudonym comes out. scrypt is slow on purpose, for seeds that
somebody chose: it makes 31 bits take years of a processor.
"""

from __future__ import annotations

import hashlib
import hmac
from collections import Counter
from collections.abc import Iterable

DIGITS, MORE_DIGITS = 3, 9
_COST = {"n": 2**15, "r": 8, "p": 1, "maxmem": 2**26}  # 32 MiB and some 0.1 s

_ADJECTIVES = (
    "agile amber ample ardent azure blithe bold brave breezy bright brisk calm candid cheery civil clear "
    "clever cobalt coral cosmic crisp daring deft dusky eager early earnest fair fleet fond frosty gentle "
    "gilded golden grand hardy hazel honest humble indigo ivory jade jolly jovial keen kind lively lucid "
    "mellow merry mild misty modest mossy noble olive patient placid plucky polite proud quick quiet "
    "rapid rosy ruby russet sage scarlet serene sharp silent silver sincere snowy solar steady stellar "
    "subtle sunny swift tidy tranquil trusty upbeat velvet vivid warm wise"
)
_ANIMALS = (
    "ant badger bat bear beaver bee bison boar bobcat camel carp cat cheetah cicada cod condor crab crane "
    "cricket crow deer dingo dolphin dove duck eagle eel egret elk falcon ferret finch fox frog gecko gnu "
    "goat goose gull hare hawk hen heron horse ibex ibis jackal jay kestrel kite koala lark lemur lion "
    "lizard llama lynx magpie marten mole moose moth newt otter owl ox panda parrot perch pike pony "
    "puffin quail rabbit raven robin salmon seal shrew sloth snail sparrow squid stork swan swift tapir "
    "tern tiger toad trout turtle viper vole wasp weasel whale wolf wren yak zebra"
)
ADJECTIVES, ANIMALS = _ADJECTIVES.split(), _ANIMALS.split()


def pseudonyms(secret: int, course: str, students: Iterable[str]) -> dict[str, str]:
    """A pseudonym for each student of a course, such as "amber-fox-417"; no two have the same one.

    Of the few whose pseudonyms would be alike, the number has more digits.
    """
    key = hashlib.scrypt(str(secret).encode(), salt=course.encode(), **_COST)
    digests = {student: _digest(key, student) for student in students}
    short = {student: _words(digest, DIGITS) for student, digest in digests.items()}
    times = Counter(short.values())
    return {
        student: name if times[name] == 1 else _words(digests[student], MORE_DIGITS)
        for student, name in short.items()
    }


def _digest(key: bytes, student: str) -> int:
    message = student.encode("utf-8", "surrogatepass")
    return int.from_bytes(hmac.digest(key, message, "sha256"), "big")


def _words(digest: int, digits: int) -> str:
    """A digest as two words and a number."""
    rest, adjective = divmod(digest, len(ADJECTIVES))
    rest, animal = divmod(rest, len(ANIMALS))
    return f"{ADJECTIVES[adjective]}-{ANIMALS[animal]}-{rest % 10**digits:0{digits}}"
