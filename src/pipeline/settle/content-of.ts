import type { CallContent } from '../../telemetry/content/recording.ts'
import type { Call } from '../call.ts'

/** The content of a call as it may be logged, once its answer was handed over: preparing it takes time that no client
 *  waits for. undefined if nothing was remembered. */
export function contentOf({ recording, request, client }: Call): Promise<CallContent | undefined> | undefined {
  if (!recording) return undefined
  const content = new Promise<CallContent | undefined>((resolve) => {
    setTimeout(() => resolve(recording.end(request)), 0)
  })
  client.defer(content)
  return content
}
