// What is said of the whole recording: its title, what it lacks, and what the page had no room for.

/**
 * What is said of the whole recording.
 * @param {Profile} profile
 */
function describePage(profile) {
  const head = profile.head;
  element("title", HTMLElement).textContent = head.title;
  const { host, cpu, os_release: release } = head.about;
  const when = head.wall_ms ? new Date(head.wall_ms).toISOString().replace("T", " ").slice(0, 19) + " UTC" : "";
  const parts = [host, cpu, release && `Linux ${release}`, when, head.has_times ? duration(head.span_ns) : ""];
  element("subtitle", HTMLElement).textContent = parts.filter((part) => part).join(" · ");
  const event = element("event", HTMLSelectElement);
  head.events.forEach((one, number) => {
    const option = made("option", one.name);
    option.value = String(number);
    event.append(option);
  });
  event.disabled = head.events.length < 2;
  const quality = head.notes.map((note) => (profile.sides === null ? `Whole recording: ${note}` : note));
  const notes = [...quality, ...lackingNotes(profile), ...joinedNotes(head), ...head.warnings];
  element("notes", HTMLElement).replaceChildren(...notes.map((note) => made("li", note)));
  element("overview", HTMLElement).hidden = !head.has_times;
  element("show-code", HTMLElement).hidden = profile.sides !== null || !HAS_CODE;
  element("view-keys", HTMLElement).textContent = viewsOf(profile).map(({ key }) => key).join(" ");
}

/**
 * What was not recorded.
 * @param {Profile} profile
 */
function lackingNotes(profile) {
  const { parents } = profile.recorded;
  const notes = [];
  if (!profile.head.has_times && profile.sides === null) {
    notes.push("The recording has no times, so there are no views over time (record with rprof record -T).");
  }
  if (profile.head.n_nodes > 0 && parents.every((parent) => parent < 0 || parents[parent] < 0)) {
    notes.push("The recording has no call chains: each stack is a single function (record with rprof record -g).");
  }
  return notes;
}

/**
 * What the page has no room for.
 * @param {Head} head
 */
function joinedNotes(head) {
  const notes = [];
  const of = head.by_name ? "threads with the same name" : "the same thread";
  if (head.slot_ns > 0) {
    notes.push(
      `${wholeNumber(head.n_samples)} samples are stored as ${wholeNumber(head.n_rows)} rows: samples of ${of} with equal stacks ` +
        `within ${duration(head.slot_ns)} share a row with a count. No sample is omitted.`,
    );
  }
  if (head.min_samples > 0) {
    notes.push(`Branches with fewer than ${wholeNumber(head.min_samples)} samples are cut: their samples count for the caller.`);
  }
  return notes;
}
