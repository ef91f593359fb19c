// A view that says in words what is selected.

addView({
  name: "stub",
  key: "6",
  title: "Words",
  ofTime: false,
  make: (app, section) => {
    const text = placed(section, "p", "words", "status");
    return { show: () => void (text.textContent = app.said()) };
  },
});
