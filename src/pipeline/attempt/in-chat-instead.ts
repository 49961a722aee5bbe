import { GatewayError } from '../../lib/errors.ts'
import type { Deployment } from '../../routing/deployment.ts'
import type { Call } from '../call.ts'
import { type Translator, translatorOf } from '../translate/translator.ts'
import { learnLack } from './lacking.ts'

/** The answers of an address that has no such route. */
const NO_ROUTE: readonly number[] = [404, 405]

/** Whom to ask where a deployment was asked in a dialect that its kind of provider speaks and its address does not: the
 *  same one, in chat. undefined where that is not what went wrong. Throws what blames nobody where chat cannot say the
 *  request. */
export function inChatInstead(
  { endpoint, request }: Call,
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
  if (chat && !chat.refuses?.(request)) return chat
  throw new GatewayError(failure.failure, failure.message, { ...failure.details, blames: 'nobody' })
}
