import type { ServerResponse } from 'node:http'
import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises'
import type { Plan } from './behaviour.ts'
import type { Call } from './call.ts'

type Progress = { -readonly [Field in 'outcome' | 'endedAt' | 'writes' | 'bytesSent']: Call[Field] }

/** Sends a plan down one connection and notes in `progress` how far it came and who ended it. */
export async function play(plan: Plan, response: ServerResponse, progress: Progress): Promise<void> {
  const left = new AbortController()
  const ended = (outcome: Call['outcome']) => {
    if (progress.outcome !== 'running') return
    progress.outcome = outcome
    progress.endedAt = Date.now()
  }
  const gone = new Promise<void>((resolve) => {
    response.once('close', () => {
      ended(response.writableFinished ? 'finished' : 'client_closed')
      left.abort()
      resolve()
    })
  })
  response.on('error', () => {})
  if (response.destroyed || response.socket?.destroyed) return ended('client_closed')

  const pause = async (milliseconds: number) => {
    if (milliseconds > 0) await wait(milliseconds, undefined, { signal: left.signal })
  }
  try {
    await pause(plan.waitMs)
    if (plan.head) {
      response.writeHead(plan.head.status, plan.head.headers)
      response.flushHeaders()
    }
    for (const [index, write] of plan.writes.entries()) {
      await pause(write.waitMs)
      // A turn of the event loop between writes: each one leaves by itself.
      if (index > 0) await nextTurn()
      if (left.signal.aborted) return
      progress.writes++
      progress.bytesSent += write.bytes.byteLength
      const taken = response.write(write.bytes)
      if (!taken) await Promise.race([new Promise((resolve) => response.once('drain', resolve)), gone])
    }
    if (plan.ending === 'end') response.end()
    else if (plan.ending !== 'hang') {
      await flushed(response)
      ended('broken_off')
      if (plan.ending === 'reset') response.socket?.resetAndDestroy()
      else response.socket?.destroy()
    }
    await gone
  } catch (error) {
    if (!left.signal.aborted) throw error
  }
}

/** A break must come after the bytes before it, and a destroyed socket throws away what it still holds. */
async function flushed(response: ServerResponse): Promise<void> {
  const socket = response.socket
  for (let turn = 0; turn < 1000 && socket && !socket.destroyed && socket.writableLength > 0; turn++) await wait(1)
  await nextTurn()
}
