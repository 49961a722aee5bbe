import type { ModelRequest } from '../../modes/mode.ts'

/** The metadata for the provider: none unless the client asks it to store the answer; then all but the gateway's own
 *  fields. */
export function upstreamMetadata(body: ModelRequest): Readonly<Record<string, unknown>> | undefined {
  if (body.store !== true || !body.metadata) return undefined
  const { tags: _tags, prompt_ref: _ref, prompt_variables: _variables, cache: _cache, ...rest } = body.metadata
  return Object.keys(rest).length === 0 ? undefined : rest
}
