import type { Scene } from './scene.node.ts'

/** One thing that a deployment must do, judged from outside. */
export interface Check {
  readonly name: string
  /** What holds where it passes. */
  readonly promise: string
  /** It needs a key that may administer. */
  readonly needsAdmin?: true
  /** A check that throws has failed with that message. */
  run(scene: Scene): Promise<Verdict>
}

export interface Verdict {
  readonly result: 'passed' | 'failed' | 'not checked'
  readonly detail: string
}

export const passed = (detail: string): Verdict => ({ result: 'passed', detail })
export const failed = (detail: string): Verdict => ({ result: 'failed', detail })
export const notChecked = (detail: string): Verdict => ({ result: 'not checked', detail })
