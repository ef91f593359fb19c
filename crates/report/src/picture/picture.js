"use strict";
// Zoom, search, and what the box below the pointer says. `FLUID` and `INVERTED` are written before this.
(() => {
  const MARGIN = 10;
  const LETTER = 7.25; // pixels
  const PADDING = 3; // pixels at both sides of a text
  const LEAST = 3; // letters
  const ROUNDING = 1e-3; // percent

  const picture = document.documentElement;
  const element = id => document.getElementById(id);
  const frames = element("frames");
  const boxes = [...frames.children].map(group => {
    const [title, rect, text] = group.children;
    const said = title.textContent;
    return {
      group, rect, text, said,
      name: said.slice(0, said.lastIndexOf(" (")),
      start: parseFloat(rect.getAttribute("x")),
      width: parseFloat(rect.getAttribute("width")),
      top: parseFloat(rect.getAttribute("y")),
    };
  });
  const ofGroup = new Map(boxes.map(box => [box.group, box]));
  const boxOf = event => ofGroup.get(event.target.closest("#frames > g"));
  const end = box => box.start + box.width;
  const whole = { start: 0, width: 100, top: INVERTED ? -Infinity : Infinity };
  let shown = whole;

  // Whether a box is further in than another.
  const isAbove = (box, other) => INVERTED ? box.top > other.top : box.top < other.top;

  const pixels = () => FLUID
    ? picture.clientWidth - 2 * MARGIN
    : parseFloat(frames.getAttribute("width"));

  function place(box, start, width) {
    box.rect.setAttribute("x", `${start}%`);
    box.rect.setAttribute("width", `${width}%`);
    const room = Math.floor(((width / 100) * pixels() - 2 * PADDING) / LETTER);
    const isWhole = box.name.length <= room;
    box.text.setAttribute("x", `${start + 100 * PADDING / pixels()}%`);
    box.text.textContent = room < LEAST ? "" : isWhole ? box.name : `${box.name.slice(0, room - 2)}..`;
  }

  function draw() {
    const scale = 100 / shown.width;
    for (const box of boxes) {
      const isWithin = box.start >= shown.start - ROUNDING && end(box) <= end(shown) + ROUNDING;
      const isAround = box.start <= shown.start + ROUNDING && end(box) >= end(shown) - ROUNDING;
      const isCaller = isAround && box !== shown && !isAbove(box, shown);
      const isShown = isCaller || (isWithin && (box === shown || isAbove(box, shown)));
      box.group.classList.toggle("hidden", !isShown);
      box.group.classList.toggle("caller", isCaller);
      if (isCaller) {
        place(box, 0, 100);
      } else if (isShown) {
        place(box, (box.start - shown.start) * scale, box.width * scale);
      }
    }
    element("unzoom").classList.toggle("hidden", shown === whole);
  }

  function zoom(box) {
    shown = box;
    draw();
  }

  // How much of the width has a box that was found, each place once.
  function share(found) {
    let reached = 0;
    let sum = 0;
    for (const box of [...found].sort((one, other) => one.start - other.start)) {
      sum += Math.max(0, end(box) - Math.max(reached, box.start));
      reached = Math.max(reached, end(box));
    }
    return sum;
  }

  function search() {
    const isActive = element("search").classList.contains("active");
    const words = isActive ? "" : prompt("Regular expression that function names match", "");
    if (words === null) {
      return;
    }
    let pattern;
    try {
      pattern = new RegExp(words);
    } catch {
      alert(`Invalid regular expression: ${words}`);
      return;
    }
    const found = boxes.filter(box => words !== "" && pattern.test(box.name));
    boxes.forEach(box => box.group.classList.toggle("found", found.includes(box)));
    element("search").classList.toggle("active", words !== "");
    element("search").textContent = words === "" ? "Search" : "Reset Search";
    element("matched").textContent = words === "" ? "" : `Matched: ${share(found).toFixed(1)}%`;
  }

  function resize() {
    if (FLUID) {
      const width = picture.clientWidth;
      frames.setAttribute("width", width - 2 * MARGIN);
      for (const id of ["search", "matched"]) {
        element(id).setAttribute("x", width - MARGIN);
      }
    }
    draw();
  }

  frames.addEventListener("click", event => {
    const box = boxOf(event);
    if (box) {
      zoom(box);
    }
  });
  frames.addEventListener("mouseover", event => {
    element("details").textContent = boxOf(event)?.said ?? "";
  });
  frames.addEventListener("mouseleave", () => { element("details").textContent = ""; });
  element("unzoom").addEventListener("click", () => zoom(whole));
  element("search").addEventListener("click", search);
  addEventListener("keydown", event => {
    if (event.key === "Escape") {
      zoom(whole);
    } else if (event.key === "F3" || (event.ctrlKey && event.key === "f")) {
      event.preventDefault();
      search();
    }
  });
  if (FLUID) {
    picture.removeAttribute("viewBox");
    picture.setAttribute("width", "100%");
    addEventListener("resize", resize);
  }
  resize();
})();
