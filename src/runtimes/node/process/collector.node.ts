import { setFlagsFromString } from 'node:v8'

const [V8_VERSION] = process.versions.v8.split('.')

/** Sets up the garbage collector for what a gateway holds: bodies, and many calls at once that wait for a provider and
 *  then end together. Other versions of V8 than these may print an error for an unknown flag. */
export function spareCollector(): void {
  // The memory of bodies counts against the limit of the process. By default V8 13 counts it against the slack of the
  // heap, and marks the whole heap for every few megabytes, which was half the cost of a body of 1 MB.
  if (V8_VERSION === '13') setFlagsFromString('--external-memory-accounted-in-global-limit')
  // Calls that wait outlive collections of the young generation. V8 concludes that all objects of their kind live long,
  // and makes the next ones in the old generation, where each keeps what it points to until the whole heap is marked.
  if (['12', '13', '14'].includes(V8_VERSION as string)) setFlagsFromString('--no-allocation-site-pretenuring')
}
