import { Agent, request } from 'node:http'
import { afterEach, beforeEach, expect, inject, it } from 'vitest'
import { configOf, MASTER_KEY } from '../../support/gateway.ts'
import { preparedPlace } from '../../support/prepared-place.ts'
import { silence } from '../../support/upstream/index.ts'
import { upstreamClient } from '../../support/upstream-client.ts'
import type { GatewayProcess, Place } from './gateway-process.ts'

const CALLS = 3000
const ABORTED_EVERY = 20
const AT_ONCE = 24
const MOST_BYTES_A_CALL = 1200
const upstream = upstreamClient(inject('upstreamUrl'))
const slow = `memory-${process.pid}`
const TELLS_ITS_HEAP = `data:text/javascript,process.on('SIGUSR2', () => {
  for (let times = 0; times < 4; times++) gc();
  console.log(JSON.stringify({ event: 'heap', used: process.memoryUsage().heapUsed }))
})`

let here: Place
beforeEach(async () => {
  here = await preparedPlace()
  await upstream.script(slow, [silence()])
})
afterEach(() => here?.clear())

it(`${CALLS} calls, one in ${ABORTED_EVERY} left by its client, leave nothing in the heap but their ids`, async () => {
  const quick = '  - model_name: quick\n    gateway_params:\n      model: echo/echo\n'
  const gateway = await here.start({
    yaml: `${configOf(upstream.url, { [slow]: [slow] }, 'general_settings:\n  log_level: error\n')}${quick}`,
    nodeOptions: ['--expose-gc', '--import', TELLS_ITS_HEAP],
  })
  await gateway.greeted()
  const { port } = new URL(await gateway.base())
  const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE })

  await callMany(1000, Number(port), agent)
  const before = await heapOf(gateway)
  const started = performance.now()
  const answered = await callMany(CALLS, Number(port), agent)
  const seconds = (performance.now() - started) / 1000
  const after = await heapOf(gateway)
  agent.destroy()

  expect(answered).toBe(CALLS - CALLS / ABORTED_EVERY)
  const grownKb = Math.round((after - before) / 1024)
  const used = `${Math.round(before / 1024)} KB used, ${grownKb} KB more after ${CALLS} calls`
  process.stdout.write(`${used} at ${Math.round(CALLS / seconds)} a second\n`)
  // The store remembers the ids of the last settlements, which is most of it. A call that were kept would be more.
  expect(grownKb * 1024).toBeLessThan(CALLS * MOST_BYTES_A_CALL)
}, 120_000)

/** Resolves with how many were answered; the others were left while the provider was silent. */
async function callMany(count: number, port: number, agent: Agent): Promise<number> {
  let begun = 0
  let answered = 0
  async function caller(): Promise<void> {
    while (begun < count) {
      begun += 1
      if (begun % ABORTED_EVERY === 0) await leave(port)
      else if ((await call(port, agent)) === 200) answered += 1
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, caller))
  return answered
}

function call(port: number, agent: Agent): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    post(port, 'quick', agent)
      .on('error', reject)
      .on('response', (response) => response.resume().on('end', () => resolve(response.statusCode)))
  })
}

function leave(port: number): Promise<void> {
  return new Promise((resolve) => {
    const asked = post(port, slow)
    asked.on('error', () => {}).on('close', resolve)
    setTimeout(() => asked.destroy(), 10)
  })
}

function post(port: number, model: string, agent?: Agent) {
  const body = JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello' }] })
  const headers = { authorization: `Bearer ${MASTER_KEY}`, 'content-type': 'application/json' }
  const asked = request({ host: '127.0.0.1', port, path: '/v1/chat/completions', method: 'POST', headers, agent })
  asked.end(body)
  return asked
}

async function heapOf(gateway: GatewayProcess): Promise<number> {
  const told = gateway.logged('heap').length
  gateway.kill('SIGUSR2')
  return (await gateway.untilLogged('heap', told + 1))[told]?.used as number
}
