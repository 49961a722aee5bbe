import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import tls from 'node:tls'
import { describe, expect, inject, it, onTestFinished } from 'vitest'
import type { Key } from '../../../src/stores/kv/keys.ts'
import { redisTcpStore } from '../../../src/stores/kv/redis-tcp.node.ts'
import type { SharedStore } from '../../../src/stores/kv/shared-store.ts'
import { StoreUnavailable } from '../../../src/stores/kv/store-unavailable.ts'
import { certificateOf, trusting } from '../../support/certificate.node.ts'
import { type RedisServer, startRedis } from '../../support/redis.ts'

const key = 'state:1' as Key

async function start(options: Parameters<typeof startRedis>[0] = {}): Promise<RedisServer> {
  const server = (await startRedis(options)) as RedisServer
  onTestFinished(() => server.stop())
  return server
}

describe.skipIf(!inject('redisUrl'))('Redis over TCP', () => {
  it('signs in with a password, and its first call waits for the connection', async () => {
    const server = await start({ args: ['--requirepass', 'p@ss/word'] })
    const store = redisTcpStore({ url: server.url.replace('//', `//:${encodeURIComponent('p@ss/word')}@`) })
    await store.put(key, 'kept', 60)
    expect(await store.get(key)).toBe('kept')
    await store.close()
  })

  it('is not away because the process is busy while it connects', async () => {
    const server = await start()
    const store = redisTcpStore({ url: server.url })
    const until = performance.now() + 1300
    while (performance.now() < until);
    expect(await store.get(key)).toBeUndefined()
    await store.close()
  })

  it('signs in as a user, to the database of its number', async () => {
    const server = await start({ args: ['--user', 'max', 'on', '>p:ss', '~*', '+@all'] })
    const own = server.url.replace('//', '//max:p%3Ass@')
    const [first, third] = [redisTcpStore({ url: own }), redisTcpStore({ url: `${own}/3` })]
    await third.put(key, 'ü ✓ '.repeat(50_000), 60)
    expect(await third.get(key)).toBe('ü ✓ '.repeat(50_000))
    expect(await first.get(key)).toBeUndefined()
    await Promise.all([first.close(), third.close()])
  })

  it('is away where its password is refused, and says so, but nothing of it', async () => {
    const server = await start({ args: ['--requirepass', 'right'] })
    const store = redisTcpStore({ url: server.url.replace('//', '//:wrong@') })
    for (let at = 0; at < 3; at++) {
      const refused = await store.get(key).catch((error) => error)
      expect(refused).toMatchObject({ trouble: 'unreachable', message: expect.stringContaining('(WRONGPASS)') })
      expect(String(refused.stack)).not.toContain('wrong')
    }
    await store.close()
  })

  it('does not hurry back to a server that refuses to sign it in', async () => {
    let connections = 0
    const server = createServer((socket) => {
      connections += 1
      socket.on('error', () => {}).on('data', () => socket.write('-WRONGPASS invalid username-password pair\r\n'))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const store = redisTcpStore({ url: `redis://:wrong@127.0.0.1:${port}` })
    await sleep(1000)
    await store.close()
    await new Promise((resolve) => server.close(resolve))
    // The first at once, the others after 100, 200, 400 ms and so on.
    expect(connections).toBeLessThan(6)
  })

  it('leaves a peer that speaks another language, and comes back when it is a Redis', async () => {
    const other = createServer((socket) =>
      socket
        .on('error', () => {})
        .resume()
        .end('HTTP/1.1 400 Bad Request\r\n\r\n'),
    )
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
    const { port } = other.address() as AddressInfo
    const store = redisTcpStore({ url: `redis://127.0.0.1:${port}` })
    await expect(store.get(key)).rejects.toMatchObject({ trouble: 'unreachable' })
    await new Promise((resolve) => other.close(resolve))
    await start({ port })
    await expect
      .poll(() =>
        store.ping(100).then(
          () => 'here',
          () => 'away',
        ),
      )
      .toBe('here')
    await store.close()
  })

  it('speaks TLS to rediss:// addresses, and only to a server it can verify', async () => {
    const certificate = await certificateOf('127.0.0.1')
    const folder = mkdtempSync(join(tmpdir(), 'redis-tls-'))
    const [cert, key] = [join(folder, 'certificate.pem'), join(folder, 'key.pem')]
    writeFileSync(cert, certificate.cert)
    writeFileSync(key, certificate.key)
    const plain = await start()
    await plain.stop()
    // Redis asks for a certificate of the client unless it is told not to.
    const files = ['--tls-cert-file', cert, '--tls-key-file', key, '--tls-ca-cert-file', cert]
    await start({ args: ['--tls-port', String(plain.port), ...files] })
    const url = `rediss://127.0.0.1:${plain.port}`
    const own = `sslcert=${cert}&sslkey=${key}`
    const pinged = async (url: string) => {
      const store = redisTcpStore({ url })
      await store.ping(2000).finally(() => store.close())
    }
    try {
      await expect(pinged(`${url}?${own}`)).rejects.toThrow(/SELF_SIGNED/)
      // Redis says why and hangs up; which of the two is noticed first is chance.
      await expect(pinged(`${url}?sslrootcert=${cert}`)).rejects.toThrow(/could not be reached/)
      await expect(pinged(`${url}?sslrootcert=${folder}/none.pem`)).rejects.toThrow(/ENOENT/)
      await pinged(`${url}/0?sslrootcert=${cert}&${own}`)
      const distrust = trusting(certificate)
      await pinged(`${url}?${own}`).finally(distrust)
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

  it('tells a server of TLS by which name it was found', async () => {
    const asked = Promise.withResolvers<string>()
    const SNICallback: tls.TlsOptions['SNICallback'] = (name, done) => done(null, void asked.resolve(name))
    const server = tls.createServer({ ...(await certificateOf('127.0.0.1')), SNICallback }).listen(0, 'localhost')
    onTestFinished(() => void server.close())
    await expect.poll(() => server.listening).toBe(true)
    const store = redisTcpStore({ url: `rediss://localhost:${(server.address() as AddressInfo).port}` })
    expect(await asked.promise).toBe('localhost')
    await store.close()
  })

  it('fails at once without a connection, and reconnects by itself', async () => {
    const server = await start()
    const store = redisTcpStore({ url: server.url })
    await store.ping(1000)
    await server.stop()
    await sleep(20)
    const startedAt = performance.now()
    for (let at = 0; at < 100; at++) await expect(store.get(key)).rejects.toMatchObject({ trouble: 'unreachable' })
    expect(performance.now() - startedAt).toBeLessThan(10_000)
    await start({ port: server.port })
    const until = Date.now() + 15_000
    while (
      Date.now() < until &&
      !(await store.ping(100).then(
        () => true,
        () => false,
      ))
    )
      await sleep(20)
    await store.ping(100)
    await store.close()
    await expect(store.ping(100)).rejects.toThrow(StoreUnavailable)
  })

  it.each<[string, string, (store: SharedStore) => Promise<unknown>]>([
    ['', 'yes', (store) => store.put(key, 'after', 60)],
    [' without its primary', 'no', (store) => store.signals(['east'])],
  ])('leaves a server that is a replica by now%s, since its address may lead to the new one', async (_, stale, ask) => {
    const [former, next] = [await start({ args: ['--replica-serve-stale-data', stale] }), await start()]
    let { port } = former
    const address = createServer((socket) => {
      const server = connect(port, '127.0.0.1')
      for (const one of [socket, server]) one.on('error', () => {})
      socket.pipe(server).pipe(socket)
    })
    await new Promise<void>((resolve) => address.listen(0, '127.0.0.1', resolve))
    const store = redisTcpStore({ url: `redis://127.0.0.1:${(address.address() as AddressInfo).port}` })
    await store.put(key, 'before', 60)
    const told = connect(former.port, '127.0.0.1')
    told.write('REPLICAOF 127.0.0.1 1\r\n')
    await new Promise((resolve) => told.once('data', resolve))
    told.destroy()
    port = next.port
    await expect(ask(store)).rejects.toMatchObject({ trouble: 'refused' })
    const answered = () =>
      ask(store).then(
        () => true,
        () => false,
      )
    await expect.poll(answered).toBe(true)
    expect(await store.get(key)).not.toBe('before')
    await store.close()
    await new Promise((resolve) => address.close(resolve))
  })

  it('replaces a connection that owes an answer for too long, and bounds what waits on it', async () => {
    const server = await start()
    const store = redisTcpStore({ url: server.url, timeoutMs: 400 })
    await store.ping(1000)
    process.kill(server.pid, 'SIGSTOP')
    const startedAt = performance.now()
    const answers = await Promise.allSettled(Array.from({ length: 11_000 }, () => store.get(key)))
    expect(answers.every(({ status }) => status === 'rejected')).toBe(true)
    expect(performance.now() - startedAt).toBeLessThan(10_000)
    process.kill(server.pid, 'SIGCONT')
    const until = Date.now() + 15_000
    while (
      Date.now() < until &&
      !(await store.ping(100).then(
        () => true,
        () => false,
      ))
    )
      await sleep(20)
    await store.ping(100)
    await store.close()
  })
})
