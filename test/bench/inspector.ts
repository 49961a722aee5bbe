/** V8's inspector in a Node process of this machine. */
export interface Inspector {
  ask<Result = unknown>(method: string, parameters?: object): Promise<Result>
  close(): void
}

export async function inspector(port: number): Promise<Inspector> {
  const targets = (await (await fetch(`http://127.0.0.1:${port}/json/list`)).json()) as {
    id: string
    webSocketDebuggerUrl: string
  }[]
  // workerd has one for each of its workers, of which ours has this name.
  const target = targets.find(({ id }) => id === 'gateway') ?? targets[0]
  if (!target) throw new Error('nothing to inspect')
  const socket = new WebSocket(target.webSocketDebuggerUrl)
  await new Promise((resolve, reject) => {
    socket.addEventListener('open', resolve)
    socket.addEventListener('error', () => reject(new Error('the inspector cannot be reached')))
  })
  const waiting = new Map<number, (result: never) => void>()
  socket.addEventListener('message', ({ data }) => {
    const { id, result } = JSON.parse(String(data)) as { id?: number; result: never }
    if (id !== undefined) waiting.get(id)?.(result)
    if (id !== undefined) waiting.delete(id)
  })
  let serial = 0
  return {
    ask(method, parameters = {}) {
      const id = ++serial
      const answered = new Promise<never>((resolve) => waiting.set(id, resolve))
      socket.send(JSON.stringify({ id, method, params: parameters }))
      return answered
    },
    close: () => socket.close(),
  }
}
