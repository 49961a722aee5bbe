import { request as ask, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** What the gateway answered to a client. */
export interface Answered {
  readonly method: string
  readonly path: string
  readonly status: number
  /** The hints that its provider was not told. */
  readonly dropped: readonly string[]
  /** The sentence of a refusal. */
  readonly refusal: string | undefined
}

export interface Observed {
  readonly origin: string
  readonly answers: Answered[]
  close(): Promise<void>
}

/** Stands between clients and a gateway, passes every byte on, and notes what was answered. */
export async function observing(gateway: string): Promise<Observed> {
  const answers: Answered[] = []
  const server = createServer((from, to) => {
    const { method = 'GET', url = '/', headers } = from
    const onward = ask(new URL(url, gateway), { method, headers }, (answer) => {
      const status = answer.statusCode ?? 0
      const dropped = String(answer.headers['x-gateway-dropped'] ?? '')
      to.writeHead(status, answer.headers)
      let text = ''
      answer.on('data', (piece) => {
        if (status >= 400) text += piece
        to.write(piece)
      })
      answer.on('end', () => {
        const noted = { method, path: url, status, dropped: dropped.split(', ').filter(Boolean) }
        answers.push({ ...noted, refusal: status >= 400 ? sentenceOf(text) : undefined })
        to.end()
      })
      answer.on('error', () => to.destroy())
    })
    onward.on('error', () => to.destroy())
    from.pipe(onward)
    to.on('close', () => onward.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    answers,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
    },
  }
}

function sentenceOf(text: string): string {
  try {
    const { error } = JSON.parse(text) as { error?: { message?: string } }
    return error?.message ?? text
  } catch {
    return text
  }
}
