import type { AddressInfo } from 'node:net'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'

export interface ReceivedMail {
  readonly from: string
  readonly to: readonly string[]
  /** As it came, headers and all. */
  readonly raw: string
  readonly user: string | undefined
  readonly secure: boolean
}

export interface MailReceiver {
  readonly port: number
  readonly received: readonly ReceivedMail[]
  /** The link in the last e-mail to the address, as soon as there is one more than `after`. */
  linkTo(address: string, after?: number): Promise<string>
  close(): Promise<void>
}

/** A real SMTP server on this machine, without TLS unless it is given a certificate. */
export async function startMailReceiver(options: SMTPServerOptions = {}): Promise<MailReceiver> {
  const received: ReceivedMail[] = []
  const server = new SMTPServer({
    authOptional: true,
    ...(options.key === undefined ? { hideSTARTTLS: true, allowInsecureAuth: true } : {}),
    onData(stream, session, done) {
      const pieces: Buffer[] = []
      stream.on('data', (piece: Buffer) => pieces.push(piece))
      stream.on('end', () => {
        const { mailFrom, rcptTo } = session.envelope
        received.push({
          from: mailFrom ? mailFrom.address : '',
          to: rcptTo.map(({ address }) => address),
          raw: Buffer.concat(pieces).toString(),
          user: session.user as string | undefined,
          secure: session.secure,
        })
        done()
      })
    },
    ...options,
  })
  server.on('error', () => {})
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const to = (address: string) => received.filter((mail) => mail.to.includes(address))
  return {
    port: (server.server.address() as AddressInfo).port,
    received,
    async linkTo(address, after = 0) {
      const deadline = Date.now() + 15_000
      while (to(address).length <= after) {
        if (Date.now() > deadline) throw new Error(`no e-mail to ${address} has arrived`)
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
      const link = /https?:\/\/\S+#\S+/.exec(textOf(to(address).at(-1)?.raw ?? ''))?.[0]
      if (link === undefined) throw new Error('the e-mail holds no link')
      return link
    },
    close: () => new Promise((resolve) => server.close(resolve)),
  }
}

/** The plain text of an e-mail. */
export function textOf(raw: string): string {
  const [, head = '', body = ''] = /Content-Type: text\/plain([\s\S]*?)\r\n\r\n([\s\S]*?)\r\n--/i.exec(raw) ?? []
  if (/base64/i.test(head)) return Buffer.from(body, 'base64').toString()
  if (!/quoted-printable/i.test(head)) return body
  const bytes = body
    .replace(/=\r\n/g, '')
    .replace(/=([0-9A-F]{2})/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)))
  return Buffer.from(bytes, 'latin1').toString()
}
