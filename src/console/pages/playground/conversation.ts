import { useEffect, useRef, useState } from 'preact/hooks'
import type { ApiError } from '../../data/client.ts'
import { callModel, failureOf, type Told, toldBy } from './call.ts'
import { eventsOf } from './events.ts'

export interface ToolCall {
  readonly id: string
  readonly name: string
  readonly arguments: string
}

/** One saying: of the person, of the model, or of a tool that the model has called. */
export interface Turn {
  readonly role: 'user' | 'assistant' | 'tool'
  readonly text: string
  readonly reasoning?: string
  readonly calls?: readonly ToolCall[]
  /** The call of a tool that it answers. */
  readonly answers?: string
  readonly state?: 'running' | 'stopped' | 'failed'
  readonly finish?: string
  readonly told?: Told
  readonly failure?: ApiError
}

export interface Asking {
  readonly keyId: string
  readonly explain: boolean
  /** The whole body of the call, but for its messages. */
  readonly body: Readonly<Record<string, unknown>>
  readonly system: string
}

/** A conversation with one model. */
export function useConversation() {
  const [turns, setTurns] = useState<readonly Turn[]>([])
  const stopper = useRef<AbortController>()
  useEffect(() => () => stopper.current?.abort(), [])
  const running = turns.at(-1)?.state === 'running'

  async function ask(asking: Asking, said: readonly Turn[]): Promise<void> {
    const before = [...turns.filter(({ state }) => state !== 'failed'), ...said]
    const stop = new AbortController()
    stopper.current = stop
    let answer: Turn = { role: 'assistant', text: '', state: 'running' }
    const show = (changes: Partial<Turn>) => {
      answer = { ...answer, ...changes }
      if (stopper.current === stop) setTurns([...before, answer])
    }
    show({})
    try {
      const { keyId, explain, body, system } = asking
      const messages = messagesOf(before, system)
      const response = await callModel({
        keyId,
        explain,
        endpoint: 'chat/completions',
        body: { ...body, messages },
        signal: stop.signal,
      })
      show({ told: toldBy(response) })
      if (response.headers.get('content-type')?.startsWith('text/event-stream')) {
        for await (const event of eventsOf(response)) show(withPiece(answer, event))
      } else show(withPiece(answer, (await response.json()) as Record<string, unknown>))
      const { state: _, ...ended } = answer
      answer = ended
      show({})
    } catch (error) {
      const failure = failureOf(error)
      if (!failure) show({ state: 'stopped' })
      else show({ state: 'failed', failure, told: answer.told ?? { requestId: failure.requestId } })
    }
  }
  return {
    turns,
    running,
    ask,
    stop: () => stopper.current?.abort(),
    clear() {
      stopper.current?.abort()
      stopper.current = undefined
      setTurns([])
    },
  }
}

export type Conversation = ReturnType<typeof useConversation>

/** The messages of a call, in the shape of the wire. */
export function messagesOf(turns: readonly Turn[], system: string): object[] {
  const said = turns.map(({ role, text, calls, answers }) => ({
    role,
    content: text === '' && calls ? null : text,
    ...(calls && {
      tool_calls: calls.map(({ id, name, arguments: given }) => ({
        id,
        type: 'function',
        function: { name, arguments: given },
      })),
    }),
    ...(answers && { tool_call_id: answers }),
  }))
  return system.trim() === '' ? said : [{ role: 'system', content: system }, ...said]
}

interface Piece {
  readonly content?: string | null
  readonly reasoning_content?: string | null
  readonly tool_calls?: ReadonlyArray<{
    readonly index?: number
    readonly id?: string
    readonly function?: { readonly name?: string; readonly arguments?: string }
  }>
}

/** The answer with what an event adds, or with what a whole answer says. */
function withPiece(turn: Turn, event: Readonly<Record<string, unknown>>): Partial<Turn> {
  const choices = event.choices as
    | ReadonlyArray<{ readonly delta?: Piece; readonly message?: Piece; readonly finish_reason?: string | null }>
    | undefined
  const choice = choices?.[0]
  const piece = choice?.delta ?? choice?.message
  if (!choice || !piece) return {}
  const calls = [...(turn.calls ?? [])]
  for (const [at, { index = at, id, function: called }] of (piece.tool_calls ?? []).entries()) {
    const known = calls[index]
    calls[index] = {
      id: id ?? known?.id ?? '',
      name: (known?.name ?? '') + (called?.name ?? ''),
      arguments: (known?.arguments ?? '') + (called?.arguments ?? ''),
    }
  }
  const reasoning = (turn.reasoning ?? '') + (piece.reasoning_content ?? '')
  return {
    text: turn.text + (piece.content ?? ''),
    ...(reasoning && { reasoning }),
    ...(calls.length > 0 && { calls }),
    ...(choice.finish_reason && { finish: choice.finish_reason }),
  }
}
