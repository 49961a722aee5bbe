import { isoTime } from './iso-time.ts'

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

export type LogFields = Record<string, unknown>

/** One JSON line an event. Fields are metadata, never message content and never key material. */
export interface Log {
  debug(event: string, fields?: LogFields): void
  info(event: string, fields?: LogFields): void
  warn(event: string, fields?: LogFields): void
  error(event: string, fields?: LogFields): void
}

/** `always` stands in every line. */
export function jsonLog(
  level: LogLevel,
  write: (line: string) => void,
  now: () => number = Date.now,
  always: LogFields = {},
): Log {
  const threshold = LOG_LEVELS.indexOf(level)
  const standing = membersOf(always)
  const at = (name: LogLevel) => {
    if (LOG_LEVELS.indexOf(name) < threshold) return () => {}
    // A line a call: its members are printed as they come, not copied into one object with these first.
    return (event: string, fields: LogFields = {}) =>
      write(
        `{"time":"${isoTime(now())}","level":"${name}","event":${JSON.stringify(event)}${standing}${membersOf(fields)}}`,
      )
  }
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
}

/** As they stand in a line after others. */
function membersOf(fields: LogFields): string {
  const text = JSON.stringify(fields)
  return text === '{}' ? '' : `,${text.slice(1, -1)}`
}

/** Logs at most once an interval, for events that may happen on every call. */
export function throttled(intervalMs: number, now: () => number, write: (suppressed: number) => void): () => void {
  let last = Number.NEGATIVE_INFINITY
  let suppressed = 0
  return () => {
    if (now() - last < intervalMs) {
      suppressed += 1
      return
    }
    last = now()
    write(suppressed)
    suppressed = 0
  }
}

/** What is safe to log of something thrown: its class and message, no stack arguments, no cause chain. */
export function describeError(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error)
}
