import { useEffect, useRef, useState } from 'preact/hooks'
import type { ApiError } from '../../data/client.ts'
import { type Calling, callModel, failureOf, type Told, toldBy } from './call.ts'

/** What was answered: JSON, a text, or a file that the page may show by an address of its own. */
export type Result =
  | { readonly kind: 'json'; readonly value: unknown }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'file'; readonly address: string; readonly type: string; readonly bytes: number }

export interface Run {
  readonly state: 'running' | 'done' | 'failed' | 'stopped'
  readonly told?: Told
  readonly result?: Result
  readonly failure?: ApiError
}

/** One call at a time, and its result. */
export function useTaskRun() {
  const [run, setRun] = useState<Run>()
  const stopper = useRef<AbortController>()
  const address = useRef<string>()
  const forget = () => {
    if (address.current) URL.revokeObjectURL(address.current)
    address.current = undefined
  }
  useEffect(
    () => () => {
      stopper.current?.abort()
      forget()
    },
    [],
  )
  async function call(calling: Omit<Calling, 'signal'>): Promise<void> {
    const stop = new AbortController()
    stopper.current = stop
    forget()
    setRun({ state: 'running' })
    try {
      const response = await callModel({ ...calling, signal: stop.signal })
      const result = await resultOf(response)
      if (result.kind === 'file') address.current = result.address
      setRun({ state: 'done', told: toldBy(response), result })
    } catch (error) {
      const failure = failureOf(error)
      setRun(failure ? { state: 'failed', failure, told: { requestId: failure.requestId } } : { state: 'stopped' })
    }
  }
  return { run, call, stop: () => stopper.current?.abort(), running: run?.state === 'running' }
}

async function resultOf(response: Response): Promise<Result> {
  const type = response.headers.get('content-type') ?? ''
  if (type.startsWith('application/json')) return { kind: 'json', value: await response.json() }
  if (type.startsWith('text/')) return { kind: 'text', text: await response.text() }
  const file = await response.blob()
  return { kind: 'file', address: URL.createObjectURL(file), type, bytes: file.size }
}
