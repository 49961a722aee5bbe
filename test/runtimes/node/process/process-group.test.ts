import type { Worker } from 'node:cluster'
import { EventEmitter } from 'node:events'
import { expect, it, vi } from 'vitest'
import { jsonLog } from '../../../../src/lib/log.ts'
import { groupMeasured, leadGroup } from '../../../../src/runtimes/node/process/process-group.node.ts'

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
  const ended = leadGroup({ count: 1, log: jsonLog('silent', () => {}), output: process.stdout, onReady: () => {} })
  worker.emit('message', { kind: 'ready', port: 1 })
  process.emit('SIGTERM', 'SIGTERM')
  dead = true
  worker.emit('exit', 0, null)
  expect(await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, 500, 'still waiting'))])).toBe(0)
})

it('counts on what a process that has ended has counted, its processor time too, and forgets what it held', () => {
  const group = groupMeasured()
  const measured = (cpuSeconds: number, files: number) => ({
    counters: { gateway_requests_total: cpuSeconds },
    gauges: { process_cpu_seconds_total: cpuSeconds, process_open_fds: files },
  })
  group.reported(1, measured(100, 10))
  group.reported(2, measured(50, 20))
  expect(group.together()).toEqual(measured(150, 30))
  group.departed(1)
  group.reported(2, measured(51, 20))
  expect(group.together()).toEqual(measured(151, 20))
  group.reported(3, measured(2, 15))
  group.departed(2)
  expect(group.together()).toEqual(measured(153, 15))
})
