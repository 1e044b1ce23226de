// CUDA C++ for CodeMirror, and the editor that pages share. Without CodeMirror, a field for text does.
"use strict";
const ladder = (() => {
  const WORDS = `__global__ __device__ __host__ __shared__ __constant__ __restrict__ __launch_bounds__ __forceinline__
    __align__ __cluster_dims__ __grid_constant__`.split(/\s+/);
  const TYPES = `float2 float4 double2 int2 int4 uint4 uint2 dim3 half half2 __half __half2 nv_bfloat16 size_t uint32_t
    uint64_t int32_t int64_t uint8_t`.split(/\s+/);

  if (window.CodeMirror) {
    const cpp = CodeMirror.resolveMode("text/x-c++src");
    const also = (known, more) => Object.assign({}, known, Object.fromEntries(more.map((word) => [word, true])));
    CodeMirror.defineMIME("text/x-cuda", Object.assign({}, cpp, { keywords: also(cpp.keywords, WORDS), types: also(cpp.types, TYPES) }));
  }
  const MODES = { cuda: "text/x-cuda", cpp: "text/x-cuda", "c++": "text/x-cuda", c: "text/x-cuda", python: "python" };

  // Code in running text, in colours; what scrolls can be reached by the keyboard.
  function highlight(root) {
    if (!window.CodeMirror) return;
    for (const block of root.querySelectorAll("pre > code[class*=language-], [data-code]")) {
      const name = (block.className.match(/language-(\S+)/) || [])[1];
      const mode = block.matches("[data-code]") ? MODES.cuda : MODES[name];
      if (mode) {
        block.classList.add("cm-s-ladder");
        CodeMirror.runMode(block.textContent, mode, block);
      }
    }
    for (const block of root.querySelectorAll("main pre")) block.tabIndex = 0;
  }

  // An editor in the place of a field: Escape calls `leave`, Ctrl+Enter `grade`. null: there is none.
  function editor(area, { leave, grade, wrap = false }) {
    if (!window.CodeMirror) return null;
    return CodeMirror.fromTextArea(area, {
      mode: MODES[area.dataset.editor], theme: "ladder", lineNumbers: true, indentUnit: 4, viewportMargin: Infinity, lineWrapping: wrap,
      screenReaderLabel: "Your kernel",
      extraKeys: {
        Esc: leave, "Ctrl-Enter": grade, "Cmd-Enter": grade,
        Tab: (cm) => (cm.somethingSelected() ? cm.indentSelection("add") : cm.replaceSelection("    ")),
        "Shift-Tab": (cm) => cm.indentSelection("subtract"),
      },
    });
  }

  return { highlight, editor };
})();
