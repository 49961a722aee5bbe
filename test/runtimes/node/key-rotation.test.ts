import { execFile } from 'node:child_process'
import { setTimeout as wait } from 'node:timers/promises'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { readSaltKey } from '../../../src/lib/sealing/salt-key.ts'
import { builtGateway } from '../../support/built-gateway.ts'
import { configOf, MASTER_KEY } from '../../support/gateway.ts'
import { startUpstream, type Upstream } from '../../support/scripted-upstream.ts'
import { type Place, place } from './gateway-process.ts'

const FORMER = 'sk-former-master-0123456789abcdef'
const NEW = 'sk-new-master-0123456789abcdef'

let here: Place
let upstream: Upstream
beforeAll(async () => {
  here = await place()
  upstream = await startUpstream()
})
afterAll(async () => {
  await here.clear()
  await upstream.close()
})

it('the master key is replaced while both are accepted, and the former one is told of in the log', async () => {
  const yaml = configOf(upstream.url, { gpt: ['gpt'] })
  const gateway = await here.start({
    yaml,
    env: {
      GATEWAY_MASTER_KEY: NEW,
      GATEWAY_MASTER_KEY_PREVIOUS: FORMER,
      GATEWAY_SALT_KEY: 'salt-0123456789abcdef0123',
    },
  })
  const status = async (key: string) =>
    (await gateway.fetch('/ui/api/keys', { headers: { authorization: `Bearer ${key}` } })).status
  expect(await status(NEW)).toBe(200)
  expect(gateway.logged('master_key.previous_used')).toEqual([])
  expect(await status(FORMER)).toBe(200)
  expect(await status(FORMER)).toBe(200)
  expect(await status(`${FORMER.slice(0, -1)}0`)).toBe(401)
  expect(await gateway.untilLogged('master_key.previous_used', 1), 'once a minute').toHaveLength(1)
  expect(gateway.output() + gateway.errors()).not.toMatch(/0123456789abcdef/)
})

it('a former master key without a new one stops the start', async () => {
  const gateway = await here.start({
    yaml: 'model_list: []\n',
    env: { GATEWAY_MASTER_KEY: NEW, GATEWAY_MASTER_KEY_PREVIOUS: NEW },
  })
  expect(await gateway.ended).toMatchObject({ code: 1 })
  expect(gateway.errors()).toMatch(/master_key_previous.*GATEWAY_MASTER_KEY_PREVIOUS/s)
  expect(gateway.errors()).not.toContain(NEW)
})

it('the salt key of an embedded database is replaced, however often the process is killed meanwhile', {
  timeout: 180_000,
}, async () => {
  const home = await place()
  try {
    const OLD = 'salt-of-the-laptop-0123456789'
    const start = (env: Record<string, string>) => home.start({ yaml: 'model_list: []\n', env })
    const first = await start({ GATEWAY_SALT_KEY: OLD })
    await first.greeted()
    const made = async (gateway: typeof first, path: string, body: object) => {
      const headers = { 'content-type': 'application/json' }
      const answer = await gateway.fetch(path, { method: 'POST', body: JSON.stringify(body), headers })
      expect(answer.status).toBe(201)
      return answer.json()
    }
    const params = { model: 'openai-compatible/m', api_base: `${upstream.url}/v1`, api_key: 'sk-provider-0123456789' }
    for (let at = 0; at < 60; at++) {
      const model = { deployment_id: `m-${at}`, model_name: `m-${at}`, gateway_params: params }
      await made(first, '/ui/api/models', model)
    }
    const { key } = await made(first, '/ui/api/keys', {})
    first.kill('SIGTERM')
    await first.ended

    const { program } = await builtGateway()
    const env = {
      PATH: process.env.PATH,
      GATEWAY_CONFIG: '/dev/null',
      GATEWAY_MASTER_KEY: MASTER_KEY,
      GATEWAY_SALT_KEY: OLD,
    }
    const { stdout } = await promisify(execFile)(process.execPath, [program, 'salt-key'], { env })
    const NEW = stdout.trim()
    expect(readSaltKey(NEW).hashing).toBe(OLD)
    const both = { GATEWAY_SALT_KEY: NEW, GATEWAY_SALT_KEY_PREVIOUS: OLD }
    const early = await start({ GATEWAY_SALT_KEY: NEW })
    expect(await early.ended).toMatchObject({ code: 1 })
    expect(early.errors()).toMatch(/60 models.*GATEWAY_SALT_KEY_PREVIOUS/)
    expect(early.errors()).not.toMatch(/ at .*:\d+:\d+/)
    // Killed a little later each time, until one has come to the end.
    for (let ms = 0; ; ms = 2 * ms + 150) {
      const gateway = await start(both)
      await gateway.greeted()
      await wait(ms)
      gateway.kill('SIGKILL')
      await gateway.ended
      if (gateway.logged('salt_key.previous_unneeded').length > 0) break
    }
    const alone = await start({ GATEWAY_SALT_KEY: NEW })
    await alone.greeted()
    for (const model of ['m-0', 'm-59']) {
      expect((await alone.chat({ model }, { headers: { authorization: `Bearer ${key}` } })).status).toBe(200)
    }
  } finally {
    await home.clear()
  }
})
