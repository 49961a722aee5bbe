import { newAbort } from '../lib/abort.ts'
import { retryAfterSeconds } from '../lib/retry-after.ts'
import type { Secret } from '../lib/secret.ts'
import { type Transport, TransportError } from '../transport/transport.ts'
import { type MailMessage, MailRefused, type MailSender, SEND_MS } from './mail-sender.ts'
import { refusalWords } from './refusal-words.ts'

const LONGEST_ANSWER_BYTES = 64 * 1024

/** What a service that sends e-mail by HTTP answered. */
export interface ServiceAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** The JSON of its body; undefined where there is none. */
  readonly json: unknown
}

/** How one service is spoken to. */
export interface MailService {
  readonly name: string
  /** Where its API is, unless the configuration says otherwise. */
  readonly base: string
  readonly path: string
  headers(message: MailMessage): Readonly<Record<string, string | Secret>>
  body(message: MailMessage): object
  /** The service's id of the message that it took over; undefined: it did not. */
  accepted(answer: ServiceAnswer): string | undefined
  /** Its own words for why it did not. */
  reason(answer: ServiceAnswer): string | undefined
  /** Whether it refuses this message for good. Without it the status says so. */
  isFinal?(answer: ServiceAnswer): boolean | undefined
}

/** Refusals of the message itself; those of the key, of the account or of the moment may be mended while it waits. */
const FINAL: ReadonlySet<number> = new Set([400, 413, 422])

/** Sends e-mail by the API of a service. */
export function httpSender(service: MailService, base: string | undefined, transport: Transport): MailSender {
  const { origin, pathname } = new URL(base ?? service.base)
  const path = pathname.replace(/\/$/, '') + service.path

  async function ask(message: MailMessage, headers: Readonly<Record<string, string | Secret>>): Promise<ServiceAnswer> {
    const abort = newAbort<MailRefused>()
    const late = () => abort.abort(new MailRefused(`${service.name} has not answered for ${SEND_MS / 1000} seconds`))
    const timer = setTimeout(late, SEND_MS)
    try {
      const body = JSON.stringify(service.body(message))
      const answer = await transport.send({ method: 'POST', origin, path, headers, body }, abort)
      const bytes = await answer.body.bytes(LONGEST_ANSWER_BYTES)
      return { status: answer.status, headers: answer.headers, json: jsonOf(new TextDecoder().decode(bytes)) }
    } catch (error) {
      if (error instanceof MailRefused) throw error
      const words = error instanceof TransportError ? error.message : 'its answer is none'
      throw new MailRefused(`${service.name}: ${words}`)
    } finally {
      clearTimeout(timer)
    }
  }

  return {
    async send(message) {
      const headers = { 'content-type': 'application/json', accept: 'application/json', ...service.headers(message) }
      const answer = await ask(message, headers)
      const id = isGood(answer) ? service.accepted(answer) : undefined
      if (id !== undefined) return refusalWords(`${service.name} has taken it over as ${id}`, message, headers)
      const reason =
        service.reason(answer) ?? (isGood(answer) ? 'not an answer of this service' : 'no reason was given')
      throw new MailRefused(refusalWords(`${service.name} answered ${answer.status}: ${reason}`, message, headers), {
        isFinal: service.isFinal?.(answer) ?? FINAL.has(answer.status),
        retryAfterSeconds: retryAfterSeconds(answer.headers, Date.now()),
      })
    },
  }
}

function isGood({ status }: ServiceAnswer): boolean {
  return status >= 200 && status < 300
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** A field of an answer whose form is not known. */
export function fieldOf(json: unknown, name: string): unknown {
  return typeof json === 'object' && json !== null ? (json as Record<string, unknown>)[name] : undefined
}

export function textFieldOf(json: unknown, name: string): string | undefined {
  const value = fieldOf(json, name)
  return typeof value === 'string' && value !== '' ? value : undefined
}
