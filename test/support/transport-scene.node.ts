import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest'
import { nodeTransport } from '../../src/transport/node-transport.node.ts'
import type { Transport, UpstreamRequest, UpstreamResponse } from '../../src/transport/transport.ts'
import { type Certificate, certificateOf, trusting } from './certificate.node.ts'
import { type RawConnection, type RawUpstream, rawUpstream } from './raw-upstream.node.ts'

/** Over bare TCP and over TLS. */
export const SCHEMES = ['http', 'https'] as const

/** A whole answer, with its body as text. */
export interface WholeAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** Node's transport, new for each test, and the upstreams that a test starts for it. */
export interface TransportScene {
  transport(): Transport & { close(): Promise<void> }
  upstream(serve: (connection: RawConnection, index: number) => Promise<unknown>): Promise<RawUpstream>
  /** An upstream that gives each request of a connection its answer, in turn, and the last one from then on. */
  answering(...answers: readonly string[]): Promise<RawUpstream>
  send(upstream: RawUpstream, request?: Partial<UpstreamRequest>, signal?: AbortSignal): Promise<UpstreamResponse>
  /** Sends a request and reads its answer to the end. */
  ask(upstream: RawUpstream, request?: Partial<UpstreamRequest>): Promise<WholeAnswer>
}

export function transportScene(scheme: (typeof SCHEMES)[number]): TransportScene {
  let certificate: Certificate | undefined
  let forget: (() => void) | undefined
  if (scheme === 'https') {
    beforeAll(async () => {
      certificate = await certificateOf('127.0.0.1')
      forget = trusting(certificate)
    })
    afterAll(() => forget?.())
  }
  let transport: ReturnType<typeof nodeTransport>
  let upstreams: RawUpstream[] = []
  beforeEach(() => {
    transport = nodeTransport()
    upstreams = []
  })
  afterEach(async () => {
    await transport.close()
    await Promise.all(upstreams.map((one) => one.close()))
  })

  const send: TransportScene['send'] = ({ origin }, request = {}, signal = new AbortController().signal) =>
    transport.send({ method: 'POST', origin, path: '/', headers: {}, ...request }, signal)
  const upstream: TransportScene['upstream'] = async (serve) => {
    const one = await rawUpstream(serve, certificate)
    upstreams.push(one)
    return one
  }
  return {
    transport: () => transport,
    upstream,
    answering: (...answers) =>
      upstream(async (connection) => {
        for (let at = 0; await connection.request(); at++) await connection.send(answers[at] ?? answers.at(-1) ?? '')
      }),
    send,
    async ask(...asked) {
      const { status, headers, body } = await send(...asked)
      return { status, headers, body: textOf(await body.bytes(LIMIT_BYTES)) }
    },
  }
}

const LIMIT_BYTES = 100_000_000

export function textOf(bytes: Uint8Array | undefined): string {
  return Buffer.from(bytes ?? []).toString('latin1')
}

/** An answer of known length. */
export function answerOf(body: string, ...headers: readonly string[]): string {
  return ['HTTP/1.1 200 OK', `content-length: ${body.length}`, ...headers, '', body].join('\r\n')
}

/** Resolves after a few turns of the event loop: everything that was sent on this machine by now has been read. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await nextTurn()
}
