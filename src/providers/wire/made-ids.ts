import { asList, asRecord, asText, isRecord, type JsonRecord } from '../../lib/json/lenient.ts'

/** The id of something that a provider made for a call and keeps, so that its client may name it in a later one. */
export interface MadeId {
  readonly id: string
  /** How long the provider keeps it, 30 days at most. */
  readonly ttlSeconds: number
}

const HOUR = 3600
const DAY = 24 * HOUR
/** Answers, and what belongs to them. */
const KEPT = 30 * DAY
/** What its client has in full, and brings along as long as its conversation goes on. */
const CARRIED = 3 * DAY
/** Spoken words, for the next turns. */
const SPOKEN = DAY

const made = (ttlSeconds: number, ...values: readonly unknown[]): MadeId[] =>
  values.map(asText).flatMap((id) => (id === '' ? [] : [{ id, ttlSeconds }]))

/** Of a response, as far as it is known. One that is not stored can only be brought along. */
export function madeInResponse(response: JsonRecord, stored: boolean): MadeId[] {
  const { id, conversation, output } = response
  return [
    ...(stored ? made(KEPT, id, asRecord(conversation).id) : []),
    ...asList(output).flatMap((item) => madeInItem(item, stored)),
  ]
}

/** Of one item of a response: itself, the container that its code ran in, and the files that it left there. */
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

/** Of a message of the Messages API, or of what an event adds to it: its container, its thread, and the files that its
 *  tools have written. */
export function madeInMessage({ container, thread, content }: JsonRecord): MadeId[] {
  return [
    ...made(KEPT, ...[container, thread].map((one) => (isRecord(one) ? one.id : one))),
    ...asList(content).flatMap(madeInBlock),
  ]
}

/** Of one block of its content. */
export function madeInBlock(value: unknown): MadeId[] {
  const { type, content } = asRecord(value)
  if (!asText(type).endsWith('_tool_result')) return []
  const written = Array.isArray(content) ? content : asList(asRecord(content).content)
  return made(KEPT, ...written.map((file) => asRecord(file).file_id))
}

/** Of the choices of a chat answer or chunk: what was spoken, which a later turn names by its id. */
export function madeInChoices(choices: unknown, said: 'message' | 'delta'): MadeId[] {
  return made(SPOKEN, ...asList(choices).map((choice) => asRecord(asRecord(asRecord(choice)[said]).audio).id))
}

/** undefined for nothing, which most answers make. */
export const orNothing = (ids: MadeId[]): { readonly made?: readonly MadeId[] } =>
  ids.length === 0 ? {} : { made: ids }
