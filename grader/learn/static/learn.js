// The script of the page to learn on: has the kernel judged, keeps what is typed, shows what other editors write.
// Without it, forms work.
"use strict";
(() => {
  const KEEP_MS = 1500, RETRY_MS = 2000, WIDE = "(min-width: 84rem)";
  const learn = document.getElementById("learn"), name = learn.dataset.name;
  const form = learn.querySelector("form[data-grade]"), area = document.getElementById("typed");
  const news = document.getElementById("news"), closed = document.getElementById("closed");
  const changed = document.getElementById("changed");
  const own = new Set(); // stamps of what this page has written
  const seen = form.elements.seen;
  let editor = null, kept = area.value, judging = false, writing = Promise.resolve();
  const shown = document.getElementById("verdict");
  let judged = shown.querySelector("h2") && !shown.classList.contains("earlier") ? area.value : null;

  const typed = () => (editor ? editor.getValue() : area.value);
  const post = (address, fields, outlives = false) => fetch(address, {
    method: "POST", body: new URLSearchParams(fields), headers: { "x-learn": "1" }, redirect: "error", keepalive: outlives,
  });
  const lost = (is) => { closed.hidden = !is; };

  function dress(root) {
    ladder.highlight(root);
    if (root.querySelector("#way") || root.id === "way") document.querySelector("#way details").open = matchMedia(WIDE).matches;
  }

  // Parts of the page, each in the place of the one with its id.
  function show(html) {
    const brought = document.createElement("template");
    brought.innerHTML = html;
    for (const part of [...brought.content.children]) {
      const before = document.getElementById(part.id);
      if (before) { before.replaceWith(part); dress(part); }
    }
  }

  // One after the other: what this page writes itself is no news.
  function write(what) {
    writing = writing.then(what, what);
    return writing;
  }

  function wrote(text, stamp) {
    [kept, seen.value] = [text, stamp];
    own.add(stamp);
  }

  function judge() {
    if (judging) return;
    judging = true;
    write(haveJudged);
  }

  async function haveJudged() {
    if (editor) editor.save();
    const button = form.querySelector("[data-after]"), text = typed();
    button.disabled = true;
    news.textContent = "Judging";
    document.getElementById("verdict").innerHTML = '<p class="working"><span class="dot" aria-hidden="true"></span>Judging …</p>';
    try {
      const answer = await post(form.action, { typed: text, seen: seen.value });
      if (!answer.ok) throw new Error(String(answer.status));
      show(await answer.text());
      lost(false);
      const verdict = document.getElementById("verdict");
      if (!verdict.querySelector(".complaint")) {
        wrote(text, verdict.dataset.stamp);
        judged = text;
      }
      mark();
      const said = verdict.querySelector("h2, .complaint");
      news.textContent = said ? said.textContent : "";
      if (said) verdict.scrollIntoView({ block: "nearest" });
    } catch (error) {
      lost(true);
    }
    judging = false;
    button.disabled = false;
  }

  // A verdict is of what was judged, and of nothing that was typed since.
  function mark() {
    if (judged === null) return;
    document.getElementById("verdict").classList.toggle("earlier", typed().trimEnd() !== judged.trimEnd());
  }

  // ---- the file ----

  // The file is another than what was typed here: which of the two it is to be is the learner's to say.
  function conflict(found) {
    if (found && changed.dataset.stamp === found.stamp) return; // it is asked already
    changed.dataset.stamp = found ? found.stamp : "";
    changed.hidden = !found;
    changed.textContent = found ? "The file has been changed in another editor, and you have typed here since. " : "";
    if (!found) return;
    for (const [text, chosen] of [["Load the file", () => take(found)], ["Keep what is typed here", () => { seen.value = found.stamp; }]]) {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = text;
      button.addEventListener("click", () => { chosen(); conflict(null); });
      changed.append(button, " ");
    }
  }

  function take(found) {
    kept = found.source;
    seen.value = found.stamp;
    if (editor) {
      const cursor = editor.getCursor();
      editor.setValue(found.source);
      editor.setCursor(cursor);
    } else area.value = found.source;
  }

  // What the file is by now, once it is another than the page knows.
  async function look() {
    const answer = await fetch(`/changed/${name}?seen=${encodeURIComponent(seen.value)}`, { headers: { "x-learn": "1" } });
    lost(false);
    if (answer.status !== 200) return;
    const found = await answer.json();
    await writing;
    if (own.has(found.stamp)) return;
    if (!found.stamp) { seen.value = ""; return; } // it was removed: what is typed is written again
    if (found.source.trimEnd() === typed().trimEnd()) { seen.value = found.stamp; kept = typed(); conflict(null); }
    else if (typed() === kept) take(found);
    else conflict(found);
  }

  function keep(leaving = false) {
    if (typed() !== kept && !judging) write(() => keepNow(leaving));
  }

  async function keepNow(leaving) {
    const text = typed();
    try {
      const answer = await post(`/keep/${name}`, { typed: text, seen: seen.value }, leaving);
      if (answer.status === 409) return;
      if (!answer.ok) throw new Error(String(answer.status));
      wrote(text, (await answer.json()).stamp);
      lost(false);
    } catch (error) {
      lost(true);
    }
  }

  async function watch() {
    for (;;) {
      const before = seen.value;
      try {
        await look();
      } catch (error) {
        lost(true);
      }
      if (seen.value === before) await new Promise((done) => setTimeout(done, RETRY_MS));
    }
  }

  document.addEventListener("submit", async (event) => {
    const sender = event.target;
    if (sender === form) {
      event.preventDefault();
      judge();
    } else if (sender.matches("[data-hint-form]")) {
      event.preventDefault();
      try {
        show(await (await post(sender.action, {})).text());
        const told = document.querySelectorAll("[data-hint]");
        if (told.length) news.textContent = told[told.length - 1].textContent;
        const more = document.querySelector("[data-hint-form] button");
        if (more) more.focus();
      } catch (error) {
        lost(true);
      }
    }
  });
  for (const select of learn.querySelectorAll(".sections select")) {
    select.addEventListener("change", () => select.form.submit());
    select.form.querySelector("button").hidden = true;
  }

  if (location.search.includes("token")) history.replaceState(null, "", location.pathname);
  dress(document);
  editor = ladder.editor(area, { wrap: true, leave: () => form.querySelector("[data-after]").focus(), grade: judge });
  kept = typed();
  if (editor) {
    const todo = kept.split("\n").findIndex((line) => line.includes("TODO"));
    if (todo >= 0) { editor.setCursor(todo, 0); editor.scrollIntoView({ line: todo, ch: 0 }, 160); }
    editor.on("change", mark);
  } else area.addEventListener("input", mark);
  document.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && !(editor && editor.hasFocus())) { event.preventDefault(); judge(); }
  });
  setInterval(keep, KEEP_MS);
  window.addEventListener("pagehide", () => { keep(true); });
  watch();
})();
