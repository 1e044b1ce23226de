// The page's script: sends forms, shows what comes, keeps what is typed, counts the time down. Without it, forms work.
"use strict";
(() => {
  const DRAFT_MS = 2000, RETRY_MS = 2000, LOW_S = 300;
  const room = document.getElementById("room");
  const news = document.getElementById("news");
  const closed = document.getElementById("closed");
  const HEADS = /^ +(line +instr|start +duration) /;
  let editor = null, sent = "", timer = null, asking = null;

  const main = () => room.querySelector("main");
  const form = () => room.querySelector("form[data-answer]");
  const typing = (element) => element && element.matches("textarea, select, input:not([type=radio])");

  // ---- what is shown ----

  function dress() {
    ladder.highlight(room);
    for (const block of room.querySelectorAll(".given code.language-text")) rows(block);
    const area = room.querySelector("[data-editor]");
    editor = area && ladder.editor(area, { leave: () => room.querySelector("[data-after]").focus(), grade: () => press("grade") });
    if (editor) mark(area);
    sent = typed();
    const focused = room.querySelector("[data-focus]");
    if (editor) editor.focus();
    else if (focused) {
      focused.focus({ preventScroll: true });
      if (focused.value && focused.matches("input.line")) focused.select(); // what could not be read is typed over
    }
    const now = document.getElementById("now");
    window.scrollTo(0, 0); // not where the page before was left
    const top = !now || !form() || "first" in main().dataset || ["go_on", "rate", "begin"].includes(main().dataset.form)
      || (editor && now.offsetTop < window.innerHeight / 2);
    if (!top && now.getBoundingClientRect().bottom > window.innerHeight)
      now.scrollIntoView({ block: now.offsetHeight < window.innerHeight ? "end" : "start" });
    const text = main().dataset.news;
    if (news.textContent !== text) news.textContent = text;
    const brand = room.querySelector(".brand");
    if (brand) document.title = brand.textContent.trim();
    count();
  }

  // The line that the compiler refuses.
  function mark(area) {
    const graded = room.querySelector(".came > .graded"), file = area.labels[0].textContent.trim();
    const found = graded && graded.textContent.split(`${file}:`)[1], line = parseInt(found, 10) - 1;
    if (!(line >= 0 && line < editor.lineCount())) return;
    editor.addLineClass(line, "background", "refused");
    editor.setCursor(line, 0);
    editor.scrollIntoView({ line, ch: 0 }, 120);
  }

  // Rows of a page of counters: a narrow window makes one space of those before a value, and of a table's row as many
  // lines as it takes, each value behind its column's name.
  function rows(block) {
    const made = (name, ...inside) => {
      const element = document.createElement("span");
      element.className = name;
      element.append(...inside);
      return element;
    };
    const cell = ([name, from, to], line) => {
      const element = made("cell", line.slice(from, to));
      element.dataset.name = name;
      element.toggleAttribute("data-none", !element.textContent.trim());
      return element;
    };
    let columns = null;
    block.replaceChildren(...block.textContent.split("\n").flatMap((line) => {
      const heads = HEADS.test(line);
      if (heads) columns = columnsOf(line);
      else if (!line.trim()) columns = null;
      if (columns) return [made(heads ? "cells heads" : "cells", ...columns.map((each) => cell(each, line))), "\n"];
      const parts = line.split(/( {3,})/);
      const row = parts.length <= 5 && /^\S|^ {2}[^ \d]|^ {20,}\S+$/.test(line);
      return [row ? made(/^\S/.test(line) ? "row title" : "row", ...parts.map((part, at) => (at % 2 ? made("gap", part) : part))) : line, "\n"];
    }).slice(0, -1));
  }

  // Of a table's head the name of each column, and where its cells begin and end: numbers end where their name does.
  function columnsOf(line) {
    const names = [...line.matchAll(/\S+(?: \S+)*/g)], ends = names.map((name) => name.index + name[0].length);
    return names.map(([name], at) => [name, at ? ends[at - 1] : 0, at < names.length - 1 ? ends[at] : undefined]);
  }

  // An answer's reply and the news may bring the same: what is there already is left alone, and what is typed in it.
  function show(html) {
    const brought = document.createElement("template");
    brought.innerHTML = html;
    if (Number(brought.content.querySelector("main").dataset.version) <= Number(main().dataset.version)) return false;
    room.replaceChildren(brought.content);
    dress();
    return true;
  }

  function count() {
    clearInterval(timer);
    const shown = room.querySelector(".timer");
    if (!shown) return;
    const ends = performance.now() + 1000 * Number(shown.dataset.left);
    const tick = () => {
      const left = shown.hasAttribute("data-runs") ? (ends - performance.now()) / 1000 : Number(shown.dataset.left);
      const whole = Math.max(0, Math.round(left)), pad = (n) => String(n).padStart(2, "0");
      const hours = Math.floor(whole / 3600), minutes = Math.floor(whole / 60) % 60;
      const time = hours ? `${hours}:${pad(minutes)}:${pad(whole % 60)}` : `${minutes}:${pad(whole % 60)}`;
      shown.querySelector("[data-shown]").textContent = left <= 0 ? "Time is up: finish your sentence" : time;
      shown.classList.toggle("low", left < LOW_S);
    };
    tick();
    timer = setInterval(tick, 500);
  }

  // ---- what is sent ----

  function typed() {
    const field = room.querySelector("[data-draft]");
    return editor ? editor.getValue() : field ? field.value : "";
  }

  async function post(address, fields, outlives = false) {
    const answer = await fetch(address, {
      method: "POST", body: new URLSearchParams(fields), headers: { "x-room": "1" }, redirect: "error", keepalive: outlives,
    });
    if (!answer.ok) throw new Error(String(answer.status));
    return answer;
  }

  async function submit(sender, button) {
    if (editor) editor.save();
    const fields = new FormData(sender);
    if (button && button.name) fields.append(button.name, button.value);
    const able = (is) => { for (const each of sender.querySelectorAll("button")) each.disabled = !is; };
    able(false);
    try {
      const html = await (await post(sender.getAttribute("action"), fields)).text();
      if (!show(html)) able(true);
    } catch (error) {
      able(true);
      lost();
    }
  }

  function press(name) {
    const button = room.querySelector(`form[data-answer] button[value=${name}]`);
    if (button) form().requestSubmit(button);
  }

  async function keep(leaving = false) {
    const field = room.querySelector("[data-draft]"), now = typed();
    if (!field || now === sent || !form()) return;
    const before = sent;
    sent = now;
    try {
      const kept = await post("/draft", { number: form().elements.number.value, typed: now }, leaving);
      if (kept.status !== 204 && sent === now) sent = before;
    } catch (error) {
      if (sent === now) sent = before;
    }
  }

  // ---- what others do: the judge, and other windows ----

  function lost() {
    if (closed.hidden) closed.hidden = false;
  }

  async function listen() {
    for (;;) {
      try {
        const version = main().dataset.version;
        asking = new AbortController();
        const answer = await fetch(`/news?seen=${version}`, { signal: asking.signal, headers: { "x-room": "1" } });
        closed.hidden = true;
        if (answer.status === 200) {
          show(await answer.text());
        } else if (answer.status !== 204) {
          lost();
          await new Promise((done) => setTimeout(done, RETRY_MS));
        }
      } catch (error) {
        lost();
        await new Promise((done) => setTimeout(done, RETRY_MS));
      }
    }
  }

  document.addEventListener("submit", (event) => {
    event.preventDefault();
    submit(event.target, event.submitter);
  });

  document.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && event.target.matches("textarea")) {
      event.preventDefault();
      press(editor ? "grade" : "send");
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey || typing(event.target) || (editor && editor.hasFocus())) return;
    const option = room.querySelector(`.options input[value="${CSS.escape(event.key)}"]`);
    const button = room.querySelector(`button[data-key="${CSS.escape(event.key)}"]`);
    if (option) {
      option.checked = true;
      option.focus();
    } else if (button) button.click();
    else if (event.key === "?") press("clarify");
  });

  document.addEventListener("click", (event) => {
    const field = room.querySelector("input.line");
    const line = event.target.closest("[data-line]"), item = event.target.closest("[data-letter]");
    if (!field || !(line || item)) return;
    if (line) {
      field.value = line.dataset.line;
      for (const each of room.querySelectorAll("[data-line]")) each.classList.toggle("chosen", each === line);
    } else {
      const letter = item.dataset.letter;
      field.value = field.value.includes(letter) ? field.value.replace(letter, "") : field.value + letter;
    }
    field.focus();
  });

  if (location.search) history.replaceState(null, "", "/");
  dress();
  setInterval(keep, DRAFT_MS);
  window.addEventListener("pagehide", () => { keep(true); });
  listen();
})();
