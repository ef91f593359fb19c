// What is likely asked for next, found in idle time once the page is ready.

/** Of more stacks, to find it takes longer than a pause of the user. */
const MOST_AHEAD = 1e6;

/** A step begins only if the browser expects so many idle milliseconds. */
const IDLE_MS = 25;

/** @param {App} app */
function prepareAhead(app) {
  const { profile } = app;
  if (profile.parents.length > MOST_AHEAD || profile.sides !== null) return;
  const steps = app.ahead;
  /** @type {Grouping[]} */
  const groupings = ["function", "image", "thread", ...(profile.hasPlaces ? [/** @type {const} */ ("line")] : [])];
  steps.push(
    ...groupings.map((grouping) => () => void rowColumns(profile, grouping)),
    () => void app.counts.totals(profile),
    ...(profile.hasPlaces ? [() => void profile.nameRanks(true)] : []),
    () => app.boxes.prepareInverted(),
    () => {
      const { code } = app.views.all;
      if (code instanceof CodeView && HAS_CODE) void code.prepare();
    },
  );
  const request = globalThis.requestIdleCallback ?? ((/** @type {IdleRequestCallback} */ step) =>
    setTimeout(() => step({ didTimeout: false, timeRemaining: () => IDLE_MS }), 300));
  const step = (/** @type {IdleDeadline} */ deadline) => {
    if (deadline.timeRemaining() >= IDLE_MS) steps.shift()?.();
    if (steps.length > 0) request(step);
  };
  request(step);
}
