/** A message that the server got. */
export interface Heard {
  readonly name: string
  readonly method: string
  readonly params: Readonly<Record<string, unknown>>
}

/** What a server has heard under a name, as soon as it is as awaited. From where no server can be started, too. */
export async function heardBy(
  url: string,
  name: string,
  awaited: (heard: readonly Heard[]) => boolean = () => true,
): Promise<readonly Heard[]> {
  const deadline = Date.now() + 15_000
  for (;;) {
    const heard = (await (await fetch(`${url}/_heard?name=${name}`)).json()) as Heard[]
    if (awaited(heard)) return heard
    if (Date.now() > deadline) throw new Error(`not so within 15 s: ${heard.map(({ method }) => method)}`)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}
