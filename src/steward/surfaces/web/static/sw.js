// Keeps the shell's own files, which never change at their address, and nothing else: no document, no data.
const SHELL = "steward-shell";
self.addEventListener("install", () => self.skipWaiting());
self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));
self.addEventListener("fetch", (event) => {
  const address = new URL(event.request.url);
  if (event.request.method !== "GET" || !address.pathname.startsWith("/static/")) return;
  event.respondWith(
    caches.open(SHELL).then(async (kept) => {
      const known = await kept.match(event.request);
      if (known) return known;
      const fresh = await fetch(event.request);
      if (fresh.ok) {
        const name = address.pathname.split("/").slice(3).join("/");
        for (const old of await kept.keys()) if (new URL(old.url).pathname.endsWith("/" + name)) await kept.delete(old);
        await kept.put(event.request, fresh.clone());
      }
      return fresh;
    }),
  );
});
self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(self.clients.openWindow("/approvals"));
});
