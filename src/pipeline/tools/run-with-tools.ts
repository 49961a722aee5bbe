import { newAbort } from '../../lib/abort.ts'
import { GatewayError } from '../../lib/errors.ts'
import { type JsonRecord, parseRecord } from '../../lib/json/lenient.ts'
import { holdFallback } from '../admit/hold-fallback.ts'
import type { Committed } from '../attempt/attempt.ts'
import { failover } from '../attempt/failover.ts'
import type { Call } from '../call.ts'
import { departure } from '../client.ts'
import { callTimeout } from '../failures.ts'
import { type Plan, planGroup } from '../plan/plan.ts'
import type { PipelineServices } from '../services.ts'
import { endTurn } from '../settle/end-turn.ts'
import type { WrittenReply } from '../translate/written-reply.ts'
import { MOST_TURNS } from './bounds.ts'
import { callTools, type ManagedCall } from './call-tools.ts'
import type { ManagedTools } from './managed-tools.ts'
import { type Offer, offerOf } from './offer.ts'
import { type Talk, talkOf } from './talk.ts'
import type { AskedCall, RunTurn, ToolConversation } from './tool-conversation.ts'

const encoder = new TextEncoder()

/** Runs a call whose model may call managed tools: asks it, runs what it calls, and asks again until it answers or calls
 *  a function of the client's own. Each turn is routed and paid for like a call; the call's deadline bounds them all. */
export async function runWithTools(
  services: PipelineServices,
  call: Call,
  plan: Plan,
  managed: ManagedTools,
): Promise<Committed> {
  const conversation = call.endpoint.dialect?.tools
  if (!conversation) throw new TypeError(`managed tools at ${call.endpoint.path}`)
  const { signal, release } = endOf(services, call)
  const turns: RunTurn[] = []
  let callsLeft = managed.mostCalls
  try {
    const offer = await offerOf(services, managed, conversation, signal)
    const isManaged = managedBy(offer, managed, conversation)
    const begun = { request: call.request, bytes: call.bytes, group: call.group }
    const talk = talkOf(conversation, begun, managed, offer)
    for (let closed = callsLeft === 0; ; closed = turns.length >= MOST_TURNS || callsLeft === 0) {
      if (closed) talk.close()
      const reply = await askModel(services, call, talk, turns.length === 0 ? plan : undefined)
      const document = documentOf(reply)
      const turn = conversation.read(document, call.request)
      const calls = turn.calls.flatMap((asked) => isManaged(asked) ?? [])
      const run = closed || turn.cut ? [] : calls
      const maker = call.attempts.at(-1)?.deployment
      if (run.length === 0 || !maker) {
        turns.push({ document, turn, executions: [] })
        return answered(reply, conversation, { managed, offer, turns, isManaged })
      }
      endTurn(services, call, reply)
      const executions = await callTools(services, call, run, { turn: turns.length + 1, most: callsLeft, signal })
      callsLeft -= Math.min(callsLeft, run.length)
      const ran = { document, turn, executions }
      turns.push(ran)
      // The client continues: it gets the results of the others beside the calls of its own functions.
      if (run.length < turn.calls.length) {
        // The turn that has just ended is the one that the client gets.
        call.turn -= 1
        return answered(reply, conversation, { managed, offer, turns, isManaged })
      }
      talk.add({ ...ran, maker })
    }
  } finally {
    release()
  }
}

/** Asks the model for its next turn. A provider that refuses how a turn is put is asked once more in plainer terms. */
async function askModel(
  services: PipelineServices,
  call: Call,
  talk: Talk,
  first: Plan | undefined,
): Promise<WrittenReply> {
  let plan = first
  for (;;) {
    if (call.client.signal.aborted) throw departure(call.client.signal)
    if (performance.now() >= call.deadline) throw callTimeout()
    talk.write(call)
    plan ??= nextPlan(services, call, talk)
    try {
      await holdFallback(services, call, plan, plan.order())
      const committed = await failover(services, call, plan)
      if (committed.kind !== 'whole') throw new TypeError('a streamed turn')
      talk.taken()
      return committed.reply
    } catch (error) {
      const refused = error instanceof GatewayError && REFUSALS.has(error.failure)
      if (!refused || !talk.plainer()) throw error
    }
    plan = undefined
  }
}

const REFUSALS: ReadonlySet<string> = new Set(['upstream_rejected', 'invalid_request'])

/** The plan of a further turn: the conversation stays with the group that answers it, and first with the account that
 *  keeps a part of it. */
function nextPlan(services: PipelineServices, call: Call, { keeper }: Talk): Plan {
  const { bounds, endpoint, request } = call
  const group = call.attempts.at(-1)?.plan.group ?? call.group
  if (!keeper) return planGroup(services, endpoint, request, group, bounds)
  const owner = { tenant: bounds.tenant, deployment: keeper.id }
  const kept = { id: '', param: 'input', kind: 'item', standing: 'hint', owner } as const
  return planGroup(services, endpoint, request, group, { ...bounds, ids: [...(bounds.ids ?? []), kept] })
}

/** Reads a call as one for a managed tool; undefined if its function is the client's. A name with the prefix of a server
 *  that was asked for is that server's, whether it has such a tool or not, unless the client has such a function. */
function managedBy(
  offer: Offer,
  { servers, own }: ManagedTools,
  conversation: ToolConversation,
): (asked: AskedCall) => ManagedCall | undefined {
  const names = new Set(own.flatMap(conversation.namesOf))
  return (asked) => {
    if (names.has(asked.name)) return undefined
    const offered = offer.tools.get(asked.name)
    if (offered) return { asked, server: offered.asked, tool: offered.tool }
    const spoken = servers.find(({ server }) => asked.name.startsWith(`${server.key}__`))
    return spoken && { asked, server: spoken, tool: undefined }
  }
}

function documentOf({ bytes }: WrittenReply): JsonRecord {
  const document = parseRecord(bytes)
  if (document) return document
  throw new GatewayError('upstream_malformed', "The provider's answer could not be read.")
}

function answered(
  reply: WrittenReply,
  conversation: ToolConversation,
  run: {
    readonly managed: ManagedTools
    readonly offer: Offer
    readonly turns: readonly RunTurn[]
    readonly isManaged: (asked: AskedCall) => ManagedCall | undefined
  },
): Committed {
  const { managed, offer, turns, isManaged } = run
  const ran = new Set(turns.at(-1)?.executions.map(({ id }) => id))
  const isDropped = (asked: AskedCall) => !ran.has(asked.id) && isManaged(asked) !== undefined
  const answer = conversation.answer({ request: managed.request, turns, lists: offer.lists, isDropped })
  return { kind: 'whole', reply: { ...reply, bytes: encoder.encode(JSON.stringify(answer)) } }
}

/** What ends the calls of tools: the client's departure and the call's deadline. */
function endOf({ timers }: PipelineServices, call: Call) {
  const { signal: client } = call.client
  const ended = newAbort<GatewayError>()
  const left = () => ended.abort(departure(client))
  if (client.aborted) left()
  else client.addEventListener('abort', left, { once: true })
  const timer = timers.after(call.deadline - performance.now(), () => ended.abort(callTimeout()))
  return {
    signal: ended,
    release() {
      timers.stop(timer)
      client.removeEventListener('abort', left)
    },
  }
}
