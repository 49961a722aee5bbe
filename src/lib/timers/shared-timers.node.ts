import { type Link, type Ring, ring } from '../ring.ts'
import { LONGEST_TIMER_MS, type Timers } from './timers.ts'

/** Shorter timers fire often enough to be worth a platform timer each. */
const SHORT_MS = 250
/** The number of queues for each doubling of the delay. */
const LENGTHS = 8

interface Waiting extends Link {
  readonly dueAt: number
  readonly work: () => void
  /** When the queue checks it, at the latest when it is due. */
  lookAt: number
  queue: Queue | undefined
  /** Its platform timer, once little time is left. */
  own: NodeJS.Timeout | undefined
}

/** Timers of about the same delay, and therefore in the order in which they are checked. */
interface Queue {
  readonly waiting: Ring<Waiting>
  readonly lengthMs: number
  /** Runs while timers wait, and may outlast them. */
  timer: NodeJS.Timeout | undefined
}

/** Timers that share one platform timer for each delay: starting and stopping one changes a linked list and keeps nothing
 *  else alive. For processes whose timers do not belong to requests. */
export function sharedTimers(): Timers {
  const queues = new Map<number, Queue>()

  function start(one: Waiting, leftMs: number): void {
    if (leftMs < SHORT_MS) {
      one.queue = undefined
      one.own = setTimeout(one.work, Math.max(1, Math.ceil(leftMs)))
      return
    }
    const queue = queueOf(leftMs)
    one.queue = queue
    one.lookAt = performance.now() + queue.lengthMs
    queue.waiting.add(one)
    if (!queue.timer) arm(queue, queue.lengthMs)
  }

  /** The queue of the longest delay that does not exceed `ms`. */
  function queueOf(ms: number): Queue {
    const longest = Math.min(ms, LONGEST_TIMER_MS)
    const step = (1 << (31 - Math.clz32(longest))) / LENGTHS
    const lengthMs = step * Math.floor(longest / step)
    let queue = queues.get(lengthMs)
    if (!queue) {
      queue = { waiting: ring<Waiting>(), lengthMs, timer: undefined }
      queues.set(lengthMs, queue)
    }
    return queue
  }

  function arm(queue: Queue, ms: number): void {
    queue.timer = setTimeout(look, Math.max(1, Math.ceil(ms)), queue)
    // The awaited work itself keeps the process alive.
    queue.timer.unref()
  }

  function look(queue: Queue): void {
    const now = performance.now()
    let first = queue.waiting.first()
    for (; first && first.lookAt <= now; first = queue.waiting.first()) {
      queue.waiting.remove(first)
      if (first.dueAt <= now) run(first)
      else start(first, first.dueAt - now)
    }
    // Only now: a timer that is started by one that goes off is not the first of those that wait.
    queue.timer = undefined
    if (first) arm(queue, first.lookAt - now)
  }

  return {
    after(ms, work) {
      const dueAt = performance.now() + ms
      const one: Waiting = {
        dueAt,
        work,
        lookAt: 0,
        queue: undefined,
        own: undefined,
        before: undefined,
        after: undefined,
      }
      start(one, ms)
      return one
    },
    stop(timer) {
      const { queue, own } = timer as Waiting
      queue?.waiting.remove(timer as Waiting)
      if (own) clearTimeout(own)
    },
  }
}

/** An error is rethrown outside of the queue, as by a timer of its own, so that the others still run. */
function run({ work }: Waiting): void {
  try {
    work()
  } catch (error) {
    setTimeout(() => {
      throw error
    })
  }
}
