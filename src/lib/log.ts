import { type ByteText, encoded } from './bytes/byte-text.ts'
import { elapsedMs } from './clock.ts'
import { isoTime } from './iso-time.ts'

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

export type LogFields = Record<string, unknown>

/** Writes one JSON line for each event. Fields hold metadata, never message content or credentials. `time`, in ISO 8601:
 *  of an event that is told later. */
export interface Log {
  debug(event: string, fields?: LogFields, time?: string): void
  info(event: string, fields?: LogFields, time?: string): void
  warn(event: string, fields?: LogFields, time?: string): void
  error(event: string, fields?: LogFields, time?: string): void
  /** The lines of an event that is told with every call: their owner prints the fields, which costs a fraction. Undefined
   *  where the level leaves them out, or lines are no bytes. */
  printed?(level: LogLevel, event: string): PrintedLines | undefined
}

/** Lines whose fields their owner prints. */
export interface PrintedLines {
  /** Begins a line of this time, in ISO 8601: each field follows as `,"name":value`. Undefined without room for it. */
  begin(time: string): ByteText | undefined
  end(): void
}

/** Where lines are bytes. */
export interface ByteLines {
  /** Where the next line is added; undefined while there is no room for it. */
  begin(): ByteText | undefined
  end(): void
}

/** `always` are fields of every line. */
export function jsonLog(
  level: LogLevel,
  write: (line: string) => void,
  now: () => number = Date.now,
  always: LogFields = {},
  lines?: ByteLines,
): Log {
  const threshold = LOG_LEVELS.indexOf(level)
  const constantMembers = membersOf(always)
  const isLeftOut = (name: LogLevel) => LOG_LEVELS.indexOf(name) < threshold
  const at = (name: LogLevel) => {
    if (isLeftOut(name)) return () => {}
    // Joining texts saves copying all fields into one object.
    return (event: string, fields: LogFields = {}, time = isoTime(now())) =>
      write(
        `{"time":"${time}","level":"${name}","event":${JSON.stringify(event)}${constantMembers}${membersOf(fields)}}`,
      )
  }
  return {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    printed(name, event) {
      if (!lines || isLeftOut(name)) return undefined
      return printedLines(lines, `,"level":"${name}","event":${JSON.stringify(event)}${constantMembers}`)
    },
  }
}

function printedLines({ begin, end }: ByteLines, members: string): PrintedLines {
  const [beforeTime, afterTime, closing] = [encoded('{"time":'), encoded(members), encoded('}')]
  let line: ByteText | undefined
  return {
    begin(time) {
      line = begin()
      line?.add(beforeTime)
      line?.addString(time)
      line?.add(afterTime)
      return line
    },
    end() {
      line?.add(closing)
      end()
    },
  }
}

/** Fields as the further members of a JSON object. */
function membersOf(fields: LogFields): string {
  const text = JSON.stringify(fields)
  return text === '{}' ? '' : `,${text.slice(1, -1)}`
}

/** Logs at most once in each interval, for events that may happen with every call. */
export function throttled(intervalMs: number, now: () => number, write: (suppressed: number) => void): () => void {
  let last = Number.NEGATIVE_INFINITY
  let suppressed = 0
  return () => {
    if (elapsedMs(last, now()) < intervalMs) {
      suppressed += 1
      return
    }
    last = now()
    write(suppressed)
    suppressed = 0
  }
}

/** The part of a thrown value that is safe to log: its class and message, without stack and causes. */
export function describeError(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error)
}
