import { afterAll, beforeAll, expect, it } from 'vitest'
import { configOf } from '../../support/gateway.ts'
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
