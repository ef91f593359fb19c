// Stacks in preorder again.

/**
 * Puts a profile's nodes in an order in which all that is below a node follows it, siblings as they were. Returns where
 * the nodes are that were moved to these.
 * @param {Profile} profile
 * @param {Int32Array} moved
 */
function inPreorder(profile, moved) {
  const { parents, labels } = profile;
  const n = parents.length;
  // How many nodes there are below each, itself counted; then, where the next of its children goes.
  const sizes = new Int32Array(n).fill(1);
  for (let node = n - 1; node >= 0; node--) if (parents[node] >= 0) sizes[parents[node]] += sizes[node];
  const places = new Int32Array(n);
  const free = new Int32Array(n);
  let root = 0;
  for (let node = 0; node < n; node++) {
    const parent = parents[node];
    places[node] = parent < 0 ? root : free[parent];
    free[node] = places[node] + 1;
    if (parent < 0) root += sizes[node];
    else free[parent] += sizes[node];
  }
  const [ordered, labelled] = [new Int32Array(n), new Uint32Array(n)];
  for (let node = 0; node < n; node++) {
    ordered[places[node]] = parents[node] < 0 ? -1 : places[parents[node]];
    labelled[places[node]] = labels[node];
  }
  Object.assign(profile, { parents: ordered, labels: labelled });
  return moved.map((node) => places[node]);
}
