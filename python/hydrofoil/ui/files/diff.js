// The difference of two texts, line by line (Myers, "An O(ND) Difference Algorithm").

/** Beyond so many changed lines all between the first and the last one count as changed. */
const MOST_CHANGES = 1000;

/** Return the ends of the paths with the fewest changes, for each number of them; null if there are too many. */
function trace(a, b) {
  const most = Math.min(a.length + b.length, MOST_CHANGES);
  const reach = new Map([[1, 0]]);
  const found = [];
  for (let changes = 0; changes <= most; changes++) {
    found.push(new Map(reach));
    for (let line = -changes; line <= changes; line += 2) {
      const down = line === -changes || (line !== changes && reach.get(line - 1) < reach.get(line + 1));
      let x = down ? reach.get(line + 1) : reach.get(line - 1) + 1;
      while (x < a.length && x - line < b.length && a[x] === b[x - line]) x++;
      reach.set(line, x);
      if (x >= a.length && x - line >= b.length) return found;
    }
  }
  return null;
}

/** Return the lines of both texts as `{sign, text}`, the sign being `+`, `-` or a space. */
function align(a, b) {
  const steps = trace(a, b);
  const lines = (list, sign) => list.map((text) => ({ sign, text }));
  if (!steps) return [...lines(a, "-"), ...lines(b, "+")];
  const found = [];
  let x = a.length;
  let y = b.length;
  for (let changes = steps.length - 1; changes >= 0; changes--) {
    const reach = steps[changes];
    const line = x - y;
    const down = line === -changes || (line !== changes && reach.get(line - 1) < reach.get(line + 1));
    const before = down ? line + 1 : line - 1;
    const fromX = changes ? reach.get(before) : 0;
    const fromY = changes ? fromX - before : 0;
    while (x > fromX && y > fromY) {
      found.push({ sign: " ", text: a[--x] });
      y--;
    }
    if (changes) found.push(down ? { sign: "+", text: b[--y] } : { sign: "-", text: a[--x] });
  }
  return found.reverse();
}

/** Return the differences of two lists of lines, with some equal ones around each, and a line `@@` where others are. */
export function compare(a, b, around = 4) {
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head++;
  let tail = 0;
  while (tail < Math.min(a.length, b.length) - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++;
  const equal = (list) => list.map((text) => ({ sign: " ", text }));
  const all = [
    ...equal(a.slice(0, head)),
    ...align(a.slice(head, a.length - tail), b.slice(head, b.length - tail)),
    ...equal(a.slice(a.length - tail)),
  ];
  const near = new Uint8Array(all.length);
  all.forEach(({ sign }, at) => {
    if (sign !== " ") near.fill(1, Math.max(at - around, 0), at + around + 1);
  });
  const found = [];
  all.forEach((line, at) => {
    if (!near[at]) return;
    if (at && !near[at - 1]) found.push({ sign: "@", text: "@@" });
    found.push(line);
  });
  return found;
}
