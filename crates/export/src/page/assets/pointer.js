// What mouse and keys do to a flame graph.

/** Less is a click, not a drag. */
const DRAG = 4;

/** @param {Flame} flame */
function listenTo(flame) {
  const canvas = flame.canvas;
  flame.place.addEventListener("scroll", () => {
    flame.top = flame.place.scrollTop;
    flame.ask();
  });
  canvas.addEventListener("mousemove", (event) => hover(flame, flame.boxAt(event), event));
  canvas.addEventListener("mouseleave", (event) => hover(flame, -1, event));
  canvas.addEventListener("contextmenu", (event) => {
    const box = event.button === 2 ? flame.boxAt(event) : flame.selected;
    if (box < 0) return;
    event.preventDefault();
    flame.choose(box);
    flame.events.menu(box, placeOf(event));
  });
  canvas.addEventListener("pointerdown", (event) => press(flame, event));
  canvas.addEventListener("wheel", (event) => turn(flame, event), { passive: false });
  canvas.addEventListener("keydown", (event) => {
    if (!event.ctrlKey && !event.altKey && !event.metaKey && key(flame, event.key)) event.preventDefault();
  });
}

/**
 * @param {Flame} flame
 * @param {number} box
 * @param {MouseEvent} event
 */
function hover(flame, box, event) {
  flame.events.hover(box, { x: event.clientX, y: event.clientY });
  if (box === flame.hovered) return;
  flame.hovered = box;
  flame.ask();
}

/**
 * A drag moves the picture, a click zooms.
 * @param {Flame} flame
 * @param {PointerEvent} event
 */
function press(flame, event) {
  if (event.button !== 0) return;
  hover(flame, -1, event);
  const from = { x: event.clientX, y: event.clientY, start: flame.start, top: flame.place.scrollTop };
  let isDrag = false;
  /** @param {PointerEvent} moved */
  const move = (moved) => {
    const [dx, dy] = [moved.clientX - from.x, moved.clientY - from.y];
    isDrag = isDrag || Math.abs(dx) + Math.abs(dy) > DRAG;
    if (!isDrag) return;
    flame.view(from.start - (dx / flame.place.clientWidth) * flame.width, flame.width);
    flame.place.scrollTop = from.top - dy;
  };
  const end = () => {
    flame.canvas.removeEventListener("pointermove", move);
    if (isDrag) return flame.events.zoom();
    const box = flame.boxAt(event);
    if (box < 0) return;
    flame.choose(box);
    flame.zoomTo(flame.boxes.widths[box] === flame.boxes.whole ? -1 : box);
    flame.events.zoom();
  };
  flame.canvas.setPointerCapture(event.pointerId);
  flame.canvas.addEventListener("pointermove", move);
  flame.canvas.addEventListener("pointerup", end, { once: true });
}

/**
 * With Ctrl it zooms where the pointer is; sideways it moves.
 * @param {Flame} flame
 * @param {WheelEvent} event
 */
function turn(flame, event) {
  const { start, width, place } = flame;
  if (event.ctrlKey || event.metaKey) {
    const rect = flame.canvas.getBoundingClientRect();
    const share = (event.clientX - rect.left) / rect.width;
    const next = Math.min(flame.boxes.whole, width * Math.exp(event.deltaY * 0.003));
    flame.view(start + share * (width - next), next);
  } else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
    flame.view(start + ((event.deltaX || event.deltaY) / place.clientWidth) * width, width);
  } else return;
  flame.events.zoom();
  event.preventDefault();
}

/**
 * Whether a key meant something.
 * @param {Flame} flame
 * @param {string} name
 */
function key(flame, name) {
  const { boxes, selected } = flame;
  if (boxes.lists.length === 0) return false;
  const first = boxes.lists[0][0];
  switch (name) {
    case "ArrowUp":
      flame.choose(selected < 0 ? first : Math.max(boxes.parents[selected], boxes.parents[selected] < 0 ? selected : 0));
      return true;
    case "ArrowDown":
      flame.choose(selected < 0 ? first : childOf(boxes, selected));
      return true;
    case "ArrowLeft":
    case "ArrowRight":
      flame.choose(selected < 0 ? first : besides(boxes, selected, name === "ArrowLeft" ? -1 : 1));
      return true;
    case "Enter":
      if (selected >= 0) flame.zoomTo(selected);
      break;
    case "+":
    case "-": {
      const width = name === "+" ? flame.width / 1.5 : flame.width * 1.5;
      flame.view(flame.start + (flame.width - width) / 2, width);
      break;
    }
    case "Home":
      flame.zoomOut();
      break;
    default:
      return false;
  }
  flame.events.zoom();
  return true;
}

/**
 * The widest box on another, or itself.
 * @param {Boxes} boxes
 * @param {number} box
 */
function childOf(boxes, box) {
  const level = boxes.depths[box] + 1;
  const list = boxes.lists[level];
  if (list === undefined) return box;
  let widest = -1;
  for (let at = boxes.firstAt(level, boxes.starts[box]); at < list.length; at++) {
    const one = list[at];
    if (boxes.parents[one] !== box) break;
    if (widest < 0 || boxes.widths[one] > boxes.widths[widest]) widest = one;
  }
  return widest < 0 ? box : widest;
}

/**
 * The next box of a level.
 * @param {Boxes} boxes
 * @param {number} box
 * @param {number} step
 */
function besides(boxes, box, step) {
  const list = boxes.lists[boxes.depths[box]];
  return list[boxes.firstAt(boxes.depths[box], boxes.starts[box]) + step] ?? box;
}
