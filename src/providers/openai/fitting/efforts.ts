import type { ChatRequest } from '../../../modes/chat.ts'
import type { Drop } from '../../../modes/field-table.ts'
import { type Efforts, nearestEffort } from '../../wire/fitting/nearest-effort.ts'

/** Where the efforts of reasoning that a vendor takes differ from OpenAI's words. */
export interface EffortQuirks {
  /** The efforts that its models take. */
  readonly taken?: Efforts
  /** The efforts of requests in chat are its own words, and are left to it. */
  readonly own?: true
  /** Its models that take no effort beside functions in chat. */
  readonly plainWithTools?: RegExp
  /** Those of them that reason unasked, and have to be told not to. */
  readonly toldNotToReason?: RegExp
}

const NO_EFFORTS: Efforts = []
const NOTHING: Readonly<Record<string, undefined>> = {}

/** The effort of a request, as the model takes it; nothing where it takes it as it is. */
export function takenEffort(
  { reasoning_effort: effort, tools }: ChatRequest,
  model: string,
  { taken: efforts = NO_EFFORTS, plainWithTools, toldNotToReason }: EffortQuirks,
  drop: Drop,
): Readonly<Record<string, unknown>> {
  const isPlain = Boolean(tools?.length && plainWithTools?.test(model))
  const isUnthought = toldNotToReason?.test(model) || effort === 'none'
  const taken = nearestEffort(isPlain ? (isUnthought ? 'none' : undefined) : effort, model, efforts)
  if (taken === effort) return NOTHING
  if (effort !== undefined && effort !== null && (taken === undefined || isPlain)) drop('reasoning_effort')
  return { reasoning_effort: taken }
}

/** The effort of a request after changes. */
export function effortIn(changes: Readonly<Record<string, unknown>>, body: ChatRequest): unknown {
  return 'reasoning_effort' in changes ? changes.reasoning_effort : body.reasoning_effort
}
