// Colours the %%kernel cells of a notebook as C++ in JupyterLab, which takes every cell for Python.
//
// JupyterLab loads this file as a prebuilt extension: it calls init with the modules that it shares, then get. There is
// nothing to build, because the one module that is needed, @jupyterlab/notebook, is among those shared.
(() => {
  const NAME = "warpladder";
  const CPP = "text/x-c++src";
  let shared = {};

  // A module that JupyterLab shares; there is one version of each.
  const load = async (name) => (await Object.values(shared[name])[0].get())();

  // Schedules are %%kernel cells as well, but Python.
  const isCpp = (text) => /^\s*%%kernel\b/.test(text) && text.includes("__global__");

  const watched = new WeakSet();

  function watch(cell, notebook) {
    if (cell.type !== "code" || watched.has(cell)) return;
    watched.add(cell);
    const colour = () => {
      const cpp = isCpp(cell.sharedModel.getSource());
      if (cpp) cell.mimeType = CPP;
      else if (cell.mimeType === CPP) cell.mimeType = notebook.codeMimetype;
    };
    cell.contentChanged.connect(colour);
    cell.mimeTypeChanged.connect(colour); // JupyterLab sets it once more when the kernel says its language
    colour();
  }

  async function watchAll(panel) {
    await panel.context.ready;
    const notebook = panel.content;
    const { cells } = notebook.model;
    const all = () => Array.from(cells, (cell) => watch(cell, notebook));
    cells.changed.connect(all);
    all();
  }

  async function plugin() {
    const { INotebookTracker } = await load("@jupyterlab/notebook");
    return {
      id: `${NAME}:kernel-cells`,
      description: "Colours %%kernel cells as C++.",
      autoStart: true,
      requires: [INotebookTracker],
      activate: (_, tracker) => {
        tracker.forEach(watchAll);
        tracker.widgetAdded.connect((_, panel) => watchAll(panel));
      },
    };
  }

  window._JUPYTERLAB = window._JUPYTERLAB ?? {};
  window._JUPYTERLAB[NAME] = {
    init: (scope) => {
      shared = scope;
    },
    get: async () => {
      const found = { __esModule: true, default: await plugin() };
      return () => found;
    },
  };
})();
