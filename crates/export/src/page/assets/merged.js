// Trees in which nodes of one parent and one label are one.

/**
 * In preorder. `moved` says where each node of the tree that it was made of is; `children` are made when they are asked for.
 * @typedef {{parents: Int32Array, labels: Int32Array, depths: Uint32Array, moved: Int32Array, children?: ChildLists}} MergedTree
 */

/**
 * Merges what has the same way of labels. A node of which another stands has no place of its own.
 * @param {Int32Array} outer by node its parent, which stands for itself; -1 for outermost nodes
 * @param {Int32Array} labels those of outermost nodes are negative
 * @param {Int32Array} to by node the one that stands for it
 * @returns {MergedTree}
 */
function mergedTree(outer, labels, to) {
  const n = outer.length;
  const { first, next } = childLists(outer, (node) => to[node] === node);
  /** By node, the next that is one with it. */
  const same = new Int32Array(n).fill(-1);
  const lists = new SameLabels(labels, same);
  const moved = new Int32Array(n).fill(-1);
  const [parents, merged, depths] = [new Int32Array(n), new Int32Array(n), new Uint32Array(n)];
  // The next one last; of nodes that are one, the first.
  const todo = new Int32Array(n);
  let n_todo = 0;
  for (let child = first[0]; child >= 0; child = next[child]) if (lists.isNew(child)) todo[n_todo++] = child;
  lists.end(todo, 0, n_todo);
  let n_merged = 0;
  while (n_todo > 0) {
    const head = todo[--n_todo];
    const place = n_merged++;
    const parent = outer[head] < 0 ? -1 : moved[outer[head]];
    parents[place] = parent;
    depths[place] = parent < 0 ? 0 : depths[parent] + 1;
    merged[place] = labels[head];
    const begin = n_todo;
    for (let node = head; node >= 0; node = same[node]) {
      moved[node] = place;
      for (let child = first[node + 1]; child >= 0; child = next[child]) if (lists.isNew(child)) todo[n_todo++] = child;
    }
    lists.end(todo, begin, n_todo);
  }
  for (let node = 0; node < n; node++) moved[node] = moved[to[node]];
  const end = n_merged;
  return { parents: parents.slice(0, end), labels: merged.slice(0, end), depths: depths.slice(0, end), moved };
}

/**
 * Children as lists in order of their numbers: by parent + 1 the first, by node the next; -1 ends a list.
 * @param {Int32Array} parents
 * @param {(node: number) => boolean} isThere
 */
function childLists(parents, isThere) {
  const first = new Int32Array(parents.length + 1).fill(-1);
  const next = new Int32Array(parents.length);
  for (let node = parents.length - 1; node >= 0; node--) {
    if (!isThere(node)) continue;
    next[node] = first[parents[node] + 1];
    first[parents[node] + 1] = node;
  }
  return { first, next };
}

/** Finds children of one label, one parent after the other. */
class SameLabels {
  /**
   * @param {Int32Array} labels
   * @param {Int32Array} same where nodes of one label are linked
   */
  constructor(labels, same) {
    let [lowest, highest] = [0, 0];
    for (const label of labels) {
      if (label < lowest) lowest = label;
      if (label > highest) highest = label;
    }
    this.labels = labels;
    this.same = same;
    this.lowest = lowest;
    /** By label the last node so far, or -1. */
    this.last = new Int32Array(highest - lowest + 1).fill(-1);
  }

  /**
   * Whether a node is the first of its label.
   * @param {number} node
   */
  isNew(node) {
    const at = this.labels[node] - this.lowest;
    const before = this.last[at];
    this.last[at] = node;
    if (before < 0) return true;
    this.same[before] = node;
    return false;
  }

  /**
   * All children of a parent were asked for; reverses the list of those that were new.
   * @param {Int32Array} list
   * @param {number} begin
   * @param {number} end
   */
  end(list, begin, end) {
    const { last, labels, lowest } = this;
    for (let at = begin; at < end; at++) last[labels[list[at]] - lowest] = -1;
    // Most lists are short: no view of each.
    for (let [low, high] = [begin, end - 1]; low < high; low++, high--) {
      const one = list[low];
      list[low] = list[high];
      list[high] = one;
    }
  }
}
