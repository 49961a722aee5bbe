import { joinBytes } from '../../lib/bytes/bytes.ts'
import { GatewayError } from '../../lib/errors.ts'
import { addOrRelease } from '../../lib/footprints.ts'
import { editJson } from '../../lib/json/edit-json.ts'
import type { JsonRecord } from '../../lib/json/lenient.ts'
import type { ModelRequest } from '../../modes/mode.ts'
import type { CallInput } from '../call-input.ts'
import { tenantOf } from '../caller.ts'
import { absent } from '../ids/keepers.ts'
import type { KnownId, KnownIds } from '../ids/known-ids.ts'
import type { Refusal } from '../request/checked.ts'
import { parse } from '../request/parse.ts'
import type { Written } from '../request/written-request.ts'
import type { PipelineServices } from '../services.ts'
import type { KeptConversation, Recalled } from './conversation.ts'
import type { KeptResponse } from './kept-responses.ts'
import { notKept } from './not-kept.ts'

/** A request with what it refers to in the place of the references. */
interface Joined extends Written {
  readonly error?: never
  /** The ids that remain for providers. */
  readonly ids: KnownIds
  readonly recalled: Recalled
}

/** Puts kept answers and their parts in the place of their ids. undefined for a request that names none. */
export function recall(
  services: PipelineServices,
  input: CallInput,
  request: ModelRequest,
  ids: KnownIds | undefined,
): Promise<Joined | Refusal> | undefined {
  const memory = input.endpoint.dialect?.memory
  if (!memory || !ids?.some(({ kept }) => kept !== undefined)) return undefined
  const unknown = ids.find(({ kept }) => kept === null)
  if (unknown) return Promise.resolve({ error: absent({ ...unknown, owner: null }) })
  return joined(services, input, request, { ids, memory }).catch((error: unknown) => {
    if (error instanceof GatewayError) return { error }
    throw error
  })
}

async function joined(
  services: PipelineServices,
  input: CallInput,
  request: ModelRequest,
  { ids, memory }: { readonly ids: KnownIds; readonly memory: KeptConversation },
): Promise<Joined> {
  let counted = 0
  const recalled = await recalledBy(services, input, ids, memory, (arrived) => {
    addOrRelease(input.footprint, arrived)
    counted += arrived
  })
  const changes = memory.joined(request, recalled)
  const bytes = joinBytes(editJson(input.bytes, request, changes))
  // In the place of what was recalled.
  input.footprint.add(Math.max(0, bytes.byteLength - counted))
  const parsed = parse({ endpoint: input.endpoint, bytes })
  if (parsed.error) throw parsed.error
  const others = ids.filter(({ kept }) => !kept)
  // What only its maker understands in full is best asked there.
  const bound = recalled.maker !== undefined && memory.portable(parsed.request) !== undefined
  const owner = bound && { tenant: tenantOf(input.caller).name, deployment: recalled.maker as string }
  const hints: KnownIds = owner ? [{ id: '', param: 'input', kind: 'item', standing: 'hint', owner }] : []
  return { request: parsed.request, bytes, ids: [...others, ...hints], recalled }
}

async function recalledBy(
  { responses }: PipelineServices,
  { caller }: CallInput,
  ids: KnownIds,
  memory: KeptConversation,
  arrived: (bytes: number) => void,
): Promise<Recalled> {
  const tenant = tenantOf(caller)
  const read = new Map<string, Promise<KeptResponse | undefined>>()
  const responseOf = ({ id, kept }: KnownId): Promise<KeptResponse | undefined> => {
    const answerId = memory.answerIdOf(id) as string
    const reading = read.get(answerId) ?? responses.read(tenant, answerId, kept as string, arrived)
    read.set(answerId, reading)
    return reading
  }
  let previous: (KeptResponse & { readonly id: string }) | undefined
  const parts = new Map<string, JsonRecord>()
  for (const one of ids) {
    if (!one.kept) continue
    const response = await responseOf(one)
    if (response && memory.answerIdOf(one.id) === one.id) previous = { ...response, id: one.id }
    else {
      const part = response && conversationOf(response, memory).find(({ id }) => id === one.id)
      if (!part) throw notKept(one)
      parts.set(one.id, part)
    }
  }
  return {
    previousId: previous?.id,
    history: previous ? conversationOf(previous, memory) : [],
    parts,
    maker: previous?.deployment,
  }
}

function conversationOf({ input, answer }: KeptResponse, memory: KeptConversation): readonly JsonRecord[] {
  return [...input, ...memory.outputOf(answer)]
}
