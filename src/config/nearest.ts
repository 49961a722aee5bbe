/** The known name that is nearest to a mistyped one; undefined if none is close. */
function nearest(word: string, known: readonly string[]): string | undefined {
  const lower = word.slice(0, 100).toLowerCase()
  let best: string | undefined
  let bestDistance = Math.max(2, Math.floor(lower.length / 3)) + 1
  for (const candidate of known) {
    const distance = editDistance(lower, candidate.toLowerCase())
    if (distance < bestDistance) {
      best = candidate
      bestDistance = distance
    }
  }
  return best
}

/** `; did you mean 'x'?`, or nothing. */
export function suggestion(word: unknown, known: readonly string[]): string {
  const name = typeof word === 'string' ? nearest(word, known) : undefined
  return name === undefined ? '' : `; did you mean '${name}'?`
}

function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let row = 1; row <= a.length; row++) {
    const current = [row]
    for (let column = 1; column <= b.length; column++) {
      const replaced = (previous[column - 1] ?? 0) + (a[row - 1] === b[column - 1] ? 0 : 1)
      current.push(Math.min(replaced, (previous[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1))
    }
    previous = current
  }
  return previous[b.length] ?? 0
}
