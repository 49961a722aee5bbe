import { type Link, type Ring, ring } from '../ring.ts'
import { LONGEST_TIMER_MS, type Timers } from './timers.ts'

/** Shorter ones go off often enough to have a timer of their own. */
const SHORT_MS = 250
/** So many lengths of time for each doubling share a queue. */
const LENGTHS = 8

interface Waiting extends Link {
  readonly dueAt: number
  readonly work: () => void
  /** When it is looked at: never later than it is due. */
  lookAt: number
  queue: Queue | undefined
  /** Its own, once little is left. */
  own: NodeJS.Timeout | undefined
}

/** What waits for about the same length of time, and so in the order in which it is looked at. */
interface Queue {
  readonly waiting: Ring<Waiting>
  readonly lengthMs: number
  /** Runs while anything waits, and may outlast it. */
  timer: NodeJS.Timeout | undefined
}

/** Timers that share one of the platform's for each length of time: to start and stop one changes a list, and keeps
 *  nothing else alive. For a process whose requests do not own their timers. */
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

  /** The longest length that is not longer. */
  function queueOf(ms: number): Queue {
    const step = 2 ** Math.floor(Math.log2(Math.min(ms, LONGEST_TIMER_MS))) / LENGTHS
    const lengthMs = step * Math.floor(Math.min(ms, LONGEST_TIMER_MS) / step)
    let queue = queues.get(lengthMs)
    if (!queue) {
      queue = { waiting: ring<Waiting>(), lengthMs, timer: undefined }
      queues.set(lengthMs, queue)
    }
    return queue
  }

  function arm(queue: Queue, ms: number): void {
    queue.timer = setTimeout(look, Math.max(1, Math.ceil(ms)), queue)
    // What is waited for keeps the process alive by itself.
    queue.timer.unref()
  }

  function look(queue: Queue): void {
    queue.timer = undefined
    const now = performance.now()
    let first = queue.waiting.first()
    for (; first && first.lookAt <= now; first = queue.waiting.first()) {
      queue.waiting.remove(first)
      if (first.dueAt <= now) run(first)
      else start(first, first.dueAt - now)
    }
    if (first && !queue.timer) arm(queue, first.lookAt - now)
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

/** As a timer of its own would: what one throws is not another's. */
function run({ work }: Waiting): void {
  try {
    work()
  } catch (error) {
    setTimeout(() => {
      throw error
    })
  }
}
