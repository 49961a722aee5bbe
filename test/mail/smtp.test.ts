import type { AddressInfo } from 'node:net'
import { connect, createServer } from 'node:net'
import { hostname } from 'node:os'
import type { SMTPServerOptions } from 'smtp-server'
import { afterEach, describe, expect, it } from 'vitest'
import { type MailMessage, MailRefused } from '../../src/mail/mail-sender.ts'
import { smtpSender } from '../../src/mail/smtp.node.ts'
import { loadConfig } from '../../src/routing/configuration.ts'
import { certificateOf, trusting } from '../support/certificate.node.ts'
import { startMailReceiver } from '../support/mail-receiver.node.ts'

const PASSWORD = 'smtp-password-canary-81'
const TOKEN = 'Tt0kenCanary'.repeat(4)

const message: MailMessage = {
  id: 'email_1',
  recipient: 'ann+x@example.com',
  subject: 'You are invited to “Acme”',
  text: 'Hello.',
  html: '<p>Hello.</p>',
  link: `https://gateway.example/console/invite#${TOKEN}`,
}

const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

async function receiver(options: SMTPServerOptions = {}) {
  const started = await startMailReceiver({
    onAuth: ({ username, password }, _session, done) =>
      password === PASSWORD ? done(null, { user: username }) : done(new Error('535 no')),
    ...options,
  })
  closing.push(started.close)
  return started
}

function sender(port: number, more = '', host = '127.0.0.1', from = 'The Gateway <gateway@example.com>') {
  const { general_settings } = loadConfig(
    `general_settings: { email_provider: smtp, email_base_url: 'https://gateway.example', email_smtp_host: '${host}',
      email_from: '${from}', email_smtp_port: ${port} ${more} }
model_list: [{ model_name: m, gateway_params: { model: echo/m } }]`,
    { GATEWAY_MASTER_KEY: 'sk-master-key-of-the-mail-test-1', GATEWAY_SALT_KEY: 'salt-of-the-mail-test-92bd77' },
  )
  return smtpSender(general_settings)
}

const LOGIN = `, email_smtp_username: mailer, email_smtp_password: ${PASSWORD}`

async function refusalOf(sending: Promise<string>): Promise<MailRefused> {
  const error = await sending.then(
    (said) => said,
    (thrown: unknown) => thrown,
  )
  if (!(error instanceof MailRefused)) throw new Error(`not refused: ${error}`)
  expect(error.message).not.toContain(PASSWORD)
  expect(error.message).not.toContain(TOKEN)
  return error
}

