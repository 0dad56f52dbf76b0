// One stream for all tabs of a visit. A browser gives one address six connections: with a stream for each tab
// the seventh would wait for ever. A shared worker reads it and tells every tab; where a browser has none, the
// tab reads it itself. This file is both: the worker's script, and the tab's way to it.
(() => {
  "use strict";
  const SILENT_MS = 40000; // the server shows every 15 s that it lives
  const STALE_MS = 20000; // ... and a tab that is looked at again does not wait so long
  const AGAIN_MS = 1000;
  const pause = (ms) => new Promise((done) => setTimeout(done, ms));
  const split = (id) => { const [run, number] = String(id || "").split("-"); return [run, Number(number)]; };
  // Whether what was drawn at the one number may lack what was told up to the other.
  const lacks = (drawn, told) => { const [run, number] = split(drawn), [other, last] = split(told); return run !== other || number < last; };

  class Reader {
    constructor() { Object.assign(this, { tabs: new Set(), last: "", visit: "", open: false, reading: false, heard: 0 }); }
    join(tab) {
      this.tabs.add(tab);
      tab.tell({ open: this.open });
      if (this.last && lacks(tab.at, this.last)) tab.tell({ name: "resync" });
      if (!this.reading) { this.last = tab.at; this.read(); }
      else if (this.visit && this.visit !== tab.visit) this.end(); // somebody signed in anew
    }
    tell(message) { for (const tab of this.tabs) tab.tell(message); }
    end() { this.ending?.abort(); }
    look(ms) { if (Date.now() - this.heard > ms) this.end(); }
    state(open) { if (open !== this.open) { this.open = open; this.tell({ open }); } }
    async read() {
      this.reading = true;
      const watch = setInterval(() => this.look(SILENT_MS), 5000);
      while (this.tabs.size) {
        this.ending = new AbortController();
        this.heard = Date.now();
        try {
          const answer = await fetch("/events", { cache: "no-store", headers: this.last ? { "Last-Event-ID": this.last } : {}, signal: this.ending.signal });
          if (answer.status === 401) { this.tell({ left: true }); break; }
          if (answer.ok) await this.follow(answer);
        } catch { /* away: once more */ }
        this.state(false);
        await pause(AGAIN_MS);
      }
      clearInterval(watch);
      this.state(false);
      this.tabs.clear();
      Object.assign(this, { last: "", visit: "", reading: false });
    }
    async follow(answer) {
      this.visit = answer.headers.get("X-Steward-Visit");
      for (const tab of this.tabs) if (tab.visit !== this.visit) { tab.tell({ left: true }); this.tabs.delete(tab); }
      const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
      let text = "";
      for (;;) {
        const { value, done } = await reader.read();
        if (done) return;
        this.heard = Date.now();
        const blocks = (text + value).split("\n\n");
        text = blocks.pop();
        for (const block of blocks) this.take(Object.fromEntries(block.split("\n").map((line) => /^(\w*): ?(.*)$/.exec(line)?.slice(1) || ["", ""])));
      }
    }
    take({ id, event, data }) {
      if (!event) return;
      if (event === "hello") {
        this.state(true);
        // What came before this tab joined, and cannot be told again.
        if (!JSON.parse(data).resumed && this.last !== id) this.tell({ name: "resync" });
      } else if (event === "left") { this.tell({ left: true }); this.tabs.clear(); }
      else this.tell({ name: event, data, id });
      this.last = id;
    }
  }

  if (typeof document === "undefined") {
    const reader = new Reader();
    self.onconnect = ({ ports: [port] }) => {
      let tab = null;
      port.onmessage = ({ data }) => {
        if (data.join) reader.join((tab = { ...data.join, tell: (message) => port.postMessage(message) }));
        if (data.look) reader.look(STALE_MS);
        if (data.bye) reader.tabs.delete(tab);
      };
    };
    return;
  }

  // --- In the tab: what looks like an EventSource to htmx's extension -----------------------------------------
  const TOGETHER_MS = { approvals: 30, conversations: 400, jobs: 400, activity: 400 }, SOON_MS = 150, AGAIN_SOON_MS = 30;
  const source = document.currentScript.src;
  const shell = () => document.querySelector("main").dataset;
  const shared = () => { try { return new SharedWorker(source, { name: "stream" }).port; } catch { return null; } }; // none, or not allowed
  class TabStream extends EventTarget {
    constructor() {
      super();
      Object.assign(this, { readyState: 0, last: "", coming: new Set() });
      const join = () => ({ at: this.last || shell().at, visit: shell().visit });
      const port = shared();
      if (port) {
        port.onmessage = ({ data }) => this.take(data);
        port.postMessage({ join: join() });
        window.addEventListener("pagehide", () => port.postMessage({ bye: true }));
        window.addEventListener("pageshow", (event) => { if (event.persisted) port.postMessage({ join: join() }); });
        document.addEventListener("visibilitychange", () => { if (!document.hidden) port.postMessage({ look: true }); });
      } else {
        const reader = new Reader();
        document.addEventListener("visibilitychange", () => { if (!document.hidden) reader.look(STALE_MS); });
        queueMicrotask(() => reader.join({ ...join(), tell: (message) => this.take(message) }));
      }
    }
    close() { /* it lives as long as its tab */ }
    take({ open, left, name, data, id }) {
      if (open !== undefined) {
        this.readyState = open ? 1 : 0;
        document.body.classList.toggle("offline", !open);
        if (open) this.onopen?.(new Event("open"));
      }
      if (left) document.dispatchEvent(new CustomEvent("steward:left"));
      if (id) this.last = id;
      if (name) this.tell(name, data);
    }
    // What comes in quick succession is drawn together, and never put off for longer than this.
    tell(name, data) {
      if (this.coming.has(name)) return;
      this.coming.add(name);
      const go = () => {
        // Whoever is being drawn anew now asked too early: told then, it would be forgotten with the old element.
        if (document.querySelector(`.htmx-request[hx-trigger*="${name === "resync" ? name : `sse:${name}`}"]`)) return setTimeout(go, AGAIN_SOON_MS);
        this.coming.delete(name);
        if (name === "resync") document.body.dispatchEvent(new CustomEvent("resync"));
        else this.dispatchEvent(new MessageEvent(name, { data }));
        return undefined;
      };
      if (name.startsWith("turn-")) go(); // the server has drawn together what belongs together
      else setTimeout(go, TOGETHER_MS[name] ?? SOON_MS);
    }
    // Another page was drawn into this tab: what was told while it was on its way may be missing on it.
    drawn() { if (this.last && lacks(shell().at, this.last)) this.tell("resync"); }
  }
  let stream = null;
  window.htmx.createEventSource = () => (stream = new TabStream());
  document.addEventListener("htmx:afterSettle", (event) => { if (event.target === document.body) stream?.drawn(); });
})();
