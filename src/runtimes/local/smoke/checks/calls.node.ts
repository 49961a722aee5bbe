import { type Check, failed, passed } from '../check.node.ts'
import { inShort, jsonOf } from '../far-end.node.ts'
import { judgeStream } from '../judge-stream.ts'

interface Completion {
  readonly choices?: readonly { readonly message?: { readonly content?: unknown } }[]
  readonly usage?: { readonly total_tokens?: number }
}

export const calls: readonly Check[] = [
  {
    name: 'call',
    promise: 'a call is answered, with its usage',
    async run(scene) {
      const answer = await scene.wholeCall()
      if (answer.status !== 200) return failed(`${inShort(answer)} (--model names another model)`)
      const { choices, usage } = (jsonOf(answer) ?? {}) as Completion
      if (typeof choices?.[0]?.message?.content !== 'string') return failed('the answer has no content')
      if (!usage?.total_tokens) return failed('the answer has no usage')
      const deployment = answer.headers['x-gateway-deployment']
      if (deployment === undefined) return failed('the answer does not say which deployment it is from')
      return passed(`${deployment}, ${usage.total_tokens} tokens, ${Math.round(answer.endMs)} ms`)
    },
  },
  {
    name: 'stream',
    promise: 'a stream arrives as it is made, and ends properly',
    async run(scene) {
      const answer = await scene.streamedCall()
      if (answer.status !== 200) return failed(inShort(answer))
      const requestId = String(answer.headers['x-request-id'] ?? '')
      // Who may not read the ledger judges by what arrives alone.
      const row = requestId === '' ? undefined : await scene.ledgerRow(requestId).catch(() => undefined)
      const { ok, detail } = judgeStream(
        { type: String(answer.headers['content-type']), pieces: answer.pieces, endMs: answer.endMs },
        row?.first_token_ms != null && row.total_ms != null
          ? { firstMs: row.first_token_ms, totalMs: row.total_ms }
          : undefined,
        scene.bounds.heldBack,
      )
      return ok ? passed(detail) : failed(detail)
    },
  },
]
