import type { FailureName, GatewayError } from '../../lib/errors.ts'
import { costNano } from '../../modes/price/cost.ts'
import { settledTerms, settledUses } from '../../modes/price/surcharges.ts'
import { type Usage, usageOf } from '../../modes/usage.ts'
import type { Deployment } from '../../routing/deployment.ts'
import type { Attempt, Call } from '../call.ts'
import { requestBytes } from '../call-input.ts'
import type { PipelineServices } from '../services.ts'
import { estimate, ofUnfinished } from './estimate.ts'
import { reportedUsage } from './reported-usage.ts'

/** Failures that end an attempt while the provider is still working. */
const GIVEN_UP: readonly (FailureName | undefined)[] = ['client_closed', 'shutting_down']
/** Failures of the gateway itself. It may have been reading an answer then, for which the provider is paid. */
const UNREAD: readonly (FailureName | undefined)[] = ['overloaded', 'answer_too_large']

/** The usage of a call's last attempt: as reported, completed from the request; estimated if the answer was cut; none
 *  if there was no answer. */
export function usedByLast(
  services: PipelineServices,
  call: Call,
  failure: GatewayError | undefined,
): Usage | undefined {
  const { mode } = call.endpoint
  const last = call.attempts.at(-1)
  if (!last) return undefined
  const reported = reportedUsage(call, last)
  const measured = mode.measure(asAsked(call, last.deployment))
  // An attempt that failed before the client left, during a pause, cost nothing.
  const pending = GIVEN_UP.includes(last.failure?.failure) || isUnread(last)
  const seen = (usage: Usage) => (pending ? ofUnfinished(services, call, last, usage) : usage)
  if (reported) return onItsTerms(last, inMoney(call, last, filled(seen(reported), measured)), measured, reported)
  // Images, sounds and transcripts are worked for as soon as some of them has come.
  const begun = mode.unit !== 'tokens' && last.firstTokenAt !== undefined
  const answered = failure === undefined || call.outputCharacters > 0 || begun
  if (!answered && !pending) return undefined
  if (mode.unit === 'tokens') return onItsTerms(last, seen(estimate(call, last)), measured)
  // A provider cannot have worked on a file that did not fully arrive.
  if (!answered && call.form?.raw.ended === false) return usageOf(measured)
  return inMoney(call, last, usageOf({ ...measured, estimated: failure !== undefined }))
}

const isUnread = ({ failure, upstreamStatus }: Attempt) => upstreamStatus === 200 && UNREAD.includes(failure?.failure)

/** The usage of an attempt whose answer another one continues. */
export function usedByCut(call: Call, cut: Attempt): Usage {
  const reported = reportedUsage(call, cut)
  const measured = call.endpoint.mode.measure(asAsked(call, cut.deployment))
  return onItsTerms(cut, reported ?? estimate(call, cut), measured, reported)
}

/** The request with the deployment's defaults in fields that the client left out. */
function asAsked({ request }: Call, { connection: { defaults } }: Deployment): Call['request'] {
  for (const _ in defaults) return { ...defaults, ...request }
  return request
}

/** Adds estimated usage if the known usage cannot be priced. A recording's length comes from the recording itself, else
 *  from its size: the end of its last word misses the silence behind it. */
function inMoney(call: Call, { deployment }: Attempt, usage: Usage): Usage {
  const { mode } = call.endpoint
  if (mode.ofFile) {
    const told = costNano(mode, deployment.info, usage, call) !== undefined
    if (told && !usage.estimated) return usage
    const certain = usage.estimated || usage.audioSeconds === 0 ? call.form?.seconds : usage.audioSeconds
    const { audioSeconds = 0, ...tokens } = mode.ofFile(requestBytes(call), certain).most
    const whole = told ? usage : filled(usage, tokens)
    if (certain !== undefined && certain === usage.audioSeconds) return { ...whole, estimated: true }
    return { ...whole, audioSeconds: Math.max(usage.audioSeconds, audioSeconds), estimated: true }
  }
  if (!mode.unreported || costNano(mode, deployment.info, usage, call) !== undefined) return usage
  const whole = { ...filled(usage, mode.unreported(asAsked(call, deployment))), estimated: true }
  // If the estimate has no price either, the reported usage stays.
  return costNano(mode, deployment.info, whole, call) === undefined ? usage : whole
}

/** Adds the surcharges: those that were reported, else those that were requested. */
function onItsTerms(
  { deployment: { info } }: Attempt,
  usage: Usage,
  asked: Partial<Usage>,
  reported: Partial<Usage> = {},
): Usage {
  if (!usage.terms && !usage.toolUses && !asked.terms && !asked.toolUses) return usage
  const terms = settledTerms(info, asked.terms, reported.terms)
  const toolUses = settledUses(info, asked.toolUses, reported.toolUses)
  return { ...usage, terms, toolUses }
}

function filled(usage: Usage, measured: Partial<Usage>): Usage {
  let whole = usage
  for (const kind in measured) {
    if (!usage[kind as keyof Usage]) whole = { ...whole, [kind]: measured[kind as keyof Usage] }
  }
  return whole
}
