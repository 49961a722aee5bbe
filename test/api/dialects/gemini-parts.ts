export type Json = Readonly<Record<string, unknown>>

/** Parts with neighbours of one kind joined, without empty ones and without signatures. */
export function joined(parts: readonly Json[]): Json[] {
  const all: Record<string, unknown>[] = []
  for (const { thoughtSignature: _, ...part } of parts) {
    const before = all.at(-1)
    if (part.text === '') continue
    if (before && typeof before.text === 'string' && typeof part.text === 'string' && before.thought === part.thought) {
      before.text += part.text
    } else all.push({ ...part })
  }
  return all
}
