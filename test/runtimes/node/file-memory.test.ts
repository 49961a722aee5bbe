import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { request } from 'node:http'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { MASTER_KEY } from '../../support/gateway.ts'
import { preparedDatabase } from '../../support/prepared-database.ts'
import { type GatewayProcess, type Place, place } from './gateway-process.ts'

const MIB = 1024 * 1024
const FILE_BYTES = 200 * MIB
const MOST_GROWTH = 48 * MIB

const LINE = `${JSON.stringify({ custom_id: 'request-0', method: 'POST', url: '/v1/embeddings', body: { model: 'm', input: 'Grüße '.repeat(600) } })}\n`
/** Whole lines, so that the file can be any number of them. */
const BLOCK = Buffer.from(LINE.repeat(Math.ceil(MIB / Buffer.byteLength(LINE))))
const BLOCKS = Math.floor(FILE_BYTES / BLOCK.byteLength)

let here: Place
let gateway: GatewayProcess

const residentBytes = () =>
  1024 * Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${gateway.pid}/status`, 'utf8'))?.[1])

/** What some work adds to the resident memory at most, looked at every 20 ms. */
async function growthBy(work: () => Promise<void>): Promise<number> {
  const before = residentBytes()
  let most = before
  const watch = setInterval(() => {
    most = Math.max(most, residentBytes())
  }, 20)
  await work()
  clearInterval(watch)
  return most - before
}

async function upload(blocks: number): Promise<{ readonly id: string; readonly sha256: string }> {
  const digest = createHash('sha256')
  const head = Buffer.from(
    '--b\r\nContent-Disposition: form-data; name="purpose"\r\n\r\nbatch\r\n--b\r\nContent-Disposition: form-data; name="file"; filename="in.jsonl"\r\n\r\n',
  )
  const tail = Buffer.from('\r\n--b--\r\n')
  const sending = request(`${await gateway.base()}/v1/files`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${MASTER_KEY}`,
      'content-type': 'multipart/form-data; boundary=b',
      'content-length': head.byteLength + blocks * BLOCK.byteLength + tail.byteLength,
    },
  })
  const answered = new Promise<string>((resolve, reject) => {
    sending.on('error', reject).on('response', async (response) => {
      let text = ''
      for await (const piece of response) text += piece
      resolve(text)
    })
  })
  sending.write(head)
  for (let block = 0; block < blocks; block++) {
    digest.update(BLOCK)
    if (!sending.write(BLOCK)) await new Promise<void>((resolve) => sending.once('drain', resolve))
  }
  sending.end(tail)
  const { id, bytes } = JSON.parse(await answered)
  expect(bytes).toBe(blocks * BLOCK.byteLength)
  return { id, sha256: digest.digest('hex') }
}

async function downloaded(id: string): Promise<string> {
  const digest = createHash('sha256')
  const response = await gateway.fetch(`/v1/files/${id}/content`)
  for await (const piece of response.body ?? []) digest.update(piece)
  return digest.digest('hex')
}

// An embedded database would be most of the memory.
describe.skipIf(inject('postgresUrl') === '')('the memory of a process', () => {
  beforeAll(async () => {
    here = await place()
    gateway = await here.start({
      yaml: `general_settings: { embeddings_batch_enabled: true, database_url: '${await preparedDatabase(inject('postgresUrl'))}' }
model_list: [{ model_name: m, gateway_params: { model: echo/m } }]
`,
    })
    await gateway.greeted()
  }, 60_000)
  afterAll(() => here.clear())

  it(`grows by less than ${MOST_GROWTH / MIB} MiB while a file of ${FILE_BYTES / MIB} MiB comes, and while it goes`, async () => {
    // The code is compiled, and the collector has its room, before memory is measured.
    const small = await upload(4)
    expect(await downloaded(small.id)).toBe(small.sha256)
    let large = small
    let began = performance.now()
    const seconds = () => ((performance.now() - began) / 1000).toFixed(1)
    const coming = await growthBy(async () => {
      large = await upload(BLOCKS)
    })
    process.stdout.write(`upload: ${Math.round(coming / MIB)} MiB more resident, ${seconds()} s\n`)
    began = performance.now()
    const going = await growthBy(async () => {
      expect(await downloaded(large.id)).toBe(large.sha256)
    })
    process.stdout.write(`download: ${Math.round(going / MIB)} MiB more resident, ${seconds()} s\n`)
    expect(coming).toBeLessThan(MOST_GROWTH)
    expect(going).toBeLessThan(MOST_GROWTH)
  }, 120_000)
})
