/** Limits last for a day at most; a longer pause is a mistake, and no client should be told to take it. */
const LONGEST_SECONDS = 86_400

/** The pause that an upstream asks for, a day at most: `retry-after-ms`, `retry-after` in seconds or as a date, or the
 *  reset headers that some send instead. undefined if none of them is readable. */
export function retryAfterSeconds(headers: Readonly<Record<string, string>>, now: number): number | undefined {
  const seconds = pauseIn(headers, now)
  return seconds === undefined ? undefined : Math.min(seconds, LONGEST_SECONDS)
}

function pauseIn(headers: Readonly<Record<string, string>>, now: number): number | undefined {
  const milliseconds = number(headers['retry-after-ms'])
  if (milliseconds !== undefined) return milliseconds / 1000

  const retryAfter = headers['retry-after']
  if (retryAfter !== undefined) {
    const seconds = number(retryAfter)
    if (seconds !== undefined) return seconds
    // A date names its month. Date.parse also accepts texts that are no dates, such as two numbers.
    const date = /[a-z]/i.test(retryAfter) ? Date.parse(retryAfter) : Number.NaN
    if (!Number.isNaN(date)) return Math.max(0, (date - now) / 1000)
  }

  const resets = ['x-ratelimit-reset-requests', 'x-ratelimit-reset-tokens', 'x-ratelimit-reset']
    .filter((name) => exhausted(headers, name))
    .map((name) => reset(headers[name], now))
    .filter((seconds) => seconds !== undefined)
  return resets.length === 0 ? undefined : Math.max(...resets)
}

/** Whether the limit of a reset header is used up. Without its `remaining` header it counts as used up. */
function exhausted(headers: Readonly<Record<string, string>>, name: string): boolean {
  const remaining = number(headers[name.replace('reset', 'remaining')])
  return remaining === undefined || remaining <= 0
}

/** The seconds until a reset, given as `1m30s`, `250ms`, seconds or a Unix time in seconds or milliseconds. */
function reset(value: string | undefined, now: number): number | undefined {
  const plain = number(value)
  if (plain !== undefined && plain > 1_000_000_000_000) return Math.max(0, (plain - now) / 1000)
  if (plain !== undefined) return plain > 1_000_000_000 ? Math.max(0, plain - now / 1000) : plain
  if (value === undefined || !/^(\d+(\.\d+)?(ms|s|m|h|d))+$/.test(value)) return undefined
  const unit: Record<string, number> = { ms: 0.001, s: 1, m: 60, h: 3600, d: 86_400 }
  let seconds = 0
  for (const [, amount, name] of value.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/g)) {
    seconds += Number(amount) * (unit[name as string] as number)
  }
  return seconds
}

function number(value: string | undefined): number | undefined {
  return value !== undefined && /^\s*\d+(\.\d+)?\s*$/.test(value) ? Number(value) : undefined
}
