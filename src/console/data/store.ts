import { useEffect, useState } from 'preact/hooks'

/** A value that several components show, such as the toasts or whether the database is away. */
export interface Store<Value> {
  get(): Value
  set(value: Value): void
  subscribe(listener: () => void): () => void
}

export function store<Value>(initial: Value): Store<Value> {
  let current = initial
  const listeners = new Set<() => void>()
  return {
    get: () => current,
    set(value) {
      if (value === current) return
      current = value
      for (const listener of [...listeners]) listener()
    },
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

export function useStore<Value>({ get, subscribe }: Store<Value>): Value {
  const [, render] = useState({})
  const value = get()
  useEffect(() => {
    const check = () => render({})
    if (get() !== value) check()
    return subscribe(check)
  }, [subscribe])
  return value
}
