// The page's own script: keys, focus, words that come and go, files that are dropped. What is shown comes
// from the server; nothing here makes markup out of text.
(() => {
  "use strict";
  const $ = (selector, within = document) => within.querySelector(selector);
  const $$ = (selector, within = document) => [...within.querySelectorAll(selector)];
  const make = (tag, kind, text) => Object.assign(document.createElement(tag), { className: kind || "", textContent: text || "" });

  // --- What the page says -------------------------------------------------------------------------------
  function say(text, { undo = null, bad = false, look = null } = {}) {
    const box = $("#says");
    const line = make("div", bad ? "say bad" : "say");
    line.append(make("span", "", text));
    if (undo) {
      const back = make("button", "", "Undo");
      back.type = "button";
      back.dataset.back = "";
      back.addEventListener("click", () => { line.remove(); post(undo); });
      line.append(back);
    }
    if (look) {
      line.append(Object.assign(make("a", "", "Look"), { href: look }));
      window.htmx.process(line);
    }
    while (box.childElementCount >= 3) box.firstElementChild.remove();
    box.append(line);
    setTimeout(() => line.remove(), bad ? 12000 : 8000);
  }
  const post = (where, values = {}, target = null) =>
    window.htmx.ajax("POST", where, target ? { values, target, swap: "morph:outerHTML" } : { values, swap: "none", target: "#says" });

  document.addEventListener("steward:say", (event) => {
    say(event.detail.text, event.detail);
    document.body.dispatchEvent(new CustomEvent("tasks"));
  });
  function refused(answer, verb) {
    if (answer.status === 401) return gone();
    say(answer.responseText.slice(0, 600) || "That did not work.", { bad: true });
    // What was shown as done is not: everything is looked at again. A look that failed is not repeated.
    if (verb !== "get") document.body.dispatchEvent(new CustomEvent("resync"));
  }
  document.addEventListener("htmx:responseError", (event) => refused(event.detail.xhr, event.detail.requestConfig.verb));
  // As in any browser, going somewhere else ends the way to the page that was asked for before.
  let onTheWay = null;
  document.addEventListener("htmx:beforeRequest", ({ detail: { boosted, xhr } }) => {
    if (!boosted) return;
    onTheWay?.abort();
    onTheWay = xhr;
    xhr.addEventListener("loadend", () => { if (onTheWay === xhr) onTheWay = null; });
  });
  // The stream may draw a card anew while the answer to a button on it is on its way: htmx then tells an
  // element that nobody hears any more.
  document.addEventListener("htmx:beforeRequest", ({ detail }) => {
    const { elt, xhr, requestConfig } = detail;
    xhr.addEventListener("error", () => { if (!elt.isConnected) unanswered(); });
    xhr.addEventListener("readystatechange", () => {
      if (xhr.readyState !== XMLHttpRequest.DONE) return;
      // Ended on purpose (something newer takes its place, or the page is left), or not answered, which is said in
      // words: htmx would write both into the console as faults of a script, by what it names `error` here.
      if (!xhr.status) detail.error = "";
      if (elt.isConnected || !xhr.status) return;
      if (xhr.status >= 400) return refused(xhr, requestConfig.verb);
      const said = JSON.parse(xhr.getResponseHeader("HX-Trigger") || "{}")["steward:say"];
      if (said) document.dispatchEvent(new CustomEvent("steward:say", { detail: said }));
    });
  });
  const unanswered = () => say("Steward did not answer. Is 'steward up' still running?", { bad: true });
  document.addEventListener("htmx:sendError", unanswered);
  document.addEventListener("htmx:beforeSwap", (event) => {
    const boosted = event.detail.requestConfig?.boosted;
    if (boosted && event.detail.xhr.status >= 400 && event.detail.xhr.status !== 401) { event.detail.shouldSwap = true; event.detail.isError = false; }
  });

  // --- Signed out: elsewhere, by a restart, or after a long absence. Half-written words stay to be copied ----
  function gone() {
    const written = $$("input:not([type=hidden]), textarea").some((field) => field.value && field.value !== field.defaultValue);
    if (!written) return location.reload();
    if (document.body.classList.contains("gone")) return undefined;
    document.body.classList.add("gone");
    return say("You are not signed in any more. Load the page again; copy first what you have written.", { bad: true });
  }
  document.addEventListener("steward:left", gone);

  // --- What waits: in the tab's title, on the installed page's sign, and as a notification on request ----
  const waits = (count) => count === 1 ? "Something waits for your answer." : `${count} things wait for your answer.`;
  let counted = null;
  let notices = null;
  function count() {
    const badge = $("#badge");
    if (!badge) return;
    const waiting = Number(badge.dataset.count);
    const bare = document.title.replace(/^\(\d+\) /, "");
    const title = waiting ? `(${waiting}) ${bare}` : bare;
    if (document.title !== title) document.title = title;
    if (navigator.setAppBadge) (waiting ? navigator.setAppBadge(waiting) : navigator.clearAppBadge()).catch(() => {});
    if (counted !== null && waiting > counted && document.hidden && window.Notification?.permission === "granted" && localStorage.getItem("notify"))
      navigator.serviceWorker?.ready.then((worker) => worker.showNotification("Steward", { body: waits(waiting), tag: "waiting", icon: "/icon-192.png" }));
    // Where a person looks, whatever page that is; unless what waits is drawn there anyway.
    if (counted !== null && waiting > counted && !document.hidden)
      setTimeout(() => { if (!$("main .card.waiting, main .card.question")) say(waits(waiting), { look: "/approvals" }); }, 1000);
    counted = waiting;
    const told = $$("[data-notice]").map((each) => [each.id, each.dataset.notice]);
    if (notices !== null && document.hidden && window.Notification?.permission === "granted" && localStorage.getItem("notify"))
      for (const [id, words] of told.filter(([id]) => !notices.has(id)))
        navigator.serviceWorker?.ready.then((worker) => worker.showNotification("Steward", { body: words, tag: id, icon: "/icon-192.png" }));
    notices = new Set(told.map(([id]) => id));
  }

  // --- What a morph must not take away: open details, words being written --------------------------------
  const kept = window.Idiomorph?.defaults;
  if (kept) {
    kept.callbacks.beforeAttributeUpdated = (name, node) => !(node.tagName === "DETAILS" && name === "open") && !(name === "class" && node.classList?.contains("dragging"));
    kept.callbacks.beforeNodeMorphed = (old) => {
      if (old.nodeType !== 1) return true;
      if (old.hasAttribute("data-keep") || old.matches("[data-keep-open][open]") || (old.classList.contains("log") && old.childElementCount)) return false;
      if (old === document.activeElement && old.matches("input:not([type=checkbox]), textarea, select")) return false;
      return !(old.tagName === "TEXTAREA" && old.value !== old.defaultValue);
    };
  }

  // --- After each swap -----------------------------------------------------------------------------------
  let lastItem = null;
  document.addEventListener("focusin", (event) => { lastItem = event.target.closest?.("[data-item]")?.id || null; });
  document.addEventListener("htmx:beforeSwap", () => { scrolledDown = nearEnd(); });
  document.addEventListener("htmx:afterSettle", (event) => {
    settle();
    // It had the focus once: a list that is drawn anew around it must not take it from where somebody writes by now.
    for (const field of $$("[autofocus]")) field.removeAttribute("autofocus");
    const boosted = event.detail.requestConfig?.boosted;
    if (boosted && event.target === document.body) ($("[data-here]") || $("#message") || $("h1"))?.focus?.({ preventScroll: !$("[data-here]") });
    else if (lastItem && document.activeElement === document.body)
      (document.getElementById(lastItem) || event.target.closest?.("[data-item]"))?.focus({ preventScroll: true });
  });
  let scrolledDown = true;
  const nearEnd = () => { const thread = $("#thread"); return !thread || thread.scrollHeight - thread.scrollTop - thread.clientHeight < 160; };
  function toEnd() { const thread = $("#thread"); if (thread) thread.scrollTop = thread.scrollHeight; }
  function settle() {
    count();
    if ($("h1")) $("h1").tabIndex = -1;
    if (scrolledDown) toEnd();
    theme();
    ages();
    $("[data-notify]")?.setAttribute("aria-pressed", String(Boolean(localStorage.getItem("notify"))));
  }

  // --- Talking -------------------------------------------------------------------------------------------
  let saying = "";
  // What could not be said stands in its field again, unless something else is being written there.
  function unspoken(event) {
    if (!event.target.matches?.("[data-composer]")) return;
    $("#message").value ||= saying;
    $("#live")?.replaceChildren();
  }
  document.addEventListener("htmx:responseError", unspoken);
  document.addEventListener("htmx:sendError", unspoken);
  function speak(form) {
    const message = $("#message");
    saying = message.value;
    const echo = $("#echo").content.cloneNode(true);
    $("p", echo).textContent = message.value;
    $("#thread .empty")?.remove();
    const live = $("#live");
    live.className = "turn";
    live.replaceChildren(echo);
    toEnd();
    scrolledDown = true;
    message.value = "";
    message.focus();
    return form;
  }
  document.addEventListener("htmx:configRequest", (event) => { if (event.target.matches?.("[data-composer]")) speak(event.target); });
  document.addEventListener("click", (event) => {
    const again = event.target.closest("[data-again]"), example = event.target.closest("[data-example]");
    const message = $("#message");
    if (again && message) { message.value = again.dataset.again; message.focus(); message.select(); }
    if (example && message) {
      if ($("#agent")) $("#agent").value = example.dataset.agent;
      message.value = example.dataset.example;
      $("#composer").requestSubmit();
    }
  });

  // --- Asked before what cannot be taken back ------------------------------------------------------------
  document.addEventListener("htmx:confirm", (event) => {
    if (!event.detail.question) return;
    event.preventDefault();
    const dialog = $("#ask"), back = document.activeElement;
    $("#ask-words").textContent = event.detail.question;
    const end = (yes) => { dialog.close(); back?.focus?.(); if (yes) event.detail.issueRequest(true); };
    $("[data-yes]", dialog).onclick = () => end(true);
    $("[data-no]", dialog).onclick = () => end(false);
    dialog.showModal();
    $("[data-yes]", dialog).focus();
  });

  // --- How long ago, while the page stands open: the words of look.py's `ago` -----------------------------
  function ages() {
    for (const each of $$("time[title]")) {
      const seconds = (Date.now() - Date.parse(each.dateTime)) / 1000;
      const [size, word] = [[86400, "day"], [3600, "hour"], [60, "minute"]].find(([size]) => seconds >= size) || [];
      const count = Math.floor(seconds / size);
      const words = word ? `${count.toLocaleString("en")} ${word}${count === 1 ? "" : "s"} ago` : "just now";
      if (each.textContent !== words) each.textContent = words;
      each.title = new Date(each.dateTime).toLocaleString([], { dateStyle: "medium", timeStyle: "medium" });
    }
  }
  setInterval(ages, 20000);

  // --- Small things --------------------------------------------------------------------------------------
  const THEMES = { "": "System", light: "Light", dark: "Dark" };
  function theme() { const name = $("[data-theme-name]"); if (name) name.textContent = THEMES[document.documentElement.dataset.theme || ""]; }
  document.addEventListener("click", async (event) => {
    const on = (selector) => event.target.closest?.(selector);
    if (on("[data-theme-switch]")) {
      const order = ["", "light", "dark"], now = document.documentElement.dataset.theme || "";
      const next = order[(order.indexOf(now) + 1) % 3];
      if (next) { document.documentElement.dataset.theme = next; localStorage.setItem("theme", next); }
      else { delete document.documentElement.dataset.theme; localStorage.removeItem("theme"); }
      theme();
    }
    if (on("[data-notify]")) {
      if (localStorage.getItem("notify")) { localStorage.removeItem("notify"); say("You are not told any more."); }
      else if ((await window.Notification?.requestPermission()) === "granted") { localStorage.setItem("notify", "1"); say("You are told when something waits."); }
      else say("The browser does not allow it.", { bad: true });
      settle();
    }
    if (on("[data-help]")) $("#keys").showModal();
    const more = on("[data-more]");
    if (more) more.setAttribute("aria-expanded", String($("#more-sheet").classList.toggle("open")));
    const copy = on("[data-copy]");
    if (copy) navigator.clipboard?.writeText(copy.previousElementSibling.textContent).then(() => say("Copied."), () => say("The browser does not allow it.", { bad: true }));
    const undo = on("[data-undo]");
    if (undo) post(undo.dataset.undo);
    if (!on(".menu")) $$(".menu[open]").forEach((menu) => { menu.open = false; });
  });
  document.addEventListener("change", (event) => { if (event.target.matches("[data-submit]")) event.target.form.requestSubmit(); });
  document.addEventListener("htmx:afterRequest", (event) => {
    if (event.detail.successful && event.target.matches?.("[data-add]")) { event.target.reset(); $("#preview")?.replaceChildren(); $("input", event.target).focus(); }
  });

  // --- Tasks are dropped on days -------------------------------------------------------------------------
  const whereTasks = () => Object.fromEntries($$("#where input").map((field) => [field.name, field.value]));
  const move = (task, day) => post(`/tasks/${encodeURIComponent(task)}/move`, { ...whereTasks(), day }, "#tasks");
  let dragged = null;
  document.addEventListener("dragstart", (event) => {
    const task = event.target.closest?.("[data-task]");
    if (!task) return;
    dragged = task.dataset.task;
    task.classList.add("dragging");
    event.dataTransfer.effectAllowed = "move";
    event.dataTransfer.setData("text/plain", dragged);
  });
  document.addEventListener("dragend", () => { dragged = null; $$(".dragging, .over").forEach((each) => each.classList.remove("dragging", "over")); });
  document.addEventListener("dragover", (event) => {
    const files = event.dataTransfer.types.includes("Files");
    const place = files ? $("[data-drop]") : dragged !== null && event.target.closest("[data-day]");
    $$(".over").forEach((each) => each.classList.remove("over"));
    if (place) { event.preventDefault(); place.classList.add("over"); }
  });
  document.addEventListener("drop", (event) => {
    const day = dragged !== null && event.target.closest("[data-day]");
    if (event.dataTransfer.files.length && $("[data-drop]")) { event.preventDefault(); upload([...event.dataTransfer.files]); }
    else if (day) { event.preventDefault(); move(dragged, day.dataset.day); }
    $$(".over").forEach((each) => each.classList.remove("over"));
  });

  // --- Files ---------------------------------------------------------------------------------------------
  document.addEventListener("change", (event) => { if (event.target.id === "files") { upload([...event.target.files]); event.target.value = ""; } });
  async function upload(files) {
    const into = $("#into").value.trim() || "documents";
    const sending = files.map((file) => ({ file, box: boxFor(file) }));
    let added = 0;
    for (const { file, box } of sending) if (await send(file, into, box)) added += 1;
    if (added) say(`${added} of ${files.length} documents are in ${into}. Search finds them now.`);
  }
  function boxFor(file) {
    const box = make("div", "upload"), bar = make("progress");
    bar.setAttribute("aria-label", file.name);
    bar.value = 0;
    box.append(make("p", "", `${file.name}: waits for its turn`), bar);
    $("#uploads").append(box);
    return box;
  }
  async function send(file, into, box) {
    const words = $("p", box), bar = $("progress", box);
    words.textContent = `${file.name}: on its way`;
    bar.removeAttribute("value");
    try {
      const where = `/documents/in/${encodeURIComponent(into)}/files/${encodeURIComponent(file.name)}`;
      const answer = await fetch(where, { method: "PUT", body: file, headers: { Accept: "text/event-stream", "HX-Request": "true", "Content-Type": "application/octet-stream" } });
      if (!answer.ok) throw new Error(await answer.text());
      const result = await follow(answer.body, (step) => {
        if (step.total) { bar.max = step.total; bar.value = step.done; }
        words.textContent = `${file.name}: ${step.total ? `${step.done} of ${step.total} passages` : "is read"}`;
      });
      if (!result?.success) throw new Error(result?.error || "It waits for a yes under Approvals.");
      box.remove();
      return true;
    } catch (problem) {
      // It stays until somebody has read it, whatever becomes of the others.
      const why = String(problem.message).slice(0, 400);
      words.textContent = why.startsWith(file.name) ? why : `${file.name}: ${why}`;
      const gone = make("button", "quiet tiny", "Close");
      gone.type = "button";
      gone.addEventListener("click", () => box.remove());
      bar.replaceWith(gone);
      box.classList.add("bad");
      box.setAttribute("role", "alert");
      return false;
    }
  }
  async function follow(body, step) {
    const reader = body.pipeThrough(new TextDecoderStream()).getReader();
    let text = "", result = null;
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return result;
      text += value;
      const events = text.split("\n\n");
      text = events.pop();
      for (const each of events) {
        const [, name, data] = /^event: (\w+)\ndata: (.*)$/s.exec(each) || [];
        if (name === "progress") step(JSON.parse(data));
        if (name === "result") result = JSON.parse(data);
      }
    }
  }

  // --- Keys ----------------------------------------------------------------------------------------------
  const GO = { a: "/approvals", c: "/chat", t: "/tasks", d: "/documents", v: "/activity", m: "/memory", o: "/tools", s: "/servers" };
  let going = 0;
  const items = () => $$("[data-item]").filter((item) => item.offsetParent !== null);
  const current = () => document.activeElement?.closest?.("[data-item]");
  const entrance = () => items().find((item) => $("[data-reject], .decide", item)) || items()[0]; // what waits comes first
  function step(by) {
    const all = items();
    if (!all.length) return;
    const next = current() ? all[Math.min(all.length - 1, Math.max(0, all.indexOf(current()) + by))] : entrance();
    (next.matches("details") ? $("summary", next) : next).focus();
    next.scrollIntoView({ block: "nearest" });
  }
  const press = (selector) => { const item = current() || items()[0]; const found = item && $(selector, item); if (found) { found.focus(); found.click(); } return found; };
  // What was unfolded by a key is gone on with by the next one.
  function unfold(summary, ...firsts) {
    if (summary?.matches("summary")) setTimeout(() => firsts.map((first) => $(first, summary.parentElement)).find(Boolean)?.focus());
    return summary;
  }
  function onKey(key) {
    const here = document.body.querySelector("main").className;
    if (key === "j") return step(1);
    if (key === "k") return step(-1);
    if (key === "?") return $("#keys").showModal();
    if (key === "/") return ($("[data-search]") || $("input[type=search]"))?.focus();
    if (key === "n") { const made = $("[data-new]"); return made?.matches("a") ? made.click() : made?.focus(); }
    if (key === "u") return ($$("#says [data-back]").pop() || $("[data-undo]"))?.click();
    if (key === "e") return press("[data-edit]") || unfold(press(".edit > summary"), "textarea", "input:not([type=hidden])");
    if (here === "tasks") {
      if (key === "x") return press("input[type=checkbox]");
      if (key === "h") return press("[data-history]");
      if (key === "d") return press("[data-delete]");
      const day = { 1: "today", 2: "tomorrow", 7: "week", 0: "" }[key];
      if (day !== undefined && current()) return move(current().dataset.task, day);
      return undefined;
    }
    if (key !== "a" && key !== "r") return undefined;
    // Only what somebody has before their eyes is decided: the first key goes there, the second one decides.
    if (!current()) return step(0);
    return key === "a" ? unfold(press("[data-approve]"), "[data-run]") : press("[data-reject]");
  }
  document.addEventListener("keydown", (event) => {
    const writing = event.target.matches?.("input:not([type=checkbox]), textarea, select, [contenteditable]");
    if (event.key === "Escape") {
      const cancel = event.target.closest?.("[data-cancel]");
      if (cancel) return $("[data-cancel-edit]", cancel).click();
      $$(".menu[open]").forEach((menu) => { menu.open = false; });
      if ($("[data-stop]")) return $("[data-stop]").click();
      if (writing) event.target.blur();
      return undefined;
    }
    if (event.target.id === "message" && event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      if (event.target.value.trim() && !$("#live[aria-busy]")) $("#composer").requestSubmit();
      return undefined;
    }
    if (writing || event.ctrlKey || event.metaKey || event.altKey || $("dialog[open]")) return undefined;
    if (Date.now() - going < 1200 && GO[event.key]) { going = 0; event.preventDefault(); return $(`.side a[href="${GO[event.key]}"]`)?.click(); }
    if (event.key === "g") { going = Date.now(); return undefined; }
    if (event.key.length === 1 && event.key !== " ") { if (onKey(event.key) !== undefined || "jk/?nuearxhd".includes(event.key)) event.preventDefault(); }
    return undefined;
  });

  document.addEventListener("DOMContentLoaded", () => { settle(); $("[data-here]")?.scrollIntoView({ block: "center" }); });
  if (document.readyState !== "loading") settle();
  navigator.serviceWorker?.register("/sw.js").catch(() => {});
})();
