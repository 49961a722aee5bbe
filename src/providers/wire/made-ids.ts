import { asList, asRecord, asText, isRecord, type JsonRecord } from '../../lib/json/lenient.ts'

/** The id of an object that a provider created for a call and keeps, so that a later call can refer to it. */
export interface MadeId {
  readonly id: string
  /** How long the provider keeps it, 30 days at most. */
  readonly ttlSeconds: number
}

const HOUR = 3600
const DAY = 24 * HOUR
/** Stored answers and their files and containers. */
const KEPT = 30 * DAY
/** Items that the client has in full and sends along for as long as its conversation lasts. */
const CARRIED = 3 * DAY
/** Audio that the next turns refer to. */
const AUDIO = DAY

const made = (ttlSeconds: number, ...values: readonly unknown[]): MadeId[] =>
  values.map(asText).flatMap((id) => (id === '' ? [] : [{ id, ttlSeconds }]))

/** The ids in a response. The items of a response that is not stored are carried by the client. */
export function madeInResponse(response: JsonRecord, stored: boolean): MadeId[] {
  const { id, conversation, output } = response
  return [
    ...(stored ? made(KEPT, id, asRecord(conversation).id) : []),
    ...asList(output).flatMap((item) => madeInItem(item, stored)),
  ]
}

/** The ids in one item of a response: its own, those of its container, and those of the files that it cites. */
export function madeInItem(value: unknown, stored: boolean): MadeId[] {
  const { id, container_id, environment, content } = asRecord(value)
  const cited = asList(content).flatMap((part) => asList(asRecord(part).annotations).map(asRecord))
  const files = cited.filter(({ type }) => type === 'container_file_citation')
  return [
    ...made(stored ? KEPT : CARRIED, id),
    ...made(KEPT, container_id, asRecord(environment).container_id),
    ...files.flatMap((file) => made(KEPT, file.container_id, file.file_id)),
  ]
}

/** The ids in a message of the Messages API, or in an event that adds to one: its container, its thread, and the files of
 *  its tools. The next message of a thread refers to the one before. */
export function madeInMessage({ id, container, thread, content }: JsonRecord, threaded = false): MadeId[] {
  return [
    ...(threaded ? made(KEPT, id) : []),
    ...made(KEPT, ...[container, thread].map((one) => (isRecord(one) ? one.id : one))),
    ...asList(content).flatMap(madeInBlock),
  ]
}

/** The ids in one block of a message. */
export function madeInBlock(value: unknown): MadeId[] {
  const { type, content } = asRecord(value)
  if (!asText(type).endsWith('_tool_result')) return []
  const written = Array.isArray(content) ? content : asList(asRecord(content).content)
  return made(KEPT, ...written.map((file) => asRecord(file).file_id))
}

/** The ids of the audio in the choices of a chat answer or chunk. */
export function madeInChoices(choices: unknown, field: 'message' | 'delta'): readonly MadeId[] {
  let ids = NONE
  for (const choice of asList(choices)) {
    const { audio } = asRecord(asRecord(choice)[field])
    if (isRecord(audio)) ids = [...ids, ...made(AUDIO, audio.id)]
  }
  return ids
}

const NONE: readonly MadeId[] = []

/** The `made` field of a reply or step; absent for most answers, which have no ids. */
export const madeField = (ids: readonly MadeId[]): { readonly made?: readonly MadeId[] } =>
  ids.length === 0 ? {} : { made: ids }
