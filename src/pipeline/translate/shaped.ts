import { GatewayError } from '../../lib/errors.ts'
import { parseRecord } from '../../lib/json/lenient.ts'
import type { ModelRequest, Shape } from '../../modes/mode.ts'
import { type Adapter, dropper, type Outgoing, type Reply } from '../../providers/provider.ts'
import { refusedHints } from './refused-hints.ts'

const encoder = new TextEncoder()

/** An adapter that tells before it is asked why it cannot be. */
type Refusing = Adapter & { refuses(request: ModelRequest, strict?: boolean): GatewayError | undefined }

const known = new WeakMap<Adapter, Map<Shape, Refusing>>()

/** An adapter of a mode's usual requests, for requests and answers of another shape. It streams only what has none. */
export function shaped(usual: Adapter, shape: Shape): Refusing {
  const ofUsual = known.get(usual) ?? new Map<Shape, Refusing>()
  known.set(usual, ofUsual)
  let adapter = ofUsual.get(shape)
  if (!adapter) {
    adapter = translating(usual, shape)
    ofUsual.set(shape, adapter)
  }
  return adapter
}

function translating({ stream: _stream, events: _events, ...usual }: Adapter, shape: Shape): Refusing {
  const requests = new WeakMap<ModelRequest, Outgoing>()
  const asUsual = (call: Outgoing): Outgoing => {
    let asked = requests.get(call.body)
    if (!asked) {
      const drop = dropper(call)
      const body = shape.request(call.body, drop)
      const bytes = call.form ? call.bytes : encoder.encode(JSON.stringify(body))
      asked = { ...call, body, bytes, form: call.form && rewrittenForm(call.form, shape, drop) }
      requests.set(call.body, asked)
    }
    return asked
  }
  return {
    ...usual,
    refuses(request, strict) {
      const dropped = new Set<string>()
      try {
        shape.request(request, (field) => dropped.add(field))
      } catch (error) {
        if (error instanceof GatewayError) return error
        throw error
      }
      return strict && dropped.size > 0 ? refusedHints(dropped) : undefined
    },
    request: (call, connection) => usual.request(asUsual(call), connection),
    reply(bytes, headers, call): Reply {
      const reply = usual.reply(bytes, headers, asUsual(call))
      const answer = reply.bytes && shape.answer ? parseRecord(reply.bytes) : undefined
      if (!answer || !shape.answer) return reply
      const { usage, outputCharacters } = reply
      const written = encoder.encode(JSON.stringify(shape.answer(answer, call.body)))
      return { bytes: written, contentType: 'application/json', usage, outputCharacters }
    },
  }
}

function rewrittenForm(form: NonNullable<Outgoing['form']>, shape: Shape, drop: (field: string) => void) {
  return { ...form, rewritten: true, whole: async () => shape.request(await form.whole(), drop) }
}
