// Chromium without a window, driven through two pipes (`--remote-debugging-pipe`): no port, no network.
"use strict";

const { spawn } = require("node:child_process");
const { mkdtempSync, rmSync } = require("node:fs");
const { tmpdir } = require("node:os");
const { join } = require("node:path");

/** A browser. Its answers come back in the order of their numbers; its events are kept. */
class Browser {
  constructor() {
    this.home = mkdtempSync(join(tmpdir(), "rprof-page-"));
    const args = [
      "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
      // Checks go through more states in a second than a user does.
      "--disable-ipc-flooding-protection",
      "--disable-component-update", "--disable-dev-shm-usage", `--user-data-dir=${this.home}`,
      "--remote-debugging-pipe", "about:blank",
    ];
    this.child = spawn("chromium", args, { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] });
    this.number = 0;
    /** @type {Map<number, {resolve: (value: any) => void, reject: (error: Error) => void}>} */
    this.asked = new Map();
    /** @type {{method: string, params: any}[]} */
    this.events = [];
    let rest = "";
    const [, , , input, output] = /** @type {any[]} */ (this.child.stdio);
    this.input = input;
    input.on("error", () => {});
    output.setEncoding("utf8");
    output.on("data", (/** @type {string} */ text) => {
      const messages = (rest + text).split("\0");
      rest = messages.pop() ?? "";
      for (const message of messages) this.heard(JSON.parse(message));
    });
    this.child.on("exit", () => this.fail("the browser ended"));
  }

  /** @param {any} message */
  heard(message) {
    if (message.id === undefined) return void this.events.push(message);
    const asked = this.asked.get(message.id);
    this.asked.delete(message.id);
    if (message.error) asked?.reject(new Error(JSON.stringify(message.error)));
    else asked?.resolve(message.result);
  }

  /** @param {string} why */
  fail(why) {
    for (const { reject } of this.asked.values()) reject(new Error(why));
    this.asked.clear();
  }

  /**
   * @param {string} method
   * @param {object} [params]
   * @param {string} [sessionId]
   * @returns {Promise<any>}
   */
  ask(method, params = {}, sessionId) {
    const id = ++this.number;
    this.input.write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
    return new Promise((resolve, reject) => this.asked.set(id, { resolve, reject }));
  }

  /** A new tab. @returns {Promise<Tab>} */
  async tab() {
    const { targetId } = await this.ask("Target.createTarget", { url: "about:blank" });
    const { sessionId } = await this.ask("Target.attachToTarget", { targetId, flatten: true });
    const tab = new Tab(this, sessionId);
    for (const domain of ["Page", "Runtime", "Log"]) await tab.ask(`${domain}.enable`);
    return tab;
  }

  async close() {
    await this.ask("Browser.close").catch(() => {});
    await new Promise((resolve) => (this.child.exitCode === null ? this.child.on("exit", resolve) : resolve(null)));
    rmSync(this.home, { recursive: true, force: true, maxRetries: 5 });
  }
}

class Tab {
  /** @param {Browser} browser @param {string} session */
  constructor(browser, session) {
    this.browser = browser;
    this.session = session;
  }

  /** @param {string} method @param {object} [params] @returns {Promise<any>} */
  ask(method, params) {
    return this.browser.ask(method, params, this.session);
  }

  /** Opens a page and waits until it is shown. @param {string} url */
  async open(url) {
    await this.ask("Page.navigate", { url: "about:blank" });
    await this.ask("Page.navigate", { url });
    await this.run(`new Promise((resolve) => {
      const look = () => document.documentElement?.dataset.ready
        ? resolve(true) : setTimeout(look, 5);
      look();
    })`);
  }

  /** The value of an expression in the page. @param {string} expression */
  async run(expression) {
    const params = { expression, awaitPromise: true, returnByValue: true, userGesture: true };
    const { result, exceptionDetails } = await this.ask("Runtime.evaluate", params);
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  }

  /** @param {number} width @param {number} height */
  size(width, height) {
    return this.ask("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor: 1, mobile: false });
  }

  /** @param {"light" | "dark"} value */
  prefer(value) {
    return this.ask("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value }] });
  }

  /** The mouse, from place to place with the button down. @param {number[][]} places */
  async drag(...places) {
    for (const [at, [x, y]] of places.entries()) {
      const type = at === 0 ? "mousePressed" : "mouseMoved";
      if (at === 0) await this.ask("Input.dispatchMouseEvent", { type: "mouseMoved", x, y });
      await this.ask("Input.dispatchMouseEvent", { type, x, y, button: "left", buttons: 1, clickCount: 1 });
    }
    const [x, y] = places[places.length - 1];
    await this.ask("Input.dispatchMouseEvent", { type: "mouseReleased", x, y, button: "left", clickCount: 1 });
  }

  /** @param {string} key @param {string} [text] */
  async press(key, text) {
    const code = { Enter: 13, Escape: 27, ArrowDown: 40, ArrowUp: 38, ArrowLeft: 37, ArrowRight: 39 }[key] ?? 0;
    const params = { key, windowsVirtualKeyCode: code, text: text ?? (key === "Enter" ? "\r" : undefined) };
    await this.ask("Input.dispatchKeyEvent", { type: params.text ? "keyDown" : "rawKeyDown", ...params });
    await this.ask("Input.dispatchKeyEvent", { type: "keyUp", key });
  }

  /** @param {string} text */
  type(text) {
    return this.ask("Input.insertText", { text });
  }

  /** A picture of the page. @returns {Promise<Buffer>} */
  async picture() {
    const { data } = await this.ask("Page.captureScreenshot", { format: "png" });
    return Buffer.from(data, "base64");
  }

  /** What the page complained of. */
  complaints() {
    return this.browser.events
      .filter(({ method }) => ["Runtime.exceptionThrown", "Log.entryAdded", "Runtime.consoleAPICalled"].includes(method))
      .map(({ params }) => params.entry?.text ?? params.exceptionDetails?.exception?.description ?? JSON.stringify(params.args));
  }
}

module.exports = { Browser };
