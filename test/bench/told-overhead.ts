import type { Running } from './targets/target.ts'

/** What a gateway of ours says of its own share of a call, by its metrics; undefined for others. */
export async function toldOverhead({ metricsUrl }: Running): Promise<() => Promise<number | undefined>> {
  if (metricsUrl === undefined) return async () => undefined
  const before = await read(metricsUrl)
  return async () => {
    const after = await read(metricsUrl)
    return (1000 * (after.seconds - before.seconds)) / (after.calls - before.calls)
  }
}

async function read(url: string): Promise<{ seconds: number; calls: number }> {
  const text = await (await fetch(url)).text()
  const value = (name: string) => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1] ?? Number.NaN)
  return { seconds: value('gateway_overhead_seconds_sum'), calls: value('gateway_overhead_seconds_count') }
}
