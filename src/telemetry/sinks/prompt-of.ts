import type { CallFinished } from '../events.ts'

/** The prompt that was rendered into a call; undefined if there was none. */
export function promptOf({ prompt }: CallFinished): { readonly name: string; readonly version: string } | undefined {
  // Earlier builds wrote events without it.
  const at = prompt?.lastIndexOf('@') ?? -1
  return at > 0 ? { name: prompt.slice(0, at), version: prompt.slice(at + 1) } : undefined
}
