const STRANGERS: readonly unknown[] = [null, 7, '', 'x', [], {}, [null], undefined]

/** A document with each of its values, one at a time, replaced by something that does not belong there. */
export function* mutations(document: unknown): Generator<string> {
  for (const path of pathsOf(document)) {
    for (const stranger of STRANGERS) yield JSON.stringify(replaced(document, path, stranger))
  }
}

type Path = readonly string[]

function pathsOf(value: unknown): Path[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, inside]) => [[key], ...pathsOf(inside).map((path) => [key, ...path])])
}

function replaced(value: unknown, [key, ...rest]: Path, stranger: unknown): unknown {
  if (key === undefined) return stranger
  const copy = structuredClone(value) as Record<string, unknown>
  copy[key] = replaced(copy[key], rest, stranger)
  return copy
}
