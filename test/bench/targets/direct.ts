import type { Target } from './target.ts'

/** Nothing in between: what the others add is counted from here. */
export const direct: Target = {
  name: 'direct',
  start: async ({ upstreamUrl }) => ({ url: upstreamUrl, headers: {}, pids: [] }),
}
