import { type Check, failed, notChecked, passed } from '../check.node.ts'
import { type Answer, inShort, jsonOf } from '../far-end.node.ts'
import { LONG_COUNTING, SHORT } from '../scene.node.ts'

const LIMIT = 3
const AT_ONCE = 10
const AFTER_REVOKING = 5
/** How long what was sent may be on its way. */
const ARRIVAL_MS = 500

const isRefused = (answer: Answer, scope: string) =>
  answer.status === 429 && (jsonOf(answer) as { error?: { param?: unknown } } | undefined)?.error?.param === scope

export const limits: readonly Check[] = [
  {
    name: 'leaving',
    promise: 'the slot of a client that leaves is free at once',
    needsAdmin: true,
    async run({ farEnd, keys, chat, until, bounds }) {
      const { key } = await keys.make({ max_parallel_requests: 1 })
      const short = chat(SHORT, { key })
      const stream = farEnd.begin(chat(LONG_COUNTING, { key, stream: true }))
      await stream.first
      const beside = await farEnd.ask(short)
      const tooShort = notChecked('the model had answered before a client could leave')
      if (!isRefused(beside, 'key_parallel_requests')) {
        // The end of a short answer may still be on its way.
        const hasEnded = await until(ARRIVAL_MS, 20, async () => stream.isEnded() || undefined)
        stream.leave()
        return hasEnded ? tooShort : failed(`a second call of one slot was answered with ${inShort(beside)}`)
      }
      const hadEnded = stream.isEnded()
      stream.leave()
      const leftAt = performance.now()
      if (hadEnded) return tooShort
      const freed = await until(bounds.slotFree, 50, async () => {
        const answer = await farEnd.ask(short)
        return isRefused(answer, 'key_parallel_requests') ? undefined : answer
      })
      const tookMs = Math.round(performance.now() - leftAt)
      if (!freed) return failed(`its slot is still taken after ${tookMs} ms`)
      return freed.status === 200
        ? passed(`the next call was answered ${tookMs} ms after it left`)
        : failed(`the next call was answered with ${inShort(freed)}`)
    },
  },
  {
    name: 'limit',
    promise: `of ${AT_ONCE} calls at once against a limit of ${LIMIT}, ${LIMIT} pass`,
    needsAdmin: true,
    async run({ farEnd, keys, chat }) {
      const { key } = await keys.make({ rpm_limit: LIMIT })
      const answers = await Promise.all(Array.from({ length: AT_ONCE }, () => farEnd.ask(chat(SHORT, { key }))))
      const refused = answers.filter((answer) => isRefused(answer, 'key_rpm'))
      const others = answers.filter((answer) => answer.status !== 200 && !refused.includes(answer))
      const failures = others.length === 0 ? '' : `; ${others.length} failed with ${inShort(others[0] as Answer)}`
      const words = `${AT_ONCE - refused.length} passed, ${refused.length} were refused${failures}`
      return refused.length === AT_ONCE - LIMIT && others.length === 0 ? passed(words) : failed(words)
    },
  },
  {
    name: 'revoke',
    promise: 'a revoked key is refused from its next request on',
    needsAdmin: true,
    async run({ farEnd, key: adminKey, keys }) {
      const { id, key } = await keys.make({})
      const models = { path: '/v1/models', key }
      const before = await farEnd.ask(models)
      if (before.status !== 200) return failed(`before that it was answered with ${inShort(before)}`)
      const path = `/ui/api/keys/${encodeURIComponent(id)}/revoke`
      const revoked = await farEnd.ask({ method: 'POST', path, key: adminKey })
      if (revoked.status !== 200) return failed(`revoking was answered with ${inShort(revoked)}`)
      const after = await Promise.all(Array.from({ length: AFTER_REVOKING }, () => farEnd.ask(models)))
      const accepted = after.filter(({ status }) => status !== 401)
      return accepted.length === 0
        ? passed(`all of ${AFTER_REVOKING} requests on connections of their own were refused`)
        : failed(
            `${accepted.length} of ${AFTER_REVOKING} requests were answered with ${inShort(accepted[0] as Answer)}`,
          )
    },
  },
]
