import { duration, money } from '../../design/format.ts'
import { type Attempt, errorWords, type Story } from './call.ts'

/** The story of a call in one sentence. */
export function sentence({ call, attempts }: Story): string {
  const last = attempts.at(-1)
  const total = duration(call.total_ms)
  if (call.cache === 'hit') {
    return `Answered from the cache in ${total}${call.saved > 0 ? `, which saved ${money(call.saved)}` : ''}.`
  }
  if (call.ending === 'client_closed') {
    return `The client left after ${total}${last ? `, while ${last.deployment} answered` : ', before anything was tried'}.`
  }
  if (call.ending === 'truncated') return `The answer of ${call.deployment ?? 'the upstream'} broke off after ${total}.`
  if (call.ending === 'failed') return failed(call, attempts)
  const winner = attempts.findLast(({ result }) => result === 'answered')
  const by = winner?.deployment ?? call.deployment ?? 'the gateway'
  const before = attempts.filter((one) => one !== winner && one.turn === winner?.turn)
  if (before.length === 0) {
    const first = call.first_token_ms === null ? '' : `, its first token after ${duration(call.first_token_ms)}`
    return `Answered by ${by} in ${total}${first}.`
  }
  return `Answered by ${by} in ${total}, after ${listed(before.map(outcome))}${added(winner, before)}.`
}

/** What the attempts before the one that answered have cost in time and money. */
function added(winner: Attempt | undefined, before: readonly Attempt[]): string {
  const began = Math.min(...before.map(({ started_ms }) => started_ms))
  const late = winner ? winner.started_ms - began : 0
  const cost = before.reduce((sum, one) => sum + (one.cost ?? 0), 0)
  const parts = [late >= 1 && `+${duration(late)}`, cost > 0 && `+${money(cost)}`].filter(Boolean)
  return parts.length === 0 ? '' : `; ${parts.join(', ')}`
}

function failed({ status, error_type, attempts: tries }: Story['call'], attempts: readonly Attempt[]): string {
  const what = `${status}${error_type ? ` (${errorWords(error_type)})` : ''}`
  if (tries === 0) return `Refused by the gateway with ${what}, before any deployment was tried.`
  if (attempts.length === 0) return `Failed with ${what} after ${tries === 1 ? 'one try' : `${tries} tries`}.`
  return `Failed with ${what}: ${listed(attempts.map(outcome))}.`
}

function outcome({ deployment, result, error, upstream_status, first_token_ms, total_ms }: Attempt): string {
  if (result === 'lost_hedge') return `${deployment} was outrun`
  if (result === 'cut') return `${deployment} broke off after ${duration(total_ms)}`
  if (result === 'client_closed') return `${deployment} was left by the client`
  if (result === 'answered') return `${deployment} answered`
  if (error === 'timeout' && first_token_ms === null) {
    return `${deployment} gave no first token in ${duration(total_ms)}`
  }
  return `${deployment} failed after ${duration(total_ms)} (${[upstream_status, errorWords(error)].filter(Boolean).join(' ')})`
}

const listed = (parts: readonly string[]): string =>
  parts.length < 2 ? parts.join('') : `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}`
