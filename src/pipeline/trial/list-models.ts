import { GatewayError } from '../../lib/errors.ts'
import { openaiFailure } from '../../providers/openai/failure.ts'
import type { ListedModel, Listing } from '../../providers/provider.ts'
import type { Deployment } from '../../routing/deployment.ts'
import { asUpstreamFailure } from '../failures.ts'
import type { PipelineServices } from '../services.ts'
import { failed, type TrialFailure } from './trial.ts'
import { watchedTransport } from './watched-transport.ts'

const ANSWER_LIMIT_BYTES = 8 * 1024 * 1024
/** More are no help for a person who chooses one. */
const MOST_MODELS = 2000

export interface Listed {
  /** By id; undefined if there is no list. */
  readonly models?: readonly ListedModel[]
  /** Why the provider has none. */
  readonly reason?: string
  readonly failure?: TrialFailure
  /** Where it was asked for, without its query. */
  readonly address: string | null
}

/** Asks a provider which models the credentials of a deployment may call. A failed answer is a result. */
export async function listModels(
  services: Pick<PipelineServices, 'transport' | 'clock'>,
  deployment: Deployment,
  { timeoutMs, signal }: { readonly timeoutMs: number; readonly signal: AbortSignal },
): Promise<Listed> {
  const { provider, connection } = deployment
  const listings = provider.listings(connection)
  if (typeof listings === 'string') return { reason: listings, address: null }
  const late = AbortSignal.timeout(timeoutMs)
  const until = AbortSignal.any([signal, late])
  const { seen, transport } = watchedTransport(services.transport)
  const now = services.clock.now()

  async function ask({ request: built, read }: Listing): Promise<readonly ListedModel[]> {
    const request = built(connection)
    const authorized = provider.authorize
      ? await provider.authorize(request, connection, { transport, signal: until, now })
      : request
    const { status, headers, body } = await transport.send(authorized, until)
    const bytes = await body.bytes(ANSWER_LIMIT_BYTES)
    if (status < 200 || status > 299) throw openaiFailure(status, headers, bytes, now)
    return read(parsed(bytes))
  }

  try {
    const models = new Map<string, ListedModel>()
    // One after the other: what is noted of a failure is of the last request.
    for (const listing of listings) for (const model of await ask(listing)) models.set(model.id, model)
    const sorted = [...models.values()].sort((left, right) => (left.id < right.id ? -1 : 1))
    return { models: sorted.slice(0, MOST_MODELS), address: seen.address }
  } catch (error) {
    const timeout = new GatewayError('upstream_timeout', `No list came within ${timeoutMs / 1000} s.`)
    return {
      failure: failed(deployment, late.aborted ? timeout : asUpstreamFailure(error), seen),
      address: seen.address,
    }
  }
}

function parsed(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes))
  } catch (error) {
    throw new GatewayError('upstream_malformed', "The provider's answer is no list of models.", { cause: error })
  }
}
