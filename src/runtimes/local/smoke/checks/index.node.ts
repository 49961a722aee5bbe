import type { Check } from '../check.node.ts'
import { calls } from './calls.node.ts'
import { front } from './front.node.ts'
import { installation } from './installation.node.ts'
import { limits } from './limits.node.ts'
import { secrets } from './secrets.node.ts'

/** In the order in which they run. */
export const checks: readonly Check[] = [...front, ...calls, ...installation, ...limits, ...secrets]
