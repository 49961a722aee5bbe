import type { Worker } from 'node:cluster'
import { EventEmitter } from 'node:events'
import { expect, it, vi } from 'vitest'
import { jsonLog } from '../../../../src/lib/log.ts'
import { leadGroup } from '../../../../src/runtimes/node/process/process-group.node.ts'

const { cluster } = vi.hoisted(() => ({
  cluster: { workers: {} as Record<string, unknown>, fork: (): unknown => null },
}))
vi.mock('node:cluster', () => ({ default: cluster }))

it('ends when its last process has, also where that process is still listed because its channel is open', async () => {
  let dead = false
  const worker = Object.assign(new EventEmitter(), {
    id: 1,
    process: { pid: 1, kill: () => true },
    isDead: () => dead,
  }) as unknown as Worker
  cluster.workers = { 1: worker }
  cluster.fork = () => worker
  const ended = leadGroup({ count: 1, log: jsonLog('silent', () => {}), onReady: () => {} })
  worker.emit('message', { kind: 'ready', port: 1 })
  process.emit('SIGTERM', 'SIGTERM')
  dead = true
  worker.emit('exit', 0, null)
  expect(await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, 500, 'still waiting'))])).toBe(0)
})
