import { withoutMark } from '../../lib/bytes/without-mark.ts'
import { GatewayError } from '../../lib/errors.ts'
import { chat } from '../../modes/chat.ts'
import { embedding } from '../../modes/embedding.ts'
import { asMode, type Mode, type ModelRequest } from '../../modes/mode.ts'
import { moderation } from '../../modes/moderation.ts'
import { rerank } from '../../modes/rerank.ts'
import { openaiFailure } from '../../providers/openai/failure.ts'
import type { Adapter } from '../../providers/provider.ts'
import type { Deployment } from '../../routing/deployment.ts'
import type { UpstreamRequest } from '../../transport/transport.ts'
import { asUpstreamFailure } from '../failures.ts'
import type { PipelineServices } from '../services.ts'

const ANSWER_LIMIT_BYTES = 4 * 1024 * 1024
const MODES: readonly Mode[] = [asMode(chat), asMode(embedding), asMode(rerank), asMode(moderation)]
const encoder = new TextEncoder()

/** The result of a probe: healthy, a failure, or nothing that can be attributed to the deployment. */
export type ProbeResult = 'healthy' | 'inconclusive' | GatewayError

/** Probes a deployment. A free health request suffices while it is not known to fail; only a real request shows that it
 *  recovered, or that a failed health request is its own fault. */
export async function probe(
  services: PipelineServices,
  deployment: Deployment,
  isSound: boolean,
  signal: AbortSignal,
): Promise<ProbeResult> {
  const { provider, connection } = deployment
  const question = questionOf(deployment)
  const free = isSound ? provider.healthRequest?.(connection) : undefined
  const result = free
    ? await send(services, deployment, { request: free, adapter: question?.adapter }, signal)
    : 'inconclusive'
  if (result === 'healthy' || signal.aborted) return result
  if (!question) {
    // A refused health request proves nothing: some keys are valid for speech only.
    return result !== 'inconclusive' && result.failure === 'upstream_refused' ? 'inconclusive' : result
  }
  const { adapter, body } = question
  const bytes = encoder.encode(JSON.stringify(body))
  const call = { body, bytes, streamed: false }
  try {
    const request = await adapter.request(call, connection)
    const read: Probing['read'] = (answer, headers) => void adapter.reply(answer, headers, call)
    return await send(services, deployment, { request, adapter, read }, signal)
  } catch {
    // The adapter cannot build this request.
    return 'inconclusive'
  }
}

/** The smallest request that shows whether the deployment works. */
function questionOf(deployment: Deployment): { adapter: Adapter; body: ModelRequest } | undefined {
  // The probe sets its own limit, and some vendors reject two.
  const { voice_id: _voice, max_tokens: _limit, ...defaults } = deployment.connection.defaults
  for (const { name, smallest } of MODES) {
    // Completions are asked as chat.
    const adapter = deployment.adapter(name) ?? (name === 'chat' ? deployment.adapter('chat', 'completion') : undefined)
    if (adapter && smallest) return { adapter, body: { ...defaults, ...smallest, model: deployment.modelName } }
  }
  return undefined
}

interface Probing {
  readonly request: UpstreamRequest
  /** Names failures; absent: by OpenAI's shape. */
  readonly adapter: Adapter | undefined
  /** Throws if the answer cannot be read. */
  readonly read?: (bytes: Uint8Array, headers: Readonly<Record<string, string>>) => void
}

/** Never rejects. */
async function send(
  services: PipelineServices,
  { provider, connection, timeoutSeconds }: Deployment,
  { request, adapter, read }: Probing,
  signal: AbortSignal,
): Promise<ProbeResult> {
  const { timeout, stream_first_token_timeout: firstToken } = services.config.router_settings
  // AbortSignal.timeout takes whole milliseconds, and 1000 * 2.01 is not one.
  const late = AbortSignal.timeout(Math.ceil(1000 * Math.min(timeoutSeconds ?? timeout, firstToken)))
  const until = AbortSignal.any([signal, late])
  const now = services.clock.now()
  try {
    const means = { transport: services.transport, signal: until, now }
    const authorized = provider.authorize ? await provider.authorize(request, connection, means) : request
    const { status, headers, body } = await (provider.transport ?? services.transport).send(authorized, until)
    const bytes = withoutMark(await body.bytes(ANSWER_LIMIT_BYTES))
    if (status < 200 || status > 299)
      throw adapter?.failure(status, headers, bytes, now) ?? openaiFailure(status, headers, bytes, now)
    read?.(bytes, headers)
    return 'healthy'
  } catch (error) {
    if (signal.aborted) return 'inconclusive'
    const failure = late.aborted
      ? new GatewayError('upstream_timeout', 'It did not answer in time.')
      : asUpstreamFailure(error)
    return failure.row.blames === 'deployment' ? failure : 'inconclusive'
  }
}
