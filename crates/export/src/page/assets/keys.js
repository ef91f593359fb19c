// Keys of the page; those of a picture with the focus are in pointer.js.

/** @param {App} app */
function listenToKeys(app) {
  const help = element("help", HTMLDialogElement);
  element("help-button", HTMLButtonElement).addEventListener("click", () => help.showModal());
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || help.open) return;
    const view = VIEWS.find(({ key }) => key === event.key);
    const isTyping = takesKeys(event.target);
    if (event.key === "Escape") {
      app.back(isTyping);
    } else if (isTyping) {
      return;
    } else if (event.key === "?") {
      help.showModal();
    } else if (event.key === "/") {
      app.search.focus();
      app.search.select();
    } else if (view !== undefined) {
      app.view(view.name);
    } else if (event.key === "i") {
      app.set({ inverted: !app.state.inverted, zoom: [], span: null });
    } else if (event.key === "t") {
      app.toggleTheme();
    } else if (event.key === "c") {
      void app.details.copy();
    } else if (event.key === "m") {
      element("transform", HTMLButtonElement).click();
    } else if (event.key === "s") {
      const label = app.details.chosen?.labels[0];
      if (label !== undefined) app.open(label);
    } else if (event.key === "a") {
      const label = app.details.chosen?.labels[0];
      if (label !== undefined && app.hasCode) app.showCode(label);
    } else return;
    event.preventDefault();
  });
}

/**
 * Whether keys are for what has the focus: a text, or a list that is open.
 * @param {EventTarget | null} target
 */
function takesKeys(target) {
  if (target instanceof HTMLSelectElement) return CSS.supports("selector(:open)") && target.matches(":open");
  return target instanceof HTMLInputElement && target.type !== "checkbox";
}
