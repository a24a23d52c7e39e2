/** The candidate that was probably meant, if one is near enough. */
export function nearest(typed: string, candidates: Iterable<string>): string | undefined {
  let best: { candidate: string; distance: number } | undefined;
  for (const candidate of candidates) {
    // An abbreviation is as good as one slip.
    const distance = typed.length >= 3 && candidate.startsWith(typed) ? 1 : editDistance(typed, candidate);
    if (distance <= allowed(typed) && (!best || distance < best.distance)) best = { candidate, distance };
  }
  return best?.candidate;
}

export function didYouMean(typed: string, candidates: Iterable<string>, prefix = ''): string | undefined {
  const found = nearest(typed, candidates);
  return found === undefined ? undefined : `Did you mean ${prefix}${found}?`;
}

function allowed(typed: string): number {
  return Math.max(1, Math.floor(typed.length / 3));
}

/** Insertions, deletions, replacements and swaps of neighbours, each counted as one. */
function editDistance(a: string, b: string): number {
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, column) => column)];
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      row.push(
        Math.min(
          at(rows, i - 1, j) + 1,
          (row[j - 1] ?? 0) + 1,
          at(rows, i - 1, j - 1) + (same ? 0 : 1),
          swapped ? at(rows, i - 2, j - 2) + 1 : Number.POSITIVE_INFINITY,
        ),
      );
    }
    rows.push(row);
  }
  return at(rows, a.length, b.length);
}

function at(rows: number[][], i: number, j: number): number {
  return rows[i]?.[j] ?? Number.POSITIVE_INFINITY;
}
