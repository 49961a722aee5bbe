import { GatewayError } from '../../lib/errors.ts'
import type { Deployment } from '../../routing/deployment.ts'
import type { Call } from '../call.ts'
import { learnLack } from '../translate/lacking.ts'
import { type Translator, translatorOf } from '../translate/translator.ts'

/** The statuses of an address without the requested route. */
const NO_ROUTE: readonly number[] = [404, 405]

/** Falls back to chat at a deployment whose address lacks the route of the dialect that its provider usually speaks.
 *  Returns undefined if that was not the failure. If chat cannot express the request, throws a failure that does not
 *  blame the deployment. */
export function inChatInstead(
  { endpoint, request, strict = false }: Call,
  deployment: Deployment,
  asked: Translator,
  refused: { readonly status: number; readonly failure: GatewayError },
): Translator | undefined {
  const { dialect, mode } = endpoint
  const { status, failure } = refused
  if (!dialect?.native || dialect.native === 'chat' || asked.translates) return undefined
  if (!NO_ROUTE.includes(status) || failure.details.blames !== 'perhaps') return undefined
  learnLack(deployment, dialect.native)
  const chat = translatorOf(deployment, mode, dialect)
  if (chat && !chat.refuses?.(request, strict || deployment.connection.parameters.strict === true)) return chat
  throw new GatewayError(failure.failure, failure.message, { ...failure.details, blames: 'nobody' })
}
