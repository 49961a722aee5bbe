import { expect, it } from 'vitest'
import { roomForBodies } from '../../../../src/runtimes/node/setup/memory.node.ts'

const MIB = 1024 * 1024
const container = (mebibytes: number) => ({ bytes: mebibytes * MIB, of: 'container' as const })

it.each([
  [192, false, 1, 16],
  [256, false, 1, 32],
  [1024, false, 1, 224],
  [1024, false, 4, 32],
  [512, true, 1, 64],
  [64, true, 1, 16],
])('bodies in %d MiB (embedded: %s, %d processes) may take %d MiB', (total, embedded, processes, room) => {
  expect(roomForBodies(container(total), { embedded, processes })).toBe(room * MIB)
})
