import type { ModelRequest } from '../../modes/mode.ts'

/** What of `metadata` a provider gets: nothing, unless the client asks it to store the answer. Then what is not the
 *  gateway's own. */
export function upstreamMetadata(body: ModelRequest): Readonly<Record<string, unknown>> | undefined {
  if (body.store !== true || !body.metadata) return undefined
  const { tags: _tags, prompt_ref: _ref, prompt_variables: _variables, cache: _cache, ...rest } = body.metadata
  return Object.keys(rest).length === 0 ? undefined : rest
}