describe('e-mail by SMTP', () => {
  it('arrives in both forms', async () => {
    const { received, port } = await receiver()
    expect(await sender(port).send(message)).toMatch(/^250 /)
    expect(received).toMatchObject([{ from: 'gateway@example.com', to: ['ann+x@example.com'] }])
    const text = received[0]?.raw ?? ''
    expect(text).toMatch(/^From: The Gateway <gateway@example\.com>\r$/m)
    expect(text).toMatch(/^Message-ID: <email_1@example\.com>\r$/m)
    expect(text).toMatch(/^Auto-Submitted: auto-generated\r$/im)
    expect(text).toMatch(/^Subject: =\?UTF-8\?/m)
    expect(text).toContain('multipart/alternative')
  })

  it('names the domain of its sender where this machine has none, in letters that every server reads', async () => {
    const greeted: string[] = []
    const { received, port } = await receiver({
      onMailFrom(_address, { hostNameAppearsAs }, done) {
        greeted.push(String(hostNameAppearsAs))
        done()
      },
    })
    await sender(port, '', '127.0.0.1', 'Gäteway <gateway@bücher.example>').send(message)
    expect(greeted).toEqual([hostname().includes('.') ? hostname() : 'xn--bcher-kva.example'])
    const head = received[0]?.raw.split('\r\n\r\n')[0] ?? ''
    expect(head).toMatch(/^Message-ID: <email_1@xn--bcher-kva\.example>\r$/m)
    expect(head).toMatch(/^[\r\n\t -~]+$/)
  })

  it('logs in', async () => {
    const { received, port } = await receiver({ authOptional: false })
    await sender(port, LOGIN).send(message)
    expect(received).toMatchObject([{ user: 'mailer' }])
  })

  it('is refused without a word of the login, where the server repeats what it was sent', async () => {
    for (const [methods, said] of [
      ['PLAIN', `\0mailer\0${PASSWORD}`],
      ['LOGIN', PASSWORD],
    ] as const) {
      const server = createServer((socket) => {
        socket.on('error', () => {})
        socket.write('220 ready\r\n')
        socket.on('data', (line) => {
          const text = line.toString().trim()
          if (text.startsWith('EHLO')) socket.write(`250-ready\r\n250 AUTH ${methods}\r\n`)
          else if (text === 'AUTH LOGIN') socket.write('334 VXNlcm5hbWU6\r\n')
          else if (text === Buffer.from('mailer').toString('base64')) socket.write('334 UGFzc3dvcmQ6\r\n')
          else socket.write(`535 what is ${text}\r\n`)
        })
      })
      closing.push(() => new Promise((resolve) => server.close(() => resolve())))
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
      const { message: words } = await refusalOf(sender((server.address() as AddressInfo).port, LOGIN).send(message))
      expect(words).toMatch(/535 what is .*\[secret\]/)
      expect(words).not.toContain(Buffer.from(said).toString('base64').slice(0, 12))
    }
  })

  it('goes to one recipient, whatever the address says', async () => {
    const { received, port } = await receiver()
    await sender(port)
      .send({ ...message, recipient: 'a@example.com, b@example.com' })
      .catch(() => {})
    await sender(port)
      .send({ ...message, recipient: 'a@example.com>\r\nRCPT TO:<b@example.com' })
      .catch(() => {})
    await sender(port)
      .send({ ...message, subject: 'x\r\nBcc: b@example.com' })
      .catch(() => {})
    expect(received.flatMap(({ to }) => to)).not.toContain('b@example.com')
    for (const { raw } of received) expect(raw).not.toMatch(/^Bcc:/im)
  })

  it('tells a refusal of the recipient from one that may be mended', async () => {
    const refusing = (code: number, words: string): SMTPServerOptions => ({
      onRcptTo: (_address, _session, done) => done(Object.assign(new Error(words), { responseCode: code })),
    })
    const unknown = await receiver(refusing(550, `5.1.1 no such user, you said ${message.link}`))
    const refused = await refusalOf(sender(unknown.port).send(message))
    expect([refused.isFinal, refused.message]).toEqual([true, expect.stringContaining('5.1.1 no such user')])
    const busy = await receiver(refusing(451, '4.7.1 greylisted'))
    expect((await refusalOf(sender(busy.port).send(message))).isFinal).toBe(false)
    const notOurs = await receiver({
      onMailFrom: (_address, _session, done) =>
        done(Object.assign(new Error('5.7.60 not allowed to send as this sender'), { responseCode: 550 })),
    })
    expect((await refusalOf(sender(notOurs.port).send(message))).isFinal).toBe(false)
    const strict = await receiver({ authOptional: false })
    const login = `, email_smtp_username: mailer, email_smtp_password: wrong-password-1`
    expect((await refusalOf(sender(strict.port, login).send(message))).isFinal).toBe(false)
  })

  it('says nothing in plain text to a server that is not on this machine', async () => {
    // 0.0.0.0 leads here too, and is not what this machine calls itself.
    const lines: string[] = []
    const { received, port } = await receiver({ authOptional: true, disabledCommands: ['STARTTLS'] })
    const relay = createServer((socket) => {
      const upstream = connect(port, '127.0.0.1')
      socket.on('data', (bytes) => lines.push(String(bytes)))
      socket.on('error', () => {})
      upstream.on('error', () => {})
      socket.pipe(upstream).pipe(socket)
    })
    await new Promise<void>((resolve) => relay.listen(0, '127.0.0.1', resolve))
    closing.push(async () => {
      relay.close()
    })
    const refused = await refusalOf(sender((relay.address() as AddressInfo).port, LOGIN, '0.0.0.0').send(message))
    expect(refused.isFinal).toBe(false)
    expect(received).toEqual([])
    expect(lines.join('')).toMatch(/^EHLO [^\r]*\r\n(STARTTLS\r\n)?(QUIT\r\n)?$/)
  })

  it('does not trust a certificate that nobody vouches for', async () => {
    const { received, port } = await receiver(await certificateOf('0.0.0.0'))
    expect((await refusalOf(sender(port, LOGIN, '0.0.0.0').send(message))).message).toMatch(/certificate/i)
    expect(received).toEqual([])
  })

  it('goes through TLS to one that is trusted, begun with it or made so', async () => {
    const { key, cert } = await certificateOf('0.0.0.0')
    const forget = trusting({ key, cert })
    closing.push(async () => forget())
    for (const secure of [false, true]) {
      const { received, port } = await receiver({ key, cert, secure, authOptional: false })
      await sender(port, `${LOGIN}, email_smtp_secure: ${secure}`, '0.0.0.0').send(message)
      expect(received).toMatchObject([{ secure: true, user: 'mailer' }])
    }
  })

  it('gives up after ten seconds, also on a server that keeps it waiting', { timeout: 30_000 }, async () => {
    const slow = createServer((socket) => {
      socket.on('error', () => {})
      // Something every second keeps a connection from being idle.
      socket.write('220-wait\r\n')
      const timer = setInterval(() => socket.write('220-wait\r\n'), 1000)
      socket.on('close', () => clearInterval(timer))
    })
    await new Promise<void>((resolve) => slow.listen(0, '127.0.0.1', resolve))
    closing.push(async () => {
      slow.close()
    })
    const began = performance.now()
    expect((await refusalOf(sender((slow.address() as AddressInfo).port).send(message))).isFinal).toBe(false)
    expect(performance.now() - began).toBeLessThan(12_000)
  })

  it('of a server that is not there says so', async () => {
    const free = createServer()
    await new Promise<void>((resolve) => free.listen(0, '127.0.0.1', resolve))
    const { port } = free.address() as AddressInfo
    await new Promise((resolve) => free.close(resolve))
    expect((await refusalOf(sender(port).send(message))).message).toContain('ECONNREFUSED')
  })
})
