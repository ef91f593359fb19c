// What mouse and keys do to lanes.

/** Left of it, a click opens or closes a process. */
const TWISTY = 18;

/** @param {Lanes} lanes */
function listenToLanes(lanes) {
  const { canvas, events } = lanes;
  lanes.place.addEventListener("scroll", () => lanes.draw());
  canvas.addEventListener("mousemove", (event) => {
    const lane = lanes.lanes[lanes.laneAt(event.clientY)];
    const x = event.clientX - canvas.getBoundingClientRect().left;
    const pointed = lane === undefined || x < lanes.scale.left ? -1 : lanes.waitAt(lane, lanes.scale.time(x));
    if (pointed !== lanes.pointed) {
      lanes.pointed = pointed;
      lanes.draw();
    }
    events.say(lane === undefined ? "" : `${lanes.said(lane)}${lanes.saidAt(lane, event)}`, { x: event.clientX, y: event.clientY });
  });
  canvas.addEventListener("mouseleave", (event) => events.say("", { x: event.clientX, y: event.clientY }));
  for (const name of ["focus", "blur"]) canvas.addEventListener(name, () => lanes.draw());
  canvas.addEventListener("contextmenu", (event) => {
    const at = event.button === 2 ? lanes.laneAt(event.clientY) : lanes.focused;
    const lane = lanes.lanes[at];
    if (lane === undefined) return;
    event.preventDefault();
    lanes.focused = at;
    events.menu(lane, placeOf(event));
  });
  dragOver(canvas, (from, to) => {
    const { left } = lanes.scale;
    lanes.drag = to - from < DRAG || to < left ? null : [Math.max(left, from), to];
    lanes.draw();
  }, (x, y, from) => {
    const at = lanes.laneAt(y);
    const lane = lanes.lanes[at];
    const { drag } = lanes;
    lanes.drag = null;
    if (drag !== null) return events.range(lanes.scale.range(...drag), from);
    if (lane === undefined) return;
    lanes.focused = at;
    if (lane.kind === "process" && x - canvas.getBoundingClientRect().left < TWISTY) lanes.toggle(lane);
    else events.choose(lane);
  });
  canvas.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || !keyOfLanes(lanes, event.key)) return;
    event.preventDefault();
    event.stopPropagation();
  });
}

/**
 * Whether a key meant something.
 * @param {Lanes} lanes
 * @param {string} name
 */
function keyOfLanes(lanes, name) {
  const { focused } = lanes;
  const lane = lanes.lanes[focused];
  const page = Math.max(1, Math.floor(lanes.place.clientHeight / LANE) - 1);
  const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity };
  const step = steps[/** @type {keyof typeof steps} */ (name)];
  if (step !== undefined) lanes.focus(focused < 0 ? 0 : focused + step);
  else if (lane === undefined) return false;
  else if (name === "Enter" || name === " ") lanes.events.choose(lane);
  else if (name === "ArrowRight" || name === "ArrowLeft") {
    if (lane.kind === "process" && lane.isOpen !== (name === "ArrowRight")) lanes.toggle(lane);
    else if (lane.depth > 0 && name === "ArrowLeft") {
      let at = focused;
      while (lanes.lanes[at].depth > 0) at--;
      lanes.focus(at);
    }
  } else if (name === "m") {
    const { left, top } = lanes.canvas.getBoundingClientRect();
    lanes.events.menu(lane, { x: left + 8, y: top + lanes.topOf(focused, lanes.place.scrollTop) + LANE });
  } else return false;
  return true;
}

/**
 * A text cut at its end, if there is too little room.
 * @param {CanvasRenderingContext2D} context
 * @param {string} text
 * @param {number} room
 */
function shortened(context, text, room) {
  const width = context.measureText(text).width;
  return width <= room ? text : `${text.slice(0, Math.max(0, Math.floor((text.length * room) / width) - 1))}…`;
}

/**
 * A name cut in the middle: the number of a thread is at its end.
 * @param {CanvasRenderingContext2D} context
 * @param {string} text
 * @param {number} room
 */
function middleShortened(context, text, room) {
  const width = context.measureText(text).width;
  return width <= room ? text : middleCut(text, Math.max(1, Math.floor((text.length * room) / width) - 1));
}
