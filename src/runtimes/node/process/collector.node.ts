import { setFlagsFromString } from 'node:v8'

/** Makes the garbage collector count the memory of bodies against the limit of the process. By default V8 13 counts it
 *  against the slack of the heap, and marks the whole heap for every few megabytes, which was half the cost of a body
 *  of 1 MB. */
export function spareCollector(): void {
  // Other versions may print an error for an unknown flag.
  if (process.versions.v8.startsWith('13.')) setFlagsFromString('--external-memory-accounted-in-global-limit')
}
