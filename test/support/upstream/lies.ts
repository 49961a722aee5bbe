import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import { json, raw } from './answer.ts'
import { type Behaviour, defineChange, joined, measured, type Plan, textOf, writeOf } from './behaviour.ts'
import { frame } from './openai-chat.ts'

/** An error told with status 200. */
export const errorBodyWith200 = (message = 'Internal server error'): Behaviour =>
  json(200, { error: { message, type: 'server_error', param: null, code: null } })

/** 200 with nothing in it. */
export const emptyBody = (): Behaviour => raw(200, '', { 'content-type': 'application/json' })

/** What a captive portal or a proxy's error page looks like. */
export const htmlPage = (status = 200): Behaviour =>
  raw(status, '<!DOCTYPE html><html><head><title>Just a moment...</title></head><body>…</body></html>', {
    'content-type': 'text/html; charset=UTF-8',
  })

/** Sends the caller elsewhere, key and all. */
export const redirect = (location: string, status = 302): Behaviour => raw(status, '', { location })

/** A body that stops in the middle, measured and ended as if it were whole. */
export const truncated = defineChange('truncated', (plan, { bytes }: { bytes: number }): Plan => {
  const [first] = plan.writes
  return measured({ ...plan, writes: first ? [{ ...first, bytes: first.bytes.slice(0, bytes) }] : [] })
})

/** Every field of the answer with a type that it should not have. */
export const wrongTypes = defineChange('wrongTypes', (plan, _: Record<never, never>): Plan => {
  const wrong = { id: 17, created: 'yesterday', model: ['?'], choices: { '0': 'none' }, usage: 'many', data: 5 }
  const writes = plan.writes.map((write) => {
    const text = textOf(write)
    if (text.includes('[DONE]')) return write
    return writeOf(text.startsWith('data: ') ? frame(wrong) : JSON.stringify(wrong), write.waitMs)
  })
  return measured({ ...plan, writes })
})

const PACKED = { gzip: gzipSync, 'x-gzip': gzipSync, deflate: deflateSync, br: brotliCompressSync } as const

/** Compressed, as proxies do unasked. */
export const packed = defineChange('packed', (plan, { coding }: { coding: keyof typeof PACKED }): Plan => {
  const bytes = new Uint8Array(PACKED[coding](joined(plan.writes)))
  const headers = { ...plan.head?.headers, 'content-encoding': coding }
  return measured({ ...plan, head: { status: plan.head?.status ?? 200, headers }, writes: [{ waitMs: 0, bytes }] })
})

/** A byte order mark before everything. */
export const marked = defineChange(
  'marked',
  (plan, _: Record<never, never>): Plan => measured({ ...plan, writes: [writeOf('\ufeff'), ...plan.writes] }),
)

/** Puts these words before the event at index `at`; alone and last when `last` is set. */
export const insert = defineChange(
  'insert',
  (plan, { at, text, last = false }: { at: number; text: string; last?: boolean }): Plan => ({
    ...plan,
    writes: [...plan.writes.slice(0, at), writeOf(text), ...(last ? [] : plan.writes.slice(at))],
  }),
)

/** One event in the middle that is not JSON; the rest goes on. */
export const malformedEvent = (at: number) => insert({ at, text: 'data: {"id":"chatcmpl-broken","choices":[{\n\n' })

/** An error as an event, and nothing behind it; with `at: 0` it is the first event of the stream. */
export const errorEvent = (at: number, message = 'The server had an error while processing your request.') =>
  insert({
    at,
    last: true,
    text: frame({ error: { message, type: 'server_error', param: null, code: 'server_error' } }),
  })
