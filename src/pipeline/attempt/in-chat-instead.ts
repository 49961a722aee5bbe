import { GatewayError } from '../../lib/errors.ts'
import type { Deployment } from '../../routing/deployment.ts'
import type { Call } from '../call.ts'
import { learnLack } from '../translate/lacking-capabilities.ts'
import { refusalBy, type Translator, translatorOf } from '../translate/translator.ts'

/** The statuses of an address without the requested route. */
const NO_ROUTE: readonly number[] = [404, 405]

/** Whether a deployment is to be asked in chat instead: its address turned out to lack the route of the dialect that its
 *  provider usually speaks. If chat cannot express the request, throws a failure that does not blame the deployment. */
export function inChatInstead(
  { endpoint, request, strict }: Call,
  deployment: Deployment,
  asked: Translator,
  refused: { readonly status: number; readonly failure: GatewayError },
): boolean {
  const { dialect } = endpoint
  const { status, failure } = refused
  if (!dialect?.native || dialect.native === 'chat' || asked.translates) return false
  if (!NO_ROUTE.includes(status) || failure.details.blames !== 'perhaps') return false
  learnLack(deployment, dialect.native)
  if (translatorOf(deployment, endpoint.mode, dialect) && !refusalBy(deployment, endpoint, request, strict)) return true
  throw new GatewayError(failure.failure, failure.message, { ...failure.details, blames: 'nobody' })
}
