// What runs first, in a language that old browsers know, too: it unpacks the page's script and adds it, or says why it
// cannot. The page's policy knows both by their hashes: nothing else would run.

(function () {
  "use strict";
  var status = document.getElementById("status");

  /**
   * @param {string} why
   */
  function fail(why) {
    if (status === null) return;
    status.hidden = false;
    status.textContent = why;
    // Where no script runs there is a table: it is text, whatever its names are.
    var unread = document.querySelector("noscript");
    var plain = unread && new DOMParser().parseFromString(unread.textContent || "", "text/html").querySelector("pre");
    if (!plain || document.querySelector("main .plain")) return;
    var text = document.createElement("pre");
    text.className = "plain";
    text.textContent = plain.textContent;
    if (status.parentNode) status.parentNode.appendChild(text);
  }

  /** @type {any} */
  var browser = window;
  var lacks = [];
  if (!browser.DecompressionStream) lacks.push("DecompressionStream");
  if (!(/** @type {any} */ (Array.prototype).at) || !(/** @type {any} */ (Object).hasOwn)) lacks.push("ES2022");
  if (!browser.HTMLDialogElement) lacks.push("<dialog>");
  if (!browser.ResizeObserver) lacks.push("ResizeObserver");
  if (!browser.PointerEvent) lacks.push("PointerEvent");
  if (lacks.length > 0) {
    return fail("This page needs Chrome 98, Firefox 113, Safari 16.4 or later; this browser lacks " + lacks.join(", ") +
      ". Or read the recording as text: rprof report");
  }
  addEventListener("error", function (event) {
    if (!document.documentElement.dataset.ready) fail("Cannot show this page: " + event.message);
  });

  var packed = document.getElementById("page-script");
  var binary = atob(((packed && packed.textContent) || "").trim());
  var bytes = new Uint8Array(binary.length);
  for (var at = 0; at < binary.length; at++) bytes[at] = binary.charCodeAt(at);
  var stream = new Blob([bytes]).stream().pipeThrough(new browser.DecompressionStream("deflate"));
  new Response(stream).text().then(function (text) {
    var script = document.createElement("script");
    script.textContent = text;
    document.body.appendChild(script);
    script.remove();
    if (packed) packed.remove();
  }).catch(function (error) {
    fail("Cannot show this page: its script is damaged (" + error.message + ")");
  });
})();
