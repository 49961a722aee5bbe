import { settleTurn } from '../attempt/settle-ended.ts'
import type { Call } from '../call.ts'
import { noteMade } from '../ids/made-ids.ts'
import type { PipelineServices } from '../services.ts'
import type { WrittenReply } from '../translate/written-reply.ts'
import { usedByLast } from './attempt-usage.ts'
import { learnUsual } from './learn-usual.ts'

/** Ends a turn that the model has answered, while its call goes on: its deployment is free again, and its usage is
 *  counted. */
export function endTurn(services: PipelineServices, call: Call, reply: WrittenReply): void {
  const last = call.attempts.at(-1)
  if (!last) return
  last.endedAt ??= performance.now()
  call.usage = reply.usage
  call.outputCharacters = reply.outputCharacters
  last.usage ??= usedByLast(services, call, undefined)
  noteMade(call, reply.made)
  learnUsual(services, call)
  settleTurn(services, call, last)
  call.usage = undefined
  call.outputCharacters = 0
  call.hedged = false
  call.turn += 1
}
