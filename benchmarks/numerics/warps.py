"""What lanes tell each other, also where some of them take no part."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np

from numerics.case import Case, Group

PRELUDE = "using u32 = unsigned; using u64 = unsigned long long;"
_VALUES = np.random.default_rng(3).integers(0, 2**32, 4096, dtype=np.uint32)
_FEW = np.random.default_rng(4).integers(0, 4, 4096, dtype=np.uint32)


def _case(name: str, body: str, words: int, values: np.ndarray = _VALUES) -> Case:
    """`body` uses lane, v (a value of the lane's own) and in, and fills out."""
    kernel = "w_" + "".join(c if c.isalnum() else "_" for c in name)
    source = f"""extern "C" __global__ void {kernel}(u32* out, const u32* in) {{
  u32 lane = threadIdx.x, v = in[lane];
  {body}
}}"""
    return Case(name, kernel, source, ("out", "in"), {"in": values, "out": np.zeros(words, np.uint32)})


def _shuffles() -> Iterator[Case]:
    for mode in ("up", "down", "bfly", "idx"):
        body = f"""for (u32 b = 0; b < 64; b++)
    for (int i = 0; i < 12; i++) {{
      u32 c = i == 0 ? 31 : i == 1 ? 0 : i == 2 ? 0x1f1f : i == 3 ? 0x1000 : in[b * 12 + i + 64];
      u32 d, p;
      asm volatile("{{ .reg .pred q; shfl.sync.{mode}.b32 %0|q, %2, %3, %4, 0xffffffff; selp.b32 %1, 1, 0, q; }}"
                   : "=r"(d), "=r"(p) : "r"(v), "r"(b), "r"(c));
      out[((b * 12 + i) * 2) * 32 + lane] = d; out[((b * 12 + i) * 2 + 1) * 32 + lane] = p;
    }}"""
        yield _case(f"shfl {mode}", body, 64 * 12 * 2 * 32)
        body = f"""for (u32 b = 0; b < 32; b++) {{
      u32 d, lanewise = (b + in[lane]) % 32;
      asm volatile("shfl.sync.{mode}.b32 %0, %1, %2, 31, 0xffffffff;" : "=r"(d) : "r"(v), "r"(lanewise));
      out[b * 32 + lane] = d;
    }}"""
        yield _case(f"shfl {mode} of different lanes", body, 32 * 32)
    for name, condition, mask in (
        ("lower half", "lane < 16", "0x0000ffff"),
        ("odd lanes", "lane & 1", "0xaaaaaaaa"),
        ("lane 0 alone", "lane == 0", "1"),
    ):
        for mode, step in itertools.product(("up", "down", "bfly", "idx"), (1, 2, 16, 17)):
            body = f"""u32 d = 0xdead;
  if ({condition}) asm volatile("shfl.sync.{mode}.b32 %0, %1, {step}, {0 if mode == "up" else 31}, {mask};"
                                : "=r"(d) : "r"(v));
  out[lane] = d;"""
            yield _case(f"shfl {mode} {step}, {name}", body, 32)
    body = """if (lane >= 20) return;
  u32 d;
  asm volatile("shfl.sync.idx.b32 %0, %1, %2, 31, 0xfffff;" : "=r"(d) : "r"(v), "r"(lane + 9));
  out[lane] = d;"""
    yield _case("shfl idx from lanes that have left", body, 32)
    body = """u32 d;
  asm volatile("shfl.sync.idx.b32 %0, %1, %2, 31, 0xffffffff;" : "=r"(d) : "r"(v), "r"(in[lane]));
  out[lane] = d;"""
    yield _case("shfl idx, any number", body, 32)


def _votes() -> Iterator[Case]:
    for name, condition, mask in (
        ("all", "true", "0xffffffff"),
        ("lower half", "lane < 16", "0xffff"),
        ("third lanes", "lane % 3 == 0", "0x49249249"),
    ):
        for how in ("all", "any", "uni"):
            body = f"""for (int bit = 0; bit < 8; bit++) {{
    u32 d = 7;
    if ({condition}) asm volatile("{{ .reg .pred p, q; setp.ne.b32 p, %1, 0; vote.sync.{how}.pred q, p, {mask};"
                                  " selp.b32 %0, 1, 0, q; }}"
                                  : "=r"(d) : "r"(bit == 7 ? 0 : bit == 6 ? 1 : v >> bit & 1));
    out[bit * 32 + lane] = d;
  }}"""
            yield _case(f"vote {how}, {name}", body, 8 * 32)
        body = f"""u32 d = 7;
  if ({condition}) asm volatile("{{ .reg .pred p; setp.ne.b32 p, %1, 0; vote.sync.ballot.b32 %0, p, {mask}; }}"
                                : "=r"(d) : "r"(v & 1));
  out[lane] = d;"""
        yield _case(f"vote ballot, {name}", body, 32)
        body = f"""u32 d = 7, e = 7, p = 7;
  if ({condition}) {{
    asm volatile("match.any.sync.b32 %0, %1, {mask};" : "=r"(d) : "r"(v));
    asm volatile("{{ .reg .pred p; match.all.sync.b32 %0|p, %2, {mask}; selp.b32 %1, 1, 0, p; }}"
                 : "=r"(e), "=r"(p) : "r"(v / 4));
  }}
  out[lane] = d; out[32 + lane] = e; out[64 + lane] = p;"""
        yield _case(f"match, {name}", body, 96, _FEW)
        for how, kind in (("add", "u32"), ("add", "s32"), ("min", "u32"), ("min", "s32"), ("max", "u32"),
                          ("max", "s32"), ("and", "b32"), ("or", "b32"), ("xor", "b32")):  # fmt: skip
            body = f"""u32 d = 7;
  if ({condition}) asm volatile("redux.sync.{how}.{kind} %0, %1, {mask};" : "=r"(d) : "r"(v));
  out[lane] = d;"""
            yield _case(f"redux {how} {kind}, {name}", body, 32)
        body = f"""u32 d = 77, p = 7;
  if ({condition}) asm volatile("{{ .reg .pred q; elect.sync %0|q, {mask}; selp.b32 %1, 1, 0, q; }}"
                                : "=r"(d), "=r"(p));
  out[lane] = d; out[32 + lane] = p;"""
        yield _case(f"elect, {name}", body, 64)


def _matrices() -> Iterator[Case]:
    body = """u32 d;
  asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(d) : "r"(v));
  out[lane] = d;"""
    yield _case("movmatrix", body, 32)
    for count, trans, row in itertools.product((1, 2, 4), ("", ".trans"), (16, 80)):
        registers = ", ".join(f"%{i}" for i in range(count))
        results = ", ".join(f'"=r"(d[{i}])' for i in range(count))
        body = f"""__shared__ __align__(128) u32 tile[1024]; u32 d[{count}];
  for (int i = lane; i < 1024; i += 32) tile[i] = in[i];
  __syncwarp();
  u32 from = static_cast<u32>(__cvta_generic_to_shared(tile)) + (lane * 7 % 32) * {row};
  asm volatile("ldmatrix.sync.aligned.m8n8.x{count}{trans}.shared.b16 {{{registers}}}, [%{count}];"
               : {results} : "r"(from) : "memory");
  for (int i = 0; i < {count}; i++) out[i * 32 + lane] = d[i];"""
        yield _case(f"ldmatrix x{count}{trans} rows {row}", body, 32 * count)
        registers = ", ".join(f"%{i + 1}" for i in range(count))
        values = ", ".join(f'"r"(in[{i} * 32 + lane])' for i in range(count))
        body = f"""__shared__ __align__(128) u32 tile[1024];
  for (int i = lane; i < 1024; i += 32) tile[i] = 0;
  __syncwarp();
  u32 to = static_cast<u32>(__cvta_generic_to_shared(tile)) + (lane * 7 % 32) * {row};
  asm volatile("stmatrix.sync.aligned.m8n8.x{count}{trans}.shared.b16 [%0], {{{registers}}};"
               :: "r"(to), {values} : "memory");
  __syncwarp();
  for (int i = lane; i < 1024; i += 32) out[i] = tile[i];"""
        yield _case(f"stmatrix x{count}{trans} rows {row}", body, 1024)


def group() -> Group:
    """Shuffles, votes, matches, reductions, matrices."""
    return Group("warps", PRELUDE, (*_shuffles(), *_votes(), *_matrices()), a_module=40)
