import { expect, it } from 'vitest'
import { unsupportedNode } from '../../../../src/runtimes/node/process/version.node.ts'

it.each(['22.13.0', '22.23.3', '23.0.0', '24.21.0', '100.0.0'])('Node %s runs it', (version) => {
  expect(unsupportedNode(version)).toBeUndefined()
})

it.each(['20.20.2', '22.12.9', '18.0.0'])('Node %s does not, and is told what does', (version) => {
  expect(unsupportedNode(version)).toContain(`needs Node 22.13 or newer; this is ${version}`)
})
